/*
 * What must never reach the database: tokens in headers, keys, passwords. Pure
 * functions over command lines, -c values and texts. When in doubt a value is dropped;
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
 * Is the value of this configuration key a secret? Where the section or the key
 * is a secret name (redact_name.h), as in http_headers of buck2_re_client; or
 * where the value holds what looks like a secret (redact_shape.h) or such a name
 * with a value of its own, as in "FOO=1 TOKEN=x".
 */
bool redact_is_secret(struct str section, struct str key, struct str value);

/*
 * The text with each secret inside it replaced: `text` itself where there is
 * none, which costs one scan and no copy; else the contents of `out`, which are
 * the caller's to release. Its time is linear in the text. Text is prose, so less
 * counts as a secret than in a command line: what redact_shape.h finds.
 */
struct str redact_text(struct str text, struct buf *out);
/* The first `max` bytes of what redact_text() gives; `text`, whole, where there is no secret. */
struct str redact_begin(struct str text, size_t max, struct buf *out);
/*
 * The end of what redact_text() gives: all of it, or `max` bytes and perhaps some
 * more. The whole text is looked at, since half a secret looks like none, but never
 * copied. `max` is at least the length of the mark.
 */
struct str redact_tail(struct str text, size_t max, struct buf *out);

/*
 * Writes argv as a JSON array of strings with secrets replaced: values of
 * -c/--config with a secret key (as "-c k=v", "-ck=v", "--config=k=v"),
 * header-like arguments, --*token/-password/… options and what follows them, and what
 * --env, --*-env and -e give to a variable, whatever its name.
 * Everything after a lone "--" is kept in number only: each such argument is
 * replaced (it belongs to the program that is run, not to Buck2).
 * Bytes that are not UTF-8 are written as U+FFFD. Arguments are written up to the
 * first with which the array would be longer than `max` bytes, 2 at least.
 */
void redact_argv(const struct str *argv, size_t argc, size_t max, struct buf *out_json);

#endif
