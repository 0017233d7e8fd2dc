/*
 * Buck2's own configuration and what we take from it: the project root, the
 * project's name, and where to ask (design: a log never names a server).
 * Rules: buck2 app/buck2_common/src/legacy_configs/ and
 * app/buck2_re_configuration/src/lib.rs at e26331d4a2.
 */
#ifndef BR2_CONFIG_H
#define BR2_CONFIG_H

#include "model.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>

struct buckconfig;

/*
 * Reads all .buckconfig files that count for `root`, in Buck2's order
 * (/etc/buckconfig.d, /etc/buckconfig, ~/.buckconfig.d, ~/.buckconfig.local,
 * <root>/.buckconfig.d, <root>/.buckconfig, <root>/.buckconfig.local), includes
 * followed. `home` may be NULL; `etc` is "/etc" but for tests. -1: a file that
 * does not parse (path:line: what) or a missing include.
 */
int buckconfig_load(struct buckconfig **out_config, const char *root, const char *home,
		    const char *etc, struct err *err);
void buckconfig_free(struct buckconfig *config);
/*
 * The value of section.key after $(config …) interpolation. 1: *out_value,
 * owned by the config; 0: not set; -1: a cycle.
 */
int buckconfig_get(struct buckconfig *config, const char *section, const char *key,
		   const char **out_value, struct err *err);
/* "path:line" where the value was set, or NULL. */
const char *buckconfig_origin(const struct buckconfig *config, const char *section,
			      const char *key);
/* Replaces $NAME by the environment's value, as Buck2 does. -1: not set. Caller frees. */
int buckconfig_expand_env(const char *text, char **out_text, struct err *err);

/*
 * The project root above `dir` (absolute) as Buck2 finds it: the furthest
 * ancestor with a .buckconfig, ending at one with a .buckroot. NULL: none.
 * Caller frees.
 */
char *project_find_root(const char *dir, const char *home);
/* `name` of <root>/project.json, else the base name of root. Never NULL; caller frees. */
char *project_name(const char *root);

struct header {
	char *name;  /* lower case, legal for gRPC */
	char *value; /* a secret: never printed, never stored */
};

/* A server, and how to speak to it. */
struct remote {
	char *endpoint; /* as the user knows it, for messages: localhost:8980 */
	char *target;	/* what gRPC takes: dns:///h:p, ipv6:…, unix:… */
	bool tls;
	bool loopback;	 /* or a unix socket: no proxy then */
	char *ca_path;	 /* PEM; NULL: the system's roots */
	char *cert_path; /* PEM with certificate chain */
	char *key_path;	 /* PEM with private key; equal to cert_path if in one file */
	struct header *headers;
	size_t header_count;
	char *token_path; /* bearer token file, re-read when refused once; NULL */
	char *source; /* where the endpoint came from: "--endpoint", "BR2_RE_ENDPOINT", path:line,
			 "default" */
};

struct remote_flags {
	const char *endpoint;	    /* --endpoint */
	const char *ca;		    /* --tls-ca */
	const char *cert, *key;	    /* --tls-cert, --tls-key */
	const char *token_file;	    /* --token-file */
	const char *const *headers; /* --header NAME=VALUE or "NAME: VALUE" ($VAR expanded) */
	size_t header_count;
	bool no_tls; /* --no-tls */
};

/*
 * Where to ask: --endpoint, BR2_RE_ENDPOINT, [buck2_re_client]
 * action_cache_address or address, localhost:8980. `config` may be NULL.
 * -1: an address, header or TLS file that cannot be right (ERR_USAGE).
 */
int remote_resolve(const struct remote_flags *flags, struct buckconfig *config,
		   struct remote *out_remote, struct err *err);
void remote_release(struct remote *remote);
/* The digest function of [buck2] digest_algorithms' first name; DIGEST_UNKNOWN if not set. */
enum digest_function config_digest_function(struct buckconfig *config);

#endif
