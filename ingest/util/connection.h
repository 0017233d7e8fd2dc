/*
 * A pipe of bytes to a server: names and their several addresses, proxies, TLS
 * and unix sockets, all by libcurl, which sends nothing of its own but a
 * proxy's CONNECT. Nothing blocks for longer than it is told.
 *
 * Certificates are verified, always; TLS is 1.2 or later. No text holds a
 * proxy's address, which may hold a password.
 */
#ifndef BR2_CONNECTION_H
#define BR2_CONNECTION_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All texts are borrowed until the connection is established or freed. */
struct connection_options {
	const char *server; /* "name:port", "1.2.3.4:port", "[::1]:port" or "unix:path" */
	bool tls;
	const char *protocol;  /* with TLS: what the server must choose by ALPN: "h2" */
	const char *ca_path;   /* PEM, in place of the system's roots; NULL */
	const char *cert_path; /* PEM, what we show; NULL: nothing */
	const char *key_path;  /* PEM, its key */
	/* Whose certificate it must be, and whom we ask for (SNI): a host's name or IPv4 address;
	   NULL: the one in `server`, localhost for a unix socket */
	const char *tls_name;
	const char *proxy;    /* URL, asked for a tunnel; NULL: none, whatever curl would take */
	const char *no_proxy; /* hosts that are reached without it, as curl has it; NULL */
	int64_t connect_ms;   /* until it is established, TLS included */
};

struct connection;

/* Is there a library for TLS that we can use? -1 (ERR_USAGE): no. */
int connection_check_tls(struct err *err);

/* Begins to connect. Never NULL. */
struct connection *connection_new(const struct connection_options *options);
void connection_free(struct connection *connection);
/*
 * Goes on with connecting, for timeout_ms at most, or until a signal. 1:
 * established; 0: not yet; -1 (ERR_NET): it cannot be; err says why.
 */
int connection_establish(struct connection *connection, int64_t timeout_ms, struct err *err);

/* ---- once it is established ---- */

/* 0: *out_sent bytes of it are on their way, none if there is no room; -1 (ERR_NET): lost. */
int connection_send(struct connection *connection, const void *data, size_t len, size_t *out_sent,
		    struct err *err);
/* 1: *out_got bytes came; 0: none are there now; -1 (ERR_NET): lost, or closed by the server. */
int connection_receive(struct connection *connection, void *data, size_t room, size_t *out_got,
		       struct err *err);
/* May there be more than what was received, without waiting? */
bool connection_may_have_more(const struct connection *connection, size_t got, size_t room);
/* Waits until something came, or with `to_send` there is room; timeout_ms at most, or a signal. */
void connection_wait(struct connection *connection, bool to_send, int64_t timeout_ms);

#endif
