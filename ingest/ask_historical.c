/*
 * The blobs that failed attempts link: HistoricalExecuteResponses, which Buildbarn
 * puts into the CAS for all that it finished and did not cache
 * (bb-remote-execution 13313e6 pkg/builder/caching_build_executor.go).
 */
#include "ask_internal.h"

#include "digest.h"
#include "redact.h"
#include "result.h"
#include "util/buf.h"
#include "util/hashmap.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instance names that one link can propose. */
#define NAMES_MAX 8
/* Blobs that are remembered as asked; a build that fails more often than that may ask twice. */
#define ASKED_MAX 16384
#define ASKED_BYTES ((size_t)2 << 20)

/* A blob in flight; its index is the request's id. */
struct flying {
	bool used;
	struct attempt_key key;
	struct digest digest, action;
	const char *instance, *prefix; /* kept */
};

/*
 * A name that was refused, and a link that may know a better one: the worker's own
 * name for the instance, which differs from the client's where a scheduler cuts
 * or adds a prefix.
 */
struct place {
	const char *instance, *prefix; /* kept */
	struct flying first;	       /* the blob that tries the link's names */
	const char *name;	       /* under which it was not refused; NULL */
};

struct blobs {
	struct ask *ask;
	struct attempt_key after;
	bool again;	      /* the second time: those that were refused, under another name */
	struct hashmap asked; /* names and blobs, as far as it remembers */
	struct buf key;
	struct flying *flying;
	size_t flying_count;
	struct place *places;
	size_t place_count;
};

/* ---- what an answer says ---- */

static bool same_digest(const struct digest *a, const struct digest *b)
{
	return a->hash_len == b->hash_len && a->size_bytes == b->size_bytes &&
	       memcmp(a->hash, b->hash, a->hash_len) == 0;
}

/* STATE_FOUND: *out_result is of some action; else why not. */
static enum lookup_state read_blob(struct ask *ask, const struct flying *blob,
				   const struct lookup_answer *answer, struct result *out_result,
				   struct err *why)
{
	if ((int64_t)answer->len != blob->digest.size_bytes) {
		err_set(why, ERR_FORMAT, "%zu bytes came of the blob's %" PRId64, answer->len,
			blob->digest.size_bytes);
		return STATE_ERROR;
	}
	arena_reset(&ask->arena);
	if (result_parse_historical(answer->data, answer->len, &ask->arena, out_result, why) < 0)
		return STATE_MALFORMED;
	out_result->status_message = redact_text(out_result->status_message, &ask->words);
	if (out_result->action_digest.hash_len)
		return STATE_FOUND;
	err_set(why, ERR_FORMAT, "the blob names no action");
	return STATE_MALFORMED;
}

static void count_state(struct blob_tally *tally, enum lookup_state state)
{
	switch (state) {
	case STATE_FOUND:
		tally->stored++;
		break;
	case STATE_NOT_FOUND:
		tally->gone++;
		break;
	case STATE_MALFORMED:
	case STATE_OTHER_ACTION:
		tally->useless++;
		break;
	case STATE_REFUSED:
	case STATE_INVALID:
		tally->refused++;
		break;
	case STATE_UNREACHABLE:
		tally->unreachable++;
		break;
	case STATE_WANTED:
	case STATE_OUTPUTS_EVICTED:
	case STATE_TOO_LARGE:
	case STATE_ERROR:
		tally->failed++;
		break;
	}
}

/* What one answer is to each attempt that links the blob. */
struct verdict {
	enum lookup_state state;
	const char *message;	     /* NULL for STATE_FOUND and STATE_NOT_FOUND */
	const struct result *result; /* STATE_FOUND */
};

uint64_t blob_tally_sum(const struct blob_tally *tally)
{
	return tally->stored + tally->gone + tally->useless + tally->refused + tally->unreachable +
	       tally->failed;
}

static int put_other_action(struct ask *ask, const struct attempt_key *key,
			    const struct result *result, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	struct err why = ERR_INIT;

	digest_format(&result->action_digest, digest);
	err_set(&why, ERR_FORMAT, "the blob is about action %s", digest);
	count_state(&ask->tally->blobs, STATE_OTHER_ACTION);
	return store_put_historical_state(ask->store, key, STATE_OTHER_ACTION, why.text, err);
}

static int put_verdict(struct ask *ask, const struct attempt_key *key, const struct digest *action,
		       const struct verdict *verdict, struct err *err)
{
	if (verdict->state == STATE_FOUND && !same_digest(&verdict->result->action_digest, action))
		return put_other_action(ask, key, verdict->result, err);
	count_state(&ask->tally->blobs, verdict->state);
	if (verdict->state == STATE_FOUND)
		return store_put_historical(ask->store, key, verdict->result, err);
	return store_put_historical_state(ask->store, key, verdict->state, verdict->message, err);
}

