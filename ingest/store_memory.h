/*
 * SQLite's memory: for small blocks, lists of freed ones, by size. Beneath store_open().
 *
 * Debian's SQLite is built without its own such lists ("lookaside"), so each word of each
 * view of the schema is a call of malloc(), of 72,000 when a database is opened. What was
 * freed is kept for SQLite's next block of that size, until the process ends.
 */
#ifndef BR2_STORE_MEMORY_H
#define BR2_STORE_MEMORY_H

/*
 * Before SQLite is in use; later calls do nothing. From then on one thread alone may use
 * SQLite, whatever the handle.
 */
void store_memory(void);

#endif
