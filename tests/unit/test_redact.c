/* No secret of a command line or a -c value survives; what is none stays as it was. */
#include "redact.h"

#include "clean.h"
#include "digest.h"

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
	redact_argv(argv, argc, SIZE_MAX, &out);
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

static void test_short_names(void **state)
{
	static const char *const secret[] = {
		"access_key", "pwd", "auth",	  "creds",  "pat",
		"sas",	      "sid", "githubPat", "oauth2", "X-Amz-Credential",
		"DB_PWD",     NULL,
	};
	static const char *const plain[] = {
		"path",	     "author",		"pattern",    "compat",	      "inside",
		"paths",     "native",		"cache_salt", "remote_cache", "remote_execution",
		"dev_tools", "local_execution", "side",	      "coauthor",     "cache_key",
		"PWD",	     "credit",		NULL,
	};
	size_t i;

	(void)state;
	for (i = 0; secret[i]; i++)
		if (!is_secret("a", secret[i], "1"))
			fail_msg("%s is kept", secret[i]);
	for (i = 0; plain[i]; i++)
		if (is_secret("br2", plain[i], "1"))
			fail_msg("%s is dropped", plain[i]);
}

static void test_names_in_values(void **state)
{
	(void)state;
	assert_true(is_secret("a", "env", "FOO=1 TOKEN=x"));
	assert_true(is_secret("a", "cmd", "curl -H \"X-Api-Key: x\""));
	assert_true(is_secret("a", "b", "PRIVATE-TOKEN:x"));
	assert_true(is_secret("a", "b", "{\"password\": \"x\"}"));
	assert_true(is_secret("a", "b", "password = x"));
	assert_false(is_secret("a", "b", "//security/token:signer"));
	assert_false(is_secret("a", "b", "root//tools/auth:auth_test"));
	assert_false(is_secret("a", "b", "FOO=1 PATH=/bin author=me"));
	assert_false(is_secret("a", "b", "token"));
	assert_false(is_secret("a", "b", "TOKEN="));
}

