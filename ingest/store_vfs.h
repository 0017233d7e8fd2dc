/*
 * The file system as SQLite sees it: the usual one, but for one trap. A journal that a
 * kill left behind can name a "super-journal", which SQLite reads, and deletes once it
 * has rolled back. So whoever gives us a database with a journal could name any file of
 * ours. We never write one that spans several databases, and a user's shell gives its
 * super-journal a name of a fixed form: another one is neither read nor deleted.
 */
#ifndef BR2_STORE_VFS_H
#define BR2_STORE_VFS_H

/* Its name, for sqlite3_open_v2(); it is made at the first call. */
const char *store_vfs(void);

#endif
