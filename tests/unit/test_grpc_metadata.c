#include "lookup_grpc_metadata.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void expect_field(const struct metadata *metadata, const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < metadata->count; i++)
		if (str_is(metadata->fields[i].name, name)) {
			assert_true(str_is(metadata->fields[i].value, value));
			return;
		}
	fail_msg("no field %s", name);
}

static void check(const struct remote *remote, const char *scheme, const char *authority)
{
	struct metadata metadata;
	struct err err = ERR_INIT;

	assert_int_equal(metadata_make(remote, &metadata, &err), 0);
	expect_field(&metadata, ":scheme", scheme);
	expect_field(&metadata, ":authority", authority);
	metadata_release(&metadata);
}

/* Whom we ask, by the name that the certificate is for. */
static void test_authority(void **state)
{
	char host[] = "h:1", local[] = "unix:/s", name[] = "cache.example";

	(void)state;
	check(&(struct remote){.endpoint = host}, "http", "h:1");
	check(&(struct remote){.endpoint = local}, "http", "localhost");
	check(&(struct remote){.endpoint = host, .tls = true}, "https", "h:1");
	check(&(struct remote){.endpoint = host, .tls = true, .tls_name = name}, "https",
	      "cache.example");
	check(&(struct remote){.endpoint = local, .tls = true, .tls_name = name}, "https",
	      "cache.example");
}

/* ---- the user's headers ---- */

static int make_with(const char *name, struct metadata *out_metadata, struct err *err)
{
	static char value[] = "a=b", copy[40];
	static struct header header = {.name = copy, .value = value};
	static char host[] = "h:1";
	static struct remote remote = {.endpoint = host, .headers = &header, .header_count = 1};

	snprintf(copy, sizeof(copy), "%s", name);
	return metadata_make(&remote, out_metadata, err);
}

static void test_headers(void **state)
{
	struct metadata metadata;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(make_with("x-grpc-key", &metadata, &err), 0);
	expect_field(&metadata, "x-grpc-key", "a=b");
	assert_true(metadata.fields[metadata.count - 1].secret);
	metadata_release(&metadata);
}

/* What it would break, or say twice; no text holds the value. */
static void test_headers_of_the_protocol(void **state)
{
	static const char *const names[] = {"connection", "content-type",      "host",
					    "keep-alive", "proxy-connection",  "te",
					    "upgrade",	  "transfer-encoding", "grpc-timeout"};
	struct metadata metadata;
	char text[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct err err = ERR_INIT;

		assert_int_equal(make_with(names[i], &metadata, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
		snprintf(text, sizeof(text), "header '%s' is the protocol's own, and set by it",
			 names[i]);
		assert_string_equal(err.text, text);
		metadata_release(&metadata);
	}
}

/* ---- the token ---- */

static void test_token(void **state)
{
	char *dir = scratch_new(), *path = scratch_path(dir, "token"), host[] = "h:1";
	struct remote remote = {.endpoint = host, .token_path = path};
	struct metadata metadata;
	struct err err = ERR_INIT;
	size_t count;

	(void)state;
	assert_int_equal(metadata_make(&remote, &metadata, &err), -1); /* there is no file */
	assert_int_equal(err.kind, ERR_USAGE);
	metadata_release(&metadata);

	scratch_write(dir, "token", "first\n");
	assert_int_equal(metadata_make(&remote, &metadata, &err), 0);
	expect_field(&metadata, "authorization", "Bearer first");
	count = metadata.count;
	assert_true(metadata.fields[count - 1].secret);
	assert_int_equal(metadata_refresh(&metadata), 0);
	scratch_write(dir, "token", "second");
	assert_int_equal(metadata_refresh(&metadata), 1);
	expect_field(&metadata, "authorization", "Bearer second");
	assert_int_equal(metadata.count, count);

	/* Half written, or gone: the one before stays. */
	scratch_write(dir, "token", "");
	assert_int_equal(metadata_refresh(&metadata), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(metadata_refresh(&metadata), 0);
	expect_field(&metadata, "authorization", "Bearer second");
	metadata_release(&metadata);
	free(path);
	scratch_remove(dir);
}

static void test_no_token(void **state)
{
	struct metadata metadata;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(make_with("a", &metadata, &err), 0);
	assert_int_equal(metadata_refresh(&metadata), 0);
	metadata_release(&metadata);
}

/* ---- of each call ---- */

static void test_method(void **state)
{
	struct metadata metadata;
	struct err err = ERR_INIT;
	size_t i;

	(void)state;
	assert_int_equal(make_with("a", &metadata, &err), 0);
	metadata_aim(&metadata, "/a.B/C");
	expect_field(&metadata, ":path", "/a.B/C");
	metadata_aim(&metadata, "/a.B/D");
	expect_field(&metadata, ":path", "/a.B/D");
	for (i = 0; i < metadata.count; i++)
		assert_false(str_is(metadata.fields[i].name, "grpc-timeout"));
	metadata_release(&metadata);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_authority),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_headers_of_the_protocol),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_no_token),
		cmocka_unit_test(test_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
