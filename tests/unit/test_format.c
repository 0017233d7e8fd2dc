/* util/utf8, util/number, util/json, util/csv and util/table: values to bytes. */
#include "util/csv.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/number.h"
#include "util/grid.h"
#include "util/safe.h"
#include "util/utf8.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define REPLACED "\xef\xbf\xbd"

/* ---- UTF-8 ---- */

static void check_utf8(const char *bytes, size_t len, size_t want_size, uint32_t want_code)
{
	uint32_t code = 0;

	assert_int_equal(utf8_read(bytes, len, &code), want_size);
	if (want_size)
		assert_int_equal(code, want_code);
}

static void test_utf8_reads_each_length(void **state)
{
	(void)state;
	check_utf8("a", 1, 1, 'a');
	check_utf8("\0", 1, 1, 0);
	check_utf8("\xc3\xa9", 2, 2, 0xe9);
	check_utf8("\xe2\x82\xac", 3, 3, 0x20ac);
	check_utf8("\xf0\x9f\x98\x80", 4, 4, 0x1f600);
	check_utf8("\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff);
}

static void test_utf8_refuses_what_is_none(void **state)
{
	(void)state;
	check_utf8("\x80", 1, 0, 0);		 /* a continuation alone */
	check_utf8("\xc0\x80", 2, 0, 0);	 /* overlong NUL */
	check_utf8("\xe0\x80\xaf", 3, 0, 0);	 /* overlong slash */
	check_utf8("\xf0\x80\x80\xaf", 4, 0, 0); /* and longer */
	check_utf8("\xed\xa0\x80", 3, 0, 0);	 /* a surrogate */
	check_utf8("\xf4\x90\x80\x80", 4, 0, 0); /* above U+10FFFF */
	check_utf8("\xe2\x82", 2, 0, 0);	 /* cut */
	check_utf8("\xc3(", 2, 0, 0);		 /* broken off */
	check_utf8("\xff", 1, 0, 0);
}

/* ---- numbers ---- */

static void check_real(double number, const char *want)
{
	struct buf buf = BUF_INIT;

	number_add_real(&buf, number);
	assert_string_equal(buf.data, want);
	buf_release(&buf);
}

static void test_number_is_the_shortest_that_reads_back(void **state)
{
	(void)state;
	check_real(0.1, "0.1");
	check_real(0.1 + 0.2, "0.30000000000000004");
	check_real(4.0, "4");
	check_real(-2.5, "-2.5");
	check_real(66.007061212, "66.007061212");
	check_real(4.4858837003664305e-05, "4.4858837003664305e-05");
	check_real(1.0 / 3, "0.3333333333333333");
	check_real(NAN, "");
	check_real(INFINITY, "");
}

/* ---- JSON ---- */

static void check_json(struct str text, const char *want)
{
	struct buf buf = BUF_INIT;

	json_add_text(&buf, text);
	assert_string_equal(buf.data, want);
	buf_release(&buf);
}

static void test_json_escapes(void **state)
{
	(void)state;
	check_json(STR("plain"), "\"plain\"");
	check_json(STR(""), "\"\"");
	check_json(STR_NULL, "null");
	check_json(STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
	check_json(STR("\n\r\t\b"), "\"\\n\\r\\t\\u0008\"");
	check_json(STR("nul\0in"), "\"nul\\u0000in\"");
	check_json(STR("\x7f\x1b[2J"), "\"\\u007f\\u001b[2J\"");
	check_json(STR("\xc2\x9b"), "\"\\u009b\"");
	check_json(STR("\xc3\xa9\xf0\x9f\x98\x80"), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
}

static void test_json_replaces_stray_bytes(void **state)
{
	(void)state;
	check_json(STR("a\xff"
		       "b"),
		   "\"a" REPLACED "b\"");
	check_json(STR("\xe2\x82"), "\"" REPLACED REPLACED "\"");
}

static void test_json_numbers(void **state)
{
	struct buf buf = BUF_INIT;

	(void)state;
	json_add_integer(&buf, -7);
	buf_addch(&buf, ' ');
	json_add_integer(&buf, INT64_C(9007199254740992));
	buf_addch(&buf, ' ');
	json_add_integer(&buf, INT64_C(9007199254740993));
	buf_addch(&buf, ' ');
	json_add_integer(&buf, INT64_MIN);
	buf_addch(&buf, ' ');
	json_add_real(&buf, 0.25);
	buf_addch(&buf, ' ');
	json_add_real(&buf, NAN);
	assert_string_equal(buf.data, "-7 9007199254740992 \"9007199254740993\" "
				      "\"-9223372036854775808\" 0.25 null");
	buf_release(&buf);
}

/* ---- CSV ---- */

static void check_csv(enum csv_dialect dialect, struct str text, const char *want, size_t want_len)
{
	struct buf buf = BUF_INIT;
	struct csv csv;

	csv_init(&csv, &buf, dialect);
	buf_clear(&buf); /* the mark has a test of its own */
	csv_text(&csv, text);
	assert_int_equal(buf.len, want_len);
	assert_memory_equal(buf.data, want, want_len);
	buf_release(&buf);
}

#define CHECK_CSV(dialect, text, want) check_csv(dialect, STR(text), want, sizeof(want) - 1)

static void test_csv_quotes_only_where_needed(void **state)
{
	(void)state;
	CHECK_CSV(CSV_PLAIN, "root//a b:c", "root//a b:c");
	CHECK_CSV(CSV_PLAIN, "a,b", "\"a,b\"");
	CHECK_CSV(CSV_PLAIN, "a\"b\nc,d", "\"a\"\"b\nc,d\"");
	CHECK_CSV(CSV_PLAIN, "\r", "\"\r\"");
	CHECK_CSV(CSV_PLAIN, "", "\"\"");
	check_csv(CSV_PLAIN, STR_NULL, "", 0);
	CHECK_CSV(CSV_PLAIN, "\xc3\xa9", "\xc3\xa9");
	CHECK_CSV(CSV_PLAIN, "\xff|\0|", REPLACED "|" REPLACED "|");
	CHECK_CSV(CSV_SPREADSHEET, "a;b", "\"a;b\"");
	CHECK_CSV(CSV_SPREADSHEET, "a\tb", "\"a\tb\"");
}

static void test_csv_guards_formulas_for_spreadsheets_only(void **state)
{
	(void)state;
	CHECK_CSV(CSV_SPREADSHEET, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
	CHECK_CSV(CSV_SPREADSHEET, "+1", "'+1");
	CHECK_CSV(CSV_SPREADSHEET, "-x", "'-x");
	CHECK_CSV(CSV_SPREADSHEET, "@a", "'@a");
	CHECK_CSV(CSV_SPREADSHEET, "\t=1", "\"'\t=1\"");
	CHECK_CSV(CSV_SPREADSHEET, "\r=1", "\"'\r=1\"");
	CHECK_CSV(CSV_SPREADSHEET_COMMA, "=1,2", "\"'=1,2\"");
	CHECK_CSV(CSV_SPREADSHEET, "a=1", "a=1");
	CHECK_CSV(CSV_SPREADSHEET, "", "\"\"");
	CHECK_CSV(CSV_SPREADSHEET, "\0=1", REPLACED "=1");
	CHECK_CSV(CSV_PLAIN, "=1", "\"=1\"");
	CHECK_CSV(CSV_PLAIN, "-x", "\"-x\"");
}

/* Guarded in a spreadsheet, quoted for programs: what reads as no text. */
static void test_csv_tells_texts_from_numbers(void **state)
{
	static const char *const taken[] = {"007",
					    "1e5",
					    "1E+5",
					    "1234e567",
					    "1.5",
					    "1,5",
					    ".5",
					    " 5 ",
					    "5%",
					    "$5",
					    "(5)",
					    "1/2",
					    "1 1/2",
					    "3-4",
					    "1.2.3",
					    "12:30",
					    "9 PM",
					    "4a",
					    "MAR1",
					    "sept2",
					    "2 jan 2024",
					    "TRUE",
					    "false",
					    "1'234",
					    "5\xc2\xa0",
					    "5\xe2\x82\xac",
					    "2024-01-02",
					    "2024-01-02 03:04:05",
					    "2024-01-02T03:04:05Z",
					    "12345678:142"};
	static const char *const plain[] = {"root//a:b", "a1",	  "may",   "ma1",	"marx1",
					    "1st",	 "0x10",  "2 GiB", "ab1e5:142", "[1]",
					    "1_000",	 "truer", "p50",   "e5",	"gcc-13",
					    "python3",	 "e"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		bool comma = strchr(taken[i], ',') != NULL;
		char *guarded = xasprintf(comma ? "\"'%s\"" : "'%s", taken[i]);
		char *quoted = xasprintf("\"%s\"", taken[i]);

		check_csv(CSV_SPREADSHEET, str_of(taken[i]), guarded, strlen(guarded));
		check_csv(CSV_PLAIN, str_of(taken[i]), quoted, strlen(quoted));
		free(guarded);
		free(quoted);
	}
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		check_csv(CSV_SPREADSHEET, str_of(plain[i]), plain[i], strlen(plain[i]));
		check_csv(CSV_PLAIN, str_of(plain[i]), plain[i], strlen(plain[i]));
	}
	/* One apostrophe taken off gives each text back. */
	CHECK_CSV(CSV_SPREADSHEET, "'007", "''007");
	CHECK_CSV(CSV_SPREADSHEET, "'a", "''a");
	CHECK_CSV(CSV_PLAIN, "'a", "'a");
}

static void check_row(enum csv_dialect dialect, const char *want)
{
	struct buf buf = BUF_INIT;
	struct csv csv;

	csv_init(&csv, &buf, dialect);
	csv_text(&csv, STR("id"));
	csv_text(&csv, STR("n"));
	csv_end_row(&csv);
	csv_integer(&csv, -1);
	csv_real(&csv, -0.5);
	csv_real(&csv, 1e-06);
	csv_time(&csv, STR("2026-11-30 03:04:05.678"));
	csv_null(&csv);
	csv_end_row(&csv);
	csv_null(&csv);
	csv_real(&csv, NAN);
	csv_end_row(&csv);
	assert_string_equal(buf.data, want);
	buf_release(&buf);
}

static void test_csv_rows(void **state)
{
	(void)state;
	check_row(CSV_PLAIN, "id,n\r\n-1,-0.5,1e-06,2026-11-30 03:04:05.678,\r\n,\r\n");
	check_row(CSV_SPREADSHEET, "\xef\xbb\xbfid,n\r\n"
				   "-1,-0.5,1e-06,2026-11-30T03:04:05.678,\r\n,\r\n");
	check_row(CSV_SPREADSHEET_COMMA, "\xef\xbb\xbfid;n\r\n"
					 "-1;\"-0,5\";1e-06;2026-11-30T03:04:05.678;\r\n;\r\n");
}

/* ---- tables ---- */

static void test_table_aligns(void **state)
{
	static const char *const names[] = {"name", "n", "note"};
	struct grid *grid = grid_new(names, 3);
	struct buf buf = BUF_INIT;

	(void)state;
	grid_text(grid, STR("caf\xc3\xa9"));
	grid_integer(grid, 5);
	grid_text(grid, STR("x"));
	grid_text(grid, STR("longer"));
	grid_real(grid, 12.345, 2);
	grid_text(grid, STR(""));
	grid_text(grid, STR_NULL);
	grid_unknown(grid);
	grid_number(grid, 1234567.8);
	grid_add(grid, 2, &buf);
	assert_string_equal(buf.data, "  name        n  note\n"
				      "  caf\xc3\xa9        5  x\n"
				      "  longer  12.35\n"
				      "  -           -  1234568\n");
	buf_release(&buf);
	grid_free(grid);
}

static void test_table_shows_what_a_terminal_would_obey(void **state)
{
	struct buf buf = BUF_INIT;

	(void)state;
	safe_add(&buf, STR("a\x1b[31m\n\t\xff\xc2\x9b\xe2\x80\xae\xc3\xa9"));
	assert_string_equal(buf.data, "a\\x1b[31m\\n\\t\\xff\\u009b\\u202e\xc3\xa9");
	buf_release(&buf);
}

/* What slips through is escaped where pages leave; their line breaks stay. */
static void test_pages(void **state)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	(void)state;
	assert_non_null(out);
	assert_int_equal(safe_print(out, STR("a\n\nb\x1b[2J\xe2\x80\xae\xc3\xa9\n\xff")), 0);
	assert_int_equal(safe_print(out, STR("\n")), 0);
	assert_int_equal(safe_print(out, STR("")), 0);
	fclose(out);
	assert_string_equal(bytes, "a\n\nb\\x1b[2J\\u202e\xc3\xa9\n\\xff\n");
	free(bytes);
}

static void test_terminals_and_data(void **state)
{
	struct buf buf = BUF_INIT;
	struct csv csv;

	(void)state;
	json_add_text(&buf, STR("\x1b\xc2\x9b\xe2\x80\xae\xe2\x80\xb0\x7f"));
	assert_string_equal(buf.data, "\"\\u001b\\u009b\\u202e\xe2\x80\xb0\\u007f\"");
	buf_clear(&buf);
	csv_init(&csv, &buf, CSV_PLAIN);
	csv_text(&csv, STR("a\x1b[2J\xe2\x81\xa6"));
	csv_text(&csv, STR("a\tb\r\nc"));
	assert_string_equal(buf.data, "a\\x1b[2J\\u2066,\"a\tb\r\nc\"");
	buf_release(&buf);
}

static void test_table_numbers(void **state)
{
	static const char *const names[] = {"v"};
	struct grid *grid = grid_new(names, 1);
	struct buf buf = BUF_INIT;

	(void)state;
	grid_number(grid, 0.5);
	grid_number(grid, 4.4858837003664305e-05);
	grid_number(grid, NAN);
	grid_real(grid, INFINITY, 1);
	grid_add(grid, 0, &buf);
	assert_string_equal(buf.data, "          v\n"
				      "        0.5\n"
				      "4.48588e-05\n"
				      "          -\n"
				      "          -\n");
	buf_release(&buf);
	grid_free(grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_reads_each_length),
		cmocka_unit_test(test_utf8_refuses_what_is_none),
		cmocka_unit_test(test_number_is_the_shortest_that_reads_back),
		cmocka_unit_test(test_json_escapes),
		cmocka_unit_test(test_json_replaces_stray_bytes),
		cmocka_unit_test(test_json_numbers),
		cmocka_unit_test(test_csv_quotes_only_where_needed),
		cmocka_unit_test(test_csv_guards_formulas_for_spreadsheets_only),
		cmocka_unit_test(test_csv_tells_texts_from_numbers),
		cmocka_unit_test(test_csv_rows),
		cmocka_unit_test(test_table_aligns),
		cmocka_unit_test(test_table_shows_what_a_terminal_would_obey),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_terminals_and_data),
		cmocka_unit_test(test_table_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
