/* Text of SQL, cut into statements as SQLite would keep them. */
#include "store_sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_next(const char **at, const char *wanted)
{
	struct str sql = sql_next(at);

	if (!str_is(sql, wanted))
		fail_msg("'%.*s', not '%s'", (int)sql.len, sql.data, wanted);
}

static void test_statements(void **unused)
{
	static const struct {
		const char *text, *first, *second;
	} cases[] = {
		{"", "", ""},
		{"  \n", "", ""},
		{"A", "A", ""},
		{" A ; B ", "A", "B"},
		{"A \t\r\n;B", "A", "B"},
		{"-- x\nA;/* y; */ B", "A", "B"},
		{"A -- x; y\n z;B", "A -- x; y\n z", "B"},
		{"A /* ; */ z;B", "A /* ; */ z", "B"},
		{"A ';' \";\" [;] `;`;B", "A ';' \";\" [;] `;`", "B"},
		{"A 'it''s; x';B", "A 'it''s; x'", "B"},
		{"A - B / C;D", "A - B / C", "D"},
		/* What is not closed goes on to the end. */
		{"A '; B", "A '; B", ""},
		{"A [; B", "A [; B", ""},
		{"A /*; B", "A /*; B", ""},
		{"A --; B", "A --; B", ""},
		{"-- A; B", "", ""},
		{"/* A; B", "", ""},
	};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].text;

		assert_next(&at, cases[i].first);
		assert_next(&at, cases[i].second);
		assert_next(&at, "");
		assert_int_equal(*at, '\0');
	}
}

static void test_words(void **unused)
{
	struct str rest = STR(" CREATE\tTABLE t(a)");

	(void)unused;
	assert_true(str_is(sql_word(&rest), "CREATE"));
	assert_true(str_is(sql_word(&rest), "TABLE"));
	assert_true(str_is(sql_word(&rest), "t"));
	assert_true(str_is(rest, "(a)"));
	assert_true(str_is(sql_word(&rest), ""));
	rest = STR("  ");
	assert_true(str_is(sql_word(&rest), ""));
	assert_int_equal(rest.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
