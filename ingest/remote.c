#include "remote.h"

#include "remote_address.h"
#include "remote_header.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define SECTION "buck2_re_client"
#define DEFAULT_ENDPOINT "localhost:8980"
#define PEM_MAX ((size_t)4 << 20)
#define TOKEN_MAX ((size_t)64 << 10)

/* ---- what .buckconfig says ---- */

/*
 * 1: the key's value, $NAME replaced, to be freed; 0: not set or empty, which
 * is how people unset an address; -1.
 */
static int config_text(struct buckconfig *config, const char *key, char **out_text, struct err *err)
{
	const char *value;
	int rc = config ? buckconfig_get(config, SECTION, key, &value, err) : 0;

	if (rc <= 0 || !*value)
		return rc < 0 ? -1 : 0;
	if (buckconfig_expand_env(value, out_text, err) < 0)
		return err_prefix(err, "%s: %s", buckconfig_origin(config, SECTION, key), key);
	return 1;
}

/* Exactly true or false, as Buck2; true where it is not set. */
static int config_tls(struct buckconfig *config, bool *out_tls, struct err *err)
{
	const char *value;
	int rc = config ? buckconfig_get(config, SECTION, "tls", &value, err) : 0;

	if (rc < 0)
		return -1;
	if (rc && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		return err_set(err, ERR_USAGE, "%s: tls is true or false",
			       buckconfig_origin(config, SECTION, "tls"));
	*out_tls = !rc || strcmp(value, "true") == 0;
	return 0;
}

/* A path, which Buck2's daemon reads from the project root. 1, 0, -1. */
static int config_path(struct buckconfig *config, const char *key, char **out_path, struct err *err)
{
	const char *root = config ? buckconfig_root(config) : NULL;
	char *path = NULL;
	int rc = config_text(config, key, &path, err);

	if (rc <= 0)
		return rc;
	*out_path = *path == '/' || !root ? xstrdup(path) : xasprintf("%s/%s", root, path);
	free(path);
	return 1;
}

/* action_cache_address, else address; *out_key names the one. 1, 0, -1. */
static int config_address(struct buckconfig *config, const char **out_key, char **out_text,
			  struct err *err)
{
	static const char *const keys[] = {"action_cache_address", "address"};
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < 2; i++) {
		*out_key = keys[i];
		rc = config_text(config, keys[i], out_text, err);
	}
	return rc;
}

/* ---- which server ---- */

struct choice {
	struct address address;
	char *source;
	bool from_config;
	bool own; /* the server that .buckconfig names, wherever we have it from */
};

static int choose_text(const struct remote_flags *flags, struct buckconfig *config,
		       struct choice *choice, char **out_text, struct err *err)
{
	const char *given = getenv("BR2_RE_ENDPOINT"), *key;
	int rc;

	if (flags->endpoint || (given && *given)) {
		*out_text = xstrdup(flags->endpoint ? flags->endpoint : given);
		choice->source = xstrdup(flags->endpoint ? "--endpoint" : "BR2_RE_ENDPOINT");
		return 0;
	}
	rc = config_address(config, &key, out_text, err);
	if (rc < 0)
		return -1;
	choice->from_config = choice->own = rc == 1;
	choice->source = xstrdup(rc ? buckconfig_origin(config, SECTION, key) : "default");
	if (!rc)
		*out_text = xstrdup(DEFAULT_ENDPOINT);
	return 0;
}

/* Does .buckconfig name this very server? What cannot be read there does not. */
static bool is_named(const struct address *address, struct buckconfig *config, bool tls)
{
	struct err ignored = ERR_INIT;
	struct address named;
	char *text = NULL, *ours = NULL, *theirs = NULL;
	const char *key;
	bool same = false;

	if (config_address(config, &key, &text, &ignored) == 1 &&
	    address_parse(text, &named, &ignored) == 0) {
		ours = address_endpoint(address, tls);
		theirs = address_endpoint(&named, tls);
		same = strcmp(ours, theirs) == 0;
		address_release(&named);
	}
	free(text);
	free(ours);
	free(theirs);
	return same;
}

static int choose(const struct remote_flags *flags, struct buckconfig *config, bool tls,
		  struct choice *choice, struct err *err)
{
	char *text = NULL;
	int rc;

	if (choose_text(flags, config, choice, &text, err) < 0)
		return -1;
	rc = address_parse(text, &choice->address, err);
	if (rc < 0)
		err_prefix(err, "%s", choice->source);
	if (rc == 0 && !choice->own)
		choice->own = is_named(&choice->address, config, tls);
	free(text);
	return rc;
}

