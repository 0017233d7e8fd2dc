/* No secret of a command line or a -c value survives; what is none stays as it was. */
#include "redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool is_secret(const char *section, const char *key, const char *value)
{
	return redact_is_secret(str_of(section), str_of(key), str_of(value));
}

static void test_secret_keys(void **state)
{
	(void)state;
	assert_true(is_secret("buck2_re_client", "http_headers", "x-key: 1"));
	assert_true(is_secret("mine", "api_key", "1"));
	assert_true(is_secret("mine", "ApiKey", "1"));
	assert_true(is_secret("mine", "AUTH_TOKEN", "1"));
	assert_true(is_secret("mine", "db_password", "1"));
	assert_true(is_secret("mine", "private_key", "1"));
	assert_true(is_secret("mine", "session_cookie", ""));
	assert_true(is_secret("credentials", "user", "me"));
	assert_false(is_secret("buck2_re_client", "instance_name", "main"));
	assert_false(is_secret("buck2_re_client", "tls_client_cert", "/etc/cert.pem"));
	assert_false(is_secret("br2", "cache_salt", "wrapped-remote-30022046"));
	assert_false(redact_is_secret(STR_NULL, STR_NULL, STR_NULL));
}

static void test_secret_values(void **state)
{
	(void)state;
	assert_true(is_secret("a", "b", "Bearer abc"));
	assert_true(is_secret("a", "b", "x-auth: bearer abc"));
	assert_true(is_secret("a", "b", "basic dTpw"));
	assert_true(is_secret("a", "b", "Authorization:x"));
	assert_true(is_secret("a", "b", "https://user:pw@host/path"));
	assert_true(is_secret("a", "b", "https://ghp_abc@host"));
	assert_true(is_secret("a", "b", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"));
	assert_true(is_secret("a", "b", "-----BEGIN PRIVATE KEY-----"));
	assert_false(is_secret("a", "b", "https://host/path?mail=me@host"));
	assert_false(is_secret("a", "b", "grpc://localhost:8980"));
	assert_false(is_secret("a", "b", "basically fine"));
	assert_false(is_secret("a", "b", "keyJar.of.some.kind.and.more"));
}

/* `line` is split at '|'. */
static void expect_argv(const char *line, const char *json)
{
	struct str argv[16];
	struct buf out = BUF_INIT;
	size_t argc = 0;

	while (line) {
		const char *bar = strchr(line, '|');

		argv[argc++] = (struct str){line, bar ? (size_t)(bar - line) : strlen(line)};
		line = bar ? bar + 1 : NULL;
	}
	redact_argv(argv, argc, &out);
	assert_string_equal(out.data, json);
	buf_release(&out);
}

static void test_argv(void **state)
{
	(void)state;
	expect_argv("buck2|build|//:image|-c|br2.native=zlib|root//security/token:signer",
		    "[\"buck2\",\"build\",\"//:image\",\"-c\",\"br2.native=zlib\","
		    "\"root//security/token:signer\"]");
	expect_argv("-c|cell//buck2_re_client.http_headers=a: b|x",
		    "[\"-c\",\"cell//buck2_re_client.http_headers=[redacted]\",\"x\"]");
	expect_argv("-cmine.token=abc|--config=mine.token=abc|-c=mine.token=abc",
		    "[\"-cmine.token=[redacted]\",\"--config=mine.token=[redacted]\","
		    "\"-c=mine.token=[redacted]\"]");
	expect_argv("--config|a.b=https://u:p@h/|-ca.b=Bearer x",
		    "[\"--config\",\"a.b=[redacted]\",\"-ca.b=[redacted]\"]");
	expect_argv("--access-token|abc|--password=abc|--remote_header=x-api-key=a=b|"
		    "--header|X: y|end",
		    "[\"--access-token\",\"[redacted]\",\"--password=[redacted]\","
		    "\"--remote_header=[redacted]\",\"--header\",\"[redacted]\",\"end\"]");
	expect_argv("Authorization: Bearer abc|X-Api-Key: abc|https://u:p@h/x|MY_TOKEN=abc",
		    "[\"Authorization:[redacted]\",\"X-Api-Key:[redacted]\",\"[redacted]\","
		    "\"MY_TOKEN=[redacted]\"]");
	expect_argv("run|//:x|--|--user|me|--", "[\"run\",\"//:x\",\"--\",\"[redacted]\","
						"\"[redacted]\",\"[redacted]\"]");
	expect_argv("--token|--|x", "[\"--token\",\"--\",\"[redacted]\"]");
	expect_argv("--token", "[\"--token\"]");
	expect_argv("-c", "[\"-c\"]");
}

static void test_argv_is_json(void **state)
{
	(void)state;
	expect_argv("a\"b\\c|\xff\xfe|\n",
		    "[\"a\\\"b\\\\c\",\"\xef\xbf\xbd\xef\xbf\xbd\",\"\\n\"]");
}

static void test_no_arguments(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	redact_argv(NULL, 0, &out);
	assert_string_equal(out.data, "[]");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret_keys),  cmocka_unit_test(test_secret_values),
		cmocka_unit_test(test_argv),	     cmocka_unit_test(test_argv_is_json),
		cmocka_unit_test(test_no_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
