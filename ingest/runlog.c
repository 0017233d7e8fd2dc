#include "runlog.h"

#include "clean.h"
#include "cli_config.h"
#include "digest.h"
#include "instance.h"
#include "redact.h"
#include "spans.h"
#include "util/buf.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 8
#define TRACE_ID_MAX 64
#define RANK_UNKNOWN (-1) /* below any enum project_rank: the header has not come yet */

struct runlog {
	struct store *store; /* NULL: count only */
	const struct runlog_place *place;
	struct runlog_tally tally;
	struct spans spans;

	char trace_id[TRACE_ID_MAX + 1]; /* of the run at hand; "": none */
	char *project; /* the place's, else working_dir's base name; NULL: not known yet */
	int64_t run_id;
	bool complete;
	bool start_known;
	bool instance_chosen;
	enum digest_function function; /* of the log's own -c value, else .buckconfig's */
	struct cli_config config;
	bool config_stored;
	char *links[LINKS_MAX]; /* instance names that historical links propose */
	size_t link_count;

	bool in_transaction;
	unsigned rows; /* since the last commit */
};

static void forget_run(struct runlog *log)
{
	size_t i;

	spans_release(&log->spans);
	free(log->project);
	cli_config_release(&log->config);
	for (i = 0; i < log->link_count; i++)
		free(log->links[i]);
	log->project = log->place->project ? xstrdup(log->place->project) : NULL;
	log->link_count = 0;
	log->trace_id[0] = '\0';
	log->run_id = 0;
	log->complete = log->start_known = log->instance_chosen = log->config_stored = false;
	log->function = log->place->digest_function;
}

struct runlog *runlog_new(struct store *store, const struct runlog_place *place)
{
	struct runlog *log = xcalloc(1, sizeof(*log));

	log->store = store;
	log->place = place;
	forget_run(log);
	return log;
}

void runlog_free(struct runlog *log)
{
	if (!log)
		return;
	if (log->in_transaction)
		store_rollback(log->store);
	forget_run(log);
	free(log->project);
	free(log);
}

const struct runlog_tally *runlog_tally(const struct runlog *log)
{
	return &log->tally;
}

/* ---- slices ---- */

static int open_slice(struct runlog *log, struct err *err)
{
	if (log->in_transaction)
		return 0;
	if (store_begin(log->store, err) < 0)
		return -1;
	log->in_transaction = true;
	return 0;
}

static int close_slice(struct runlog *log, struct err *err)
{
	if (!log->in_transaction)
		return 0;
	log->in_transaction = false;
	log->rows = 0;
	return store_commit(log->store, err);
}

static int count_row(struct runlog *log, struct err *err)
{
	return ++log->rows < STORE_SLICE_ACTIONS ? 0 : close_slice(log, err);
}

/* ---- the run ---- */

static struct str base_name(struct str path)
{
	size_t end = path.len, start;

