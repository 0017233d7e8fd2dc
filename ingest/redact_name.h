/*
 * Which names say that their value is a secret: of configuration keys,
 * environment variables, headers and options.
 */
#ifndef BR2_REDACT_NAME_H
#define BR2_REDACT_NAME_H

#include "util/str.h"

#include <stdbool.h>

/*
 * Does the name hold a token, secret, password, credential, key for access …?
 * Letter case and the characters that join words do not matter; short words
 * such as "pat" and "auth" count only as words of their own.
 */
bool name_is_secret(struct str name);

/* Of headers that free text prints as "Name: value": those that cannot be prose or a file name. */
bool name_is_secret_header(struct str name);

/* Of a URL's query: a secret name, a signature, a bare "key". */
bool name_is_secret_query(struct str name);

#endif