static int decide_tls(const struct remote_flags *flags, const struct choice *choice,
		      bool configured, bool *out_tls, struct err *err)
{
	bool wanted = flags->ca || flags->cert || flags->key || flags->tls_name;
	enum address_scheme scheme = choice->address.scheme;

	if (choice->from_config && scheme == ADDRESS_PLAINTEXT)
		scheme = ADDRESS_BARE;
	if (flags->no_tls && (wanted || scheme == ADDRESS_TLS))
		return err_set(err, ERR_USAGE, "--no-tls contradicts %s",
			       wanted ? "--tls-ca, --tls-cert, --tls-key and --tls-server-name"
				      : "grpcs://");
	if (wanted && scheme == ADDRESS_PLAINTEXT)
		return err_set(err, ERR_USAGE, "grpc:// is plaintext: --tls-* want grpcs://");
	if (flags->no_tls || scheme == ADDRESS_PLAINTEXT)
		*out_tls = false;
	else if (wanted || scheme == ADDRESS_TLS)
		*out_tls = true;
	else
		*out_tls = configured && (choice->own || !choice->address.loopback);
	return 0;
}

/* ---- certificates and tokens ---- */

/* Said now, and of which file: a connection that fails later says neither. */
static int check_pem(const char *path, const char *what, const char *label, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = file_read(path, PEM_MAX, &text, err);

	if (rc == 0 && (!strstr(text.data, "-----BEGIN ") || !strstr(text.data, label)))
		rc = err_set(err, ERR_USAGE, "%s: no PEM file with a %s", path, what);
	err->kind = rc < 0 ? ERR_USAGE : err->kind;
	buf_release(&text);
	return rc;
}

/* The flag's path, else that of .buckconfig where it counts. */
static int pick_path(const char *flag, struct buckconfig *config, const char *key, char **out_path,
		     struct err *err)
{
	if (flag) {
		*out_path = xstrdup(flag);
		return 0;
	}
	return config_path(config, key, out_path, err) < 0 ? -1 : 0;
}

/* `config` NULL: it does not count for this server. */
static int load_tls(const struct remote_flags *flags, struct buckconfig *config,
		    struct remote *remote, struct err *err)
{
	if (flags->key && !flags->cert)
		return err_set(err, ERR_USAGE, "--tls-key wants --tls-cert");
	if (flags->tls_name && !(remote->tls_name = address_host_name(flags->tls_name)))
		return err_set(err, ERR_USAGE,
			       "--tls-server-name wants a host's name or IPv4 address, without "
			       "port, not '%s'",
			       flags->tls_name);
	if (pick_path(flags->ca, config, "tls_ca_certs", &remote->ca_path, err) < 0 ||
	    pick_path(flags->cert, config, "tls_client_cert", &remote->cert_path, err) < 0)
		return -1;
	if (remote->cert_path)
		remote->key_path = xstrdup(flags->key ? flags->key : remote->cert_path);
	if (remote->ca_path &&
	    check_pem(remote->ca_path, "certificate", "-----BEGIN CERTIFICATE", err) < 0)
		return -1;
	if (!remote->cert_path)
		return 0;
	if (check_pem(remote->cert_path, "certificate", "-----BEGIN CERTIFICATE", err) < 0)
		return -1;
	return check_pem(remote->key_path, "private key", "PRIVATE KEY-----", err);
}

int remote_read_token(const char *path, char **out_token, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = file_read(path, TOKEN_MAX, &text, err);
	size_t start, len;
	char *token;

	start = strspn(text.data, " \t\r\n");
	for (len = strlen(text.data); len > start && strchr(" \t\r\n", text.data[len - 1]); len--)
		;
	token = xmemdup0(text.data + start, len - start);
	if (rc == 0 && (!*token || strlen(text.data) != text.len || !header_value_is_legal(token)))
		rc = err_set(err, ERR_USAGE, "%s: no token, or more than one line", path);
	if (rc == 0)
		*out_token = token;
	else
		free(token);
	err->kind = rc < 0 ? ERR_USAGE : err->kind;
	buf_release(&text);
	return rc;
}

static int load_token(const struct remote_flags *flags, struct remote *remote, struct err *err)
{
	char *token = NULL;

	if (!flags->token_file)
		return 0;
	if (remote_read_token(flags->token_file, &token, err) < 0)
		return err_prefix(err, "--token-file");
	free(token);
	remote->token_path = xstrdup(flags->token_file);
	return 0;
}

