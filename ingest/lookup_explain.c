#include "lookup_explain.h"

#include "lookup_reply.h"

#include <string.h>

/* Where a text has its meaning. */
enum when { ALWAYS, WITH_TLS, WITH_TLS_NAME, WITHOUT_CERTIFICATE, WITHOUT_TLS, WITH_SOCKET };

/*
 * Texts of util/connection and lookup_http2, of the C library in English (the
 * program sets no locale), and of OpenSSL 3 ("alert", "version number"); the
 * first that is found counts, so more special ones come first.
 */
static const struct {
	const char *text;
	enum when when;
	const char *meaning; /* what follows the endpoint */
} causes[] = {
	{"Connection refused", ALWAYS, " refuses"},
	{"No such file or directory", WITH_SOCKET, " is not there: no such socket"},
	{"the name does not resolve", ALWAYS, " is not found: its name does not resolve"},
	{"address was not told in time", ALWAYS, " is not found: no name server answers"},
	{"the server speaks HTTP/1", ALWAYS, " speaks HTTP/1, not gRPC: another port?"},
	{"the server speaks TLS", ALWAYS, " wants TLS: ask grpcs://HOST:PORT"},
	{"does not speak HTTP/2", ALWAYS, " does not speak gRPC: another port?"},
	{"TLS without h2", ALWAYS, " speaks TLS, but not gRPC: another port?"},
	{"wrong version number", WITH_TLS,
	 " does not speak TLS: --no-tls, or tls = false in .buckconfig"},
	{"certificate is for another name", WITH_TLS_NAME,
	 " shows a certificate for another name than --tls-server-name says"},
	{"certificate is for another name", WITH_TLS,
	 " shows a certificate for another name: --tls-server-name NAME says which one is meant"},
	{"certificate is not valid today", WITH_TLS,
	 " shows a certificate that has run out, or is not valid yet"},
	{"certificate is not trusted", WITH_TLS,
	 " shows a certificate that no trusted CA signed: --tls-ca FILE names one"},
	{"TLS files are of no use", WITH_TLS,
	 " was not asked: the TLS files do not fit together (certificate and key?)"},
	{"alert certificate required", WITH_TLS,
	 " wants to see a certificate: --tls-cert FILE, --tls-key FILE"},
	{"sent no SETTINGS", ALWAYS, " takes the connection, then says nothing: another port?"},
	{"connecting timed out", ALWAYS, " does not answer"},
	{"does not answer a PING", ALWAYS, " does not answer"},
	{"Connection timed out", ALWAYS, " does not answer"},
	{"No route to host", ALWAYS, " does not answer: no route to its host"},
	{"Network is unreachable", ALWAYS, " does not answer: no network reaches it"},
	{"closed the connection", WITHOUT_CERTIFICATE,
	 " closed the connection: if it wants a certificate, --tls-cert FILE shows one"},
	{"closed the connection", WITHOUT_TLS,
	 " closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
	{"Connection reset by peer", WITHOUT_TLS,
	 " closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
};

static bool applies(enum when when, const struct remote *remote)
{
	switch (when) {
	case WITH_TLS:
		return remote->tls;
	case WITH_TLS_NAME:
		return remote->tls_name != NULL;
	case WITHOUT_CERTIFICATE:
		return remote->tls && !remote->cert_path;
	case WITHOUT_TLS:
		return !remote->tls;
	case WITH_SOCKET:
		return strncmp(remote->endpoint, "unix:", 5) == 0;
	case ALWAYS:
		break;
	}
	return true;
}

static const char *find_meaning(const struct remote *remote, const char *message)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (applies(causes[i].when, remote) && strstr(message, causes[i].text))
			return causes[i].meaning;
	}
	return NULL;
}

static void explain_unavailable(const struct remote *remote, const char *message, struct buf *out)
{
	const char *meaning = find_meaning(remote, message);

	if (meaning)
		buf_addstr(out, meaning);
	else
		buf_addf(out, " cannot be asked: %s", message);
}

void explain_failure(const struct remote *remote, bool proxied, int code, const char *message,
		     struct buf *out)
{
	buf_addstr(out, remote->endpoint);
	switch (code) {
	case CODE_UNAUTHENTICATED:
		buf_addf(out, " does not accept who is asking: %s", message);
		return;
	case CODE_UNIMPLEMENTED:
		buf_addf(out, " has no action cache: %s", message);
		return;
	case CODE_DEADLINE_EXCEEDED:
		buf_addstr(out, " does not answer in time");
		break;
	case CODE_UNAVAILABLE:
		explain_unavailable(remote, message, out);
		break;
	default:
		buf_addf(out, " answers with an error: %s (code %d)", message, code);
		return;
	}
	/* The proxy's address may hold a password: it is not named. */
	if (proxied)
		buf_addstr(out, " (asked through the proxy of the environment; no_proxy=HOST "
				"goes around it)");
}
