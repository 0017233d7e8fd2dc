#include "util/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* RFC 4648, section 10, and the two characters that its examples do not reach. */
static const struct {
	const char *plain, *text;
} pairs[] = {
	{"", ""},
	{"f", "Zg=="},
	{"fo", "Zm8="},
	{"foo", "Zm9v"},
	{"foob", "Zm9vYg=="},
	{"fooba", "Zm9vYmE="},
	{"foobar", "Zm9vYmFy"},
	{"\xfb\xff\xbf", "+/+/"},
};

static void test_rfc(void **state)
{
	struct buf out = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		buf_clear(&out);
		base64_encode(pairs[i].plain, strlen(pairs[i].plain), &out);
		assert_string_equal(out.data, pairs[i].text);
		buf_clear(&out);
		assert_int_equal(base64_decode(pairs[i].text, strlen(pairs[i].text), &out), 0);
		assert_string_equal(out.data, pairs[i].plain);
	}
	buf_release(&out);
}

static void test_every_byte(void **state)
{
	struct buf text = BUF_INIT, back = BUF_INIT;
	char bytes[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (i = 0; i <= sizeof(bytes); i++) {
		buf_clear(&text);
		buf_clear(&back);
		base64_encode(bytes + sizeof(bytes) - i, i, &text);
		assert_int_equal(base64_decode(text.data, text.len, &back), 0);
		assert_int_equal(back.len, i);
		assert_memory_equal(back.data, bytes + sizeof(bytes) - i, i);
	}
	buf_release(&text);
	buf_release(&back);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"Z",	"Zg",	"Zg=",	 "=",	   "====", "Zg==Zg==", "Z===",	   "Z=g=",
		"Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9-", "Zm9_",     "Zm9v====", "Zm9\xc3",
	};
	struct buf out = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (base64_decode(texts[i], strlen(texts[i]), &out) != -1)
			fail_msg("'%s' is taken", texts[i]);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
