#include "ask.h"

#include "ask_internal.h"
#include "result.h"
#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digests of a run that may prove an instance name. */
#define PROBE_DIGESTS 8
/* Time between two commits of a slow server's answers: other writers get their turn. */
#define COMMIT_MS 1000

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
	if (ask->in_transaction)
		return 0;
	if (store_begin(ask->store, err) < 0)
		return -1;
	ask->in_transaction = true;
	ask->answers = 0;
	ask->begun_ms = clock_monotonic_ms();
	return 0;
}

static int commit(struct ask *ask, struct err *err)
{
	if (!ask->in_transaction)
		return 0;
	ask->in_transaction = false;
	return store_commit(ask->store, err);
}

int ask_count_answer(struct ask *ask, struct err *err)
{
	if (++ask->answers >= STORE_SLICE_RESULTS ||
	    clock_monotonic_ms() - ask->begun_ms >= COMMIT_MS)
		return commit(ask, err);
	return 0;
}

void ask_show_progress(struct ask *ask)
{
	if (ask->options->progress)
		ask->options->progress(ask->options->context, ++ask->done, ask->tally->wanted);
}

int ask_run(struct ask *ask, lookup_source_fn *source, lookup_sink_fn *sink, void *context,
	    struct err *err)
{
	struct lookup_request first;
	int more;

	if (!ask->answered_once) {
		more = source(context, &first, err);
		if (more <= 0)
			return more;
		ask->answered_once = true;
		if (lookup_preflight(ask->lookup, &first, sink, context, err) < 0)
			return -1;
	}
	return lookup_run(ask->lookup, source, sink, context, err);
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

/* An entry that is there proves the name, even if its outputs are gone. */
static bool probe_proves(const struct probe *probe)
{
	size_t i;

	for (i = 0; i < PROBE_DIGESTS; i++)
		if (probe->answers[i].outcome == LOOKUP_FOUND ||
		    probe->answers[i].outcome == LOOKUP_OUTPUTS_EVICTED)
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

static void note_probed(struct ask *ask, int64_t lookup_id)
{
	ask->probed = xreallocarray(ask->probed, ask->probed_count + 1, sizeof(*ask->probed));
	ask->probed[ask->probed_count++] = lookup_id;
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
			note_probed(ask, answer.id);
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

static int settle_run(struct ask *ask, const struct unproved *run, struct err *err)
{
	struct probe probe = {.ask = ask, .run = run};
	/* The name that the user gives is final: no other one is tried. */
	const struct instance_choice given = {ask->options->cache, ask->options->instance, "flag",
					      false};
	const struct instance_choice *choices = given.name ? &given : run->candidates;
	const struct instance_choice *choice;
	size_t count = given.name ? 1 : run->candidate_count;
	int proved = proved_before(ask, run, choices, count, &choice, err);

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
		if (run.digest_count && run.candidate_count && settle_run(ask, &run, err) < 0)
			return -1;
	}
	return more < 0 ? -1 : 0;
}

/* ---- the main pass ---- */

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static bool was_probed(const struct ask *ask, int64_t id)
{
	return ask->probed_count && bsearch(&id, ask->probed, ask->probed_count,
					    sizeof(*ask->probed), compare_ids) != NULL;
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
	} while (was_probed(ask, wanted.lookup_id));
	out->id = wanted.lookup_id;
	out->method = LOOKUP_ACTION_RESULT;
	out->instance = ask_keep(ask, wanted.instance);
	out->digest = wanted.digest;
	return 1;
}

static int wanted_sink(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct ask *ask = context;

	ask_note_refusal(ask, answer);
	ask_show_progress(ask);
	return store_answer(ask, answer, err);
}

static int ask_wanted(struct ask *ask, struct err *err)
{
	if (ask->probed_count)
		qsort(ask->probed, ask->probed_count, sizeof(*ask->probed), compare_ids);
	return ask_run(ask, wanted_source, wanted_sink, ask, err);
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
	return 0;
}

static int ask_everything(struct ask *ask, struct err *err)
{
	if (settle_instances(ask, err) < 0 || count_wanted(ask, err) < 0)
		return -1;
	if (ask_wanted(ask, err) < 0)
		return -1;
	ask->tally->results = *lookup_tally(ask->lookup);
	return ask_historical(ask, err);
}

int ask_all(struct store *store, struct lookup *lookup, const struct ask_options *options,
	    struct ask_tally *tally, struct err *err)
{
	struct ask ask = {.store = store, .lookup = lookup, .options = options, .tally = tally};
	struct err later = ERR_INIT;
	size_t i;
	int failed;

	memset(tally, 0, sizeof(*tally));
	arena_init(&ask.arena, RESULT_ARENA_MAX);
	buf_init(&ask.words);
	failed = ask_everything(&ask, err) < 0;
	/* What was answered before a failure is kept all the same. */
	if (commit(&ask, failed ? &later : err) < 0)
		failed = 1;
	arena_release(&ask.arena);
	buf_release(&ask.words);
	for (i = 0; i < ask.text_count; i++)
		free(ask.texts[i]);
	free(ask.texts);
	free(ask.probed);
	return failed ? -1 : 0;
}
