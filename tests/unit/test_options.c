/* The option table: every form of an option, operands kept in order, faults in words. */
#include "util/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool flag, other;
static const char *text;
static struct option_list list;
static long long number;
static double real;

static const struct option table[] = {
	{"flag", 'f', NULL, OPTION_FLAG, &flag, "a flag"},
	{"other-flag", 'o', NULL, OPTION_FLAG, &other, "another"},
	{"text", 't', "WORD", OPTION_TEXT, &text, "a word"},
	{"item", 0, "X", OPTION_LIST, &list, "many"},
	{"number", 0, "N", OPTION_NUMBER, &number, "a number"},
	{"real", 0, "S", OPTION_REAL, &real, "seconds"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};
static const struct option *const groups[] = {table, NULL};

static int parse(int argc, const char **argv, struct err *err)
{
	flag = other = false;
	text = NULL;
	number = 0;
	real = 0;
	option_list_release(&list);
	/* options_parse() moves the pointers and never writes through them. */
	return options_parse(groups, argc, (char **)(void *)argv, err);
}

#define PARSE(err, ...)                                                                       \
	(memcpy(words, (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__})), \
	 parse((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), words, err))

static const char *words[16];

static void test_every_form(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "a", "-fo", "--text=x", "b", "--item", "1", "--item=2",
			       "--number", "7", "--real=1.5", "c"),
			 3);
	assert_true(flag && other);
	assert_string_equal(text, "x");
	assert_int_equal(list.count, 2);
	assert_string_equal(list.values[1], "2");
	assert_int_equal(number, 7);
	assert_true(real > 1.49 && real < 1.51);
	assert_string_equal(words[0], "a");
	assert_string_equal(words[1], "b");
	assert_string_equal(words[2], "c");
	option_list_release(&list);
}

static void test_dash_and_underscore_are_one(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "--other_flag"), 0);
	assert_true(other);
}

static void test_a_letter_takes_the_rest_or_the_next(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "-ftword"), 0);
	assert_true(flag);
	assert_string_equal(text, "word");
	assert_int_equal(PARSE(&err, "-t", "-next"), 0);
	assert_string_equal(text, "-next");
}

static void test_two_dashes_end_the_options(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "--", "--flag", "-"), 2);
	assert_false(flag);
	assert_string_equal(words[0], "--flag");
}

static void test_no_abbreviations(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "--fla"), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_string_equal(err.text, "unknown option '--fla' (see --help)");
}

static void test_faults_in_words(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(PARSE(&err, "--number", "x"), -1);
	assert_string_equal(err.text, "--number wants a whole number, not 'x'");
	assert_int_equal(PARSE(&err, "--number=-1"), -1);
	assert_int_equal(PARSE(&err, "--number=99999999999999999999"), -1);
	assert_int_equal(PARSE(&err, "--real=nan"), -1);
	assert_int_equal(PARSE(&err, "--text"), -1);
	assert_string_equal(err.text, "--text wants a value: --text WORD");
	assert_int_equal(PARSE(&err, "--flag=1"), -1);
	assert_string_equal(err.text, "--flag takes no value");
	assert_int_equal(PARSE(&err, "-z"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_form),
		cmocka_unit_test(test_dash_and_underscore_are_one),
		cmocka_unit_test(test_a_letter_takes_the_rest_or_the_next),
		cmocka_unit_test(test_two_dashes_end_the_options),
		cmocka_unit_test(test_no_abbreviations),
		cmocka_unit_test(test_faults_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
