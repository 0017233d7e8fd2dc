#include "ask.h"

#include "ask_internal.h"
#include "result.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ask_keep(struct ask *ask, const char *text)
{
	size_t i;

	for (i = 0; i < ask->text_count; i++)
		if (strcmp(ask->texts[i], text) == 0)
			return ask->texts[i];
	ask->texts = xreallocarray(ask->texts, i + 1, sizeof(*ask->texts));
	ask->texts[i] = xstrdup(text);
	ask->text_count++;
	return ask->texts[i];
}

/* ---- storing answers ---- */

int ask_begin(struct ask *ask, struct err *err)
{
	return slice_open(ask->slice, err);
}

int ask_count_answer(struct ask *ask, struct err *err)
{
	return slice_add(ask->slice, SLICE_RESULT, err);
}

void ask_show_progress(struct ask *ask)
{
	/* While logs are read their progress is shown. */
	if (ask->options->progress && !ask->early)
		ask->options->progress(ask->options->context, ++ask->done, ask->tally->wanted);
}

int ask_first(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	      struct err *err)
{
	struct lookup_request first;
	int more;

	if (ask->answered_once)
		return 1;
	more = source(context, &first, err);
	if (more <= 0)
		return more;
	ask->answered_once = true;
	return lookup_preflight(ask->lookup, &first, sink, context, err) < 0 ? -1 : 1;
}

int ask_run(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	    struct err *err)
{
	int more = ask_first(ask, source, sink, context, err);

	return more > 0 ? lookup_run(ask->lookup, source, sink, context, err) : more;
}

enum lookup_state ask_state(enum lookup_outcome outcome)
{
	switch (outcome) {
	case LOOKUP_FOUND:
		return STATE_FOUND;
	case LOOKUP_NOT_FOUND:
		return STATE_NOT_FOUND;
	case LOOKUP_OUTPUTS_EVICTED:
		return STATE_OUTPUTS_EVICTED;
	case LOOKUP_REFUSED:
		return STATE_REFUSED;
	case LOOKUP_INVALID:
		return STATE_INVALID;
	case LOOKUP_TOO_LARGE:
		return STATE_TOO_LARGE;
	case LOOKUP_UNREACHABLE:
		return STATE_UNREACHABLE;
	case LOOKUP_ERROR:
		break;
	}
	return STATE_ERROR;
}

static int store_reply(struct ask *ask, const struct lookup_answer *answer, struct err *err)
{
	struct result result;
	struct err fault = ERR_INIT;

	arena_reset(&ask->arena);
	if (result_parse_action(answer->data, answer->len, &ask->arena, &result, &fault) < 0) {
		ask->tally->malformed++;
		return store_put_state(ask->store, answer->id, STATE_MALFORMED, fault.text, err);
	}
	ask->tally->stored++;
	return store_put_result(ask->store, answer->id, &result, err);
}

static int store_answer(struct ask *ask, const struct lookup_answer *answer, struct err *err)
{
	if (ask_begin(ask, err) < 0)
		return -1;
	if (answer->outcome == LOOKUP_FOUND) {
		if (store_reply(ask, answer, err) < 0)
			return -1;
	} else {
		/* What a NOT_FOUND says is always the same: it is not worth a text. */
		const char *message = answer->outcome == LOOKUP_NOT_FOUND ? NULL : answer->message;

		if (store_put_state(ask->store, answer->id, ask_state(answer->outcome), message,
				    err) < 0)
			return -1;
	}
	return ask_count_answer(ask, err);
}

void ask_note_refusal(struct ask *ask, const struct lookup_answer *answer)
{
	if (answer->outcome == LOOKUP_REFUSED || answer->outcome == LOOKUP_INVALID)
		snprintf(ask->tally->refusal, sizeof(ask->tally->refusal), "%s", answer->message);
}

/* ---- probing: which instance name keeps a run's digests ---- */

struct kept_answer {
	enum lookup_outcome outcome; /* 0: none */
	int code;
	char *message;
	uint8_t *data;
	size_t len;
};

struct probe {
	struct ask *ask;
	const struct unproved *run;
	const char *instance;
	size_t next, end; /* digests of this round */
	struct kept_answer answers[PROBE_DIGESTS];
};

static int probe_source(void *context, struct lookup_request *out, struct err *err)
{
	struct probe *probe = context;

	(void)err;
	if (probe->next == probe->end)
		return 0;
	out->id = (int64_t)probe->next;
	out->method = LOOKUP_ACTION_RESULT;
	out->instance = probe->instance;
	out->digest = probe->run->digests[probe->next++];
	return 1;
}

static int probe_sink(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct probe *probe = context;
	struct kept_answer *kept = &probe->answers[answer->id];

	(void)err;
	kept->outcome = answer->outcome;
	kept->code = answer->code;
	kept->message = xstrdup(answer->message);
	kept->len = answer->outcome == LOOKUP_FOUND ? answer->len : 0;
	kept->data = kept->len ? (uint8_t *)xmemdup0(answer->data, answer->len) : NULL;
	ask_note_refusal(probe->ask, answer);
	if (answer->outcome == LOOKUP_UNREACHABLE)
		probe->ask->away = true;
	return 0;
}

