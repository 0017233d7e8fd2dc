/*
 * Where to ask, and how: the action cache's address, TLS and headers, from the
 * command line, the environment and .buckconfig. A log never names a server:
 * a stranger's log must not receive our tokens. Keys and their meaning: buck2
 * app/buck2_re_configuration/src/lib.rs and remote_execution/oss/re_grpc at
 * e26331d4a2.
 *
 * What .buckconfig says of TLS, certificates and headers belongs to the server
 * that it names, and is not sent there in clear where it wants TLS; another
 * server, given by flag or environment, gets only what flags say.
 */
#ifndef BR2_REMOTE_H
#define BR2_REMOTE_H

#include "buckconfig.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>

struct header {
	char *name;  /* lower case, legal for gRPC */
	char *value; /* a secret: never printed, never stored */
};

/* A server, and how to speak to it. */
struct remote {
	char *endpoint; /* localhost:8980, 1.2.3.4:80, [::1]:8980, unix:/a/path */
	bool tls;
	bool loopback;	 /* or a unix socket: no proxy then */
	char *ca_path;	 /* PEM; NULL: the system's roots */
	char *cert_path; /* PEM with certificate chain; NULL */
	char *key_path;	 /* PEM with private key; equal to cert_path if in one file; NULL */
	char *tls_name;	 /* whose certificate it shows, and the :authority; NULL: the endpoint's */
	struct header *headers;
	size_t header_count;
	char *token_path; /* bearer token file, re-read when refused once; NULL */
	char *source; /* where the endpoint came from: "--endpoint", "BR2_RE_ENDPOINT", path:line,
			 "default" */
	bool named;   /* .buckconfig names this server; else only a flag or the default */
	bool header_on_argv;  /* worth a warning: a --header's value stands in the process list */
	bool secret_in_clear; /* worth a warning: headers or token, no TLS, not this machine */
};

struct remote_flags {
	const char *endpoint;	    /* --endpoint */
	const char *ca;		    /* --tls-ca */
	const char *cert, *key;	    /* --tls-cert, --tls-key; key NULL: it is in the cert's file */
	const char *tls_name;	    /* --tls-server-name */
	const char *token_file;	    /* --token-file */
	const char *const *headers; /* --header NAME=VALUE or "NAME: VALUE" ($VAR expanded) */
	size_t header_count;
	bool no_tls; /* --no-tls */
};

/*
 * Where to ask: --endpoint, BR2_RE_ENDPOINT, [buck2_re_client]
 * action_cache_address or address, localhost:8980. `config` may be NULL.
 *
 * TLS: grpcs:// and grpc:// in a flag or the environment say it; --no-tls and
 * --tls-* say it for an address without scheme. Else: the `tls` key of
 * .buckconfig for the server that it names and for hosts elsewhere (true if not
 * set, as in Buck2; the scheme there means nothing, but for grpcs), and
 * plaintext for the default and for other servers on this machine.
 *
 * -1 (ERR_USAGE): an address, header or TLS file that cannot be right, or flags
 * that contradict each other. No text holds a header's value.
 */
int remote_resolve(const struct remote_flags *flags, struct buckconfig *config,
		   struct remote *out_remote, struct err *err);
void remote_release(struct remote *remote);
/* The same address, asked in the same way: TLS, certificates (their bytes) and headers. */
bool remote_same(const struct remote *a, const struct remote *b);

/*
 * The token in the file, white space around it cut off: to be sent as
 * "authorization: Bearer TOKEN". Caller frees. -1 (ERR_USAGE): no file, empty,
 * or bytes that no header may hold.
 */
int remote_read_token(const char *path, char **out_token, struct err *err);

#endif
