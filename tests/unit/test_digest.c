#include "digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define HEX16 "0123456789abcdef"
#define HEX64 HEX16 HEX16 HEX16 HEX16
#define HISTORICAL "/historical_execute_response/" HEX64 "-646/"

static void test_parse_and_format(void **state)
{
	char text[DIGEST_TEXT_MAX];
	struct digest digest;

	(void)state;
	assert_int_equal(digest_parse(STR(HEX64 ":142"), &digest), 0);
	assert_int_equal(digest.hash_len, 32);
	assert_int_equal(digest.hash[0], 0x01);
	assert_int_equal(digest.hash[31], 0xef);
	assert_int_equal(digest.size_bytes, 142);
	assert_int_equal(digest.function, DIGEST_UNKNOWN);
	digest_format(&digest, text);
	assert_string_equal(text, HEX64 ":142");
	assert_int_equal(digest_parse(STR(HEX64 "-0"), &digest), 0);
	assert_int_equal(digest.size_bytes, 0);
	assert_int_equal(digest_parse(STR(HEX64 "/9223372036854775807"), &digest), 0);
	assert_true(digest.size_bytes == INT64_MAX);
}

static void test_longest_digest_fits_its_text(void **state)
{
	const char *longest = HEX64 HEX64 ":9223372036854775807";
	char text[DIGEST_TEXT_MAX];
	struct digest digest;

	(void)state;
	assert_int_equal(digest_parse(str_of(longest), &digest), 0);
	digest_format(&digest, text);
	assert_string_equal(text, longest);
}

static void test_every_hash_length(void **state)
{
	static const size_t lengths[] = {32, 40, 64, 96, 128};
	struct digest digest;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char text[160];

		snprintf(text, sizeof(text), "%.*s:7", (int)lengths[i], HEX64 HEX64);
		assert_int_equal(digest_parse(str_of(text), &digest), 0);
		assert_int_equal(digest.hash_len, lengths[i] / 2);
	}
}

static void test_malformed_digests(void **state)
{
	static const char *const texts[] = {
		"",
		":",
		"142",
		HEX64,
		HEX64 ":",
		HEX64 ":-1",
		HEX64 ":+1",
		HEX64 ": 1",
		HEX64 ":01",
		HEX64 ":1x",
		HEX64 ":1:",
		HEX64 "_1",
		HEX64 "::1",
		HEX64 ":9223372036854775808",
		HEX64 ":99999999999999999999999",
		HEX64 "a:1",
		HEX64 "ab:1",
		"0123456789ABCDEF" HEX16 HEX16 HEX16 ":1",
		" " HEX64 ":1",
	};
	struct digest digest = {.size_bytes = 77};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (digest_parse(str_of(texts[i]), &digest) == 0)
			fail_msg("'%s' was taken for a digest", texts[i]);
		assert_int_equal(digest.size_bytes, 77);
	}
	assert_int_equal(digest_parse(STR_NULL, &digest), -1);
}

/* Anything but a lower-case hex digit ends the hash, wherever it stands. */
static void test_every_character(void **state)
{
	static const char hex[] = "0123456789abcdef";
	struct digest digest;
	size_t at;
	int c;

	(void)state;
	for (at = 0; at < strlen(HEX64); at++)
		for (c = 1; c < 256; c++) {
			char text[] = HEX64 ":142";
			const char *digit = strchr(hex, c);

			text[at] = (char)c;
			assert_int_equal(digest_parse(str_of(text), &digest), digit ? 0 : -1);
			if (digit)
				assert_int_equal(digest.hash[at / 2] >> (at % 2 ? 0 : 4) & 15,
						 digit - hex);
		}
}

static void test_function_names(void **state)
{
	(void)state;
	assert_string_equal(digest_function_name(DIGEST_SHA256), "sha256");
	assert_string_equal(digest_function_name(DIGEST_BLAKE3), "blake3");
	assert_string_equal(digest_function_name(DIGEST_SHA256TREE), "sha256tree");
	assert_string_equal(digest_function_name(DIGEST_GITSHA1), "gitsha1");
	assert_null(digest_function_name(DIGEST_UNKNOWN));
	assert_null(digest_function_name(4));
	assert_int_equal(digest_function_parse(STR("SHA256")), DIGEST_SHA256);
	assert_int_equal(digest_function_parse(STR("sha1")), DIGEST_SHA1);
	assert_int_equal(digest_function_parse(STR("BLAKE3")), DIGEST_BLAKE3);
	assert_int_equal(digest_function_parse(STR("BLAKE3-KEYED")), DIGEST_BLAKE3);
	assert_int_equal(digest_function_parse(STR("SHA2")), DIGEST_UNKNOWN);
	assert_int_equal(digest_function_parse(STR("")), DIGEST_UNKNOWN);
	assert_int_equal(digest_function_parse(STR_NULL), DIGEST_UNKNOWN);
	assert_int_equal(digest_function_length(DIGEST_SHA1), 20);
	assert_int_equal(digest_function_length(DIGEST_SHA512), 64);
	assert_int_equal(digest_function_length(DIGEST_UNKNOWN), 0);
}

