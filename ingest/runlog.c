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
#define UUID_LEN 36
#define RANK_UNKNOWN (-1) /* below any enum project_rank: the header has not come yet */

struct runlog {
	struct rows *rows; /* NULL: count only */
	const struct runlog_place *place;
	struct runlog_tally tally;
	struct spans spans;

	char trace_id[TRACE_ID_MAX + 1]; /* of the run at hand; "": none */
	size_t trace_len;
	char *project; /* the place's, else working_dir's base name; NULL: not known yet */
	bool has_run;  /* a row names the run at hand */
	bool complete;
	bool start_known;
	bool instance_chosen;
	enum digest_function function; /* of the log's own -c value, else .buckconfig's */
	struct cli_config config;
	bool config_added;
	char *links[LINKS_MAX]; /* instance names that historical links propose */
	size_t link_count;
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
	log->trace_len = 0;
	log->has_run = false;
	log->complete = log->start_known = log->instance_chosen = log->config_added = false;
	log->function = log->place->digest_function;
}

struct runlog *runlog_new(struct rows *rows, const struct runlog_place *place)
{
	struct runlog *log = xcalloc(1, sizeof(*log));

	log->rows = rows;
	log->place = place;
	forget_run(log);
	return log;
}

void runlog_free(struct runlog *log)
{
	if (!log)
		return;
	forget_run(log);
	free(log->project);
	free(log);
}

