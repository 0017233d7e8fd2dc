/*
 * A failed call in the words of its connection -> one line for a person: who,
 * what is wrong, and where it helps, what to do. All that keeps a server from
 * being asked is UNAVAILABLE; the text has the cause. Pure.
 */
#ifndef BR2_LOOKUP_EXPLAIN_H
#define BR2_LOOKUP_EXPLAIN_H

#include "remote.h"
#include "util/buf.h"

#include <stdbool.h>

/*
 * Adds the line, without a full stop, beginning with the endpoint: "HOST:PORT
 * refuses". `proxied`: the environment names a proxy that the call goes through.
 */
void explain_failure(const struct remote *remote, bool proxied, int code, const char *message,
		     struct buf *out);

#endif
