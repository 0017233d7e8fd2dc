/* The ring: what is to stand does, a window may grow, and all that is promised can be used. */
#include "util/unpack.h"
#include "util/unpack_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HUGE_PAGE ((size_t)2 << 20)

static void use(uint64_t window, bool huge)
{
	struct unpack_ring ring;

	unpack_ring_init(&ring);
	assert_true(unpack_ring_reserve(&ring, window, huge));
	assert_int_equal((uintptr_t)ring.start % HUGE_PAGE, 0);
	assert_true(ring.size >= window + UNPACK_PIECE_MAX);
	memset(ring.start - UNPACK_ROOM, 0x5a, UNPACK_ROOM + ring.size);
	assert_int_equal(ring.start[ring.size - 1], 0x5a);
	unpack_ring_release(&ring);
	unpack_ring_release(&ring);
}

static void test_windows(void **state)
{
	static const uint64_t windows[] = {
		0, 1, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 5 * HUGE_PAGE};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		use(windows[i], true);
		use(windows[i], false);
	}
}

/* Nothing gets smaller, and what stands does where the ring moves. */
static void test_another_window(void **state)
{
	struct unpack_ring ring;
	uint8_t *start;
	size_t size;

	(void)state;
	unpack_ring_init(&ring);
	assert_true(unpack_ring_reserve(&ring, 0, true));
	start = ring.start;
	memset(start, 0x5a, ring.size);
	ring.at = ring.size;
	assert_false(unpack_ring_fits(&ring));
	assert_true(unpack_ring_reserve(&ring, 2 * HUGE_PAGE, true));
	assert_true(unpack_ring_fits(&ring));
	assert_ptr_equal(ring.start, start);
	assert_true(unpack_ring_reserve(&ring, 5 * HUGE_PAGE, true));
	assert_true(unpack_ring_reserve(&ring, UNPACK_WINDOW_MAX, true));
	assert_true(unpack_ring_fits(&ring));
	size = ring.size;
	assert_true(unpack_ring_reserve(&ring, HUGE_PAGE, true));
	assert_int_equal(ring.size, size);
	memset(ring.start, 0xa5, 2 * UNPACK_STANDS);
	ring.start[size - 1] = 1;
	assert_int_equal(start[0], 0x5a);
	assert_int_equal(start[UNPACK_STANDS - 1], 0x5a);
	unpack_ring_release(&ring);
}

static size_t addresses(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	char text[80];

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Which may be few (ulimit -v), and each reader takes them. */
static void test_addresses(void **state)
{
	struct unpack_ring ring;
	size_t before = addresses();

	(void)state;
	unpack_ring_init(&ring);
	assert_true(unpack_ring_reserve(&ring, 2 * HUGE_PAGE, true));
	assert_in_range(addresses() - before, 2 * HUGE_PAGE, 8 * HUGE_PAGE);
	assert_true(unpack_ring_reserve(&ring, UNPACK_WINDOW_MAX, true));
	unpack_ring_release(&ring);
	assert_in_range(addresses() - before, 0, HUGE_PAGE);
}

/* No whole huge page, which a system that makes them unasked would fill at the first touch. */
static void test_front(void **state)
{
	struct unpack_ring ring;
	int ends[2];

	(void)state;
	unpack_ring_init(&ring);
	assert_true(unpack_ring_reserve(&ring, UNPACK_WINDOW_MAX, true));
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], ring.start - UNPACK_ROOM, UNPACK_ROOM), UNPACK_ROOM);
	assert_int_equal(write(ends[1], ring.start - HUGE_PAGE, 1), -1);
	assert_int_equal(errno, EFAULT);
	close(ends[0]);
	close(ends[1]);
	unpack_ring_release(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_another_window),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
