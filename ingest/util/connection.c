#include "util/connection.h"

#include "util/curl_files.h"
#include "util/mem.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct connection {
	CURLM *multi;
	CURL *curl;
	struct curl_slist *connect_to; /* libcurl's, for as long as it connects */
	bool established;
	bool plain; /* nothing stands between us and the socket */
	bool proxied;
	int socket;
	unsigned char alpn[32]; /* as TLS has it: a length, then the name */
	bool chosen;		/* the server has chosen it */
	struct curl_files files;
	char detail[CURL_ERROR_SIZE];
};

/* ---- TLS ---- */

/* We speak to OpenSSL below libcurl, so it must be libcurl's library too. */
int connection_check_tls(struct err *err)
{
	const char *name = curl_version_info(CURLVERSION_NOW)->ssl_version;

	if (name && strncmp(name, "OpenSSL/", 8) == 0)
		return 0;
	return err_set(err, ERR_USAGE, "TLS wants a libcurl with OpenSSL; this one has %s",
		       name ? name : "no TLS");
}

static int owner_index(void)
{
	static int index = -1;

	if (index < 0)
		index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
	return index;
}

static void on_handshake(const SSL *ssl, int where, int result)
{
	struct connection *connection = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), owner_index());
	const unsigned char *name;
	unsigned int len;

	(void)result;
	if (!(where & SSL_CB_HANDSHAKE_DONE))
		return;
	SSL_get0_alpn_selected(ssl, &name, &len);
	connection->chosen =
		len == connection->alpn[0] && memcmp(name, connection->alpn + 1, len) == 0;
}

/*
 * libcurl offers "h2" only where it means to speak it itself, which it must not
 * here. A write that found no room may come again from another place: its bytes
 * stand in a buffer that grows.
 */
static CURLcode on_tls(CURL *curl, void *tls, void *context)
{
	struct connection *connection = context;

	(void)curl;
	SSL_CTX_set_ex_data(tls, owner_index(), connection);
	SSL_CTX_set_info_callback(tls, on_handshake);
	SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (SSL_CTX_set_alpn_protos(tls, connection->alpn, connection->alpn[0] + 1u) != 0)
		return CURLE_OUT_OF_MEMORY;
	return CURLE_OK;
}

static void set_tls(struct connection *connection, const struct connection_options *options)
{
	CURL *curl = connection->curl;
	size_t len = strlen(options->protocol);

	connection->alpn[0] = (unsigned char)len;
	memcpy(connection->alpn + 1, options->protocol, len);
	curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
	curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_tls);
	curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, connection);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	if (options->ca_path) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_path);
		/* Else the system's folder would still be trusted, too. */
		curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	if (!options->cert_path)
		return;
	curl_easy_setopt(curl, CURLOPT_SSLCERT, options->cert_path);
	curl_easy_setopt(curl, CURLOPT_SSLKEY, options->key_path);
	/* A key that wants a password is an error, not a prompt. */
	curl_easy_setopt(curl, CURLOPT_KEYPASSWD, "");
}

/* ---- life ---- */

/* Whatever the URL names, whose name is the one that TLS asks for and verifies. */
static void lead_to(struct connection *connection, const char *server)
{
	char *way = xasprintf("::%s", server);

	connection->connect_to = curl_slist_append(NULL, way);
	if (!connection->connect_to)
		abort(); /* out of memory */
	curl_easy_setopt(connection->curl, CURLOPT_CONNECT_TO, connection->connect_to);
	free(way);
}

static void set_server(struct connection *connection, const struct connection_options *options)
{
	bool local = strncmp(options->server, "unix:", 5) == 0;
	const char *named = options->tls ? options->tls_name : NULL;
	char *url = xasprintf("http%s://%s/", options->tls ? "s" : "",
			      named   ? named
			      : local ? "localhost"
				      : options->server);

	curl_easy_setopt(connection->curl, CURLOPT_URL, url);
	if (local)
		curl_easy_setopt(connection->curl, CURLOPT_UNIX_SOCKET_PATH, options->server + 5);
	else if (named)
		lead_to(connection, options->server);
	free(url);
}