static int put_for_all(struct ask *ask, const struct flying *blob, const struct verdict *verdict,
		       struct err *err)
{
	struct attempt_key twin = {0, 0, 0};
	struct digest action;
	int more;

	if (put_verdict(ask, &blob->key, &blob->action, verdict, err) < 0)
		return -1;
	while ((more = store_next_twin(ask->store, &blob->key, &twin, &twin, &action, err)) > 0)
		if (put_verdict(ask, &twin, &action, verdict, err) < 0)
			return -1;
	return more;
}

static int store_blob(struct ask *ask, const struct flying *blob,
		      const struct lookup_answer *answer, struct err *err)
{
	struct err why = ERR_INIT;
	struct result result;
	struct verdict verdict = {ask_state(answer->outcome), answer->message, &result};

	if (verdict.state == STATE_FOUND) {
		verdict.state = read_blob(ask, blob, answer, &result, &why);
		verdict.message = why.text;
	} else if (verdict.state == STATE_NOT_FOUND) {
		/* What it says is always the same: it is not worth a text. */
		verdict.message = NULL;
	}
	if (ask_begin(ask, err) < 0 || put_for_all(ask, blob, &verdict, err) < 0)
		return -1;
	return ask_count_answer(ask, err);
}

/* The answer under another name stands in for the refusal. */
static int store_again(struct ask *ask, const struct flying *blob,
		       const struct lookup_answer *answer, struct err *err)
{
	struct blob_tally *tally = &ask->tally->blobs;
	uint64_t before = blob_tally_sum(tally);
	int failed = store_blob(ask, blob, answer, err);

	tally->refused -= blob_tally_sum(tally) - before;
	return failed;
}

/* ---- names ---- */

static struct place *find_place(const struct blobs *blobs, const char *instance, const char *prefix)
{
	size_t i;

	/* Kept texts are equal if their addresses are. */
	for (i = 0; i < blobs->place_count; i++)
		if (blobs->places[i].instance == instance && blobs->places[i].prefix == prefix)
			return &blobs->places[i];
	return NULL;
}

static void note_place(struct blobs *blobs, const struct flying *blob)
{
	if (find_place(blobs, blob->instance, blob->prefix))
		return;
	blobs->places =
		xreallocarray(blobs->places, blobs->place_count + 1, sizeof(*blobs->places));
	blobs->places[blobs->place_count++] =
		(struct place){blob->instance, blob->prefix, *blob, NULL};
}

static const char *keep_prefix(struct ask *ask, struct str message)
{
	struct link link;
	char *copy;
	const char *kept;

	link_find(message, &link);
	copy = xmemdup0(link.prefix.data ? link.prefix.data : "", link.prefix.len);
	kept = ask_keep(ask, copy);
	free(copy);
	return kept;
}

static bool is_refused(enum lookup_outcome outcome)
{
	return outcome == LOOKUP_REFUSED || outcome == LOOKUP_INVALID;
}

/* ---- all blobs ---- */

static size_t take_flying(struct blobs *blobs)
{
	size_t i;

	for (i = 0; i < blobs->flying_count && blobs->flying[i].used; i++)
		;
	if (i == blobs->flying_count)
		blobs->flying =
			xreallocarray(blobs->flying, ++blobs->flying_count, sizeof(*blobs->flying));
	return i;
}

/* The name to ask under; NULL: it was answered already. */
static const char *name_for(const struct blobs *blobs, const struct wanted_blob *wanted,
			    const char *instance, const char *prefix)
{
	const struct place *place;

	if (!blobs->again)
		return instance;
	if (wanted->state != STATE_REFUSED && wanted->state != STATE_INVALID)
		return NULL;
	place = find_place(blobs, instance, prefix);
	return place ? place->name : NULL;
}

/* Was it asked in this ingest? Then its answer is that of all who link it. */
static bool note_asked(struct blobs *blobs, const char *name, const struct digest *digest)
{
	struct buf *key = &blobs->key;
	int64_t ignored;

	buf_clear(key);
	buf_add(key, &digest->function, 1);
	buf_add(key, &digest->size_bytes, sizeof(digest->size_bytes));
	buf_add(key, digest->hash, digest->hash_len);
	buf_addstr(key, name);
	if (hashmap_get(&blobs->asked, key->data, key->len, &ignored))
		return true;
	hashmap_put(&blobs->asked, key->data, key->len, 1);
	return false;
}

