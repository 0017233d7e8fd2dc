/* -c values: from argv as Buck2 takes them, from the record, cleaned of secrets. */
#include "cli_config.h"

#include "redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct str get(const struct cli_config *config, const char *section, const char *key)
{
	return cli_config_get(config, section, key);
}

static void test_argv_in_all_its_forms(void **state)
{
	struct str argv[] = {STR("buck2"),
			     STR("build"),
			     STR("-c"),
			     STR("a.b=1"),
			     STR("--config"),
			     STR("c.d=2=3"),
			     STR("--config=e.f="),
			     STR("-cg.h=5"),
			     STR("-c"),
			     STR("cell//i.j=6"),
			     STR("-c"),
			     STR("no-equals"),
			     STR("-c"),
			     STR("a.b=last"),
			     STR("//:target"),
			     STR("--"),
			     STR("-c"),
			     STR("k.l=theirs"),
			     STR("-c")};
	struct cli_config config = CLI_CONFIG_INIT;

	(void)state;
	cli_config_from_argv(&config, argv, sizeof(argv) / sizeof(*argv));
	assert_int_equal(config.count, 6);
	assert_true(str_is(get(&config, "a", "b"), "last"));
	assert_true(str_is(get(&config, "c", "d"), "2=3"));
	assert_true(str_is(get(&config, "e", "f"), ""));
	assert_true(str_is(get(&config, "g", "h"), "5"));
	assert_true(str_is(get(&config, "i", "j"), "6"));
	assert_true(str_is(config.values[4].cell, "cell"));
	assert_null(get(&config, "k", "l").data);
	cli_config_release(&config);
}

static void test_a_dangling_option_is_no_value(void **state)
{
	struct str argv[] = {STR("build"), STR("--config")};
	struct cli_config config = CLI_CONFIG_INIT;

	(void)state;
	cli_config_from_argv(&config, argv, 2);
	assert_int_equal(config.count, 0);
	cli_config_release(&config);
}

static void test_the_record_replaces_argv_and_files_are_left_out(void **state)
{
	struct str argv[] = {STR("-c"), STR("a.b=1")};
	struct config_value values[] = {
		{.section = STR("x"), .key = STR("y"), .value = STR("cli"), .is_cli = true},
		{.section = STR("x"), .key = STR("z"), .value = STR("of a file")},
	};
	struct cli_config config = CLI_CONFIG_INIT;

	(void)state;
	cli_config_from_argv(&config, argv, 2);
	cli_config_from_record(&config, values, 2);
	assert_int_equal(config.count, 1);
	assert_null(get(&config, "a", "b").data);
	assert_true(str_is(get(&config, "x", "y"), "cli"));
	cli_config_release(&config);
}

static void test_secrets_are_dropped_before_anybody_sees_them(void **state)
{
	struct str argv[] = {STR("-c"),
			     STR("buck2_re_client.http_headers=authorization: Bearer abc")};
	struct cli_config config = CLI_CONFIG_INIT;

	(void)state;
	cli_config_from_argv(&config, argv, 2);
	assert_true(str_is(get(&config, "buck2_re_client", "http_headers"), REDACTED));
	cli_config_release(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argv_in_all_its_forms),
		cmocka_unit_test(test_a_dangling_option_is_no_value),
		cmocka_unit_test(test_the_record_replaces_argv_and_files_are_left_out),
		cmocka_unit_test(test_secrets_are_dropped_before_anybody_sees_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
