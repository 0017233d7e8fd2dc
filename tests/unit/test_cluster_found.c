/* What a reader finds is kept whole, though its texts are borrowed, and not without bounds. */
#include "cluster_found.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void no_warning(void *context, const char *text)
{
	(void)context;
	fail_msg("%s", text);
}

static void test_texts_are_its_own(void **state)
{
	char pod[] = "w-1", reason[] = "OOMKilled", id[] = "/kubepods/1";
	struct container_spec spec = {.pod = str_of(pod), .node = STR(""), .restart_count = 3};
	struct termination end = {.pod = str_of(pod), .reason = str_of(reason), .exit_code = 137};
	struct oom_count oom = {.pod = str_of(pod), .container_id = str_of(id), .count = 2};
	struct err err = ERR_INIT;
	struct found found;
	struct cluster_sink sink;

	(void)state;
	found_init(&found);
	sink = found_sink(&found, no_warning);
	assert_int_equal(sink.container(sink.context, &spec, &err), 0);
	assert_int_equal(sink.termination(sink.context, &end, &err), 0);
	assert_int_equal(sink.oom(sink.context, &oom, &err), 0);
	memset(pod, 'x', strlen(pod));
	memset(reason, 'x', strlen(reason));
	memset(id, 'x', strlen(id));
	assert_int_equal(found.count, 3);
	assert_int_equal(found.items[0].kind, FOUND_CONTAINER);
	assert_true(str_is(found.items[0].is.container.pod, "w-1"));
	assert_true(str_is(found.items[0].is.container.node, ""));
	assert_null(found.items[0].is.container.uid.data);
	assert_int_equal(found.items[0].is.container.restart_count, 3);
	assert_int_equal(found.items[1].kind, FOUND_TERMINATION);
	assert_true(str_is(found.items[1].is.termination.reason, "OOMKilled"));
	assert_int_equal(found.items[1].is.termination.exit_code, 137);
	assert_int_equal(found.items[2].kind, FOUND_OOM);
	assert_true(str_is(found.items[2].is.oom.container_id, "/kubepods/1"));
	assert_int_equal(found.items[2].is.oom.count, 2);
	found_release(&found);
}

static void test_too_much(void **state)
{
	size_t len = (size_t)1 << 20, put = 0;
	char *text = xmalloc(len);
	struct termination end = {.pod = STR("w"), .reason = {text, len}};
	struct err err = ERR_INIT;
	struct found found;
	struct cluster_sink sink;

	(void)state;
	memset(text, 'x', len);
	found_init(&found);
	sink = found_sink(&found, no_warning);
	while (put < 100 && sink.termination(sink.context, &end, &err) == 0)
		put++;
	assert_in_range(put, 60, 64);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(found.count, put);
	assert_memory_equal(found.items[put - 1].is.termination.reason.data, text, len);
	found_release(&found);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_are_its_own),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
