/*
 * Buck2's .buckconfig files, read as Buck2 reads them for its remote execution
 * client: the root cell's, includes followed, nothing of the command line.
 * Rules: buck2 app/buck2_common/src/legacy_configs/{cells,file_ops,parser}.rs
 * and parser/resolver.rs at e26331d4a2.
 */
#ifndef BR2_BUCKCONFIG_H
#define BR2_BUCKCONFIG_H

#include "model.h"
#include "util/err.h"

#include <stddef.h>

/* A file, and all files together that are read for one configuration. */
#define BUCKCONFIG_FILE_MAX ((size_t)16 << 20)
#define BUCKCONFIG_FILES_MAX 1000
/* Bytes of one value after interpolation, and references within references. */
#define BUCKCONFIG_VALUE_MAX ((size_t)64 << 10)
#define BUCKCONFIG_DEPTH_MAX 100

struct buckconfig;

/*
 * Reads all .buckconfig files that count for `root`, in Buck2's order
 * (/etc/buckconfig.d, /etc/buckconfig, ~/.buckconfig.d, ~/.buckconfig.local,
 * <root>/.buckconfig.d, <root>/.buckconfig, <root>/.buckconfig.local), includes
 * followed; a missing one is no fault. `home` may be NULL; `etc` is "/etc" but
 * for tests. -1: a file that does not parse (path:line: what, never the text,
 * which may be a secret), a missing include, or a bound above.
 */
int buckconfig_load(struct buckconfig **out_config, const char *root, const char *home,
		    const char *etc, struct err *err);
/* One text of `len` bytes, called `name` in messages; its includes are passed over. */
int buckconfig_parse(struct buckconfig **out_config, const char *text, size_t len, const char *name,
		     struct err *err);
void buckconfig_free(struct buckconfig *config);

/*
 * The value of section.key after $(config …) interpolation. 1: *out_value,
 * owned by the config, may be ""; 0: not set; -1: a cycle, or a bound above.
 */
int buckconfig_get(struct buckconfig *config, const char *section, const char *key,
		   const char **out_value, struct err *err);
/* "path:line" where the value was set, or NULL; owned by the config. */
const char *buckconfig_origin(const struct buckconfig *config, const char *section,
			      const char *key);
/* The project root that buckconfig_load() was given; NULL after buckconfig_parse(). */
const char *buckconfig_root(const struct buckconfig *config);

/*
 * Replaces $NAME by the environment's value, as Buck2 does. Caller frees. -1: not set; the
 * message shows a name in upper case only, as another may be a piece of a password.
 */
int buckconfig_expand_env(const char *text, char **out_text, struct err *err);

/*
 * The digest function of [buck2] digest_algorithms' first name; DIGEST_UNKNOWN
 * if it is not set or not known. Buck2 reads this key before it follows
 * includes, so what included files say of it does not count.
 */
enum digest_function config_digest_function(struct buckconfig *config);

#endif
