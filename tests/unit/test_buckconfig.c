#include "buckconfig.h"

#include "scratch.h"
#include "util/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* ---- help ---- */

static struct buckconfig *parse(const char *text)
{
	struct buckconfig *config;
	struct err err = ERR_INIT;

	if (buckconfig_parse(&config, text, strlen(text), "f", &err) < 0)
		fail_msg("%s", err.text);
	return config;
}

/* NULL: must not be set. */
static void expect(struct buckconfig *config, const char *section, const char *key,
		   const char *expected)
{
	struct err err = ERR_INIT;
	const char *value = NULL;

	assert_int_equal(buckconfig_get(config, section, key, &value, &err), expected ? 1 : 0);
	if (expected)
		assert_string_equal(value, expected);
}

/* The value of a.b, and of nothing else, in one text. */
static void expect_ab(const char *text, const char *expected)
{
	struct buckconfig *config = parse(text);

	expect(config, "a", "b", expected);
	buckconfig_free(config);
}

static void expect_fault(const char *text, const char *place, const char *words)
{
	struct buckconfig *config = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(buckconfig_parse(&config, text, strlen(text), "f", &err), -1);
	assert_null(config);
	assert_int_equal(err.kind, ERR_USAGE);
	if (strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, words))
		fail_msg("'%s' is not '%s … %s'", err.text, place, words);
}

/* root, home and etc below one scratch folder */
static struct buckconfig *load(const char *dir)
{
	char *root = xasprintf("%s/root", dir), *home = xasprintf("%s/home", dir);
	char *etc = xasprintf("%s/etc", dir);
	struct buckconfig *config;
	struct err err = ERR_INIT;

