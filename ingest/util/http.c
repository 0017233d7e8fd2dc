#include "util/http.h"

#include "util/curl_files.h"
#include "util/file.h"
#include "util/http_url.h"
#include "util/mem.h"

#include <assert.h>
#include <curl/curl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BODY_MAX (UINT64_C(1) << 30)
#define CONNECT_MS 10000
/* Prometheus itself gives a query up after two minutes (--query.timeout). */
#define SILENCE_S 150
#define SECRET_MAX ((size_t)64 << 10)
#define FAULT_TEXT_MAX ((size_t)4 << 10)

struct http {
	CURL *curl;
	struct http_url url;
	char *prefix;
	char *user, *password;
	char *token_path, *token;
	char *ca_path;
	uint64_t body_max, bytes;
	long connect_ms, silence_s;
	struct curl_files files;
	char detail[CURL_ERROR_SIZE]; /* libcurl's words on the last failure */
};

/* One request on its way. */
struct transfer {
	struct http *http;
	const struct http_request *request;
	struct http_reply *reply;
	struct err *err;
	uint64_t bytes;
	bool stopped; /* by us: err is set */
};

static volatile sig_atomic_t interrupted;

void http_interrupt(void)
{
	interrupted = 1;
}

/* ---- secrets ---- */

/* One line of printable ASCII: what a header may hold. Cuts white space around it off, in place. */
static bool trim_secret(struct buf *text)
{
	size_t start = strspn(text->data, " \t\r\n"), i;

	while (text->len > start && strchr(" \t\r\n", text->data[text->len - 1]))
		text->data[--text->len] = '\0';
	text->len -= start;
	memmove(text->data, text->data + start, text->len + 1);
	for (i = 0; i < text->len; i++)
		if (text->data[i] < ' ' || text->data[i] > '~')
			return false;
	return text->len > 0;
}

static int read_secret(const char *path, const char *what, char **out_secret, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = file_read(path, SECRET_MAX, &text, err);

	if (rc == 0 && !trim_secret(&text))
		rc = err_set(err, ERR_USAGE, "%s: no %s, or more than one line", path, what);
	if (rc == 0)
		*out_secret = buf_detach(&text);
	err->kind = rc < 0 ? ERR_USAGE : err->kind;
	buf_release(&text);
	return rc;
}

static int load_password(struct http *http, const struct http_options *options, struct err *err)
{
	const char *variable = options->password_variable;
	const char *value = variable ? getenv(variable) : NULL;

	if (options->password_file) {
		if (!options->user)
			return err_set(err, ERR_USAGE, "%spassword-file wants %suser", http->prefix,
				       http->prefix);
		return read_secret(options->password_file, "password", &http->password, err);
	}
	if (!options->user)
		return 0;
	if (!value)
		return err_set(err, ERR_USAGE, "%suser wants its password in %spassword-file%s%s",
			       http->prefix, http->prefix,
			       variable ? " or in the environment, " : "",
			       variable ? variable : "");
	http->password = xstrdup(value);
	return 0;
}

static int load_secrets(struct http *http, const struct http_options *options, struct err *err)
{
	if (options->user && options->token_file)
		return err_set(err, ERR_USAGE, "%suser and %stoken-file exclude each other",
			       http->prefix, http->prefix);
	if (options->user)
		http->user = xstrdup(options->user);
	if (load_password(http, options, err) < 0)
		return -1;
	if (!options->token_file)
		return 0;
	http->token_path = xstrdup(options->token_file);
	return read_secret(http->token_path, "token", &http->token, err);
}

/* Did the token file change since it was read? Then the new token counts. */
static bool refresh_token(struct http *http)
{
	struct err ignored = ERR_INIT;
	char *token = NULL;

	if (!http->token_path || read_secret(http->token_path, "token", &token, &ignored) < 0)
		return false;
	assert(token && http->token);
	if (strcmp(token, http->token) == 0) {
		free(token);
		return false;
	}
	free(http->token);
	http->token = token;
	return true;
}

/* ---- life ---- */

static int load_ca(struct http *http, const struct http_options *options, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	if (!options->ca_file)
		return 0;
	if (!http->url.tls)
		return err_set(err, ERR_USAGE, "%sca wants an https:// address", http->prefix);
	rc = file_read(options->ca_file, (size_t)4 << 20, &text, err);
	if (rc == 0 && !strstr(text.data, "-----BEGIN CERTIFICATE"))
		rc = err_set(err, ERR_USAGE, "%s: no PEM file with a certificate",
			     options->ca_file);
	http->ca_path = xstrdup(options->ca_file);
	err->kind = rc < 0 ? ERR_USAGE : err->kind;
	buf_release(&text);
	return rc;
}

