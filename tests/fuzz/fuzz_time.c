/*
 * Any text as a time, and as a log's name. Laws: a time that was read reads back from how it is
 * shown, up to the milliseconds; a trace id is whole or not there.
 */
#include "discover_name.h"
#include "model.h"
#include "util/mem.h"
#include "util/timefmt.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOW_NS INT64_C(1796000000000000000)
#define MS_NS INT64_C(1000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t floor_ms(int64_t ns)
{
	return ns - ((ns % MS_NS) + MS_NS) % MS_NS;
}

static void check_time(const char *text)
{
	char shown[TIME_TEXT_MAX];
	struct err err = ERR_INIT;
	int64_t ns, again;

	if (time_parse(text, NOW_NS, &ns, &err) < 0) {
		assert(err.kind == ERR_USAGE);
		return;
	}
	if (ns < INT64_MIN + MS_NS)
		return; /* the millisecond that it is in begins before all times */
	time_format(ns, shown);
	assert(time_parse(shown, NOW_NS, &again, &err) == 0 && again == floor_ms(ns));
	time_format_rfc3339(ns, shown);
	assert(time_parse(shown, NOW_NS, &again, &err) == 0 && again == floor_ms(ns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmemdup0(data, size);
	struct log_name name;

	check_time(text);
	log_name_parse(text, &name);
	assert(strlen(name.trace_id) == 0 || strlen(name.trace_id) == 36);
	assert(name.is_log || (name.start_ns == UNKNOWN && !name.trace_id[0]));
	free(text);
	return 0;
}
