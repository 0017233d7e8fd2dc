#include "util/http.h"

#include "http_server.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
#define OK OK_HEAD "Content-Length: 2\r\n\r\n{}"
#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct fixture {
	struct http_server server;
	struct http_options options;
	struct http_reply reply;
	struct buf body;
	struct err err;
	char *dir;
	int rc;
};

static int on_body(void *context, const char *data, size_t len, struct err *err)
{
	struct buf *body = context;

	buf_add(body, data, len);
	if (memchr(data, '!', len))
		return err_set(err, ERR_DB, "enough");
	return 0;
}

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.body = BUF_INIT};
	fixture.options.option_prefix = "--prom-";
	fixture.options.password_variable = "BR2_TEST_PASSWORD";
	fixture.dir = scratch_new();
	buf_init(&fixture.reply.text);
	unsetenv("BR2_TEST_PASSWORD");
	unsetenv("http_proxy");
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	http_reply_release(&f->reply);
	buf_release(&f->body);
	http_server_release(&f->server);
	scratch_remove(f->dir);
	return 0;
}

static struct http *open_http(struct fixture *f, const char *url)
{
	struct http *http;

	f->options.url = url;
	if (http_new(&f->options, &http, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return http;
}

static void send_to(struct fixture *f, struct http *http, const char *path, bool post)
{
	static const struct http_field form[] = {{"query", "m{a=\"b\"}[5m] & ä+"},
						 {"time", "1.500"}};
	static const struct http_field query[] = {{"continue", "a b&c%"}, {"limit", "5"}};
	struct http_request request = {
		.path = path,
		.fields = post ? form : query,
		.field_count = path ? 2 : 0,
		.post = post,
		.body = on_body,
		.context = &f->body,
	};

	f->rc = http_send(http, &request, &f->reply, &f->err);
}

/* One request to a server that answers so; then the server is stopped. */
static void ask(struct fixture *f, const char *tail, const char *path, bool post,
		const char *const *answers)
{
	struct http *http;
	char *url;

	http_server_start(&f->server, answers);
	url = xasprintf("%s%s", f->server.url, tail);
	http = open_http(f, url);
	send_to(f, http, path, post);
	if (f->rc == 0 && f->reply.status != 200)
		http_fault(http, &f->reply, &f->err);
	http_server_stop(&f->server);
	http_free(http);
	free(url);
}

static void assert_asked(struct fixture *f, size_t index, const char *text)
{
	if (!strstr(f->server.requests[index].data, text))
		fail_msg("no '%s' in\n%s", text, f->server.requests[index].data);
}

static void assert_not_asked(struct fixture *f, size_t index, const char *text)
{
	if (strstr(f->server.requests[index].data, text))
		fail_msg("'%s' in\n%s", text, f->server.requests[index].data);
}

/* The error, behind "http://127.0.0.1:PORT" and what `tail` adds. */
static void assert_error(struct fixture *f, enum err_kind kind, const char *tail, const char *text)
{
	size_t len = strlen(f->server.url);

	assert_int_equal(f->err.kind, kind);
	assert_memory_equal(f->err.text, f->server.url, len);
	assert_memory_equal(f->err.text + len, tail, strlen(tail));
	assert_string_equal(f->err.text + len + strlen(tail), text);
}

/* ---- asking ---- */

static void test_post(void **state)
{
	struct fixture *f = *state;

	ask(f, "/some/prefix/", "/api/v1/query", true, ANSWERS(OK));
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->reply.status, 200);
	assert_true(f->reply.is_json);
	assert_string_equal(f->body.data, "{}");
	assert_asked(f, 0, "POST /some/prefix/api/v1/query HTTP/1.1\r\n");
	assert_asked(f, 0, "\r\nContent-Type: application/x-www-form-urlencoded\r\n");
	assert_asked(f, 0, "\r\n\r\nquery=m%7Ba%3D%22b%22%7D%5B5m%5D%20%26%20%C3%A4%2B&time=1.500");
	assert_not_asked(f, 0, "Authorization");
	assert_int_equal(f->server.count, 1);
}

static void test_get(void **state)
{
	struct fixture *f = *state;

	ask(f, "/p?a=b%26", "/q", false, ANSWERS(OK));
	assert_int_equal(f->rc, 0);
	assert_asked(f, 0, "GET /p/q?a=b%26&continue=a%20b%26c%25&limit=5 HTTP/1.1\r\n");
	assert_asked(f, 0, "\r\nAccept-Encoding: ");
}

static void test_as_it_is(void **state)
{
	struct fixture *f = *state;

	ask(f, "/api/pods?labelSelector=app%3Dworker", NULL, false, ANSWERS(OK));
	assert_int_equal(f->rc, 0);
	assert_asked(f, 0, "GET /api/pods?labelSelector=app%3Dworker HTTP/1.1\r\n");
}

/* A proxy that is set would get the request in place of the server. */
static void test_no_proxy_for_loopback(void **state)
{
	struct fixture *f = *state;

	setenv("http_proxy", "http://127.0.0.1:9", 1);
	ask(f, "", "/q", true, ANSWERS(OK));
	assert_int_equal(f->rc, 0);
}

static void test_chunks(void **state)
{
	struct fixture *f = *state;

	ask(f, "", "/q", true,
	    ANSWERS(OK_HEAD
		    "Transfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n"));
	assert_int_equal(f->rc, 0);
	assert_string_equal(f->body.data, "{\"a\":1}");
}

/* ---- who asks ---- */

static void test_basic(void **state)
{
	struct fixture *f = *state;

	f->options.user = "test";
	setenv("BR2_TEST_PASSWORD", "secret", 1);
	ask(f, "", "/q", true, ANSWERS(OK));
	assert_asked(f, 0, "\r\nAuthorization: Basic dGVzdDpzZWNyZXQ=\r\n");
}

static void test_password_file(void **state)
{
	struct fixture *f = *state;
	char *path = scratch_path(f->dir, "password");

	scratch_write(f->dir, "password", " secret\n");
	f->options.user = "test";
	f->options.password_file = path;
	ask(f, "", "/q", true, ANSWERS(OK));
	assert_asked(f, 0, "\r\nAuthorization: Basic dGVzdDpzZWNyZXQ=\r\n");
	free(path);
}

static void test_bearer(void **state)
{
	struct fixture *f = *state;
	char *path = scratch_path(f->dir, "token");

	scratch_write(f->dir, "token", "abc.def\n");
	f->options.token_file = path;
	ask(f, "", "/q", true, ANSWERS(OK));
	assert_asked(f, 0, "\r\nAuthorization: Bearer abc.def\r\n");
	free(path);
}

#define UNAUTHORIZED                                                                \
	"HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: " \
	"13\r\n\r\nUnauthorized\n"

/* A token that was renewed since it was read is tried, once. */
static void test_token_is_read_again(void **state)
{
	struct fixture *f = *state;
	char *path = scratch_path(f->dir, "token");
	struct http *http;

	http_server_start(&f->server, ANSWERS(UNAUTHORIZED, OK, UNAUTHORIZED));
	scratch_write(f->dir, "token", "old");
	f->options.token_file = path;
	http = open_http(f, f->server.url);
	scratch_write(f->dir, "token", "new");
	send_to(f, http, "/q", true);
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->reply.status, 200);
	assert_int_equal(f->reply.text.len, 0);
	send_to(f, http, "/q", true); /* refused, and the file is as it was */
	assert_int_equal(f->reply.status, 401);
	http_fault(http, &f->reply, &f->err);
	http_server_stop(&f->server);
	assert_int_equal(f->server.count, 3);
	assert_asked(f, 0, "Bearer old\r\n");
	assert_asked(f, 1, "Bearer new\r\n");
	assert_int_equal(f->err.kind, ERR_NET);
	assert_non_null(strstr(f->err.text, "refused the token of "));
	assert_null(strstr(f->err.text, "new"));
	http_free(http);
	free(path);
}

