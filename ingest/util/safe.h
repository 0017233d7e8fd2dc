/*
 * Text on its way to a person. Names come from logs, servers and databases of strangers,
 * and a terminal obeys what it is sent: control characters (C0, DEL, C1), and the marks that
 * turn the direction of writing round, appear escaped (\n, \x1b, \u202e), as do bytes that
 * are no UTF-8.
 */
#ifndef BR2_SAFE_H
#define BR2_SAFE_H

#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A character that appears escaped. */
bool safe_is_dangerous(uint32_t code);
/* Adds `text`, which is to stay on its line. */
void safe_add(struct buf *buf, struct str text);
/* Whether `text` gets no escape: what a name may be that people read and write. */
bool safe_is(struct str text);

/*
 * Writes a page: the one gate through which text for people leaves the program. Line
 * breaks are the page's own, so names in it must have had safe_add(); what else slipped
 * through is escaped here. -1 with errno set.
 */
int safe_print(FILE *out, struct str page);

#endif
