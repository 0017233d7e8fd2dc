/*
 * What must never reach the database: tokens in headers, keys, passwords. Pure
 * functions over command lines and -c values. When in doubt a value is dropped;
 * its name stays, so that a reader sees that something was there.
 */
#ifndef BR2_REDACT_H
#define BR2_REDACT_H

#include "model.h"
#include "util/buf.h"

#include <stdbool.h>

/* What stands in place of a dropped value. */
#define REDACTED "[redacted]"

/*
 * Is the value of this configuration key a secret? http_headers of
 * buck2_re_client, and any key that names a token, secret, password,
 * passphrase, credential, api key, authorization, cookie or private key; and
 * any value that looks like one (Bearer …, Basic …, URL with user:password@).
 */
bool redact_is_secret(struct str section, struct str key, struct str value);

/*
 * Writes argv as a JSON array of strings with secrets replaced: values of
 * -c/--config with a secret key (as "-c k=v", "-ck=v", "--config=k=v"),
 * header-like arguments, --*token/-password/… options and what follows them.
 * Everything after a lone "--" is kept in number only: each such argument is
 * replaced (it belongs to the program that is run, not to Buck2).
 * Bytes that are not UTF-8 are written as U+FFFD.
 */
void redact_argv(const struct str *argv, size_t argc, struct buf *out_json);

#endif