	while (end > 0 && path.data[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path.data[start - 1] != '/';)
		start--;
	return (struct str){path.data + start, end - start};
}

/* A file without any root: named by the directory that Buck2 ran in. */
static void note_working_dir(struct runlog *log, struct str working_dir)
{
	struct str name = base_name(working_dir);

	if (!log->project && name.len)
		log->project = xmemdup0(name.data, name.len);
}

/* Completes the run's row with what `facts` knows. */
static int put_facts(struct runlog *log, struct run_facts *facts, struct err *err)
{
	struct sighting sighting = {
		.path = log->place->path,
		.project = log->project ? log->project : "unknown",
		.project_rank = log->project ? log->place->project_rank : RANK_UNKNOWN,
		.isolation_dir = log->place->isolation_dir,
	};

	if (!log->store)
		return 0;
	facts->trace_id = str_of(log->trace_id);
	if (open_slice(log, err) < 0)
		return -1;
	return store_put_run(log->store, facts, &sighting, &log->run_id, err);
}

static int begin_run(struct runlog *log, struct str trace_id, struct err *err)
{
	size_t len = trace_id.len > TRACE_ID_MAX ? TRACE_ID_MAX : trace_id.len;

	if (log->trace_id[0] && len == strlen(log->trace_id) &&
	    memcmp(log->trace_id, trace_id.data, len) == 0)
		return 0;
	if (log->trace_id[0] && runlog_finish(log, err) < 0)
		return -1;
	forget_run(log);
	if (len)
		memcpy(log->trace_id, trace_id.data, len);
	log->trace_id[len] = '\0';
	log->tally.runs++;
	return 0;
}

/* Before 2025-09-24 the header has no time: the first event's stands in. */
static int note_start(struct runlog *log, int64_t time_ns, struct err *err)
{
	struct run_facts facts = RUN_FACTS_INIT;

	if (log->start_known || time_ns == UNKNOWN)
		return 0;
	log->start_known = true;
	facts.start_ns = time_ns;
	return put_facts(log, &facts, err);
}

/* ---- -c values ---- */

/* The log's own value beats .buckconfig's: it is what this run was told. */
static void use_config(struct runlog *log)
{
	struct str names = cli_config_get(&log->config, "buck2", "digest_algorithms");
	const char *comma = names.data ? memchr(names.data, ',', names.len) : NULL;
	enum digest_function function;

	if (!names.data)
		return;
	if (comma)
		names.len = (size_t)(comma - names.data);
	function = digest_function_parse(names);
	if (function != DIGEST_UNKNOWN)
		log->function = function;
}

static void on_config(struct runlog *log, const struct event *event)
{
	cli_config_from_record(&log->config, event->config, event->config_count);
	use_config(log);
}

/* Once a run, when all of them are known: before its first action, or at its end. */
static int put_config(struct runlog *log, struct err *err)
{
	if (log->config_stored)
		return 0;
	log->config_stored = true;
	if (open_slice(log, err) < 0)
		return -1;
	return store_put_config(log->store, log->run_id, log->config.values, log->config.count,
				err);
}

/* ---- facts of the run ---- */

static int on_invocation(struct runlog *log, const struct event *event, struct err *err)
{
	const struct invocation *invocation = &event->invocation;
	struct run_facts facts = RUN_FACTS_INIT;
	struct buf argv = BUF_INIT;
	int failed;

	note_working_dir(log, invocation->working_dir);
	redact_argv(invocation->argv, invocation->argc, &argv);
	facts.argv_json = (struct str){argv.data, argv.len};
	facts.working_dir = invocation->working_dir;
	facts.start_ns = invocation->start_ns;
	if (facts.start_ns != UNKNOWN)
		log->start_known = true;
	cli_config_from_argv(&log->config, invocation->argv, invocation->argc);
	use_config(log);
	failed = put_facts(log, &facts, err);
	buf_release(&argv);
	return failed;
}

static int on_command_start(struct runlog *log, const struct event *event, struct err *err)
{
	const struct command_start *start = &event->command_start;
	struct run_facts facts = RUN_FACTS_INIT;

	facts.command = start->command;
	facts.host = start->host;
	facts.os = start->os;
	facts.os_version = start->os_version;
	facts.arch = start->arch;
	facts.user = start->user;
	facts.buck2_revision = start->buck2_revision;
	facts.daemon_uuid = start->daemon_uuid;
	return put_facts(log, &facts, err);
}

static int on_command_result(struct runlog *log, const struct event *event, struct err *err)
{
	const struct command_result *result = &event->command_result;
	struct run_facts facts = RUN_FACTS_INIT;
	struct clean_texts texts = CLEAN_TEXTS_INIT;
	int failed;

	log->complete = true;
	facts.complete = true;
	facts.succeeded = result->succeeded;
	facts.exit_code = result->exit_code;
	facts.error = clean_text(&texts, result->error);
	facts.error_count = result->error_count;
	failed = put_facts(log, &facts, err);
	clean_texts_release(&texts);
	return failed;
}

static int on_fact(struct runlog *log, const struct event *event, struct err *err)
{
	struct run_facts facts = RUN_FACTS_INIT;

	if (event->kind == EVENT_REVISION)
		facts.revision = event->revision;
	else
		facts.duration_us = event->duration_us;
	return put_facts(log, &facts, err);
}

/* ---- instance names ---- */

static void candidates_of(const struct runlog *log, struct instance_list *out_list)
{
	struct instance_sources sources = {
		.flag = log->place->instance_flag,
		.pool = log->place->pool,
		.links = (const char *const *)log->links,
		.link_count = log->link_count,
		.buckconfig = log->place->buckconfig_instance,
		.project_json = log->place->project_json_name,
		.log = cli_config_get(&log->config, "buck2_re_client", "instance_name").data,
	};

	instance_candidates(&sources, out_list);
}

static int put_choice(struct runlog *log, const struct instance_list *list, struct err *err)
{
	struct instance_choice choice = {
		.cache = log->place->cache,
		.name = list->items[0].name,
		.source = list->items[0].source,
	};

	return store_put_instance(log->store, log->run_id, &choice, err);
}

/* Before the first digest is stored the run needs some instance: the best known so far. */
static int choose_instance(struct runlog *log, struct err *err)
{
	struct instance_list list = INSTANCE_LIST_INIT;
	struct instance_choice stored;
	int found, failed = 0;

	if (log->instance_chosen)
		return 0;
	log->instance_chosen = true;
	found = store_get_instance(log->store, log->run_id, &stored, err);
	if (found < 0)
		return -1;
	if (!found || log->place->instance_flag) {
		candidates_of(log, &list);
		failed = put_choice(log, &list, err);
		instance_list_release(&list);
	}
	return failed;
}

/* At the end all proposals are known: they are kept for the probe, best first. */
static int put_candidates(struct runlog *log, struct err *err)
{
	struct instance_list list = INSTANCE_LIST_INIT;
	struct instance_choice *choices;
	size_t i;
	int failed;

	candidates_of(log, &list);
	choices = xcalloc(list.count, sizeof(*choices));
	for (i = 0; i < list.count; i++) {
		choices[i].cache = log->place->cache;
		choices[i].name = list.items[i].name;
		choices[i].source = list.items[i].source;
	}
	failed = store_put_candidates(log->store, log->run_id, choices, list.count, err) < 0 ||
		 put_choice(log, &list, err) < 0;
	free(choices);
	instance_list_release(&list);
	return failed ? -1 : 0;
}

/* The names that a link proposes, each once. */
static void note_instances(struct runlog *log, const struct link *link)
{
	size_t kept = log->link_count, added, i;

	added = link_instances(link, log->links + kept, LINKS_MAX - kept);
	for (i = log->link_count; i < log->link_count + added; i++) {
		size_t k;

		for (k = 0; k < kept && strcmp(log->links[k], log->links[i]) != 0; k++)
			;
		if (k < kept)
			free(log->links[i]);
		else
			log->links[kept++] = log->links[i];
	}
	log->link_count = kept;
}

static void note_link(struct runlog *log, struct attempt *attempt)
{
	struct link link;

	if (!attempt->additional_message.data)
		return;
	link_find(attempt->additional_message, &link);
	if (link.kind != LINK_HISTORICAL)
		return;
	attempt->historical = link.digest;
	note_instances(log, &link);
}

/* ---- actions ---- */

static void set_function(const struct runlog *log, struct digest *digest)
{
	if (digest->hash_len)
		digest->function = (uint8_t)digest_function_for(log->function, digest->hash_len);
}

static void tally_action(struct runlog *log, const struct action *action)
{
	size_t i;

	if (action->type == ACTION_RUN)
		log->tally.actions++;
	else
		log->tally.tests++;
	log->tally.attempts += action->attempt_count;
	for (i = 0; i < action->attempt_count; i++)
		if (action->attempts[i].kind == ATTEMPT_REMOTE &&
		    action->attempts[i].digest.hash_len)
			log->tally.digests++;
}

static int64_t start_of(struct runlog *log, const struct event *event)
{
	const struct span *span = spans_find(&log->spans, event->span_id);

	if (span)
		return span->start_ns;
	if (event->time_ns == UNKNOWN || event->duration_us == UNKNOWN)
		return UNKNOWN;
	return event->time_ns - event->duration_us * 1000;
}

static int put_action(struct runlog *log, const struct event *event, int64_t start_ns,
		      struct err *err)
{
	struct action action = event->action;
	struct clean_texts texts = CLEAN_TEXTS_INIT;
	int failed;