static void test_refused(void **state)
{
	struct fixture *f = *state;

	ask(f, "", "/q", true, ANSWERS(UNAUTHORIZED));
	assert_int_equal(f->rc, 0);
	assert_int_equal(f->reply.status, 401);
	assert_false(f->reply.is_json);
	assert_string_equal(f->reply.text.data, "Unauthorized\n");
	assert_int_equal(f->body.len, 0);
	assert_error(f, ERR_NET, "",
		     ": wants to know who asks (401); give --prom-user or --prom-token-file");
}

static void test_refused_password(void **state)
{
	struct fixture *f = *state;

	f->options.user = "test";
	setenv("BR2_TEST_PASSWORD", "hunter2", 1);
	ask(f, "", "/q", true, ANSWERS(UNAUTHORIZED));
	assert_error(f, ERR_NET, "", ": refused the user or its password (401)");
}

/* A page that shows the request back. */
static void test_secret_is_not_quoted(void **state)
{
	struct fixture *f = *state;

	f->options.user = "test";
	setenv("BR2_TEST_PASSWORD", "hunter2", 1);
	ask(f, "", "/q", true,
	    ANSWERS("HTTP/1.1 500 Oops\r\nContent-Length: 17\r\n\r\npassword hunter2?"));
	assert_error(f, ERR_NET, "", ": answers with status 500");
}