	if (buckconfig_load(&config, root, home, etc, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(buckconfig_root(config), root);
	free(root);
	free(home);
	free(etc);
	return config;
}

static void expect_load_fault(const char *dir, enum err_kind kind, const char *words)
{
	struct buckconfig *config = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(buckconfig_load(&config, dir, NULL, "/nowhere", &err), -1);
	assert_null(config);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

/* ---- lines and values ---- */

static void test_settings(void **state)
{
	(void)state;
	expect_ab("[a]\nb=c", "c");
	expect_ab("[a]\n  b  =  c d  \n", "c d");
	expect_ab("[a]\r\n\tb = c\r\n", "c");
	expect_ab("[a]\nb = c = d", "c = d");
	expect_ab("[a]\nb =\n", "");
	expect_ab("[a]\nb = c\nb = d\n", "d");
	expect_ab("[a]\nb c = d\n", NULL);
	expect_ab("", NULL);
	expect_ab("b = c\n", NULL);
}

static void test_settings_before_any_section(void **state)
{
	struct buckconfig *config = parse("b = c\n");

	(void)state;
	expect(config, "__unspecified__", "b", "c");
	expect(config, "", "b", NULL);
	buckconfig_free(config);
}

static void test_comments_are_whole_lines(void **state)
{
	(void)state;
	expect_ab("# x\n; y\n\n[a]\n  # b = 1\n  ; b = 2\nb = c\n", "c");
	expect_ab("[a]\nb = c # d\n", "c # d");
	expect_ab("[a]\nb = c ; d\n", "c ; d");
	expect_ab("[a]\n#b = 1\n", NULL);
}

static void test_sections(void **state)
{
	struct buckconfig *config;

	(void)state;
	expect_ab("[a] # comment\nb = c\n", "c");
	/* Cut at " #", a second space is left behind. */
	expect_fault("[a]  # comment ]\nb = c\n", "f:1: ", "']'");
	expect_ab("[A]\nb = c\n", NULL);
	expect_ab("[a]\nB = c\n", NULL);
	expect_ab("[a]\nb = 1\n[x]\nb = 2\n[a]\nc = 3\n", "1");
	expect_ab("[a]\nb = 1\n[x]\nb = 2\n[a]\nb = 3\n", "3");
	config = parse("[ a ]\nb = c\n[]\nb = d\n[a#x]\nb = e\n");
	expect(config, " a ", "b", "c");
	expect(config, "", "b", "d");
	expect(config, "a#x", "b", "e");
	expect(config, "a", "b", NULL);
	buckconfig_free(config);
}

static void test_continuation(void **state)
{
	(void)state;
	expect_ab("[a]\nb = c\\\nd\n", "cd");
	expect_ab("[a]\nb = c \\\n   d  \n", "c d");
	expect_ab("[a]\nb = c,\\\n  d,\\\n  e\n", "c,d,e");
	expect_ab("[a]\nb \\\n= c\n", "c");
	/* Joined before comments are looked for: the comment takes the next line along. */
	expect_ab("[a]\n# x \\\nb = c\n", NULL);
	expect_ab("[a]\nb = c\\\n# d\n", "c# d");
	/* An empty line ends it; a second backslash joins once more. */
	expect_ab("[a]\nb = c\\\n\nd = e\n", "c");
	expect_ab("[a]\nb = c\\\\\nd\n", "c\\d");
	expect_ab("[a]\nb = c\\\\\n\nd\n", "cd");
	/* There is nothing to join at the end of the file. */
	expect_ab("[a]\nb = c\\", "c\\");
	expect_ab("[a]\nb = c\\\n", "c\\");
}

static void test_faults_name_the_line_and_not_the_text(void **state)
{
	(void)state;
	expect_fault("[a]\nsecret\n", "f:2: ", "neither");
	expect_fault("[a\n", "f:1: ", "']'");
	expect_fault("[a] x\n", "f:1: ", "']'");
	expect_fault("[a]\n\n\n = c\n", "f:4: ", "no key");
	expect_fault("[a]\nb = c\\\nd\ne\n", "f:4: ", "neither");
	expect_fault("[a]\n<file:>\n", "f:2: ", "neither");
	expect_fault("[a]\n<file:x\n", "f:2: ", "neither");
}

static void test_nul_is_a_fault(void **state)
{
	struct buckconfig *config = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(buckconfig_parse(&config, "[a]\n\0b=c", 8, "f", &err), -1);
	assert_non_null(strstr(err.text, "NUL"));
}

static void test_origin(void **state)
{
	struct buckconfig *config = parse("[a]\n\nb = c\nd = e\\\nf\nb = g\n");

	(void)state;
	assert_string_equal(buckconfig_origin(config, "a", "b"), "f:6");
	assert_string_equal(buckconfig_origin(config, "a", "d"), "f:4");
	assert_null(buckconfig_origin(config, "a", "x"));
	assert_null(buckconfig_root(config));
	buckconfig_free(config);
}

/* ---- interpolation ---- */

static void test_interpolation(void **state)
{
	(void)state;
	expect_ab("[a]\nb = <$(config c.d)>\n[c]\nd = e\n", "<e>");
	expect_ab("[a]\nb = $(config c.d)$(config c.d)\n[c]\nd = e\n", "ee");
	expect_ab("[a]\nb = $(config c.d)\n[c]\nd = $(config x.y)!\n[x]\ny = z\n", "z!");
	expect_ab("[a]\nb = <$(config no.such)>\n", "<>");
	/* After all merging: the last value counts. */
	expect_ab("[a]\nb = $(config c.d)\n[c]\nd = 1\nd = 2\n", "2");
	/* The key may hold dots, the section not. */
	expect_ab("[a]\nb = $(config c.d.e)\n[c]\nd.e = f\n", "f");
	/* Not quite references. */
	expect_ab("[a]\nb = $(config c.d\n[c]\nd = e\n", "$(config c.d");
	expect_ab("[a]\nb = $(configc.d) $x ${c.d}\n", "$(configc.d) $x ${c.d}");
	/* The text that comes in is not looked at again. */
	expect_ab("[a]\nb = $(config c.d)config c.e)\n[c]\nd = $(\ne = x\n", "$(config c.e)");
}

static void expect_get_fault(const char *text, enum err_kind kind, const char *words)
{
	struct buckconfig *config = parse(text);
	struct err err = ERR_INIT;
	const char *value = "untouched";

	assert_int_equal(buckconfig_get(config, "a", "b", &value, &err), -1);
	assert_string_equal(value, "untouched");
	assert_int_equal(err.kind, kind);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
	/* And again, for the same reason: nothing is left behind. */
	assert_int_equal(buckconfig_get(config, "a", "b", &value, &err), -1);
	assert_non_null(strstr(err.text, words));
	buckconfig_free(config);
}

static void test_cycles(void **state)
{
	(void)state;
	expect_get_fault("[a]\nb = $(config a.b)\n", ERR_USAGE, "f:2: a.b: refers to itself");
	expect_get_fault("[a]\nb = $(config c.d)\n[c]\nd = x$(config a.b)\n", ERR_USAGE, "itself");
	expect_get_fault("[a]\nb = $(config nodot)\n", ERR_USAGE, "section.key");
	/* Twice the same is no cycle. */
	expect_ab("[a]\nb = $(config a.c)$(config a.d)\nc = $(config a.d)\nd = x\n", "xx");
}

/* A value that doubles sixty times over, and a chain that is too long. */
static void test_interpolation_is_bounded(void **state)
{
	struct buf text = BUF_INIT;
	int i;

	(void)state;
	buf_addstr(&text, "[a]\nb = $(config a.x0)\n");
	for (i = 0; i < 60; i++)
		buf_addf(&text, "x%d = $(config a.x%d)$(config a.x%d)\n", i, i + 1, i + 1);
	buf_addstr(&text, "x60 = y\n");
	expect_get_fault(text.data, ERR_LIMIT, "grows over");
	buf_clear(&text);
	buf_addstr(&text, "[a]\nb = $(config a.x0)\n");
	for (i = 0; i < 200; i++)
		buf_addf(&text, "x%d = $(config a.x%d)\n", i, i + 1);
	expect_get_fault(text.data, ERR_LIMIT, "references deep");
	buf_release(&text);
}

/* ---- files ---- */

static void test_later_files_win(void **state)
{
	static const char *const names[] = {
		"etc/buckconfig.d/a",	  "etc/buckconfig",	  "home/.buckconfig.d/a",
		"home/.buckconfig.local", "root/.buckconfig.d/a", "root/.buckconfig",
		"root/.buckconfig.local",
	};
	char *dir = scratch_new();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = xasprintf("[a]\nb = %s\n[k]\n%zu = here\n", names[i], i);
		struct buckconfig *config;

		scratch_write(dir, names[i], text);
		config = load(dir);
		expect(config, "a", "b", names[i]);
		expect(config, "k", "0", "here");
		buckconfig_free(config);
		free(text);
	}
	scratch_remove(dir);
}

static void test_there_is_no_buckconfig_of_the_home(void **state)
{
	char *dir = scratch_new();
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "home/.buckconfig", "[a]\nb = home\n");
	config = load(dir);
	expect(config, "a", "b", NULL);
	buckconfig_free(config);
	scratch_remove(dir);
}

static void test_folders_are_read_in_order_of_names(void **state)
{
	char *dir = scratch_new(), *link;
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "root/.buckconfig.d/10-x", "[a]\nb = 10\nfirst = 1\n");
	scratch_write(dir, "root/.buckconfig.d/9.bak", "[a]\nb = 9\n");
	scratch_write(dir, "root/.buckconfig.d/5/deep/er", "[a]\nb = 5\ndeep = 1\n");
	scratch_write(dir, "elsewhere", "[a]\nb = link\nlink = 1\n");
	link = xasprintf("%s/root/.buckconfig.d/99-link", dir);
	assert_int_equal(symlink("../../elsewhere", link), 0);
	config = load(dir);
	expect(config, "a", "b", "9"); /* "10-x" < "5" < "9.bak": by bytes, not by number */
	expect(config, "a", "first", "1");
	expect(config, "a", "deep", "1");
	expect(config, "a", "link", NULL);
	buckconfig_free(config);
	free(link);
	scratch_remove(dir);
}

