/*
 * What secrets look like inside free text, whatever stands around them. Pure
 * functions over borrowed bytes.
 */
#ifndef BR2_REDACT_SHAPE_H
#define BR2_REDACT_SHAPE_H

#include "util/str.h"

#include <stdbool.h>

/* The bytes to replace: [start, end). What names them stays outside. */
struct secret {
	size_t start, end;
};

/*
 * The first secret at or after `from`: user:password@ of a URL, values of
 * authorization headers, of signature-like query parameters and of NAME=value
 * with a secret name, tokens of well-known shape, private keys. Reading on from
 * each `end` takes time linear in the text.
 */
bool secret_find(struct str text, size_t from, struct secret *out);

/*
 * Is there a secret name with a '=' or ':' and a value anywhere in a single
 * value? Stricter than secret_find(), which must leave compilers' words alone;
 * "//pkg/token:target" is none.
 */
bool secret_is_named(struct str value);

#endif
