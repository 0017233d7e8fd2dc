#include "pipeline_propose.h"

#include "digest.h"
#include "instance.h"
#include "util/mem.h"
#include "util/msg.h"

#include <stdlib.h>
#include <string.h>

struct proposal {
	const char *cache;
	struct instance_list names;
	enum digest_function function; /* DIGEST_UNKNOWN: none is proposed */
};

/* The caller releases out->names. */
static void list_proposal(const struct proposing *proposing, const struct log_file *file,
			  struct proposal *out)
{
	const struct place *place = places_find(proposing->places, file->root);
	struct instance_sources sources = {
		.flag = proposing->options->instance,
		.pool = proposing->options->pool,
		.buckconfig = place ? place->instance : NULL,
		.project_json = place ? place->project_json_name : NULL,
	};

	*out = (struct proposal){proposing->options->cache, INSTANCE_LIST_INIT, DIGEST_UNKNOWN};
	instance_candidates(&sources, &out->names);
	/* Buck2's own default where nothing is configured. */
	if (place)
		out->function = place->digest_function == DIGEST_UNKNOWN ? DIGEST_SHA256
									 : place->digest_function;
}

static int put_proposal(struct store *store, const char *path, const struct proposal *proposal,
			struct err *err)
{
	size_t i;

	for (i = 0; i < proposal->names.count; i++) {
		const struct instance_candidate *name = &proposal->names.items[i];
		struct instance_choice choice = {proposal->cache, name->name, name->source, false};

		if (store_name_instance(store, path, &choice, err) < 0)
			return -1;
	}
	if (proposal->function == DIGEST_UNKNOWN)
		return 0;
	return store_name_function(store, path, proposal->function, err);
}

int propose(const struct proposing *proposing, const struct log_file *file, struct err *err)
{
	struct proposal proposal;
	int failed;

	list_proposal(proposing, file, &proposal);
	failed = put_proposal(proposing->store, file->path, &proposal, err);
	instance_list_release(&proposal.names);
	return failed;
}

/* ---- what is new ---- */

/* FNV-1a, the text's end with it. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	size_t len = strlen(text) + 1;

	for (; len; len--)
		hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
	return hash;
}

static int64_t hash_proposal(const struct proposal *proposal)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + proposal->function;
	size_t i;

	hash = hash_text(hash, proposal->cache);
	for (i = 0; i < proposal->names.count; i++) {
		hash = hash_text(hash, proposal->names.items[i].name);
		hash = hash_text(hash, proposal->names.items[i].source);
	}
	return (int64_t)(hash >> 1);
}

int propose_news(const struct proposing *proposing, const struct log_file *file, struct err *err)
{
	struct store *store = proposing->store;
	struct proposal proposal;
	int64_t hash;
	int rc;

	list_proposal(proposing, file, &proposal);
	hash = hash_proposal(&proposal);
	rc = store_has_proposed(store, file->path, hash, err);
	if (rc == 0 && (put_proposal(store, file->path, &proposal, err) < 0 ||
			store_note_proposed(store, file->path, hash, err) < 0))
		rc = -1;
	instance_list_release(&proposal.names);
	return rc < 0 ? -1 : 0;
}

/* ---- what stays ---- */

struct elsewhere {
	size_t logs;
	char *cache; /* of the first one */
	bool several;
};

static void count_elsewhere(struct elsewhere *elsewhere, const char *cache)
{
	elsewhere->logs++;
	if (!elsewhere->cache)
		elsewhere->cache = xstrdup(cache);
	else if (strcmp(elsewhere->cache, cache) != 0)
		elsewhere->several = true;
}

/* Else --cache on logs that are known would do nothing, and say nothing. */
static void tell_elsewhere(const struct elsewhere *elsewhere, const char *wanted)
{
	const char *name = elsewhere->cache;
	char *cache = *name ? xasprintf("'%s'", name) : xstrdup("'' (no name)");
	char *option = *name ? xasprintf("--cache %s", name) : xstrdup("without --cache");

	msg_note("known in %s%s, so left out by --cache %s: %zu logs. br2-ingest %s asks for what "
		 "they miss; another --db takes them anew",
		 elsewhere->several ? "other caches, such as " : "cache ", cache, wanted,
		 elsewhere->logs, option);
	free(cache);
	free(option);
}

int propose_tell(const struct proposing *proposing, const struct log_list *list, bool asked,
		 struct err *err)
{
	const char *wanted = proposing->options->cache, *cache;
	struct elsewhere elsewhere = {0};
	size_t i;
	int found = 0;

	for (i = 0; *wanted && found >= 0 && i < list->count; i++) {
		found = store_find_elsewhere(proposing->store, list->files[i].path, wanted, asked,
					     &cache, err);
		if (found > 0)
			count_elsewhere(&elsewhere, cache);
	}
	if (found >= 0 && elsewhere.logs)
		tell_elsewhere(&elsewhere, wanted);
	free(elsewhere.cache);
	return found < 0 ? -1 : 0;
}