/* ---- addresses and options ---- */

static void assert_usage(struct fixture *f, const char *url, const char *text)
{
	struct http *http = NULL;

	f->options.url = url;
	assert_int_equal(http_new(&f->options, &http, &f->err), -1);
	assert_null(http);
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_string_equal(f->err.text, text);
}

static void test_bad_urls(void **state)
{
	static const char none[] = "the address is no http:// or https:// URL";
	static const char secret[] =
		"a user or password in the URL stands in the process list for all to see; "
		"use --prom-user and --prom-password-file";
	struct fixture *f = *state;

	assert_usage(f, "localhost:9090", none);
	assert_usage(f, "", none);
	assert_usage(f, "ftp://h/", none);
	assert_usage(f, "file:///etc/passwd", none);
	assert_usage(f, "http://", none);
	assert_usage(f, "http://h:99999/", none);
	assert_usage(f, "http://a b/", none);
	assert_usage(f, "http://a.%%%7f./", none);
	assert_usage(f, "http://u:p@h/", secret);
	assert_usage(f, "https://u@h/", secret);
	assert_usage(f, "http://h/graph#x",
		     "the URL has a '#', and no server sees what follows it; give the address "
		     "before it");
}

static void test_contradictions(void **state)
{
	struct fixture *f = *state;
	char *token = scratch_path(f->dir, "token"), *text;

	scratch_write(f->dir, "token", "two\nlines\n");
	f->options.user = "me";
	assert_usage(f, "http://h",
		     "--prom-user wants its password in --prom-password-file or in the "
		     "environment, BR2_TEST_PASSWORD");
	f->options.token_file = token;
	assert_usage(f, "http://h", "--prom-user and --prom-token-file exclude each other");
	f->options.user = NULL;
	text = xasprintf("%s: no token, or more than one line", token);
	assert_usage(f, "http://h", text);
	free(text);
	f->options.token_file = NULL;
	f->options.password_file = token;
	assert_usage(f, "http://h", "--prom-password-file wants --prom-user");
	f->options.password_file = NULL;
	f->options.ca_file = token;
	assert_usage(f, "http://h", "--prom-ca wants an https:// address");
	text = xasprintf("%s: no PEM file with a certificate", token);
	assert_usage(f, "https://h", text);
	free(text);
	free(token);
}

static void test_secret_in_clear(void **state)
{
	static const struct {
		const char *url;
		bool in_clear;
	} cases[] = {
		{"http://prometheus.example", true}, {"https://prometheus.example", false},
		{"http://127.0.0.1:1", false},	     {"http://[::1]:1", false},
		{"http://localhost/x", false},	     {"http://a.LOCALHOST/x", false},
		{"http://localhost.example", true},  {"http://127.0.0.1.example", true},
		{"http://xlocalhost", true},
	};
	struct fixture *f = *state;
	struct http *http;
	size_t i;

	f->options.user = "u";
	setenv("BR2_TEST_PASSWORD", "p", 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		http = open_http(f, cases[i].url);
		assert_int_equal(http_secret_in_clear(http), cases[i].in_clear);
		http_free(http);
	}
	f->options.user = NULL;
	http = open_http(f, "http://prometheus.example/x/?token=abc");
	assert_false(http_secret_in_clear(http));
	assert_string_equal(http_name(http), "http://prometheus.example/x");
	http_free(http);
}

/* ---- what goes wrong ---- */

static void test_statuses(void **state)
{
	static const struct {
		const char *answer, *error;
	} cases[] = {
		{"HTTP/1.1 404 Not Found\r\nContent-Length: 19\r\n\r\n404 page not found\n",
		 ": answers with status 404: there is no such thing; is the path right? (404 page "
		 "not found)"},
		{"HTTP/1.1 302 Found\r\nLocation: /graph\r\nContent-Length: 0\r\n\r\n",
		 ": answers with status 302: it sends elsewhere; give the final address"},
		{"HTTP/1.1 400 Bad Request\r\nContent-Length: 48\r\n\r\n"
		 "Client sent an HTTP request to an HTTPS server.\n",
		 ": wants TLS; give its https:// address"},
		{"HTTP/1.1 503 No\r\nContent-Length: 12\r\n\r\n<html></html",
		 ": answers with status 503"},
		{"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
		 ": wants to know who asks (403); give --prom-user or --prom-token-file"},
		{"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nfirst\nsec",
		 ": answers with status 500 (first)"},
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ask(f, "/p", "/q", true, ANSWERS(cases[i].answer));
		assert_int_equal(f->rc, 0);
		assert_error(f, ERR_NET, "/p", cases[i].error);
		assert_int_equal(f->server.count, 1); /* a redirect is not followed */
		http_server_release(&f->server);
	}
}