/* ---- headers ---- */

static int load_headers(const struct remote_flags *flags, struct buckconfig *config,
			struct remote *remote, struct err *err)
{
	const char *list;
	size_t i;
	int rc = config ? buckconfig_get(config, SECTION, "http_headers", &list, err) : 0;

	if (rc < 0)
		return -1;
	if (rc && headers_add_config(remote, list, err) < 0)
		return err_prefix(err, "%s", buckconfig_origin(config, SECTION, "http_headers"));
	if (flags->token_file)
		headers_drop(remote, "authorization");
	for (i = 0; i < flags->header_count; i++)
		if (headers_add_flag(remote, flags->headers[i], i + 1, err) < 0)
			return -1;
	if (flags->token_file && headers_have(remote, "authorization"))
		return err_set(err, ERR_USAGE,
			       "--token-file and --header authorization contradict "
			       "each other");
	return 0;
}

/* ---- all of it ---- */

/*
 * What .buckconfig says of headers and certificates is for its own server, and
 * where it wants TLS, for that server with TLS.
 */
static int fill(const struct remote_flags *flags, struct buckconfig *config,
		const struct choice *choice, bool configured, struct remote *remote,
		struct err *err)
{
	struct buckconfig *own = choice->own && (remote->tls || !configured) ? config : NULL;

	remote->endpoint = address_endpoint(&choice->address, remote->tls);
	remote->loopback = choice->address.loopback;
	remote->source = xstrdup(choice->source);
	remote->named = choice->own;
	if (remote->tls && load_tls(flags, own, remote, err) < 0)
		return -1;
	if (load_headers(flags, own, remote, err) < 0 || load_token(flags, remote, err) < 0)
		return -1;
	remote->secret_in_clear =
		!remote->tls && !remote->loopback && (remote->header_count || remote->token_path);
	return 0;
}

int remote_resolve(const struct remote_flags *flags, struct buckconfig *config,
		   struct remote *out_remote, struct err *err)
{
	struct remote remote = {0};
	struct choice choice = {0};
	bool configured = true;
	int rc = -1;

	if (config_tls(config, &configured, err) < 0 ||
	    choose(flags, config, configured, &choice, err) < 0 ||
	    decide_tls(flags, &choice, configured, &remote.tls, err) < 0 ||
	    fill(flags, config, &choice, configured, &remote, err) < 0)
		goto out;
	*out_remote = remote;
	remote = (struct remote){0};
	rc = 0;
out:
	remote_release(&remote);
	address_release(&choice.address);
	free(choice.source);
	return rc;
}

void remote_release(struct remote *remote)
{
	size_t i;

	for (i = 0; i < remote->header_count; i++) {
		free(remote->headers[i].name);
		free(remote->headers[i].value);
	}
	free(remote->headers);
	free(remote->endpoint);
	free(remote->ca_path);
	free(remote->cert_path);
	free(remote->key_path);
	free(remote->tls_name);
	free(remote->token_path);
	free(remote->source);
	*remote = (struct remote){0};
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Each project may have its own copy of a certificate. */
static bool same_file(const char *a, const char *b)
{
	struct buf left = BUF_INIT, right = BUF_INIT;
	struct err ignored = ERR_INIT;
	bool same = same_text(a, b);

	if (!same && a && b)
		same = file_read(a, PEM_MAX, &left, &ignored) == 0 &&
		       file_read(b, PEM_MAX, &right, &ignored) == 0 && left.len == right.len &&
		       memcmp(left.data, right.data, left.len) == 0;
	buf_release(&left);
	buf_release(&right);
	return same;
}

static bool same_headers(const struct remote *a, const struct remote *b)
{
	size_t i;

	for (i = 0; i < a->header_count && i < b->header_count; i++)
		if (strcmp(a->headers[i].name, b->headers[i].name) != 0 ||
		    strcmp(a->headers[i].value, b->headers[i].value) != 0)
			return false;
	return a->header_count == b->header_count;
}

bool remote_same(const struct remote *a, const struct remote *b)
{
	return strcmp(a->endpoint, b->endpoint) == 0 && a->tls == b->tls &&
	       same_file(a->ca_path, b->ca_path) && same_file(a->cert_path, b->cert_path) &&
	       same_file(a->key_path, b->key_path) && same_text(a->tls_name, b->tls_name) &&
	       same_headers(a, b) && same_text(a->token_path, b->token_path);
}