/* What tests/data/logs/cells was built with. */
static void test_recorded_config(void **state)
{
	static const char *const recorded[][3] = {
		{"br2", "cache_salt", "native-remote-cache-30022046"},
		{"br2", "cache_uploads", "true"},
		{"br2", "dev_tools", "false"},
		{"br2", "fallback", "true"},
		{"br2", "local_execution", "false"},
		{"br2", "native", "zlib"},
		{"br2", "remote_cache", "true"},
		{"br2", "remote_execution", "true"},
		{"buck2_re_client", "instance_name", "qemu-mini-remote-cache-native"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		assert_false(is_secret(recorded[i][0], recorded[i][1], recorded[i][2]));
}

static void test_argv_variables(void **state)
{
	(void)state;
	expect_argv(
		"--env|GITHUB_PAT=x|--env=AWS_SECRET_ACCESS_KEY=x|--test-env|A=b=c|-e|A=b|-eA=b",
		"[\"--env\",\"GITHUB_PAT=[redacted]\","
		"\"--env=AWS_SECRET_ACCESS_KEY=[redacted]\",\"--test-env\",\"A=[redacted]\","
		"\"-e\",\"A=[redacted]\",\"-eA=[redacted]\"]");
	expect_argv("--env|HOME|--env|--|x|", "[\"--env\",\"HOME\",\"--env\",\"--\","
					      "\"[redacted]\",\"[redacted]\"]");
	expect_argv("-c|a.env=FOO=1 TOKEN=x|-c|a.cmd=curl -H \"X-Api-Key: x\"|"
		    "--config=a.b=PRIVATE-TOKEN:x|-c|aws.access_key=x|-cdb.pwd=x|-c|session.sid=x",
		    "[\"-c\",\"a.env=[redacted]\",\"-c\",\"a.cmd=[redacted]\","
		    "\"--config=a.b=[redacted]\",\"-c\",\"aws.access_key=[redacted]\","
		    "\"-cdb.pwd=[redacted]\",\"-c\",\"session.sid=[redacted]\"]");
	expect_argv("foo/auth:test|--exclude=path:x|--environs",
		    "[\"foo/auth:test\",\"--exclude=path:x\",\"--environs\"]");
}

/* Each is a secret as a value, and is cut out of a text. */
static void expect_text(const char *text, const char *clean)
{
	struct buf out = BUF_INIT;
	struct str got = redact_text(str_of(text), &out);

	if (!str_is(got, clean))
		fail_msg("%s became %.*s", text, (int)got.len, got.data);
	assert_true(is_secret("a", "b", text));
	buf_release(&out);
}

static void test_texts(void **state)
{
	(void)state;
	expect_text("get https://me:p@ss@host/x now", "get https://[redacted]@host/x now");
	expect_text("https://ghp_abc@host", "https://[redacted]@host");
	expect_text("> Authorization: Basic dTpw\r\nnext", "> Authorization: [redacted]\r\nnext");
	expect_text("curl -H 'authorization: token x' y", "curl -H 'authorization: [redacted]' y");
	expect_text("{\"X-Api-Key\": \"a b\", \"c\": 1}",
		    "{\"X-Api-Key\": \"[redacted]\", \"c\": 1}");
	expect_text("{\\\"cookie\\\":\\\"a\\\"}", "{\\\"cookie\\\":\\\"[redacted]\\\"}");
	expect_text("sent bearer abc.d-e=, got 401", "sent bearer [redacted], got 401");
	expect_text("sent Basic dTpw to it", "sent Basic [redacted] to it");
	expect_text("https://h/b?sv=1&sig=a%2Fb&x=1", "https://h/b?sv=1&sig=[redacted]&x=1");
	expect_text("https://h/?signature=a", "https://h/?signature=[redacted]");
	expect_text("https://h/?X-Amz-Signature=a", "https://h/?X-Amz-Signature=[redacted]");
	expect_text("(https://h/?access_token=a) x", "(https://h/?access_token=[redacted]) x");
	expect_text("https://h/?token=a#b", "https://h/?token=[redacted]#b");
	expect_text("https://h/?key=a", "https://h/?key=[redacted]");
	expect_text("+ export GITHUB_PAT='a b' X=1", "+ export GITHUB_PAT='[redacted]' X=1");
	expect_text("DB_PASSWORD=a,b&c d", "DB_PASSWORD=[redacted] d");
}

static void test_token_shapes(void **state)
{
	(void)state;
	expect_text("bad ghp_0123456789abcdef.", "bad [redacted].");
	expect_text("(github_pat_11AA_bb)", "([redacted])");
	expect_text("glpat-abc_def-1 x", "[redacted] x");
	expect_text("xoxb-1-2-a", "[redacted]");
	expect_text("id AKIAIOSFODNN7EXAMPLE!", "id [redacted]!");
	expect_text("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln b", "a [redacted] b");
	expect_text("k -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nz",
		    "k [redacted]\nz");
	expect_text("-----BEGIN PRIVATE KEY-----\nMII", "[redacted]");
	expect_text("-----BEGIN OPENSSH PRIVATE KEY", "[redacted]");
	expect_text("-----BEGIN PRIVATE KEY-----\nMII-----END PRIVATE KEY-----eyJhbGci.eyJz.c2ln",
		    "[redacted][redacted]");
	expect_text("AKIAIOSFODNN7EXAMPLEghp_0123", "[redacted][redacted]");
	expect_text("ghp_aaaa https://u:p@h Bearer x1",
		    "[redacted] https://[redacted]@h Bearer [redacted]");
}

static void test_clean_texts(void **state)
{
	static const char *const clean[] = {
		"",
		"src/token.c:12:5: error: expected token: '}'",
		"Authorization: Permission denied",
		"X does not accept no credentials: no bearer token provided",
		"auth.c:3: undefined reference to `Cookie::parse(int)'",
		"if (token == next) token = next();",
		"the basic block 3, the Basic type of PATH=/bin PWD=/home",
		"https://host/a?mail=me@host&monkey=1 keyJar.of.some.kind",
		"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
		"-----BEGIN x\nPRIVATE KEY-----",
		"ghp_ AKIA eyJ xoxb- :// = : - http://",
		"Action details (uncached result): "
		"http://bb-portal.buildbarn.svc.cluster.local:8081/"
		"demo-x86_64/blobs/sha256/historical_execute_response/"
		"1a18842aefb1ade1afb424c8fad0c05eb6143180b682364b58f5af3474fbe9c2-782/",
	};
	struct buf out = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(clean) / sizeof(clean[0]); i++) {
		struct str got = redact_text(str_of(clean[i]), &out);

		if (got.data != clean[i])
			fail_msg("%s became %s", clean[i], out.data);
	}
	assert_null(redact_text(STR_NULL, &out).data);
	assert_int_equal(out.cap, 0);
}

/* The two ends of the clean text, whatever lies around the cut, and never much more. */
static void test_ends(void **state)
{
	static const char text[] =
		"ghp_0123456789abcdef https://u:p@h/ 1 Bearer x1 y Bearer x2, sent Basic dTpw "
		"-----BEGIN A PRIVATE KEY-----x-----END A PRIVATE KEY----- and the rest of it";
	struct buf whole = BUF_INIT, out = BUF_INIT;
	struct str clean = redact_text(str_of(text), &whole);
	size_t max;

	(void)state;
	for (max = strlen(REDACTED); max < sizeof(text) + 20; max++) {
		struct str begin = redact_begin(str_of(text), max, &out), tail;

		assert_int_equal(begin.len, max < clean.len ? max : clean.len);
		assert_memory_equal(begin.data, clean.data, begin.len);
		tail = redact_tail(str_of(text), max, &out);
		assert_true(tail.len >= (max < clean.len ? max : clean.len));
		assert_true(tail.len <= 2 * max && tail.len <= clean.len);
		assert_memory_equal(tail.data, clean.data + clean.len - tail.len, tail.len);
	}
	buf_release(&whole);
	buf_release(&out);
}

/* A text whose every byte could begin something, at each cut: no read beyond its end. */
static void test_cut_texts(void **state)
{
	static const char text[] =
		"https://u:p@h/?sig=x Authorization: \\\"Basic dTpw\" eyJabcdef.eyJab"
		" -----BEGIN A PRIVATE KEY-----x-----END A PRIVATE KEY-----";
	size_t len;

	(void)state;
	for (len = 1; len < sizeof(text); len++) {
		char *cut = test_malloc(len);
		struct buf out = BUF_INIT;

		memcpy(cut, text, len);
		assert_true(redact_text((struct str){cut, len}, &out).len >= (len < 12 ? len : 19));
		buf_release(&out);
		test_free(cut);
	}
}

/* The link of a message survives what is cut out around it. */
static void test_link_survives(void **state)
{
	static const char text[] =
		"x https://me:pw@h:80/a/blobs/sha256/historical_execute_response/"
		"1a18842aefb1ade1afb424c8fad0c05eb6143180b682364b58f5af3474fbe9c2-782/";
	struct buf out = BUF_INIT;
	struct link raw, clean;

	(void)state;
	link_find(str_of(text), &raw);
	link_find(redact_text(str_of(text), &out), &clean);
	assert_int_equal(clean.kind, LINK_HISTORICAL);
	assert_memory_equal(clean.digest.hash, raw.digest.hash, raw.digest.hash_len);
	assert_int_equal(clean.prefix.len, strlen("https://[redacted]@h:80/a"));
	buf_release(&out);
}

static void test_clean_action(void **state)
{
	static const struct clean_limits limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
	struct property properties[] = {{STR("container-image"), STR("docker://u:p@h/x")},
					{STR("REGISTRY_TOKEN"), STR("x")},
					{STR("OSFamily"), STR("Linux")}};
	struct attempt attempts[] = {
		{.status = STATUS_FAILURE,
		 .properties = properties,
		 .property_count = 3,
		 .stderr_text = STR("A_TOKEN=x"),
		 .error_text = STR("Bearer x"),
		 .additional_message = STR("ftp://u:p@h")},
		{.status = STATUS_SUCCESS,
		 .stderr_text = STR("A_TOKEN=x"),
		 .error_text = STR("fine")},
	};
	struct action action = {
		.error_text = STR("glpat-12345"), .attempts = attempts, .attempt_count = 2};
	struct clean_texts texts = CLEAN_TEXTS_INIT;

	(void)state;
	clean_action(&texts, &action, &limits);
	assert_string_equal(action.error_text.data, REDACTED);
	assert_string_equal(attempts[0].stderr_clean.data, "A_TOKEN=" REDACTED);
	assert_int_equal(attempts[0].stderr_text.len, 9);
	assert_string_equal(attempts[0].error_text.data, "Bearer " REDACTED);
	assert_string_equal(attempts[0].additional_message.data, "ftp://" REDACTED "@h");
	assert_string_equal(properties[0].value.data, REDACTED);
	assert_string_equal(properties[1].value.data, REDACTED);
	assert_string_equal(properties[2].value.data, "Linux");
	assert_null(attempts[1].stderr_clean.data);
	assert_int_equal(texts.count, 4);
	clean_texts_release(&texts);
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
	redact_argv(NULL, 0, SIZE_MAX, &out);
	assert_string_equal(out.data, "[]");
	buf_release(&out);
}

static void test_long_argv(void **state)
{
	static const struct str argv[] = {{"build", 5}, {"//a:b", 5}, {"c", 1}};
	/* max, and what fits */
	static const struct {
		size_t max;
		const char *want;
	} cases[] = {
		{2, "[]"},
		{8, "[]"},
		{9, "[\"build\"]"},
		{16, "[\"build\"]"},
		{17, "[\"build\",\"//a:b\"]"},
		{21, "[\"build\",\"//a:b\",\"c\"]"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT;

		redact_argv(argv, 3, cases[i].max, &out);
		assert_string_equal(out.data, cases[i].want);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret_keys),
		cmocka_unit_test(test_secret_values),
		cmocka_unit_test(test_argv),
		cmocka_unit_test(test_argv_is_json),
		cmocka_unit_test(test_no_arguments),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_names_in_values),
		cmocka_unit_test(test_recorded_config),
		cmocka_unit_test(test_argv_variables),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_token_shapes),
		cmocka_unit_test(test_clean_texts),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_cut_texts),
		cmocka_unit_test(test_link_survives),
		cmocka_unit_test(test_long_argv),
		cmocka_unit_test(test_clean_action),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
