/* The memory that SQLite is given: as malloc() would, whatever is freed and grown between. */
#include "store_memory.h"

#include "util/mem.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BLOCKS 5000
#define LARGEST 5000 /* bytes: beyond what is kept in lists */

struct held {
	unsigned char *data;
	int size;
	unsigned char fill;
};

static uint32_t random_number(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void check(const struct held *held, int size)
{
	int i;

	for (i = 0; i < size; i++)
		assert_int_equal(held->data[i], held->fill);
}

static void fill(struct held *held)
{
	assert_non_null(held->data);
	assert_int_equal((uintptr_t)held->data % 8, 0);
	assert_true(sqlite3_msize(held->data) >= (sqlite3_uint64)held->size);
	memset(held->data, held->fill, (size_t)held->size);
}

static void change(struct held *held, uint32_t *state)
{
	int size = 1 + (int)(random_number(state) % LARGEST), kept;

	if (random_number(state) % 4 == 0) /* most are small */
		size = 1 + size % 200;
	if (!held->data) {
		held->data = sqlite3_malloc(size);
	} else if (random_number(state) % 2) {
		check(held, held->size);
		sqlite3_free(held->data);
		held->data = NULL;
		return;
	} else {
		kept = size < held->size ? size : held->size;
		held->data = sqlite3_realloc(held->data, size);
		check(held, kept);
	}
	held->size = size;
	fill(held);
}

static void test_blocks_stay_apart(void **unused)
{
	struct held *blocks = xcalloc(BLOCKS, sizeof(*blocks));
	uint32_t state = 1;
	size_t i, round;

	(void)unused;
	for (i = 0; i < BLOCKS; i++)
		blocks[i].fill = (unsigned char)random_number(&state);
	for (round = 0; round < 10; round++)
		for (i = 0; i < BLOCKS; i++)
			change(&blocks[i], &state);
	for (i = 0; i < BLOCKS; i++) {
		if (blocks[i].data)
			check(&blocks[i], blocks[i].size);
		sqlite3_free(blocks[i].data);
	}
	free(blocks);
}

/* As a program does that is done with SQLite, and takes it up again. */
static void test_shut_down_and_begun_again(void **unused)
{
	struct held held = {.size = 100, .fill = 7};

	(void)unused;
	held.data = sqlite3_malloc(held.size);
	fill(&held);
	sqlite3_free(held.data);
	assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
	assert_int_equal(sqlite3_initialize(), SQLITE_OK);
	held.data = sqlite3_malloc(held.size);
	fill(&held);
	check(&held, held.size);
	sqlite3_free(held.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_stay_apart),
		cmocka_unit_test(test_shut_down_and_begun_again),
	};

	store_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