const struct runlog_tally *runlog_tally(const struct runlog *log)
{
	return &log->tally;
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
static void add_facts(struct runlog *log, struct run_facts *facts)
{
	struct sighting sighting = {
		.path = log->place->path,
		.project = log->project ? log->project : "unknown",
		.project_rank = log->project ? log->place->project_rank : RANK_UNKNOWN,
		.isolation_dir = log->place->isolation_dir,
	};

	if (!log->rows)
		return;
	facts->trace_id = str_of(log->trace_id);
	rows_add_run(log->rows, facts, &sighting);
	log->has_run = true;
}

/* Of each event: a UUID, but for a stranger's, for which the comparison stands in line. */
static bool is_at_hand(const struct runlog *log, const char *trace_id, size_t len)
{
	if (!len || len != log->trace_len)
		return false;
	return len == UUID_LEN ? memcmp(log->trace_id, trace_id, UUID_LEN) == 0
			       : memcmp(log->trace_id, trace_id, len) == 0;
}

static void begin_run(struct runlog *log, struct str trace_id)
{
	size_t len = trace_id.len > TRACE_ID_MAX ? TRACE_ID_MAX : trace_id.len;

	if (is_at_hand(log, trace_id.data, len))
		return;
	runlog_finish(log);
	forget_run(log);
	if (len)
		memcpy(log->trace_id, trace_id.data, len);
	log->trace_id[len] = '\0';
	log->trace_len = len;
	log->tally.runs++;
}

/* Before 2025-09-24 the header has no time: the first event's stands in. */
static void note_start(struct runlog *log, int64_t time_ns)
{
	struct run_facts facts = RUN_FACTS_INIT;

	if (log->start_known || time_ns == UNKNOWN)
		return;
	log->start_known = true;
	facts.start_ns = time_ns;
	add_facts(log, &facts);
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
static void add_config(struct runlog *log)
{
	if (!log->config_added)
		rows_add_config(log->rows, log->config.values, log->config.count);
	log->config_added = true;
}

/* ---- facts of the run ---- */

static void on_invocation(struct runlog *log, const struct event *event)
{
	const struct invocation *invocation = &event->invocation;
	struct run_facts facts = RUN_FACTS_INIT;
	struct buf argv = BUF_INIT;

	note_working_dir(log, invocation->working_dir);
	redact_argv(invocation->argv, invocation->argc, ROWS_TEXT_MAX, &argv);
	facts.argv_json = (struct str){argv.data, argv.len};
	facts.working_dir = invocation->working_dir;
	facts.start_ns = invocation->start_ns;
	if (facts.start_ns != UNKNOWN)
		log->start_known = true;
	cli_config_from_argv(&log->config, invocation->argv, invocation->argc);
	use_config(log);
	add_facts(log, &facts);
	buf_release(&argv);
}

static void on_command_start(struct runlog *log, const struct event *event)
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
	add_facts(log, &facts);
}

static void on_command_result(struct runlog *log, const struct event *event)
{
	const struct command_result *result = &event->command_result;
	struct run_facts facts = RUN_FACTS_INIT;
	struct clean_texts texts = CLEAN_TEXTS_INIT;

	log->complete = true;
	facts.complete = true;
	facts.succeeded = result->succeeded;
	facts.exit_code = result->exit_code;
	facts.error = clean_text(&texts, result->error);
	facts.error_count = result->error_count;
	add_facts(log, &facts);
	clean_texts_release(&texts);
}

static void on_fact(struct runlog *log, const struct event *event)
{
	struct run_facts facts = RUN_FACTS_INIT;

	if (event->kind == EVENT_REVISION)
		facts.revision = event->revision;
	else
		facts.duration_us = event->duration_us;
	add_facts(log, &facts);
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

static struct instance_choice choice_of(const struct runlog *log,
					const struct instance_candidate *candidate)
{
	return (struct instance_choice){
		.cache = log->place->cache,
		.name = candidate->name,
		.source = candidate->source,
	};
}

/* Before the first digest is stored the run needs some instance: the best known so far. */
static void choose_instance(struct runlog *log)
{
	struct instance_list list = INSTANCE_LIST_INIT;
	struct instance_choice best;

	if (log->instance_chosen)
		return;
	log->instance_chosen = true;
	candidates_of(log, &list);
	best = choice_of(log, &list.items[0]);
	rows_add_instance(log->rows, &best, !log->place->instance_flag);
	instance_list_release(&list);
}

/* At the end all proposals are known: they are kept for the probe, best first. */
static void add_candidates(struct runlog *log)
{
	struct instance_list list = INSTANCE_LIST_INIT;
	struct instance_choice *choices;
	size_t i;

	candidates_of(log, &list);
	choices = xcalloc(list.count, sizeof(*choices));
	for (i = 0; i < list.count; i++)
		choices[i] = choice_of(log, &list.items[i]);
	rows_add_candidates(log->rows, choices, list.count);
	rows_add_instance(log->rows, &choices[0], false);
	free(choices);
	instance_list_release(&list);
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

static void add_action(struct runlog *log, const struct event *event, int64_t start_ns)
{
	static const struct clean_limits limits = {ROWS_TEXT_MAX, STORE_STDERR_MAX, ROWS_ROW_MAX};
	struct action action = event->action;
	struct clean_texts texts = CLEAN_TEXTS_INIT;

	clean_action(&texts, &action, &limits);
	rows_add_action(log->rows, event->span_id, event->seq, start_ns, &action);
	clean_texts_release(&texts);
}

static void on_action_end(struct runlog *log, const struct event *event)
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
	if (!log->rows)
		return;
	note_start(log, event->time_ns);
	add_config(log);
	choose_instance(log);
	add_action(log, event, start_ns);
}

static void on_cancelled(struct runlog *log, const struct event *event)
{
	if (!spans_find(&log->spans, event->span_id))
		return;
	spans_end(&log->spans, event->span_id);
	if (log->rows)
		rows_add_dropped(log->rows, event->span_id);
}

static void on_build_graph(struct runlog *log, const struct event *event)
{
	if (log->rows)
		rows_add_graph(log->rows, event->seq, &event->graph);
}

/* ---- the log ---- */

static void dispatch(struct runlog *log, const struct event *event)
{
	switch (event->kind) {
	case EVENT_INVOCATION:
		on_invocation(log, event);
		break;
	case EVENT_COMMAND_START:
		on_command_start(log, event);
		break;
	case EVENT_COMMAND_END:
	case EVENT_REVISION:
		on_fact(log, event);
		break;
	case EVENT_CONFIG:
		on_config(log, event);
		break;
	case EVENT_COMMAND_RESULT:
		on_command_result(log, event);
		break;
	case EVENT_ACTION_START:
		spans_start(&log->spans, event);
		break;
	case EVENT_STAGE:
		spans_stage(&log->spans, event);
		break;
	case EVENT_ACTION_END:
		on_action_end(log, event);
		break;
	case EVENT_SPAN_CANCELLED:
		on_cancelled(log, event);
		break;
	case EVENT_BUILD_GRAPH:
		on_build_graph(log, event);
		break;
	case EVENT_NONE:
		break;
	}
}

void runlog_event(struct runlog *log, const struct event *event)
{
	struct str trace_id =
		event->kind == EVENT_INVOCATION ? event->invocation.trace_id : event->trace_id;

	if (trace_id.data)
		begin_run(log, trace_id);
	if (!log->trace_id[0])
		return; /* no run to hang it on */
	if (event->kind != EVENT_INVOCATION && log->rows && !log->has_run) {
		struct run_facts facts = RUN_FACTS_INIT;

		add_facts(log, &facts);
	}
	dispatch(log, event);
}

static void add_started(void *context, const struct open_span *open)
{
	struct runlog *log = context;
	struct started started = {
		.span_id = open->span->span_id,
		.seq = open->span->seq,
		.start_ns = open->span->start_ns,
		.stage = open->stage,
		.stage_seq = open->span->stage_seq,
	};

	if (!open->start) {
		log->tally.damaged_starts++;
		return;
	}
	log->tally.in_flight++;
	started.action = &open->start->action;
	set_function(log, &started.stage.digest);
	if (log->rows)
		rows_add_started(log->rows, &started);
}

static void finish_rows(struct runlog *log)
{
	add_config(log);
	add_candidates(log);
	rows_add_run_end(log->rows);
}

void runlog_finish(struct runlog *log)
{
	if (!log->trace_id[0])
		return;
	if (!log->complete) {
		log->tally.incomplete_runs++;
		spans_each(&log->spans, add_started, log);
	}
	log->tally.refused_starts += log->spans.refused; /* the last notes are settled by now */
	if (log->rows)
		finish_rows(log);
	forget_run(log);
}