/* 64 hex digits are SHA256 or BLAKE3: only the configuration can tell. */
static void test_function_for_a_length(void **state)
{
	(void)state;
	assert_int_equal(digest_function_for(DIGEST_BLAKE3, 32), DIGEST_BLAKE3);
	assert_int_equal(digest_function_for(DIGEST_UNKNOWN, 32), DIGEST_SHA256);
	assert_int_equal(digest_function_for(DIGEST_BLAKE3, 20), DIGEST_SHA1);
	assert_int_equal(digest_function_for(DIGEST_GITSHA1, 20), DIGEST_GITSHA1);
	assert_int_equal(digest_function_for(DIGEST_SHA256, 48), DIGEST_SHA384);
	assert_int_equal(digest_function_for(DIGEST_SHA256, 64), DIGEST_SHA512);
	assert_int_equal(digest_function_for(DIGEST_SHA256, 16), DIGEST_MD5);
	assert_int_equal(digest_function_for(DIGEST_SHA256, 33), DIGEST_UNKNOWN);
	assert_int_equal(digest_function_for(DIGEST_UNKNOWN, 0), DIGEST_UNKNOWN);
}

static void check_refused(const char *name, const char *rule)
{
	struct err err = ERR_INIT;

	assert_int_equal(instance_name_check(name, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.text, rule))
		fail_msg("'%s' does not say '%s'", err.text, rule);
}

static void test_instance_names(void **state)
{
	static const char *const valid[] = {
		"", "a", "a/b/c", "team/odd names-1", "Blobs", "blobsx/actionsy", "\xc3\xa9/x"};
	struct err err = ERR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
		assert_int_equal(instance_name_check(valid[i], &err), 0);
	check_refused("/", "slash");
	check_refused("/a", "slash");
	check_refused("a/", "slash");
	check_refused("a//b", "slash");
	check_refused("a/blobs/b", "'blobs'");
	check_refused("blobs", "'blobs'");
	check_refused("uploads", "'uploads'");
	check_refused("a/actions", "'actions'");
	check_refused("actionResults/b", "'actionResults'");
	check_refused("operations", "'operations'");
	check_refused("capabilities", "'capabilities'");
	check_refused("compressed-blobs", "'compressed-blobs'");
	check_refused("a\xff", "UTF-8");
}

static void check_link(const char *text, const char *prefix)
{
	struct link link;

	link_find(str_of(text), &link);
	assert_int_equal(link.kind, LINK_HISTORICAL);
	assert_int_equal(link.digest.hash_len, 32);
	assert_int_equal(link.digest.size_bytes, 646);
	assert_int_equal(link.digest.function, DIGEST_SHA256);
	if (!str_is(link.prefix, prefix))
		fail_msg("prefix of '%s' is '%.*s'", text, (int)link.prefix.len, link.prefix.data);
}

#define DETAILS "Action details (uncached result): "

static void test_links(void **state)
{
	(void)state;
	check_link(DETAILS "https://b.example/x/in/st/blobs/sha256" HISTORICAL,
		   "https://b.example/x/in/st");
	check_link(DETAILS "http://host:8081/demo-x86_64/blobs/sha256" HISTORICAL,
		   "http://host:8081/demo-x86_64");
	check_link(DETAILS "qemu-x86_64/blobs/sha256" HISTORICAL, "qemu-x86_64");
	check_link("qemu-x86_64/blobs/sha256" HISTORICAL, "qemu-x86_64");
	check_link(DETAILS "/in/blobs/sha256" HISTORICAL, "/in");
	check_link(DETAILS "http://b/blobs/sha256" HISTORICAL, "http://b");
	check_link(DETAILS "blobs/sha256" HISTORICAL, "");
	check_link(DETAILS "/blobs/sha256" HISTORICAL, "");
	check_link(DETAILS "h/team/odd%20names-1/blobs/sha256" HISTORICAL, "h/team/odd%20names-1");
	check_link("see <http://b/in/blobs/sha256" HISTORICAL ">", "http://b/in");
	check_link("\"http://b/in/blobs/sha256" HISTORICAL "\"", "http://b/in");
}

static void test_link_with_text_after_it(void **state)
{
	(void)state;
	check_link("http://b/in/blobs/sha256" HISTORICAL "\nand a second line", "http://b/in");
	check_link("http://b/in/blobs/sha256" HISTORICAL "?tab=1#x", "http://b/in");
	check_link("http://b/in/blobs/sha256/historical_execute_response/" HEX64 "-646",
		   "http://b/in");
	check_link("http://b/in/blobs/sha256/historical_execute_response/" HEX64 "-646, done.",
		   "http://b/in");
}

static void test_last_link_wins(void **state)
{
	(void)state;
	check_link("http://a/one/blobs/sha256/action/" HEX64
		   "-1/ http://b/two/blobs/sha256" HISTORICAL,
		   "http://b/two");
	/* What looks like another one but is none does not hide the link before it. */
	check_link("http://b/two/blobs/sha256" HISTORICAL " and blobs/sha256/tree/" HEX64 "-1/",
		   "http://b/two");
}

