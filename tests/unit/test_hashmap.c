#include "util/hashmap.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static size_t make_key(char out[32], unsigned number)
{
	return (size_t)snprintf(out, 32, "root//package/p%u", number);
}

static void test_keeps_what_it_was_told(void **state)
{
	struct hashmap map;
	int64_t value = 0;

	(void)state;
	hashmap_init(&map, 100, 10000);
	assert_false(hashmap_get(&map, "a", 1, &value));
	hashmap_put(&map, "a", 1, 1);
	hashmap_put(&map, "ab", 2, 2);
	hashmap_put(&map, "", 0, 3);
	hashmap_put(&map, "a\0b", 3, 4);
	assert_true(hashmap_get(&map, "a", 1, &value));
	assert_int_equal(value, 1);
	assert_true(hashmap_get(&map, "ab", 2, &value));
	assert_int_equal(value, 2);
	assert_true(hashmap_get(&map, "", 0, &value));
	assert_int_equal(value, 3);
	assert_true(hashmap_get(&map, "a\0b", 3, &value));
	assert_int_equal(value, 4);
	assert_false(hashmap_get(&map, "a\0c", 3, &value));
	assert_int_equal(value, 4); /* untouched */
	hashmap_put(&map, "a", 1, -5);
	assert_true(hashmap_get(&map, "a", 1, &value));
	assert_int_equal(value, -5);
	hashmap_release(&map);
}

static void test_copies_keys(void **state)
{
	struct hashmap map;
	char key[32] = "first";
	int64_t value;

	(void)state;
	hashmap_init(&map, 10, 1000);
	hashmap_put(&map, key, 5, 1);
	memcpy(key, "other", 5);
	assert_false(hashmap_get(&map, key, 5, &value));
	assert_true(hashmap_get(&map, "first", 5, &value));
	hashmap_release(&map);
}

/* Within its room it forgets next to nothing, and never confuses two keys. */
static void test_many_keys(void **state)
{
	struct hashmap map;
	unsigned i, found = 0;
	char key[32];

	(void)state;
	hashmap_init(&map, 5000, 200000);
	for (i = 0; i < 5000; i++)
		hashmap_put(&map, key, make_key(key, i), i);
	for (i = 0; i < 5000; i++) {
		int64_t value;

		if (!hashmap_get(&map, key, make_key(key, i), &value))
			continue;
		assert_int_equal(value, i);
		found++;
	}
	assert_true(found > 4990);
	hashmap_release(&map);
}

/* Beyond its room it forgets; what was told last is there. */
static void test_is_bounded(void **state)
{
	struct hashmap map;
	unsigned i;
	char key[32];
	int64_t value;

	(void)state;
	hashmap_init(&map, 100, 2000);
	for (i = 0; i < 100000; i++) {
		size_t len = make_key(key, i);

		hashmap_put(&map, key, len, i);
		assert_true(hashmap_get(&map, key, len, &value));
		assert_int_equal(value, i);
		assert_true(map.bytes_used <= map.bytes_max);
	}
	assert_false(hashmap_get(&map, key, make_key(key, 0), &value));
	hashmap_release(&map);
}

static void test_too_long_a_key(void **state)
{
	struct hashmap map;
	char key[101];
	int64_t value;

	(void)state;
	memset(key, 'x', sizeof(key));
	hashmap_init(&map, 10, 100);
	hashmap_put(&map, key, sizeof(key), 1);
	assert_false(hashmap_get(&map, key, sizeof(key), &value));
	hashmap_put(&map, key, sizeof(key) - 1, 2);
	assert_true(hashmap_get(&map, key, sizeof(key) - 1, &value));
	assert_int_equal(value, 2);
	hashmap_release(&map);
}

static void test_clear(void **state)
{
	struct hashmap map;
	int64_t value;

	(void)state;
	hashmap_init(&map, 10, 100);
	hashmap_put(&map, "a", 1, 1);
	hashmap_clear(&map);
	assert_false(hashmap_get(&map, "a", 1, &value));
	hashmap_put(&map, "a", 1, 2);
	assert_true(hashmap_get(&map, "a", 1, &value));
	assert_int_equal(value, 2);
	hashmap_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_what_it_was_told),
		cmocka_unit_test(test_copies_keys),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_too_long_a_key),
		cmocka_unit_test(test_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