static void set_proxy(struct connection *connection, const struct connection_options *options)
{
	CURL *curl = connection->curl;

	curl_easy_setopt(curl, CURLOPT_PROXY, options->proxy ? options->proxy : "");
	if (!options->proxy)
		return;
	connection->proxied = true;
	curl_easy_setopt(curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
	if (options->no_proxy)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, options->no_proxy);
}

struct connection *connection_new(const struct connection_options *options)
{
	struct connection *connection = xcalloc(1, sizeof(*connection));
	CURL *curl;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort(); /* out of memory, or a libcurl without its TLS library */
	connection->multi = curl_multi_init();
	connection->curl = curl = curl_easy_init();
	if (!connection->multi || !curl)
		abort();
	connection->plain = !options->tls && !options->proxy;
	set_server(connection, options);
	set_proxy(connection, options);
	if (options->tls)
		set_tls(connection, options);
	curl_files_watch(&connection->files, curl);
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, connection->detail);
	/* A name server that is mute must not hold up our end. */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	if (curl_multi_add_handle(connection->multi, curl) != CURLM_OK)
		abort();
	return connection;
}

/*
 * TLS says goodbye to a server that may be gone. libcurl ignores SIGPIPE where it
 * sends and receives, but not in curl_multi_remove_handle().
 */
void connection_free(struct connection *connection)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

	if (!connection)
		return;
	sigaction(SIGPIPE, &ignore, &before);
	curl_multi_remove_handle(connection->multi, connection->curl);
	curl_easy_cleanup(connection->curl);
	curl_multi_cleanup(connection->multi);
	curl_slist_free_all(connection->connect_to);
	curl_global_cleanup();
	sigaction(SIGPIPE, &before, NULL);
	free(connection);
}

/* ---- connecting ---- */

/*
 * libcurl's words, unless they show a proxy's password ("Unsupported proxy
 * syntax in '…'"), or are the first of several and no cause: "getpeername()
 * failed" of a connection that was reset at once.
 */
static const char *detail_of(const struct connection *connection, CURLcode code)
{
	const char *detail = connection->detail;

	if (!*detail || (connection->proxied && strchr(detail, '@')) ||
	    strncmp(detail, "getpeername()", 13) == 0)
		return curl_easy_strerror(code);
	return detail;
}

static int explain_connect(const struct connection *connection, CURLcode code, struct err *err)
{
	long number = 0;

	curl_easy_getinfo(connection->curl, CURLINFO_OS_ERRNO, &number);
	return err_set(err, ERR_NET, "%s",
		       number ? strerror((int)number) : detail_of(connection, code));
}

static int explain_timeout(const struct connection *connection, struct err *err)
{
	curl_off_t found_us = 0;

	curl_easy_getinfo(connection->curl, CURLINFO_NAMELOOKUP_TIME_T, &found_us);
	return err_set(err, ERR_NET, "%s",
		       found_us ? "connecting timed out"
				: "the name's address was not told in time");
}

/*
 * libcurl has one code for all of them. It looks at the name when OpenSSL found
 * no fault, and in some versions before it keeps that: "unspecified" then.
 */
static int explain_certificate(const struct connection *connection, struct err *err)
{
	long result = 0;

	curl_easy_getinfo(connection->curl, CURLINFO_SSL_VERIFYRESULT, &result);
	switch (result) {
	case X509_V_OK:
	case X509_V_ERR_UNSPECIFIED:
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return err_set(err, ERR_NET, "the certificate is for another name");
	case X509_V_ERR_CERT_NOT_YET_VALID:
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return err_set(err, ERR_NET, "the certificate is not valid today");
	default:
		return err_set(err, ERR_NET, "the certificate is not trusted: %s",
			       X509_verify_cert_error_string(result));
	}
}

static int closed(struct err *err)
{
	return err_set(err, ERR_NET, "the server closed the connection");
}

/* A server that refuses us by an alert of TLS 1.3 does so when we think all is well. */
static int explain_loss(const struct connection *connection, CURLcode code, struct err *err)
{
	const char *detail = detail_of(connection, code);

	if (connection->established && !strstr(detail, "alert"))
		return closed(err);
	return err_set(err, ERR_NET, "%s", detail);
}

