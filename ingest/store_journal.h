/*
 * What SQLite writes to its journal goes out in large pieces. Beneath store_vfs().
 *
 * SQLite journals a page by three writes (its number, its bytes, a sum over them), and in a
 * large database nearly each row changes a page that no other row of its slice does. So what
 * it writes is kept until 64 KiB stand together, until SQLite wants it on the disk, or until
 * the database is written: a kill at any moment leaves a journal that holds all that the
 * database has lost.
 */
#ifndef BR2_STORE_JOURNAL_H
#define BR2_STORE_JOURNAL_H

struct sqlite3_file;

/*
 * Of a journal that was just opened. One at a time, which is all that a program has that
 * writes one database; another one, opened meanwhile, is left as it is.
 */
void store_journal_gather(struct sqlite3_file *file);

/* Before a write to a database: what is kept goes to its file. One of SQLite's codes. */
int store_journal_put(void);

/* Why the last journal could not be written, of <errno.h>; 0: it could. SQLite forgets it. */
int store_journal_errno(void);

#endif