int http_new(const struct http_options *options, struct http **out_http, struct err *err)
{
	struct http *http = xcalloc(1, sizeof(*http));

	http->prefix = xstrdup(options->option_prefix ? options->option_prefix : "--");
	http->body_max = options->body_max ? options->body_max : BODY_MAX;
	http->connect_ms = options->connect_ms ? (long)options->connect_ms : CONNECT_MS;
	http->silence_s = options->silence_s ? (long)options->silence_s : SILENCE_S;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort(); /* out of memory, or a libcurl without its TLS library */
	http->curl = curl_easy_init();
	if (!http->curl)
		abort();
	if (http_url_parse(options->url, http->prefix, &http->url, err) < 0 ||
	    load_secrets(http, options, err) < 0 || load_ca(http, options, err) < 0) {
		http_free(http);
		return -1;
	}
	*out_http = http;
	return 0;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	curl_global_cleanup();
	http_url_release(&http->url);
	free(http->prefix);
	free(http->user);
	free(http->password);
	free(http->token_path);
	free(http->token);
	free(http->ca_path);
	free(http);
}

void http_reply_release(struct http_reply *reply)
{
	buf_release(&reply->text);
}

const char *http_name(const struct http *http)
{
	return http->url.name;
}

bool http_secret_in_clear(const struct http *http)
{
	return (http->user || http->token) && !http->url.tls && !http->url.loopback;
}

uint64_t http_bytes(const struct http *http)
{
	return http->bytes;
}

/* ---- what comes in ---- */

static int stop(struct transfer *transfer)
{
	transfer->stopped = true;
	return -1;
}

static bool is_success(int status)
{
	return status >= 200 && status < 300;
}

static int take_body(struct transfer *t, const char *data, size_t len)
{
	size_t room = FAULT_TEXT_MAX - t->reply->text.len;
	long status = 0;

	curl_easy_getinfo(t->http->curl, CURLINFO_RESPONSE_CODE, &status);
	t->http->bytes += len;
	t->bytes += len;
	if (t->bytes > t->http->body_max) {
		err_set(t->err, ERR_LIMIT, "%s: the answer is larger than %llu bytes",
			http_name(t->http), (unsigned long long)t->http->body_max);
		return stop(t);
	}
	if (!is_success((int)status))
		buf_add(&t->reply->text, data, len < room ? len : room);
	else if (t->request->body(t->request->context, data, len, t->err) < 0)
		return stop(t);
	return 0;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
	size_t len = size * count; /* size is 1, says libcurl */

	return take_body(context, data, len) < 0 ? 0 : len;
}

/* Called at least once a second, also while nothing moves. */
static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct transfer *t = context;

	(void)a, (void)b, (void)c, (void)d;
	if (!interrupted)
		return 0;
	err_set(t->err, ERR_NET, "%s: interrupted", http_name(t->http));
	return stop(t);
}

/* ---- asking ---- */

static void set_who(struct http *http)
{
	CURL *curl = http->curl;

	if (http->token) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, http->token);
	} else if (http->user) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(curl, CURLOPT_USERNAME, http->user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, http->password);
	}
	if (http->ca_path)
		curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_path);
}

static void set_limits(struct http *http)
{
	CURL *curl = http->curl;

	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, http->connect_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, http->silence_s);
	curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, ""); /* all that libcurl can unpack */
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "br2-ingest");
	if (http->url.loopback)
		curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none, whatever the environment says */
}

static void set_callbacks(struct transfer *t)
{
	CURL *curl = t->http->curl;

	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->http->detail);
	curl_files_watch(&t->http->files, curl);
}

static CURLcode perform(struct transfer *t)
{
	const struct http_request *request = t->request;
	CURL *curl = t->http->curl;
	struct buf form = BUF_INIT;
	char *url = http_url_with(&t->http->url, request->path, request->fields,
				  request->post ? 0 : request->field_count);
	CURLcode code;

	curl_easy_reset(curl); /* the connection stays open */
	t->http->detail[0] = '\0';
	set_limits(t->http);
	set_who(t->http);
	set_callbacks(t);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	if (request->post) {
		http_url_add_fields(request->fields, request->field_count, &form);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)form.len);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form.data);
	}
	code = curl_easy_perform(curl);
	buf_release(&form);
	free(url);
	return code;
}

static void fill_reply(struct transfer *t)
{
	const char *type = NULL;
	long status = 0;

	curl_easy_getinfo(t->http->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->http->curl, CURLINFO_CONTENT_TYPE, &type);
	t->reply->status = (int)status;
	t->reply->is_json = type && strncasecmp(type, "application/json", 16) == 0;
}

