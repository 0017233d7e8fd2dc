#include "remote.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define RE "[buck2_re_client]\n"
#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"

/* ---- help ---- */

static struct buckconfig *parse(const char *text)
{
	struct buckconfig *config;
	struct err err = ERR_INIT;

	if (buckconfig_parse(&config, text, strlen(text), "f", &err) < 0)
		fail_msg("%s", err.text);
	return config;
}

/* `text` NULL: no configuration. The caller releases *remote. */
static void resolve(const struct remote_flags *flags, const char *text, struct remote *remote)
{
	struct buckconfig *config = text ? parse(text) : NULL;
	struct err err = ERR_INIT;

	if (remote_resolve(flags, config, remote, &err) < 0)
		fail_msg("%s", err.text);
	buckconfig_free(config);
}

static void check(const struct remote_flags *flags, const char *text, const char *endpoint,
		  bool tls, const char *source)
{
	struct remote remote;

	resolve(flags, text, &remote);
	assert_string_equal(remote.endpoint, endpoint);
	if (remote.tls != tls)
		fail_msg("tls of %s from %s is %d", endpoint, source, remote.tls);
	assert_string_equal(remote.source, source);
	remote_release(&remote);
}

static void refuse(const struct remote_flags *flags, const char *text, const char *words)
{
	struct buckconfig *config = text ? parse(text) : NULL;
	struct remote remote = {.token_path = NULL};
	struct err err = ERR_INIT;

	assert_int_equal(remote_resolve(flags, config, &remote, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_null(remote.endpoint);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
	if (strstr(err.text, "s3cret"))
		fail_msg("'%s' tells a secret", err.text);
	buckconfig_free(config);
}

#define FLAGS(...) (&(const struct remote_flags){__VA_ARGS__})
#define NO_FLAGS (&(const struct remote_flags){.endpoint = NULL})

static int clear_environment(void **state)
{
	(void)state;
	unsetenv("BR2_RE_ENDPOINT");
	unsetenv("BR2_TEST_NONE");
	setenv("BR2_TEST_TOKEN", "s3cret=a,b:c", 1);
	setenv("BR2_TEST_HOST", "cache.example", 1);
	return 0;
}

/* ---- where to ask ---- */

static void test_where_to_ask(void **state)
{
	static const char both[] = RE "address = all:1\naction_cache_address = ac:2\ntls = false\n";

	(void)state;
	check(NO_FLAGS, NULL, "localhost:8980", false, "default");
	check(NO_FLAGS, "", "localhost:8980", false, "default");
	check(NO_FLAGS, RE "address = all:1\ntls = false\n", "all:1", false, "f:2");
	check(NO_FLAGS, both, "ac:2", false, "f:3");
	check(NO_FLAGS, RE "cas_address = cas:1\nengine_address = e:1\n", "localhost:8980", false,
	      "default");
	check(NO_FLAGS, RE "action_cache_address =\naddress = all:1\n", "all:1", true, "f:3");
	check(FLAGS(.endpoint = "flag:3"), both, "flag:3", false, "--endpoint");
	setenv("BR2_RE_ENDPOINT", "env:4", 1);
	check(NO_FLAGS, both, "env:4", false, "BR2_RE_ENDPOINT");
	check(FLAGS(.endpoint = "flag:3"), both, "flag:3", false, "--endpoint");
	setenv("BR2_RE_ENDPOINT", "", 1);
	check(NO_FLAGS, both, "ac:2", false, "f:3");
}

static void test_variables_in_addresses(void **state)
{
	(void)state;
	check(NO_FLAGS, RE "address = $BR2_TEST_HOST:1\n", "cache.example:1", true, "f:2");
	refuse(NO_FLAGS, RE "address = $BR2_TEST_NONE:1\n",
	       "f:2: address: the environment variable");
	/* What is not needed is not looked at. */
	check(FLAGS(.endpoint = "localhost:1"), RE "address = $BR2_TEST_NONE:1\n", "localhost:1",
	      false, "--endpoint");
}

static void test_faulty_addresses_name_their_place(void **state)
{
	(void)state;
	refuse(NO_FLAGS, RE "\naddress = http://h:1\n", "f:3: 'http://h:1' names no gRPC server");
	refuse(FLAGS(.endpoint = "::1:8980"), NULL, "--endpoint: ");
	setenv("BR2_RE_ENDPOINT", "h:x", 1);
	refuse(NO_FLAGS, NULL, "BR2_RE_ENDPOINT: ");
}

/* ---- TLS or not ---- */

static void test_tls_of_buckconfig_goes_by_its_key(void **state)
{
	(void)state;
	check(NO_FLAGS, RE "address = h:1\n", "h:1", true, "f:2");
	check(NO_FLAGS, RE "address = h:1\ntls = true\n", "h:1", true, "f:2");
	check(NO_FLAGS, RE "address = h:1\ntls = false\n", "h:1", false, "f:2");
	/* The scheme says nothing there. */
	check(NO_FLAGS, RE "address = grpc://h\n", "h:443", true, "f:2");
	check(NO_FLAGS, RE "address = grpc://h\ntls = false\n", "h:80", false, "f:2");
	check(NO_FLAGS, RE "address = grpcs://h:1\ntls = false\n", "h:1", true, "f:2");
	check(NO_FLAGS, RE "address = localhost:1\n", "localhost:1", true, "f:2");
	check(FLAGS(.no_tls = true), RE "address = h:1\n", "h:1", false, "f:2");
	refuse(NO_FLAGS, RE "address = h:1\ntls = yes\n", "f:3: tls is true or false");
	refuse(NO_FLAGS, RE "address = h:1\ntls =\n", "f:3: tls is true or false");
}

static void test_tls_of_a_flag_goes_by_its_scheme(void **state)
{
	static const char secure[] = RE "address = own:1\n",
			  clear[] = RE "address = own:1\ntls = false\n";

	(void)state;
	check(FLAGS(.endpoint = "grpcs://h:1"), clear, "h:1", true, "--endpoint");
	check(FLAGS(.endpoint = "grpc://h:1"), secure, "h:1", false, "--endpoint");
	check(FLAGS(.endpoint = "grpcs://localhost:1"), NULL, "localhost:1", true, "--endpoint");
	/* Without a scheme: as .buckconfig says, but not on this machine. */
	check(FLAGS(.endpoint = "h:1"), NULL, "h:1", true, "--endpoint");
	check(FLAGS(.endpoint = "h:1"), secure, "h:1", true, "--endpoint");
	check(FLAGS(.endpoint = "h:1"), clear, "h:1", false, "--endpoint");
	check(FLAGS(.endpoint = "localhost:1"), secure, "localhost:1", false, "--endpoint");
	check(FLAGS(.endpoint = "[::1]:1"), secure, "[::1]:1", false, "--endpoint");
	check(FLAGS(.endpoint = "unix:/s"), secure, "unix:/s", false, "--endpoint");
	check(FLAGS(.endpoint = "localhost:1"), RE "address = LocalHost:1\n", "localhost:1", true,
	      "--endpoint");
	check(FLAGS(.endpoint = "h:1", .no_tls = true), secure, "h:1", false, "--endpoint");
}

static void test_contradicting_flags(void **state)
{
	(void)state;
	refuse(FLAGS(.endpoint = "grpcs://h:1", .no_tls = true), NULL,
	       "--no-tls contradicts grpcs");
	refuse(FLAGS(.endpoint = "h:1", .no_tls = true, .ca = "x"), NULL,
	       "--no-tls contradicts --tls");
	refuse(FLAGS(.endpoint = "grpc://h:1", .ca = "x"), NULL, "grpcs://");
	refuse(FLAGS(.endpoint = "h:1", .no_tls = true, .tls_name = "n"), NULL,
	       "--no-tls contradicts --tls");
	refuse(FLAGS(.endpoint = "grpc://h:1", .tls_name = "n"), NULL, "--tls-* want grpcs://");
	refuse(FLAGS(.endpoint = "h:1", .key = "x"), NULL, "--tls-cert");
}

/* ---- certificates ---- */

static void test_server_name(void **state)
{
	static const char *const faulty[] = {"", "h:1", "grpcs://h", "h/", "a b", "*.h", "[::1]"};
	struct remote remote;
	size_t i;

	(void)state;
	/* TLS is wanted then, as with the other --tls-*. */
	resolve(FLAGS(.endpoint = "localhost:1", .tls_name = "Cache.Example"), NULL, &remote);
	assert_true(remote.tls);
	assert_string_equal(remote.endpoint, "localhost:1");
	assert_string_equal(remote.tls_name, "cache.example");
	remote_release(&remote);
	resolve(FLAGS(.endpoint = "grpcs://h:1"), NULL, &remote);
	assert_null(remote.tls_name);
	remote_release(&remote);
	for (i = 0; i < sizeof(faulty) / sizeof(faulty[0]); i++)
		refuse(FLAGS(.endpoint = "h:1", .tls_name = faulty[i]), NULL,
		       "--tls-server-name wants a host's name");
}

static void test_certificates_of_flags(void **state)
{
	char *dir = scratch_new(), *ca = scratch_path(dir, "ca.pem"),
	     *cert = scratch_path(dir, "c.pem");
	char *key = scratch_path(dir, "k.pem"), *both = scratch_path(dir, "both.pem");
	struct remote remote;

	(void)state;
	scratch_write(dir, "ca.pem", "Issuer: me\n" CERTIFICATE);
	scratch_write(dir, "c.pem", CERTIFICATE);
	scratch_write(dir, "k.pem", KEY);
	scratch_write(dir, "both.pem", CERTIFICATE KEY);
	/* They say that TLS is wanted, on this machine too. */
	resolve(FLAGS(.endpoint = "localhost:1", .ca = ca, .cert = cert, .key = key), NULL,
		&remote);
	assert_true(remote.tls);
	assert_string_equal(remote.ca_path, ca);
	assert_string_equal(remote.cert_path, cert);
	assert_string_equal(remote.key_path, key);
	remote_release(&remote);
	resolve(FLAGS(.endpoint = "grpcs://h:1", .cert = both), NULL, &remote);
	assert_null(remote.ca_path);
	assert_string_equal(remote.cert_path, both);
	assert_string_equal(remote.key_path, both);
	remote_release(&remote);
	refuse(FLAGS(.endpoint = "h:1", .ca = key), NULL, "no PEM file with a certificate");
	refuse(FLAGS(.endpoint = "h:1", .cert = cert), NULL, "no PEM file with a private key");
	refuse(FLAGS(.endpoint = "h:1", .ca = "no/such"), NULL, "no/such: No such file");
	free(ca);
	free(cert);
	free(key);
	free(both);
	scratch_remove(dir);
}

/* Loads <dir>/.buckconfig, so that relative paths have a root. */
static void resolve_in(const char *dir, const struct remote_flags *flags, struct remote *remote)
{
	struct buckconfig *config;
	struct err err = ERR_INIT;

	if (buckconfig_load(&config, dir, NULL, "/nowhere", &err) < 0 ||
	    remote_resolve(flags, config, remote, &err) < 0)
		fail_msg("%s", err.text);
	buckconfig_free(config);
}

static void test_certificates_of_buckconfig(void **state)
{
	char *dir = scratch_new(), *ca = scratch_path(dir, "tls/ca.pem");
	char *client = scratch_path(dir, "tls/client.pem");
	struct remote remote;

	(void)state;
	setenv("BR2_TEST_TLS", "tls", 1);
	scratch_write(dir, "tls/ca.pem", CERTIFICATE);
	scratch_write(dir, "tls/client.pem", CERTIFICATE KEY);
	scratch_write(dir, ".buckconfig",
		      RE "address = own:1\ntls_ca_certs = $BR2_TEST_TLS/ca.pem\n"
			 "tls_client_cert = tls/client.pem\n");
	resolve_in(dir, NO_FLAGS, &remote);
	assert_string_equal(remote.ca_path, ca);
	assert_string_equal(remote.cert_path, client);
	assert_string_equal(remote.key_path, client);
	remote_release(&remote);
	/* The same server by flag; another one; flags that win. */
	resolve_in(dir, FLAGS(.endpoint = "own:1"), &remote);
	assert_string_equal(remote.ca_path, ca);
	remote_release(&remote);
	resolve_in(dir, FLAGS(.endpoint = "other:1"), &remote);
	assert_true(remote.tls);
	assert_null(remote.ca_path);
	assert_null(remote.cert_path);
	remote_release(&remote);
	resolve_in(dir, FLAGS(.ca = client), &remote);
	assert_string_equal(remote.ca_path, client);
	remote_release(&remote);
	free(ca);
	free(client);
	scratch_remove(dir);
}

/* ---- headers ---- */

static void check_header(const struct remote *remote, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < remote->header_count; i++)
		if (strcmp(remote->headers[i].name, name) == 0) {
			assert_string_equal(remote->headers[i].value, value);
			return;
		}
	fail_msg("no header %s", name);
}

static void test_headers_of_buckconfig(void **state)
{
	struct remote remote;

	(void)state;
	resolve(NO_FLAGS,
		RE "address = h:1\nhttp_headers = X-Api-Key: a=b:c , Authorization:Bearer "
		   "$BR2_TEST_TOKEN,\\\n  x-empty:\n",
		&remote);
	assert_int_equal(remote.header_count, 3);
	check_header(&remote, "x-api-key", "a=b:c");
	check_header(&remote, "authorization", "Bearer s3cret=a,b:c");
	check_header(&remote, "x-empty", "");
	assert_false(remote.header_on_argv);
	assert_false(remote.secret_in_clear);
	remote_release(&remote);
}

static void test_faulty_headers_of_buckconfig(void **state)
{
	(void)state;
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers =\n", "f:3: http_headers, item 1");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = a: s3cret,\n", "item 2");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = a: s3cret, s3cret\n", "item 2");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = : s3cret\n", "name");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = Bearer s3cret: x\n", "name");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = a-bin: s3cret\n", "bytes");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = a: s3cret\xc3\xa9\n", "value of 'a'");
	refuse(NO_FLAGS, RE "address = h:1\nhttp_headers = a: s3cret $BR2_TEST_NONE\n",
	       "BR2_TEST_NONE is not set");
}

