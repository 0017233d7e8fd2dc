/*
 * The file system as SQLite sees it: the usual one, but for one trap, one silence, and
 * a journal that is written in large pieces (store_journal.h).
 *
 * The trap: a journal that a kill left behind can name a "super-journal", which SQLite
 * reads, and deletes once it has rolled back. So whoever gives us a database with a
 * journal could name any file of ours. We never write one that spans several databases,
 * and a user's shell gives its super-journal a name of a fixed form: another one is
 * neither read nor deleted.
 *
 * The silence: a file system that has no locks to give (NFS without a lock daemon) is to
 * SQLite as a file that another program has locked. It is waited for all the same, since
 * NFS says so in passing, too; but told apart.
 */
#ifndef BR2_STORE_VFS_H
#define BR2_STORE_VFS_H

#include <stdbool.h>

/* Its name, for sqlite3_open_v2(); it is made at the first call. */
const char *store_vfs(void);

/* This thread's last lock of a database was refused because there are none to be had. */
bool store_vfs_has_no_locks(void);

#endif