static const char *detail_of(const struct http *http, CURLcode code)
{
	return http->detail[0] ? http->detail : curl_easy_strerror(code);
}

static int explain(struct http *http, CURLcode code, struct err *err)
{
	const char *name = http_name(http), *detail = detail_of(http, code);
	const char *reason = curl_files_reason(&http->files, code);

	if (reason)
		return err_set(err, ERR_NET, "%s: cannot be asked: %s", name, reason);

	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_HOST:
		return err_set(err, ERR_NET, "%s: there is no such host", name);
	case CURLE_COULDNT_CONNECT:
		return err_set(err, ERR_NET,
			       "%s: nobody answers there; does it run, is its port forwarded? (%s)",
			       name, detail);
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(err, ERR_NET, "%s: the server keeps silent (%s)", name, detail);
	case CURLE_PEER_FAILED_VERIFICATION:
		return err_set(err, ERR_NET,
			       "%s: its certificate is not trusted; give its CA with %sca (%s)",
			       name, http->prefix, detail);
	case CURLE_SSL_CONNECT_ERROR:
		return err_set(err, ERR_NET, "%s: no TLS there; is it an http:// address? (%s)",
			       name, detail);
	case CURLE_UNSUPPORTED_PROTOCOL: /* "Received HTTP/0.9 when not allowed" */
	case CURLE_WEIRD_SERVER_REPLY:
		return err_set(err, ERR_NET, "%s: that is no HTTP server (%s)", name, detail);
	case CURLE_PARTIAL_FILE:
	case CURLE_GOT_NOTHING:
	case CURLE_RECV_ERROR:
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_WRITE_ERROR: /* older ones say so where unpacking fails */
		return err_set(err, ERR_NET, "%s: the answer broke off (%s)", name, detail);
	default:
		return err_set(err, ERR_NET, "%s: cannot be asked (%s)", name, detail);
	}
}

static int send_once(struct http *http, const struct http_request *request,
		     struct http_reply *out_reply, struct err *err)
{
	struct transfer transfer = {http, request, out_reply, err, 0, false};
	CURLcode code;

	buf_clear(&out_reply->text);
	code = perform(&transfer);
	if (transfer.stopped)
		return -1;
	if (code != CURLE_OK)
		return explain(http, code, err);
	fill_reply(&transfer);
	return 0;
}

int http_send(struct http *http, const struct http_request *request, struct http_reply *out_reply,
	      struct err *err)
{
	int rc = send_once(http, request, out_reply, err);

	if (rc == 0 && out_reply->status == 401 && refresh_token(http))
		rc = send_once(http, request, out_reply, err);
	return rc;
}

/* ---- answers that are no use ---- */

static int refused(const struct http *http, const struct http_reply *reply, struct err *err)
{
	const char *prefix = http->prefix;

	if (http->token)
		return err_set(err, ERR_NET, "%s: refused the token of %s (%d)", http_name(http),
			       http->token_path, reply->status);
	if (http->user)
		return err_set(err, ERR_NET, "%s: refused the user or its password (%d)",
			       http_name(http), reply->status);
	return err_set(err, ERR_NET, "%s: wants to know who asks (%d); give %suser or %stoken-file",
		       http_name(http), reply->status, prefix, prefix);
}

/* Some servers show the request in their error pages. */
static bool holds_secret(const struct http *http, const char *text)
{
	return (http->token && strstr(text, http->token)) ||
	       (http->password && *http->password && strstr(text, http->password));
}

/* The first line of what the server wrote; never more than a message takes. */
static int quoted(const struct http *http, const struct http_reply *reply, const char *advice,
		  struct err *err)
{
	const char *text = reply->text.data + strspn(reply->text.data, " \t\r\n");
	int len = (int)strcspn(text, "\r\n");

	if (reply->is_json || *text == '<' || !len || holds_secret(http, reply->text.data))
		return err_set(err, ERR_NET, "%s: answers with status %d%s", http_name(http),
			       reply->status, advice);
	return err_set(err, ERR_NET, "%s: answers with status %d%s (%.*s)", http_name(http),
		       reply->status, advice, len < 200 ? len : 200, text);
}

int http_fault(const struct http *http, const struct http_reply *reply, struct err *err)
{
	switch (reply->status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return quoted(http, reply, ": it sends elsewhere; give the final address", err);
	case 400:
		if (strstr(reply->text.data, "HTTPS server"))
			return err_set(err, ERR_NET, "%s: wants TLS; give its https:// address",
				       http_name(http));
		return quoted(http, reply, "", err);
	case 401:
	case 403:
		return refused(http, reply, err);
	case 404:
		return quoted(http, reply, ": there is no such thing; is the path right?", err);
	default:
		return quoted(http, reply, "", err);
	}
}