#define HEADERS(...)                                   \
	.headers = (const char *const[]){__VA_ARGS__}, \
	.header_count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void test_headers_of_flags(void **state)
{
	struct remote remote;

	(void)state;
	resolve(FLAGS(.endpoint = "grpcs://h:1",
		      HEADERS("x-api-key=a=b", "Authorization: Bearer $BR2_TEST_TOKEN")),
		NULL, &remote);
	assert_int_equal(remote.header_count, 2);
	check_header(&remote, "x-api-key", "a=b");
	check_header(&remote, "authorization", "Bearer s3cret=a,b:c");
	assert_true(remote.header_on_argv);
	remote_release(&remote);
	resolve(FLAGS(.endpoint = "grpcs://h:1",
		      HEADERS("a=$BR2_TEST_TOKEN", "b=x $BR2_TEST_TOKEN")),
		NULL, &remote);
	assert_false(remote.header_on_argv);
	remote_release(&remote);
}

static void test_faulty_headers_of_flags(void **state)
{
	(void)state;
	refuse(FLAGS(HEADERS("a=b", "s3cret")), NULL, "--header 2 (NAME=VALUE)");
	refuse(FLAGS(HEADERS("a=s3cret\r\nb: c")), NULL, "line break");
	refuse(FLAGS(HEADERS("a=s3cret\nb")), NULL, "line break");
	refuse(FLAGS(HEADERS("x-bin=s3cret")), NULL, "bytes");
	refuse(FLAGS(HEADERS("a b=s3cret")), NULL, "name");
	refuse(FLAGS(HEADERS("=s3cret")), NULL, "name");
	refuse(FLAGS(HEADERS("")), NULL, "--header 1");
	refuse(FLAGS(HEADERS("a=$BR2_TEST_NONE")), NULL, "not set");
}

