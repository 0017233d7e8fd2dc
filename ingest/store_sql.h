/*
 * The text of schema/ and queries/, statement by statement. Beneath store.h, for
 * store*.c only. Pure.
 */
#ifndef BR2_STORE_SQL_H
#define BR2_STORE_SQL_H

#include "util/str.h"

/*
 * The next statement from *at on, borrowed, without its semicolon and without what
 * stands around it, as SQLite would keep it; len 0: there is none. *at moves behind it.
 */
struct str sql_next(const char **at);
/* The next word of *rest: up to a space, a '(' or a ')'. *rest moves behind it. */
struct str sql_word(struct str *rest);

#endif