	clean_action(&texts, &action);
	failed = store_put_action(log->store, log->run_id, event->span_id, event->seq, start_ns,
				  &action, err);
	clean_texts_release(&texts);
	return failed;
}

static int on_action_end(struct runlog *log, const struct event *event, struct err *err)
{
	const struct action *action = &event->action;
	int64_t start_ns = start_of(log, event);
	size_t i;

	tally_action(log, action);
	for (i = 0; i < action->attempt_count; i++) {
		set_function(log, &action->attempts[i].digest);
		note_link(log, &action->attempts[i]);
		action->attempts[i].no_stderr = log->place->no_stderr;
	}
	spans_end(&log->spans, event->span_id);
	if (!log->store)
		return 0;
	if (note_start(log, event->time_ns, err) < 0 || put_config(log, err) < 0 ||
	    open_slice(log, err) < 0 || choose_instance(log, err) < 0 ||
	    put_action(log, event, start_ns, err) < 0)
		return -1;
	return count_row(log, err);
}

static int on_cancelled(struct runlog *log, const struct event *event, struct err *err)
{
	if (!spans_find(&log->spans, event->span_id))
		return 0;
	spans_end(&log->spans, event->span_id);
	if (!log->store)
		return 0;
	if (open_slice(log, err) < 0)
		return -1;
	return store_drop_in_flight(log->store, log->run_id, event->span_id, err);
}

static void on_stage(struct runlog *log, const struct event *event)
{
	struct stage stage = event->stage;

	set_function(log, &stage.digest);
	spans_stage(&log->spans, event->parent_id, event->seq, &stage);
}

static int on_build_graph(struct runlog *log, const struct event *event, struct err *err)
{
	const struct build_graph *graph = &event->graph;

	if (!log->store)
		return 0;
	if (open_slice(log, err) < 0 ||
	    store_put_graph(log->store, log->run_id, event->seq, graph, err) < 0)
		return -1;
	log->rows +=
		(unsigned)(graph->paths[PATH_CRITICAL].count + graph->paths[PATH_SLOWEST].count);
	return count_row(log, err);
}

/* ---- the log ---- */

static int dispatch(struct runlog *log, const struct event *event, struct err *err)
{
	switch (event->kind) {
	case EVENT_INVOCATION:
		return on_invocation(log, event, err);
	case EVENT_COMMAND_START:
		return on_command_start(log, event, err);
	case EVENT_COMMAND_END:
	case EVENT_REVISION:
		return on_fact(log, event, err);
	case EVENT_CONFIG:
		on_config(log, event);
		return 0;
	case EVENT_COMMAND_RESULT:
		return on_command_result(log, event, err);
	case EVENT_ACTION_START:
		spans_start(&log->spans, event);
		return 0;
	case EVENT_STAGE:
		on_stage(log, event);
		return 0;
	case EVENT_ACTION_END:
		return on_action_end(log, event, err);
	case EVENT_SPAN_CANCELLED:
		return on_cancelled(log, event, err);
	case EVENT_BUILD_GRAPH:
		return on_build_graph(log, event, err);
	case EVENT_NONE:
		break;
	}
	return 0;
}

int runlog_event(struct runlog *log, const struct event *event, struct err *err)
{
	struct str trace_id =
		event->kind == EVENT_INVOCATION ? event->invocation.trace_id : event->trace_id;

	if (trace_id.data && begin_run(log, trace_id, err) < 0)
		return -1;
	if (!log->trace_id[0])
		return 0; /* no run to hang it on */
	if (event->kind != EVENT_INVOCATION && log->store && !log->run_id) {
		struct run_facts facts = RUN_FACTS_INIT;

		if (put_facts(log, &facts, err) < 0)
			return -1;
	}
	return dispatch(log, event, err);
}

struct open_spans {
	struct runlog *log;
	struct err *err;
};

static int put_open_span(void *context, const struct span *span)
{
	struct open_spans *open = context;
	struct started started = {
		.span_id = span->span_id,
		.seq = span->seq,
		.start_ns = span->start_ns,
		.action = &span->action,
		.stage = span->stage,
		.stage_seq = span->stage_seq,
	};

	return store_put_in_flight(open->log->store, open->log->run_id, &started, open->err);
}

static int finish_rows(struct runlog *log, struct err *err)
{
	struct open_spans open = {log, err};

	if (!log->complete && spans_each(&log->spans, put_open_span, &open) < 0)
		return -1;
	if (put_config(log, err) < 0 || put_candidates(log, err) < 0)
		return -1;
	return close_slice(log, err);
}

int runlog_finish(struct runlog *log, struct err *err)
{
	if (!log->trace_id[0])
		return 0;
	if (!log->complete) {
		log->tally.incomplete_runs++;
		log->tally.in_flight += log->spans.count;
	}
	if (log->store && (open_slice(log, err) < 0 || finish_rows(log, err) < 0))
		return -1;
	forget_run(log);
	return 0;
}