static int blobs_source(void *context, struct lookup_request *out, struct err *err)
{
	struct blobs *blobs = context;
	struct ask *ask = blobs->ask;
	struct wanted_blob wanted;
	const char *instance, *prefix, *name;
	size_t index;
	int more;

	do {
		more = store_next_historical(ask->store, ask->options->cache, &blobs->after,
					     ask->options->now_ns, ask->options->retry_missing,
					     &wanted, err);
		if (more <= 0)
			return more;
		blobs->after = wanted.key;
		instance = ask_keep(ask, wanted.instance);
		prefix = keep_prefix(ask, wanted.message);
		name = name_for(blobs, &wanted, instance, prefix);
	} while (!name || note_asked(blobs, name, &wanted.digest));
	index = take_flying(blobs);
	blobs->flying[index] =
		(struct flying){true, wanted.key, wanted.digest, wanted.action, instance, prefix};
	*out = (struct lookup_request){(int64_t)index, LOOKUP_BLOB, name, wanted.digest};
	return 1;
}

static int blobs_sink(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct blobs *blobs = context;
	struct flying *blob = &blobs->flying[answer->id];

	blob->used = false;
	ask_note_refusal(blobs->ask, answer);
	ask_show_progress(blobs->ask);
	if (blobs->again)
		return store_again(blobs->ask, blob, answer, err);
	if (is_refused(answer->outcome))
		note_place(blobs, blob);
	return store_blob(blobs->ask, blob, answer, err);
}

static int ask_blobs(struct blobs *blobs, struct err *err)
{
	blobs->after = (struct attempt_key){0, 0, 0};
	return ask_run(blobs->ask, blobs_source, blobs_sink, blobs, err);
}

/* ---- the names that links propose: one blob tries them for all of its place ---- */

struct trial {
	struct ask *ask;
	const struct place *place;
	const char *name; /* to ask under; NULL: asked */
	enum lookup_outcome outcome;
};

static int trial_source(void *context, struct lookup_request *out, struct err *err)
{
	struct trial *trial = context;

	(void)err;
	if (!trial->name)
		return 0;
	*out = (struct lookup_request){0, LOOKUP_BLOB, trial->name, trial->place->first.digest};
	trial->name = NULL;
	return 1;
}

static int trial_sink(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct trial *trial = context;

	trial->outcome = answer->outcome;
	if (is_refused(answer->outcome))
		return 0;
	return store_again(trial->ask, &trial->place->first, answer, err);
}

/* 1: not refused under this name; 0; -1. */
static int try_name(struct ask *ask, struct place *place, const char *name, struct err *err)
{
	struct trial trial = {ask, place, ask_keep(ask, name), LOOKUP_REFUSED};

	if (trial.name == place->instance)
		return 0;
	place->name = trial.name;
	if (ask_run(ask, trial_source, trial_sink, &trial, err) < 0)
		return -1;
	if (is_refused(trial.outcome) || trial.outcome == LOOKUP_UNREACHABLE)
		place->name = NULL;
	return !is_refused(trial.outcome);
}

static int settle_place(struct ask *ask, struct place *place, struct err *err)
{
	struct link link = {.kind = LINK_HISTORICAL, .prefix = str_of(place->prefix)};
	char *names[NAMES_MAX];
	size_t count = link_instances(&link, names, NAMES_MAX), i;
	int settled = 0;

	for (i = 0; i < count; i++) {
		if (settled == 0)
			settled = try_name(ask, place, names[i], err);
		free(names[i]);
	}
	return settled;
}

/* Refused under the runs' names: those of the links, then. */
static int ask_again(struct blobs *blobs, struct err *err)
{
	bool any = false;
	size_t i;

	for (i = 0; i < blobs->place_count; i++) {
		if (settle_place(blobs->ask, &blobs->places[i], err) < 0)
			return -1;
		any |= blobs->places[i].name != NULL;
	}
	blobs->again = true;
	return any ? ask_blobs(blobs, err) : 0;
}

int ask_historical(struct ask *ask, struct err *err)
{
	struct blobs blobs = {.ask = ask, .key = BUF_INIT};
	int failed;

	hashmap_init(&blobs.asked, ASKED_MAX, ASKED_BYTES);
	failed = ask_blobs(&blobs, err);
	if (!failed)
		failed = ask_again(&blobs, err);
	hashmap_release(&blobs.asked);
	buf_release(&blobs.key);
	free(blobs.flying);
	free(blobs.places);
	return failed;
}