static void probe_clear(struct probe *probe)
{
	size_t i;

	for (i = 0; i < PROBE_DIGESTS; i++) {
		free(probe->answers[i].message);
		free(probe->answers[i].data);
	}
	memset(probe->answers, 0, sizeof(probe->answers));
	probe->next = probe->end = 0;
}

/* Noise is no entry: it would be stored as a proof for good, and a later server asked under it. */
static bool is_entry(struct ask *ask, const struct kept_answer *answer)
{
	struct result ignored;
	struct err fault = ERR_INIT;

	if (answer->outcome != LOOKUP_FOUND)
		return answer->outcome == LOOKUP_OUTPUTS_EVICTED;
	arena_reset(&ask->arena);
	return result_parse_action(answer->data, answer->len, &ask->arena, &ignored, &fault) == 0;
}

/* An entry that is there proves the name, even if its outputs are gone. */
static bool probe_proves(const struct probe *probe)
{
	size_t i;

	for (i = 0; i < PROBE_DIGESTS; i++)
		if (is_entry(probe->ask, &probe->answers[i]))
			return true;
	return false;
}

static int probe_round(struct probe *probe, size_t end, struct err *err)
{
	probe->end = end;
	return ask_run(probe->ask, probe_source, probe_sink, probe, err);
}

/* Asks one digest, then the others if that was not enough. 1: proved; 0; -1. */
static int probe_candidate(struct probe *probe, const char *instance, struct err *err)
{
	size_t count = probe->run->digest_count;

	probe_clear(probe);
	probe->instance = ask_keep(probe->ask, instance);
	if (probe_round(probe, 1, err) < 0)
		return -1;
	if (probe_proves(probe))
		return 1;
	if (probe_round(probe, count < PROBE_DIGESTS ? count : PROBE_DIGESTS, err) < 0)
		return -1;
	return probe_proves(probe);
}

/* The answers of the name that was kept are as good as those of the main pass. */
static int store_probe(struct probe *probe, const char *cache, struct err *err)
{
	struct ask *ask = probe->ask;
	size_t i;

	for (i = 0; i < PROBE_DIGESTS; i++) {
		struct kept_answer *kept = &probe->answers[i];
		struct lookup_answer answer = {
			.outcome = kept->outcome,
			.code = kept->code,
			.message = kept->message,
			.data = kept->data,
			.len = kept->len,
		};
		enum lookup_state state;
		int known;

		if (!kept->outcome || kept->outcome == LOOKUP_UNREACHABLE)
			continue;
		known = store_find_lookup(ask->store, cache, probe->instance,
					  &probe->run->digests[i], &answer.id, &state, err);
		if (known < 0 || (known && store_answer(ask, &answer, err) < 0))
			return -1;
		if (known)
			idset_add(&ask->asked, answer.id);
	}
	return 0;
}

static int settle_on(struct probe *probe, const struct instance_choice *candidate, bool proved,
		     struct err *err)
{
	struct instance_choice choice = *candidate;

	choice.proved = proved;
	if (ask_begin(probe->ask, err) < 0 ||
	    store_put_instance(probe->ask->store, probe->run->run_id, &choice, err) < 0)
		return -1;
	return store_probe(probe, candidate->cache, err);
}

/* An earlier answer may have proved a name already. 1: *out_choice; 0; -1. */
static int proved_before(struct ask *ask, const struct unproved *run,
			 const struct instance_choice *choices, size_t count,
			 const struct instance_choice **out_choice, struct err *err)
{
	size_t c, d;

	for (c = 0; c < count; c++)
		for (d = 0; d < run->digest_count; d++) {
			enum lookup_state state;
			int64_t id;
			int known = store_find_lookup(ask->store, choices[c].cache, choices[c].name,
						      &run->digests[d], &id, &state, err);

			if (known < 0)
				return -1;
			if (known && state == STATE_FOUND) {
				*out_choice = &choices[c];
				return 1;
			}
		}
	return 0;
}

/* Asks under one name after the other; the first one's answers are kept in any case. 1: proved. */
static int probe_choices(struct probe *probe, const struct instance_choice *choices, size_t count,
			 struct err *err)
{
	int proved = 0;
	size_t c;

	for (c = 0; c < count && proved == 0 && !probe->ask->away; c++) {
		proved = probe_candidate(probe, choices[c].name, err);
		if (proved > 0 || (proved == 0 && c == 0))
			if (settle_on(probe, &choices[c], proved > 0, err) < 0)
				proved = -1;
	}
	probe_clear(probe);
	return proved;
}

