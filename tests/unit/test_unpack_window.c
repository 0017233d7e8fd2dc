/* Memory for zstd's window: huge pages where they fit, malloc() elsewhere, and all of it can be
 * used. */
#include "util/unpack_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HUGE_PAGE ((size_t)2 << 20)

static void use(size_t size, bool huge)
{
	unsigned char *window = unpack_window_take(size, huge);

	assert_non_null(window);
	memset(window, 0x5a, size);
	assert_int_equal(window[0], 0x5a);
	assert_int_equal(window[size - 1], 0x5a);
	assert_int_equal((uintptr_t)window % (huge && size >= HUGE_PAGE ? HUGE_PAGE : 16), 0);
	unpack_window_give(window);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = {1,
				       4096,
				       HUGE_PAGE - 1,
				       HUGE_PAGE,
				       HUGE_PAGE + 1,
				       3 * HUGE_PAGE / 2,
				       2 * HUGE_PAGE,
				       5 * HUGE_PAGE + 131072};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		use(sizes[i], true);
		use(sizes[i], false);
	}
}

static void test_no_such_memory(void **state)
{
	(void)state;
	assert_null(unpack_window_take(SIZE_MAX, true));
	assert_null(unpack_window_take(SIZE_MAX / 2, true));
	assert_null(unpack_window_take(SIZE_MAX, false));
	unpack_window_give(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_such_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