static void test_action_link_with_other_function(void **state)
{
	struct link link;

	(void)state;
	link_find(STR("http://b/browser/in/blobs/blake3/action/" HEX64 "-7/"), &link);
	assert_int_equal(link.kind, LINK_ACTION);
	assert_int_equal(link.digest.function, DIGEST_BLAKE3);
	assert_int_equal(link.digest.size_bytes, 7);
	link_find(STR("in/blobs/sha1/action/" HEX16 HEX16 "01234567-7/"), &link);
	assert_int_equal(link.digest.function, DIGEST_SHA1);
	assert_int_equal(link.digest.hash_len, 20);
}

static void test_no_link(void **state)
{
	static const char *const texts[] = {
		"",
		"blobs/",
		"blobs",
		"blobs/sha256/",
		"blobs/sha256/action/",
		"http://b/in/sha256" HISTORICAL,
		"http://b/xblobs/sha256" HISTORICAL,
		"http://b/in/blobs/sha9" HISTORICAL,
		"http://b/in/blobs/sha1" HISTORICAL,
		"http://b/in/blobs" HISTORICAL,
		"http://b/in/blobs/sha256/command/" HEX64 "-1/",
		"http://b/in/blobs/sha256/action/" HEX64 "-/",
		"http://b/in/blobs/sha256/action/" HEX64 "-1x/",
		"http://b/in/blobs/sha256/action/" HEX64 ":1/",
		"http://b/in/blobs/sha256/action/" HEX64,
		"http://b/in/blobs/sha256/action/" HEX16 "-1/",
		"Action details (uncached result): https://b.example/",
	};
	struct link link;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		link_find(str_of(texts[i]), &link);
		if (link.kind != LINK_NONE)
			fail_msg("a link was found in '%s'", texts[i]);
	}
	link_find(STR_NULL, &link);
	assert_int_equal(link.kind, LINK_NONE);
	assert_int_equal(link_instances(&link, NULL, 0), 0);
}

/* `expected` is NULL-terminated. */
static void check_instances(const char *prefix, const char *const *expected)
{
	char text[512], *names[8];
	struct link link;
	size_t count, i;

	snprintf(text, sizeof(text), DETAILS "%sblobs/sha256" HISTORICAL, prefix);
	link_find(str_of(text), &link);
	assert_int_equal(link.kind, LINK_HISTORICAL);
	count = link_instances(&link, names, 8);
	for (i = 0; i < count; i++) {
		assert_non_null(expected[i]);
		assert_string_equal(names[i], expected[i]);
		free(names[i]);
	}
	assert_null(expected[count]);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_instances_of_a_link(void **state)
{
	(void)state;
	check_instances("https://b.example/x/in/st/", NAMES("x/in/st", "in/st", "st", ""));
	check_instances("qemu-x86_64/", NAMES("qemu-x86_64", ""));
	check_instances("http://b/", NAMES(""));
	check_instances("", NAMES(""));
	check_instances("/", NAMES(""));
	check_instances("/in/", NAMES("in", ""));
	check_instances("h/team/odd%20names-1/",
			NAMES("h/team/odd names-1", "team/odd names-1", "odd names-1", ""));
	check_instances("http://b/%c3%a9%3F%23/", NAMES("\xc3\xa9?#", ""));
	/* No hex digits after the percent sign: it is meant as it stands. */
	check_instances("100%/%zz%4/", NAMES("100%/%zz%4", "%zz%4", ""));
	/* Invalid names are left out: doubled slash, reserved word, NUL, not UTF-8. */
	check_instances("http://b//x/", NAMES("x", ""));
	check_instances("http://b/actions/x/", NAMES("x", ""));
	check_instances("http://b/%00/%ff/x/", NAMES("x", ""));
}

static void test_instances_are_bounded(void **state)
{
	char *names[2];
	struct link link;

	(void)state;
	link_find(STR("http://b/1/2/3/4/blobs/sha256" HISTORICAL), &link);
	assert_int_equal(link_instances(&link, names, 2), 2);
	assert_string_equal(names[0], "1/2/3/4");
	assert_string_equal(names[1], "2/3/4");
	free(names[0]);
	free(names[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_and_format),
		cmocka_unit_test(test_longest_digest_fits_its_text),
		cmocka_unit_test(test_every_hash_length),
		cmocka_unit_test(test_malformed_digests),
		cmocka_unit_test(test_every_character),
		cmocka_unit_test(test_function_names),
		cmocka_unit_test(test_function_for_a_length),
		cmocka_unit_test(test_instance_names),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_link_with_text_after_it),
		cmocka_unit_test(test_last_link_wins),
		cmocka_unit_test(test_action_link_with_other_function),
		cmocka_unit_test(test_no_link),
		cmocka_unit_test(test_instances_of_a_link),
		cmocka_unit_test(test_instances_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
