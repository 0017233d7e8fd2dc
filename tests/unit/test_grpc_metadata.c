#include "lookup_grpc_metadata.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_authority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
