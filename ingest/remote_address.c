#include "remote_address.h"

#include "util/mem.h"

#include <assert.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

/* The longest prefix of several that fit stands first. */
static const struct {
	const char *prefix;
	enum address_scheme scheme;
	enum address_host kind; /* HOST_NAME: any host */
} schemes[] = {
	{"grpc://", ADDRESS_PLAINTEXT, HOST_NAME}, {"grpcs://", ADDRESS_TLS, HOST_NAME},
	{"dns:///", ADDRESS_BARE, HOST_NAME},	   {"dns://", ADDRESS_BARE, HOST_NAME},
	{"dns:", ADDRESS_BARE, HOST_NAME},	   {"ipv4://", ADDRESS_BARE, HOST_IPV4},
	{"ipv4:", ADDRESS_BARE, HOST_IPV4},	   {"ipv6://", ADDRESS_BARE, HOST_IPV6},
	{"ipv6:", ADDRESS_BARE, HOST_IPV6},	   {"unix://", ADDRESS_BARE, HOST_UNIX},
	{"unix:", ADDRESS_BARE, HOST_UNIX},
};

static int malformed(const char *text, const char *why, struct err *err)
{
	return err_set(err, ERR_USAGE, "'%s' is no server address: %s", text, why);
}

/* Takes the scheme off *text. */
static void take_scheme(const char **text, struct address *address)
{
	size_t i, len;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		len = strlen(schemes[i].prefix);
		if (strncasecmp(*text, schemes[i].prefix, len) != 0)
			continue;
		address->scheme = schemes[i].scheme;
		address->kind = schemes[i].kind;
		*text += len;
		return;
	}
}

static int refuse_scheme(const char *text, const char *colon, struct err *err)
{
	const char *rest = colon + 3;

	if (strncasecmp(text, "http://", 7) == 0)
		return err_set(err, ERR_USAGE, "'%s' names no gRPC server: write grpc://%s", text,
			       rest);
	if (strncasecmp(text, "https://", 8) == 0)
		return err_set(err, ERR_USAGE, "'%s' names no gRPC server: write grpcs://%s", text,
			       rest);
	return malformed(text, "its scheme is not one of grpc, grpcs, dns, ipv4, ipv6, unix", err);
}

static int parse_unix(const char *text, const char *path, struct address *address, struct err *err)
{
	struct sockaddr_un room;

	if (!*path)
		return malformed(text, "no path follows unix:", err);
	if (strncasecmp(text, "unix://", 7) == 0 && *path != '/')
		return malformed(text, "write unix:relative or unix:///absolute", err);
	while (path[0] == '/' && path[1] == '/') /* two would begin a URI's host */
		path++;
	if (strlen(path) >= sizeof(room.sun_path))
		return malformed(text, "the path is too long for a socket", err);
	address->host = xstrdup(path);
	address->loopback = true;
	return 0;
}

/* Digits from 1 to 65535 and nothing else; `port` NULL: none was given. */
static bool parse_port(const char *port, int *out_port)
{
	size_t len = port ? strlen(port) : 0;

	*out_port = 0;
	if (!port)
		return true;
	if (!len || len > 5 || strspn(port, "0123456789") != len)
		return false;
	*out_port = (int)strtol(port, NULL, 10);
	return *out_port >= 1 && *out_port <= 65535;
}

static char *lower_case(const char *text, size_t len)
{
	char *copy = xmemdup0(text, len);
	size_t i;

	for (i = 0; i < len; i++)
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] = (char)(copy[i] - 'A' + 'a');
	return copy;
}

static bool is_ipv6(const char *host)
{
	char *bare = xmemdup0(host, strcspn(host, "%")); /* a zone may follow */
	struct in6_addr binary;
	bool valid = inet_pton(AF_INET6, bare, &binary) == 1;

	free(bare);
	return valid;
}

static bool is_ipv4(const char *host)
{
	struct in_addr binary;

	return inet_pton(AF_INET, host, &binary) == 1;
}

static bool is_host_name(const char *host)
{
	return *host && strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._") == strlen(host);
}

char *address_host_name(const char *text)
{
	char *name = lower_case(text, strlen(text));

	if (is_host_name(name))
		return name;
	free(name);
	return NULL;
}

