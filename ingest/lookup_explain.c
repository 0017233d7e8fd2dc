#include "lookup_explain.h"

#include "lookup_reply.h"

#include <string.h>

/* Where a text has its meaning. */
enum when { ALWAYS, WITH_TLS, WITHOUT_TLS, WITH_SOCKET };

/*
 * Texts of core 29 (gRPC 1.51) and later; the first that is found counts, so
 * more special ones come first.
 */
static const struct {
	const char *text;
	enum when when;
	const char *meaning; /* what follows the endpoint */
} causes[] = {
	{"Connection refused", ALWAYS, " refuses"},
	{"No such file or directory", WITH_SOCKET, " is not there: no such socket"},
	{"DNS resolution failed", ALWAYS, " is not found: its name does not resolve"},
	{"http1.x server", ALWAYS, " speaks HTTP/1, not gRPC: another port?"},
	{"Failed parsing HTTP/2", ALWAYS, " does not speak gRPC: another port?"},
	{"wrong version number", WITH_TLS,
	 " does not speak TLS: --no-tls, or tls = false in .buckconfig"},
	{"is not in peer certificate", WITH_TLS, " shows a certificate for another name"},
	{"certificate verify failed", WITH_TLS,
	 " shows a certificate that no trusted CA signed: --tls-ca FILE names one"},
	{"empty address list", WITH_TLS,
	 " was not asked: the TLS files do not fit together (certificate and key?)"},
	{"SETTINGS frame", ALWAYS, " takes the connection, then says nothing: another port?"},
	{"handshaker shutdown", ALWAYS, " does not answer"},
	{"onnection timed out", ALWAYS, " does not answer"},
	{"No route to host", ALWAYS, " does not answer: no route to its host"},
	{"Network is unreachable", ALWAYS, " does not answer: no network reaches it"},
	{"Socket closed", WITHOUT_TLS,
	 " closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
	{"onnection reset by peer", WITHOUT_TLS,
	 " closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
};

static bool applies(enum when when, const struct remote *remote)
{
	switch (when) {
	case WITH_TLS:
		return remote->tls;
	case WITHOUT_TLS:
		return !remote->tls;
	case WITH_SOCKET:
		return strncmp(remote->target, "unix:", 5) == 0;
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

/* The core wraps the cause: "failed to connect to all addresses; last error: …". */
static const char *innermost(const char *message)
{
	static const char marker[] = "last error: ";
	const char *at;

	while ((at = strstr(message, marker)) != NULL)
		message = at + sizeof(marker) - 1;
	return message;
}

static void explain_unavailable(const struct remote *remote, const char *message, struct buf *out)
{
	const char *meaning = find_meaning(remote, message);

	if (meaning)
		buf_addstr(out, meaning);
	else
		buf_addf(out, " cannot be asked: %s", innermost(message));
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
