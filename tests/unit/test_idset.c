#include "util/idset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_members(void **state)
{
	static const int64_t members[] = {0, 1, 7, 8, 9, 63, 64, 1000, 100000};
	struct idset set = IDSET_INIT;
	int64_t id;
	size_t i, next = 0;

	(void)state;
	assert_false(idset_has(&set, 0));
	for (i = sizeof(members) / sizeof(*members); i-- > 0;) {
		idset_add(&set, members[i]);
		idset_add(&set, members[i]);
	}
	for (id = 0; id < 200000; id++) {
		bool is_member = next < sizeof(members) / sizeof(*members) && members[next] == id;

		assert_int_equal(idset_has(&set, id), is_member);
		next += is_member;
	}
	idset_release(&set);
	assert_false(idset_has(&set, 0));
}

static void test_cut(void **state)
{
	struct idset set = IDSET_INIT;
	int64_t largest, id;

	(void)state;
	idset_cut(&set, 5);
	for (largest = 40; largest >= 0; largest--) {
		for (id = 0; id <= 40; id++)
			idset_add(&set, id);
		idset_cut(&set, largest);
		for (id = 0; id <= 40; id++)
			assert_int_equal(idset_has(&set, id), id <= largest);
	}
	idset_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