static void test_a_flag_replaces_a_header_of_buckconfig(void **state)
{
	struct remote remote;

	(void)state;
	resolve(FLAGS(HEADERS("A=$BR2_TEST_HOST")), RE "address = h:1\nhttp_headers = a: 1, b: 2\n",
		&remote);
	assert_int_equal(remote.header_count, 2);
	check_header(&remote, "a", "cache.example");
	check_header(&remote, "b", "2");
	remote_release(&remote);
}

static size_t count_headers(const struct remote_flags *flags, const char *text)
{
	struct remote remote;
	size_t count;

	resolve(flags, text, &remote);
	count = remote.header_count;
	remote_release(&remote);
	return count;
}

/* A token must not go to a server that it was not written for, nor in clear. */
static void test_headers_of_buckconfig_go_to_its_server_alone(void **state)
{
	static const char secure[] = RE "address = own:1\nhttp_headers = a: s3cret\n";
	static const char clear[] = RE "address = own:1\ntls = false\nhttp_headers = a: s3cret\n";

	(void)state;
	assert_int_equal(count_headers(NO_FLAGS, secure), 1);
	assert_int_equal(count_headers(FLAGS(.endpoint = "own:1"), secure), 1);
	assert_int_equal(count_headers(FLAGS(.endpoint = "grpcs://own:1"), secure), 1);
	assert_int_equal(count_headers(FLAGS(.endpoint = "own:2"), secure), 0);
	assert_int_equal(count_headers(FLAGS(.endpoint = "localhost:8980"), secure), 0);
	assert_int_equal(count_headers(FLAGS(.endpoint = "grpc://own:1"), secure), 0);
	assert_int_equal(count_headers(FLAGS(.no_tls = true), secure), 0);
	assert_int_equal(count_headers(FLAGS(.endpoint = "grpc://own:1"), clear), 1);
	assert_int_equal(count_headers(FLAGS(.endpoint = "grpcs://own:1"), clear), 1);
	setenv("BR2_RE_ENDPOINT", "other:1", 1);
	assert_int_equal(count_headers(NO_FLAGS, secure), 0);
}