static bool is_loopback(const struct address *address)
{
	static const char suffix[] = ".localhost";
	size_t len, tail = sizeof(suffix) - 1;

	assert(address->host);
	len = strlen(address->host);
	switch (address->kind) {
	case HOST_IPV4:
		return strncmp(address->host, "127.", 4) == 0;
	case HOST_IPV6:
		return strcmp(address->host, "::1") == 0;
	case HOST_NAME:
		return strcmp(address->host, "localhost") == 0 ||
		       (len > tail && strcmp(address->host + len - tail, suffix) == 0);
	case HOST_UNIX:
		break;
	}
	return true;
}

/* "[v6]" or "[v6]:port" */
static int parse_bracketed(const char *text, const char *authority, struct address *address,
			   struct err *err)
{
	const char *close = strchr(authority, ']');

	if (!close)
		return malformed(text, "no ']' follows the '['", err);
	address->kind = HOST_IPV6;
	address->host = lower_case(authority + 1, (size_t)(close - authority) - 1);
	if (!is_ipv6(address->host))
		return malformed(text, "no IPv6 address stands in the brackets", err);
	if (close[1] && close[1] != ':')
		return malformed(text, "only :port may follow the ']'", err);
	if (!parse_port(close[1] ? close + 2 : NULL, &address->port))
		return malformed(text, "a port is a number from 1 to 65535", err);
	return 0;
}

static int parse_host(const char *text, const char *authority, struct address *address,
		      struct err *err)
{
	const char *colon = strchr(authority, ':');

	if (colon && strchr(colon + 1, ':'))
		return malformed(text, "write an IPv6 address in brackets: [::1]:8980", err);
	address->host = lower_case(authority, strcspn(authority, ":"));
	if (!is_host_name(address->host))
		return malformed(text, "give HOST:PORT", err);
	if (!parse_port(colon ? colon + 1 : NULL, &address->port))
		return malformed(text, "a port is a number from 1 to 65535", err);
	address->kind = is_ipv4(address->host) ? HOST_IPV4 : HOST_NAME;
	return 0;
}

static int parse_authority(const char *text, const char *authority, struct address *address,
			   struct err *err)
{
	enum address_host wanted = address->kind;
	int rc;

	if (*authority == '[')
		rc = parse_bracketed(text, authority, address, err);
	else
		rc = parse_host(text, authority, address, err);
	if (rc == 0 && wanted != HOST_NAME && wanted != address->kind)
		rc = malformed(text, "the host is not of the kind that its scheme says", err);
	if (rc == 0)
		address->loopback = is_loopback(address);
	return rc;
}

/* The authority without the one slash that may end it. Caller frees; NULL: a path follows. */
static char *cut_authority(const char *rest)
{
	size_t len = strcspn(rest, "/");

	return rest[len] && rest[len + 1] ? NULL : xmemdup0(rest, len);
}

int address_parse(const char *text, struct address *out_address, struct err *err)
{
	struct address address = {.scheme = ADDRESS_BARE, .kind = HOST_NAME};
	const char *rest = text, *colon = strstr(text, "://");
	char *authority = NULL;
	int rc;

	/* Not shown: what stands before the '@' is a secret. */
	if (strchr(text, '@'))
		return err_set(err, ERR_USAGE,
			       "a server address holds no user or password: use "
			       "headers or a token file");
	take_scheme(&rest, &address);
	if (rest == text && colon)
		return refuse_scheme(text, colon, err);
	if (address.kind == HOST_UNIX)
		rc = parse_unix(text, rest, &address, err);
	else if (!(authority = cut_authority(rest)))
		rc = malformed(text, "it holds a path", err);
	else
		rc = parse_authority(text, authority, &address, err);
	free(authority);
	if (rc < 0)
		address_release(&address);
	else
		*out_address = address;
	return rc;
}

void address_release(struct address *address)
{
	free(address->host);
	address->host = NULL;
}

static int port_of(const struct address *address, bool tls)
{
	if (address->port)
		return address->port;
	return tls ? 443 : 80;
}

char *address_endpoint(const struct address *address, bool tls)
{
	int port = port_of(address, tls);

	switch (address->kind) {
	case HOST_UNIX:
		return xasprintf("unix:%s", address->host);
	case HOST_IPV6:
		return xasprintf("[%s]:%d", address->host, port);
	case HOST_NAME:
	case HOST_IPV4:
		break;
	}
	return xasprintf("%s:%d", address->host, port);
}