static void test_a_linked_buckconfig_is_read(void **state)
{
	char *dir = scratch_new(), *link;
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "shared", "[a]\nb = c\n");
	scratch_mkdir(dir, "root");
	link = xasprintf("%s/root/.buckconfig", dir);
	assert_int_equal(symlink("../shared", link), 0);
	config = load(dir);
	expect(config, "a", "b", "c");
	buckconfig_free(config);
	free(link);
	scratch_remove(dir);
}

static void test_sections_do_not_go_from_file_to_file(void **state)
{
	char *dir = scratch_new();
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "root/.buckconfig", "[a]\nb = c\n");
	scratch_write(dir, "root/.buckconfig.local", "b = d\n");
	config = load(dir);
	expect(config, "a", "b", "c");
	expect(config, "__unspecified__", "b", "d");
	buckconfig_free(config);
	scratch_remove(dir);
}

static void test_a_folder_for_a_file(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_mkdir(dir, ".buckconfig");
	expect_load_fault(dir, ERR_IO, "/.buckconfig");
	scratch_remove(dir);
}

/* ---- includes ---- */

static void test_includes(void **state)
{
	char *dir = scratch_new(), *text;
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "outside", "[o]\nk = outside\n");
	scratch_write(dir, "root/sub/one", "[s]\nk = one\n<file:two>\n<file:../../outside>\n");
	scratch_write(dir, "root/sub/two", "[t]\nk = two\n");
	text = xasprintf("<file:sub/one>\n[x]\n<?file:missing>\n<?file:%s/outside>\nk = x\n", dir);
	scratch_write(dir, "root/.buckconfig", text);
	config = load(dir);
	expect(config, "s", "k", "one");
	expect(config, "t", "k", "two");
	expect(config, "x", "k", NULL); /* the included file has left [o] behind */
	expect(config, "o", "k", "x");
	buckconfig_free(config);
	free(text);
	scratch_remove(dir);
}