static void check_in_clear(const struct remote_flags *flags, const char *text, bool expected)
{
	struct remote remote;

	resolve(flags, text, &remote);
	assert_int_equal(remote.secret_in_clear, expected);
	remote_release(&remote);
}

static void test_secrets_in_clear_are_told(void **state)
{
	(void)state;
	check_in_clear(FLAGS(.endpoint = "grpc://h:1", HEADERS("a=b")), NULL, true);
	check_in_clear(FLAGS(.endpoint = "grpcs://h:1", HEADERS("a=b")), NULL, false);
	check_in_clear(FLAGS(.endpoint = "grpc://localhost:1", HEADERS("a=b")), NULL, false);
	check_in_clear(FLAGS(.endpoint = "grpc://h:1"), NULL, false);
	check_in_clear(NO_FLAGS, RE "address = h:1\ntls = false\nhttp_headers = a: b\n", true);
}

/* ---- tokens ---- */

static void test_token_file(void **state)
{
	char *dir = scratch_new(), *path = scratch_path(dir, "token");
	struct err err = ERR_INIT;
	struct remote remote;
	char *token = NULL;

	(void)state;
	scratch_write(dir, "token", "\n s3cret.x-y_z=\r\n");
	assert_int_equal(remote_read_token(path, &token, &err), 0);
	assert_string_equal(token, "s3cret.x-y_z=");
	free(token);
	resolve(FLAGS(.token_file = path),
		RE "address = h:1\nhttp_headers = b: 2, authorization: x\n", &remote);
	assert_string_equal(remote.token_path, path);
	assert_int_equal(remote.header_count, 1);
	check_header(&remote, "b", "2");
	remote_release(&remote);
	refuse(FLAGS(.token_file = path, HEADERS("Authorization=x")), NULL, "contradict");
	scratch_write(dir, "token", "s3cret\nanother\n");
	refuse(FLAGS(.token_file = path), NULL, "--token-file: ");
	scratch_write(dir, "token", " \n");
	refuse(FLAGS(.token_file = path), NULL, "no token");
	refuse(FLAGS(.token_file = "no/such"), NULL, "--token-file: no/such: No such file");
	free(path);
	scratch_remove(dir);
}