static int explain(const struct connection *connection, CURLcode code, struct err *err)
{
	const char *detail = detail_of(connection, code);

	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
		return err_set(err, ERR_NET, "the proxy's name does not resolve");
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, ERR_NET, "the name does not resolve");
	case CURLE_COULDNT_CONNECT:
		return explain_connect(connection, code, err);
	case CURLE_OPERATION_TIMEDOUT:
		return explain_timeout(connection, err);
	case CURLE_PEER_FAILED_VERIFICATION:
		return explain_certificate(connection, err);
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
		return err_set(err, ERR_NET, "the TLS files are of no use: %s", detail);
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		return explain_loss(connection, code, err);
	default:
		return err_set(err, ERR_NET, "%s", detail);
	}
}

static int take_socket(struct connection *connection, struct err *err)
{
	curl_socket_t socket;

	if (connection->alpn[0] && !connection->chosen)
		return err_set(err, ERR_NET, "TLS without %s: the server does not choose it",
			       (const char *)connection->alpn + 1);
	if (curl_easy_getinfo(connection->curl, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK ||
	    socket == CURL_SOCKET_BAD)
		return err_set(err, ERR_NET, "the connection is gone again");
	connection->socket = (int)socket;
	connection->established = true;
	return 1;
}

/* 1: over, *out_code says how; 0. */
static int is_over(const struct connection *connection, CURLcode *out_code)
{
	int running, left;
	const CURLMsg *message;

	curl_multi_perform(connection->multi, &running);
	message = curl_multi_info_read(connection->multi, &left);
	if (!message)
		return 0;
	*out_code = message->data.result;
	return 1;
}

int connection_establish(struct connection *connection, int64_t timeout_ms, struct err *err)
{
	const char *reason;
	CURLcode code;

	if (connection->established)
		return 1;
	if (!is_over(connection, &code)) {
		/* libcurl's own timers may end it sooner. */
		curl_multi_poll(connection->multi, NULL, 0, (int)timeout_ms, NULL);
		if (!is_over(connection, &code))
			return 0;
	}
	if (code == CURLE_OK)
		return take_socket(connection, err);
	reason = curl_files_reason(&connection->files, code);
	return reason ? err_set(err, ERR_NET, "%s", reason) : explain(connection, code, err);
}

/* ---- sending and receiving ---- */

static int lost(int number, struct err *err)
{
	return err_set(err, ERR_NET, "%s", strerror(number));
}

static bool is_passing(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

static int send_plain(const struct connection *connection, const void *data, size_t len,
		      size_t *out_sent, struct err *err)
{
	ssize_t sent = send(connection->socket, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0 && !is_passing(errno))
		return lost(errno, err);
	*out_sent = sent > 0 ? (size_t)sent : 0;
	return 0;
}

int connection_send(struct connection *connection, const void *data, size_t len, size_t *out_sent,
		    struct err *err)
{
	CURLcode code;

	if (connection->plain)
		return send_plain(connection, data, len, out_sent, err);
	*out_sent = 0;
	code = curl_easy_send(connection->curl, data, len, out_sent);
	return code == CURLE_OK || code == CURLE_AGAIN ? 0 : explain(connection, code, err);
}

static int receive_plain(const struct connection *connection, void *data, size_t room,
			 size_t *out_got, struct err *err)
{
	ssize_t got = recv(connection->socket, data, room, MSG_DONTWAIT);

	if (got == 0)
		return closed(err);
	if (got < 0)
		return is_passing(errno) ? 0 : lost(errno, err);
	*out_got = (size_t)got;
	return 1;
}

int connection_receive(struct connection *connection, void *data, size_t room, size_t *out_got,
		       struct err *err)
{
	CURLcode code;

	if (connection->plain)
		return receive_plain(connection, data, room, out_got, err);
	code = curl_easy_recv(connection->curl, data, room, out_got);
	if (code == CURLE_AGAIN)
		return 0;
	if (code != CURLE_OK)
		return explain(connection, code, err);
	return *out_got ? 1 : closed(err);
}

/* TLS may have decrypted more than it gave, and then the socket says nothing of it. */
bool connection_may_have_more(const struct connection *connection, size_t got, size_t room)
{
	return !connection->plain || got == room;
}

void connection_wait(struct connection *connection, bool to_send, int64_t timeout_ms)
{
	struct pollfd one = {connection->socket, (short)(POLLIN | (to_send ? POLLOUT : 0)), 0};

	poll(&one, 1, (int)timeout_ms);
}
