/*
 * Paths as text, and the few questions about them that stages ask.
 */
#ifndef BR2_PATH_H
#define BR2_PATH_H

#include <stdbool.h>

/* "dir/name". Caller frees. */
char *path_join(const char *dir, const char *name);
/* The folder of an absolute path; "/" for "/". Caller frees. */
char *path_dir(const char *path);
/* What follows the last slash of a path that has one; borrowed from it. */
const char *path_base(const char *path);
/* Is there a `name` in the folder? */
bool path_has(const char *dir, const char *name);
/* Symbolic links are followed. */
bool path_is_dir(const char *path);
/*
 * The absolute path of something that exists, symbolic links kept, so that a
 * linked folder still shows where it was linked; but what ".." means, only the
 * file system can tell. NULL (errno) where it cannot be found out. Caller frees.
 */
char *path_absolute(const char *path);

#endif