static void test_section_goes_into_an_include_and_back(void **state)
{
	char *dir = scratch_new();
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "root/.buckconfig", "[a]\n<file:inc>\nafter = 1\n");
	scratch_write(dir, "root/inc", "b = c\n[z]\nlast = 1\n");
	config = load(dir);
	expect(config, "a", "b", "c");
	expect(config, "z", "last", "1");
	expect(config, "z", "after", "1");
	expect(config, "a", "after", NULL);
	buckconfig_free(config);
	scratch_remove(dir);
}

static void test_include_syntax(void **state)
{
	char *dir = scratch_new();
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "root/.buckconfig",
		      "[a]\nsee <x> <file:inc>\n<?file:no> <file:no>\n<file:has=equals>\n");
	scratch_write(dir, "root/inc", "b = c\n");
	config = load(dir);
	expect(config, "a", "b", "c");
	/* '=' comes first: this is a setting, not an include. */
	expect(config, "a", "<file:has", "equals>");
	buckconfig_free(config);
	scratch_remove(dir);
}

static void test_missing_include(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckconfig", "[a]\n\n<file:no/such>\n");
	expect_load_fault(dir, ERR_USAGE, "/.buckconfig:3: the included file ");
	expect_load_fault(dir, ERR_USAGE, "/no/such is missing");
	scratch_remove(dir);
}

static void test_fault_inside_an_include(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckconfig", "<file:inc>\n");
	scratch_write(dir, "inc", "\nrubbish\n");
	expect_load_fault(dir, ERR_USAGE, "/inc:2: neither");
	scratch_remove(dir);
}

static void test_include_cycle(void **state)
{
	char *dir = scratch_new();

	(void)state;
	scratch_write(dir, ".buckconfig", "<file:inc>\n");
	scratch_write(dir, "inc", "<file:.buckconfig>\n");
	expect_load_fault(dir, ERR_LIMIT, "lead back to itself");
	scratch_remove(dir);
}

/* ---- digest functions ---- */

static void check_function(const char *text, enum digest_function expected)
{
	struct buckconfig *config = parse(text);

	assert_int_equal(config_digest_function(config), expected);
	buckconfig_free(config);
}