/* ---- the same server? ---- */

static bool same(const struct remote_flags *flags, const char *text_a, const char *text_b)
{
	struct remote a, b;
	bool is_same;

	resolve(flags, text_a, &a);
	resolve(flags, text_b, &b);
	is_same = remote_same(&a, &b);
	assert_int_equal(remote_same(&b, &a), is_same);
	remote_release(&a);
	remote_release(&b);
	return is_same;
}

static void test_what_makes_a_server_another(void **state)
{
	static const char one[] = RE "address=h:1\nhttp_headers=a: 1, b: 2\n";

	(void)state;
	assert_true(same(NO_FLAGS, one, one));
	assert_true(same(NO_FLAGS, one, RE "address=grpcs://H:1/\nhttp_headers=a: 1,b: 2\n"));
	assert_false(same(NO_FLAGS, one, RE "address=h:2\nhttp_headers=a: 1, b: 2\n"));
	assert_false(same(NO_FLAGS, one, RE "address=h:1\nhttp_headers=a: 1\n"));
	assert_false(same(NO_FLAGS, one, RE "address=h:1\nhttp_headers=a: 1, b: 3\n"));
	assert_false(same(NO_FLAGS, one, RE "address=h:1\nhttp_headers=a: 1, c: 2\n"));
	assert_false(same(NO_FLAGS, RE "address=h:1\n", RE "address=h:1\ntls=false\n"));
	/* A flag's server is one, but the headers of its own configuration go there. */
	assert_true(same(FLAGS(.endpoint = "grpcs://x:1"), one, RE "address=h:2\n"));
	assert_false(same(FLAGS(.endpoint = "grpcs://h:1"), one, RE "address=h:2\n"));
}