static void assert_fails(struct fixture *f, const char *answer, const char *words)
{
	ask(f, "", "/q", true, ANSWERS(answer));
	assert_int_equal(f->rc, -1);
	assert_int_equal(f->err.kind, ERR_NET);
	if (!strstr(f->err.text, words))
		fail_msg("%s", f->err.text);
	http_server_release(&f->server);
}

static void test_broken_answers(void **state)
{
	struct fixture *f = *state;

	assert_fails(f, OK_HEAD "Content-Length: 200\r\n\r\n{", ": the answer broke off (");
	assert_fails(f, OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
		     ": the answer broke off (");
	assert_fails(f, "SSH-2.0-OpenSSH_9.2\r\n", ": that is no HTTP server (");
	f->options.silence_s = 1;
	assert_fails(f, http_server_silence, ": the server keeps silent (");
}

static void test_nobody_there(void **state)
{
	struct fixture *f = *state;
	struct http *http;

	http_server_start(&f->server, ANSWERS(OK));
	http_server_stop(&f->server);
	http = open_http(f, f->server.url);
	send_to(f, http, "/q", true);
	assert_int_equal(f->rc, -1);
	assert_non_null(strstr(f->err.text, ": nobody answers there; does it run, is its port "
					    "forwarded? ("));
	http_free(http);
	http = open_http(f, "http://no..such.host/");
	send_to(f, http, "/q", true);
	assert_int_equal(f->rc, -1);
	assert_string_equal(f->err.text, "http://no..such.host: there is no such host");
	http_free(http);
}

static void test_no_tls_there(void **state)
{
	struct fixture *f = *state;
	struct http *http;
	char *url;

	http_server_start(&f->server, ANSWERS("HTTP/1.1 400 Bad Request\r\n\r\n"));
	url = xasprintf("https://%s", f->server.url + strlen("http://"));
	http = open_http(f, url);
	send_to(f, http, "/q", true);
	http_server_stop(&f->server);
	assert_int_equal(f->rc, -1);
	assert_non_null(strstr(f->err.text, ": no TLS there; is it an http:// address? ("));
	http_free(http);
	free(url);
}

static void test_too_large(void **state)
{
	struct fixture *f = *state;

	f->options.body_max = 10;
	ask(f, "", "/q", true, ANSWERS(OK_HEAD "Content-Length: 11\r\n\r\n12345678901"));
	assert_int_equal(f->rc, -1);
	assert_error(f, ERR_LIMIT, "", ": the answer is larger than 10 bytes");
	assert_int_equal(f->body.len, 0);
}

static void test_body_stops(void **state)
{
	struct fixture *f = *state;

	ask(f, "", "/q", true, ANSWERS(OK_HEAD "Content-Length: 4\r\n\r\nab!c"));
	assert_int_equal(f->rc, -1);
	assert_int_equal(f->err.kind, ERR_DB);
	assert_string_equal(f->err.text, "enough");
}

/* Once interrupted, nothing is asked: the last test. */
static void test_interrupt(void **state)
{
	struct fixture *f = *state;

	http_interrupt();
	ask(f, "", "/q", true, ANSWERS(http_server_silence));
	assert_int_equal(f->rc, -1);
	assert_error(f, ERR_NET, "", ": interrupted");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_post),
		TEST(test_get),
		TEST(test_as_it_is),
		TEST(test_no_proxy_for_loopback),
		TEST(test_chunks),
		TEST(test_basic),
		TEST(test_password_file),
		TEST(test_bearer),
		TEST(test_token_is_read_again),
		TEST(test_refused),
		TEST(test_refused_password),
		TEST(test_secret_is_not_quoted),
		TEST(test_bad_urls),
		TEST(test_contradictions),
		TEST(test_secret_in_clear),
		TEST(test_statuses),
		TEST(test_broken_answers),
		TEST(test_nobody_there),
		TEST(test_no_tls_there),
		TEST(test_too_large),
		TEST(test_body_stops),
		TEST(test_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
