/*
 * Digests, instance names and the links that Buildbarn gives to results: pure
 * functions of text. Sources: remote-apis becdd8f (Digest, DigestFunction),
 * bb-storage bdd785e pkg/digest/instance_name.go, bb-remote-execution 13313e6
 * pkg/util/browser_url.go.
 */
#ifndef BR2_DIGEST_H
#define BR2_DIGEST_H

#include "model.h"
#include "util/err.h"

/* "<hash>:<size>" and a NUL */
#define DIGEST_TEXT_MAX (2 * DIGEST_HASH_MAX + 22)

/*
 * Parses "HASH:SIZE", "HASH-SIZE" or "HASH/SIZE" (lower-case hex of a length
 * that some digest function has; a size without sign or leading zero). The
 * function is left DIGEST_UNKNOWN.
 * Returns 0, or -1 with *out_digest untouched.
 */
int digest_parse(struct str text, struct digest *out_digest);
/* Writes "<hash>:<size>" and a NUL. */
void digest_format(const struct digest *digest, char out[DIGEST_TEXT_MAX]);
/* "sha256", "blake3", … as in Buildbarn's URLs; NULL for an unknown number. */
const char *digest_function_name(int function);
/* The reverse, any letter case, also Buck2's names (SHA256, BLAKE3, BLAKE3-KEYED); DIGEST_UNKNOWN.
 */
enum digest_function digest_function_parse(struct str name);
/* Bytes of a hash of this function; 0 for an unknown one. */
size_t digest_function_length(int function);
/*
 * The function to send for a digest of a run that is configured with
 * `configured`: that one if the length fits, else the usual one of that length
 * (20: SHA1, 32: SHA256, …).
 */
enum digest_function digest_function_for(enum digest_function configured, size_t hash_len);

/* 0, or -1 with the rule that `name` breaks. "" is valid. */
int instance_name_check(const char *name, struct err *err);

enum link_kind { LINK_NONE, LINK_ACTION, LINK_HISTORICAL };

struct link {
	enum link_kind kind;
	struct digest digest; /* function set from the link */
	struct str prefix;    /* what stands before /blobs/, borrowed: still
				 percent-encoded, may hold scheme, host, the
				 portal's own path and the instance name */
};

/*
 * Finds the last Buildbarn link in `text` (a message, or a pasted URL), parsed
 * from its end: "[scheme://host][/path][/instance]/blobs/<fn>/<kind>/<hash>-<size>[/]".
 * Also without scheme, host and leading slash. LINK_NONE: there is none.
 */
void link_find(struct str text, struct link *out_link);
/*
 * Candidates for the instance name of a link's prefix, percent-decoded, longest
 * first, each with one more leading component cut off, "" last; invalid names
 * are left out. Fills at most `max` newly allocated strings (the caller frees
 * them) and returns their number.
 */
size_t link_instances(const struct link *link, char **out_names, size_t max);

#endif
