/*
 * A server's address as people write it, taken apart; pure. Known forms:
 * host, host:port, 1.2.3.4:port, [v6]:port, grpc://…, grpcs://…, dns:…,
 * ipv4:…, ipv6:… (with or without slashes, as Buck2 takes them) and unix:path.
 */
#ifndef BR2_REMOTE_ADDRESS_H
#define BR2_REMOTE_ADDRESS_H

#include "util/err.h"

#include <stdbool.h>

/* What the scheme says of TLS. */
enum address_scheme { ADDRESS_BARE, ADDRESS_PLAINTEXT, ADDRESS_TLS };

enum address_host { HOST_NAME, HOST_IPV4, HOST_IPV6, HOST_UNIX };

struct address {
	enum address_scheme scheme;
	enum address_host kind;
	char *host; /* lower case, without brackets; HOST_UNIX: the socket's path */
	int port;   /* 0: none was given */
	bool loopback;
};

/*
 * -1 (ERR_USAGE): not such an address; the text says what to write instead, and
 * holds no user name or password that the address may have. The caller releases
 * *out_address.
 */
int address_parse(const char *text, struct address *out_address, struct err *err);
void address_release(struct address *address);

/*
 * One spelling of all that mean the same: "localhost:8980", "[::1]:8980",
 * "unix:/s.sock"; no port: 443 with TLS, else 80. Caller frees.
 */
char *address_endpoint(const struct address *address, bool tls);
/* A host's name or IPv4 address alone, in lower case; NULL: it is none. Caller frees. */
char *address_host_name(const char *text);

#endif
