#include "asking.h"

#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

void asking_init(struct asking *asking, uint32_t in_flight, int64_t count)
{
	memset(asking, 0, sizeof(*asking));
	fake_server_init(&asking->server, in_flight + 1);
	asking->server.context = asking;
	asking->count = count;
	asking->ids = xcalloc((size_t)count, sizeof(*asking->ids));
	asking->fail_source_at = asking->fail_sink_at = asking->interrupt_at = -1;
	asking->begun_ms = asking->server.now_ms;
}

void asking_release(struct asking *asking)
{
	lookup_free(asking->lookup);
	assert_true(asking->server.freed);
	free(asking->ids);
}

int asking_next(void *context, struct lookup_request *out_request, struct err *err)
{
	struct asking *asking = context;

	if (asking->next == asking->fail_source_at)
		return err_set(err, ERR_DB, "the source failed");
	if (asking->next == asking->count)
		return 0;
	*out_request = (struct lookup_request){
		.id = asking->next,
		.method = LOOKUP_ACTION_RESULT,
		.instance = "i",
		.digest = {.hash_len = 32, .function = DIGEST_SHA256, .size_bytes = asking->next},
	};
	asking->next++;
	return 1;
}

int asking_take(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct asking *asking = context;

	assert_true(answer->id >= 0 && answer->id < asking->next);
	if (answer->id == asking->fail_sink_at)
		return err_set(err, ERR_DB, "the sink failed");
	if (answer->id == asking->interrupt_at)
		lookup_interrupt();
	asking->ids[answer->id].answers++;
	asking->ids[answer->id].outcome = answer->outcome;
	asking->ids[answer->id].code = answer->code;
	assert_int_equal(answer->outcome == LOOKUP_FOUND, answer->data != NULL);
	snprintf(asking->message, sizeof(asking->message), "%s", answer->message);
	return 0;
}

int asking_run(struct asking *asking, const struct lookup_options *options)
{
	static const struct lookup_options defaults;

	if (!asking->lookup)
		asking->lookup = lookup_new(&asking->server.base, options ? options : &defaults);
	return lookup_run(asking->lookup, asking_next, asking_take, asking, &asking->err);
}

int64_t asking_took_ms(const struct asking *asking)
{
	return asking->server.now_ms - asking->begun_ms;
}

int64_t asking_count(const struct asking *asking, enum lookup_outcome outcome)
{
	int64_t id, count = 0;

	for (id = 0; id < asking->count; id++) {
		if (asking->ids[id].answers != 1)
			fail_msg("%lld has %u answers", (long long)id, asking->ids[id].answers);
		count += asking->ids[id].outcome == outcome;
	}
	return count;
}

void assert_all_found(const struct asking *asking)
{
	assert_int_equal(asking_count(asking, LOOKUP_FOUND), asking->count);
	assert_int_equal(lookup_tally(asking->lookup)->found, asking->count);
	assert_int_equal(lookup_tally(asking->lookup)->asked, asking->count);
}