static void test_digest_function(void **state)
{
	(void)state;
	check_function("[buck2]\ndigest_algorithms = SHA256\n", DIGEST_SHA256);
	check_function("[buck2]\ndigest_algorithms = BLAKE3 , SHA1\n", DIGEST_BLAKE3);
	check_function("[buck2]\ndigest_algorithms = BLAKE3-KEYED,BLAKE3\n", DIGEST_BLAKE3);
	check_function("[buck2]\ndigest_algorithms = SHA1\n", DIGEST_SHA1);
	check_function("[buck2]\ndigest_algorithms = CRC32\n", DIGEST_UNKNOWN);
	check_function("[buck2]\ndigest_algorithms =\n", DIGEST_UNKNOWN);
	check_function("", DIGEST_UNKNOWN);
}

static void test_digest_function_of_an_include_does_not_count(void **state)
{
	char *dir = scratch_new();
	struct buckconfig *config;

	(void)state;
	scratch_write(dir, "root/.buckconfig", "[buck2]\ndigest_algorithms = SHA1\n<file:inc>\n");
	scratch_write(dir, "root/inc", "digest_algorithms = BLAKE3\n");
	config = load(dir);
	assert_int_equal(config_digest_function(config), DIGEST_SHA1);
	expect(config, "buck2", "digest_algorithms", "BLAKE3");
	buckconfig_free(config);
	scratch_remove(dir);
}

/* ---- environment ---- */

static void check_env(const char *text, const char *expected)
{
	struct err err = ERR_INIT;
	char *out;

	if (buckconfig_expand_env(text, &out, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(out, expected);
	free(out);
}

static void test_environment(void **state)
{
	struct err err = ERR_INIT;
	char *out = NULL;

	(void)state;
	setenv("BR2_TEST_A", "alpha$BR2_TEST_B", 1);
	setenv("BR2_TEST_EMPTY", "", 1);
	unsetenv("BR2_TEST_NONE");
	check_env("", "");
	check_env("plain", "plain");
	check_env("<$BR2_TEST_A>", "<alpha$BR2_TEST_B>");
	check_env("$BR2_TEST_A.$BR2_TEST_A", "alpha$BR2_TEST_B.alpha$BR2_TEST_B");
	check_env("x$BR2_TEST_EMPTY/y", "x/y");
	check_env("$ $$ $1 ${BR2_TEST_A} a$", "$ $$ $1 ${BR2_TEST_A} a$");
	check_env("$$BR2_TEST_EMPTY!", "$!");
	assert_int_equal(buckconfig_expand_env("top-secret $BR2_TEST_NONE", &out, &err), -1);
	assert_null(out);
	assert_non_null(strstr(err.text, "BR2_TEST_NONE is not set"));
	assert_null(strstr(err.text, "secret"));
	assert_int_equal(buckconfig_expand_env("pa$sWord", &out, &err), -1);
	assert_null(out);
	assert_string_equal(err.text,
			    "$ and a letter name an environment variable, and it is not set");
}

/* instance_name is one of the values that Buck2 does not expand. */
static void test_values_keep_their_dollars(void **state)
{
	(void)state;
	setenv("BR2_TEST_A", "alpha", 1);
	expect_ab("[a]\nb = $BR2_TEST_A\n", "$BR2_TEST_A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_settings_before_any_section),
		cmocka_unit_test(test_comments_are_whole_lines),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_continuation),
		cmocka_unit_test(test_faults_name_the_line_and_not_the_text),
		cmocka_unit_test(test_nul_is_a_fault),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_interpolation),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_interpolation_is_bounded),
		cmocka_unit_test(test_later_files_win),
		cmocka_unit_test(test_there_is_no_buckconfig_of_the_home),
		cmocka_unit_test(test_folders_are_read_in_order_of_names),
		cmocka_unit_test(test_a_linked_buckconfig_is_read),
		cmocka_unit_test(test_sections_do_not_go_from_file_to_file),
		cmocka_unit_test(test_a_folder_for_a_file),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_section_goes_into_an_include_and_back),
		cmocka_unit_test(test_include_syntax),
		cmocka_unit_test(test_missing_include),
		cmocka_unit_test(test_fault_inside_an_include),
		cmocka_unit_test(test_include_cycle),
		cmocka_unit_test(test_digest_function),
		cmocka_unit_test(test_digest_function_of_an_include_does_not_count),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_values_keep_their_dollars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