int ask_instance(struct ask *ask, const struct unproved *run, struct err *err)
{
	struct probe probe = {.ask = ask, .run = run};
	/* The name that the user gives is final: no other one is tried. */
	const struct instance_choice given = {ask->options->cache, ask->options->instance, "flag",
					      false};
	const struct instance_choice *choices = given.name ? &given : run->candidates;
	const struct instance_choice *choice;
	size_t count = given.name ? 1 : run->candidate_count;
	int proved;

	if (!run->digest_count || !run->candidate_count || idset_has(&ask->probed, run->run_id))
		return 0;
	idset_add(&ask->probed, run->run_id);
	proved = proved_before(ask, run, choices, count, &choice, err);
	if (proved > 0)
		return settle_on(&probe, choice, true, err);
	if (proved == 0)
		proved = probe_choices(&probe, choices, count, err);
	if (proved == 0) {
		ask->tally->unproved++;
		snprintf(ask->tally->unproved_instance, sizeof(ask->tally->unproved_instance), "%s",
			 choices[0].name);
	}
	return proved < 0 ? -1 : 0;
}

static int settle_instances(struct ask *ask, struct err *err)
{
	struct unproved run;
	int64_t after = 0;
	int more = 0;

	while (!ask->away && (more = store_next_unproved(ask->store, ask->options->cache, after,
							 PROBE_DIGESTS, &run, err)) > 0) {
		after = run.run_id;
		if (ask_instance(ask, &run, err) < 0)
			return -1;
	}
	return more < 0 ? -1 : 0;
}

/* ---- the main pass ---- */

void ask_fill(struct ask *ask, const struct wanted *wanted, struct lookup_request *out)
{
	idset_add(&ask->asked, wanted->lookup_id);
	out->id = wanted->lookup_id;
	out->method = LOOKUP_ACTION_RESULT;
	out->instance = ask_keep(ask, wanted->instance);
	out->digest = wanted->digest;
}

static int wanted_source(void *context, struct lookup_request *out, struct err *err)
{
	struct ask *ask = context;
	struct wanted wanted;
	int more;

	do {
		more = store_next_wanted(ask->store, ask->options->cache, ask->after_id,
					 ask->options->now_ns, ask->options->retry_missing, &wanted,
					 err);
		if (more <= 0)
			return more;
		ask->after_id = wanted.lookup_id;
	} while (idset_has(&ask->asked, wanted.lookup_id));
	ask_fill(ask, &wanted, out);
	return 1;
}

int ask_take(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct ask *ask = context;

	ask_note_refusal(ask, answer);
	ask_show_progress(ask);
	if (ask->early && answer->outcome != LOOKUP_FOUND)
		ask->still_open++;
	if (ask->early && answer->outcome == LOOKUP_UNREACHABLE)
		ask->stopped = true;
	return store_answer(ask, answer, err);
}

static int count_wanted(struct ask *ask, struct err *err)
{
	const struct ask_options *options = ask->options;
	int64_t results, blobs;

	if (store_count_wanted(ask->store, options->cache, options->now_ns, options->retry_missing,
			       &results, err) < 0 ||
	    store_count_historical(ask->store, options->cache, options->now_ns,
				   options->retry_missing, &blobs, err) < 0)
		return -1;
	ask->tally->wanted = (uint64_t)(results + blobs);
	/* What was asked while logs were read is not asked again. */
	ask->tally->wanted -=
		ask->still_open < (uint64_t)results ? ask->still_open : (uint64_t)results;
	return 0;
}

static int ask_everything(struct ask *ask, struct err *err)
{
	if (ask->fault.kind) {
		*err = ask->fault;
		return -1;
	}
	if (count_wanted(ask, err) < 0 || ask_settled(ask, err) < 0 ||
	    settle_instances(ask, err) < 0)
		return -1;
	if (ask_run(ask, wanted_source, ask_take, ask, err) < 0)
		return -1;
	ask->tally->results = *lookup_tally(ask->lookup);
	return ask_historical(ask, err);
}

int ask_all(struct ask *ask, struct err *err)
{
	struct err later = ERR_INIT;
	int failed = ask_everything(ask, err) < 0;

	/* What was answered before a failure is kept all the same. */
	if (slice_commit(ask->slice, failed ? &later : err) < 0)
		failed = 1;
	return failed ? -1 : 0;
}

struct ask *ask_new(struct slice *slice, struct lookup *lookup, const struct ask_options *options,
		    struct ask_tally *tally)
{
	struct ask *ask = xcalloc(1, sizeof(*ask));

	ask->slice = slice;
	ask->store = slice->store;
	ask->lookup = lookup;
	ask->options = options;
	ask->tally = tally;
	ask->fault = (struct err)ERR_INIT;
	memset(tally, 0, sizeof(*tally));
	arena_init(&ask->arena, RESULT_ARENA_MAX);
	buf_init(&ask->words);
	return ask;
}

void ask_free(struct ask *ask)
{
	size_t i;

	if (!ask)
		return;
	arena_release(&ask->arena);
	buf_release(&ask->words);
	for (i = 0; i < ask->text_count; i++)
		free(ask->texts[i]);
	free(ask->texts);
	idset_release(&ask->asked);
	idset_release(&ask->probed);
	free(ask);
}
