/*
 * Any text, and the same bytes as a command line (an argument ends at a NUL), cleaned of secrets.
 * Laws: a header with a token in a line of its own never comes through; what is clean stays as it
 * is; a beginning and an end are parts of the whole; what argv gives is JSON, and not longer than
 * allowed.
 */
#include "redact.h"
#include "util/mem.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#define TOKEN "q7Zr1vXw9Lk3"
#define PART 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool holds(struct str text, const char *what)
{
	size_t len = strlen(what);

	for (; text.len >= len; text = (struct str){text.data + 1, text.len - 1})
		if (memcmp(text.data, what, len) == 0)
			return true;
	return false;
}

/* ---- texts ---- */

static void check_parts(struct str text, struct str whole)
{
	struct buf kept = BUF_INIT;
	struct str part = redact_begin(text, PART, &kept);

	assert(part.len <= whole.len &&
	       (!part.len || memcmp(part.data, whole.data, part.len) == 0));
	buf_clear(&kept);
	part = redact_tail(text, PART, &kept);
	assert(part.len <= whole.len && (part.len >= PART || part.len == whole.len));
	assert(!part.len || memcmp(part.data, whole.data + (whole.len - part.len), part.len) == 0);
	buf_release(&kept);
}

static void check_text(struct str text)
{
	struct buf kept = BUF_INIT, again = BUF_INIT;
	struct str whole = redact_text(text, &kept);

	check_parts(text, whole);
	assert(str_equal(redact_text(whole, &again), whole));
	buf_release(&kept);
	buf_release(&again);
}

static void check_planted(struct str text)
{
	struct buf all = BUF_INIT, kept = BUF_INIT;

	if (holds(text, TOKEN))
		return;
	buf_addf(&all, "\nAuthorization: Bearer %s\n", TOKEN);
	buf_add(&all, text.data, text.len);
	buf_addf(&all, "\nAuthorization: Bearer %s\n", TOKEN);
	assert(!holds(redact_text((struct str){all.data, all.len}, &kept), TOKEN));
	buf_release(&all);
	buf_release(&kept);
}

/* ---- command lines ---- */

static size_t split(struct str text, struct str *argv, size_t max)
{
	size_t count = 0;

	while (text.len && count < max) {
		const char *end = memchr(text.data, '\0', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;

		argv[count++] = (struct str){text.data, len};
		text = (struct str){text.data + len + (end != NULL),
				    text.len - len - (end != NULL)};
	}
	return count;
}

static void check_argv(const struct str *argv, size_t argc, size_t max)
{
	struct buf json = BUF_INIT;
	json_t *list;

	redact_argv(argv, argc, max, &json);
	assert(json.len <= max);
	assert(!holds((struct str){json.data, json.len}, TOKEN));
	list = json_loadb(json.data, json.len, JSON_ALLOW_NUL, NULL);
	assert(json_is_array(list) && json_array_size(list) <= argc);
	json_decref(list);
	buf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {size ? (const char *)data : "", size};
	struct str argv[16];
	size_t argc = split(text, argv, 14);

	check_text(text);
	check_planted(text);
	if (holds(text, TOKEN))
		return 0;
	argv[argc] = STR("--config=a.api_token=" TOKEN);
	argv[argc + 1] = STR("--password=" TOKEN);
	check_argv(argv, argc + 2, 4096);
	check_argv(argv, argc + 2, 2 + size % 64);
	return 0;
}