static void resolve_below(const char *dir, const char *name, struct remote *remote)
{
	char *path = scratch_path(dir, name);

	resolve_in(path, NO_FLAGS, remote);
	free(path);
}

/* Copies of a certificate are one; other bytes are not. */
static void test_copies_of_a_certificate(void **state)
{
	char *dir = scratch_new();
	struct remote a, b;

	(void)state;
	scratch_write(dir, "a/.buckconfig", RE "address=h:1\ntls_ca_certs=ca.pem\n");
	scratch_write(dir, "b/.buckconfig", RE "address=h:1\ntls_ca_certs=ca.pem\n");
	scratch_write(dir, "a/ca.pem", CERTIFICATE);
	scratch_write(dir, "b/ca.pem", CERTIFICATE);
	resolve_below(dir, "a", &a);
	resolve_below(dir, "b", &b);
	assert_true(remote_same(&a, &b));
	scratch_write(dir, "b/ca.pem", CERTIFICATE "\n");
	assert_false(remote_same(&a, &b));
	free(b.ca_path);
	b.ca_path = NULL;
	assert_false(remote_same(&a, &b));
	remote_release(&a);
	remote_release(&b);
	scratch_remove(dir);
}

static void check_named(const struct remote_flags *flags, const char *text, bool named)
{
	struct remote remote;

	resolve(flags, text, &remote);
	assert_int_equal(remote.named, named);
	remote_release(&remote);
}

static void test_who_names_the_server(void **state)
{
	(void)state;
	check_named(NO_FLAGS, NULL, false);
	check_named(NO_FLAGS, RE "tls=false\naddress=\n", false);
	check_named(NO_FLAGS, RE "address=h:1\n", true);
	check_named(FLAGS(.endpoint = "grpcs://h:1"), RE "address=h:1\n", true);
	check_named(FLAGS(.endpoint = "grpcs://h:2"), RE "address=h:1\n", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_where_to_ask, clear_environment),
		cmocka_unit_test_setup(test_variables_in_addresses, clear_environment),
		cmocka_unit_test_setup(test_faulty_addresses_name_their_place, clear_environment),
		cmocka_unit_test_setup(test_tls_of_buckconfig_goes_by_its_key, clear_environment),
		cmocka_unit_test_setup(test_tls_of_a_flag_goes_by_its_scheme, clear_environment),
		cmocka_unit_test_setup(test_contradicting_flags, clear_environment),
		cmocka_unit_test_setup(test_server_name, clear_environment),
		cmocka_unit_test_setup(test_certificates_of_flags, clear_environment),
		cmocka_unit_test_setup(test_certificates_of_buckconfig, clear_environment),
		cmocka_unit_test_setup(test_headers_of_buckconfig, clear_environment),
		cmocka_unit_test_setup(test_faulty_headers_of_buckconfig, clear_environment),
		cmocka_unit_test_setup(test_headers_of_flags, clear_environment),
		cmocka_unit_test_setup(test_faulty_headers_of_flags, clear_environment),
		cmocka_unit_test_setup(test_a_flag_replaces_a_header_of_buckconfig,
				       clear_environment),
		cmocka_unit_test_setup(test_headers_of_buckconfig_go_to_its_server_alone,
				       clear_environment),
		cmocka_unit_test_setup(test_secrets_in_clear_are_told, clear_environment),
		cmocka_unit_test_setup(test_token_file, clear_environment),
		cmocka_unit_test_setup(test_what_makes_a_server_another, clear_environment),
		cmocka_unit_test_setup(test_copies_of_a_certificate, clear_environment),
		cmocka_unit_test_setup(test_who_names_the_server, clear_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
