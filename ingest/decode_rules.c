#include "decode_rules.h"

#include "digest.h"

#include <string.h>

/* ---- arrays ---- */

/*
 * A thousand times what is usual, but for a path's steps, which the arena bounds: in each
 * reader one such array may wait to be handed on.
 */
#define ARGUMENTS_MAX ((size_t)1 << 16)
#define PROPERTIES_MAX ((size_t)1 << 14)
#define ATTEMPTS_MAX ((size_t)1 << 11)

/*
 * The array with room for one more element behind `count`; it moves when count
 * reaches a power of two. NULL: the arena is exhausted.
 */
static void *grow(struct arena *arena, void *array, size_t count, size_t size)
{
	void *bigger;

	if (count & (count - 1))
		return array;
	bigger = arena_alloc(arena, (count ? count * 2 : 1) * size);
	if (bigger && count)
		memcpy(bigger, array, count * size);
	return bigger;
}

/* As grow(); an array of `max` elements exhausts the arena too. */
static void *grow_to(struct arena *arena, size_t max, void *array, size_t count, size_t size)
{
	if (count < max)
		return grow(arena, array, count, size);
	arena->exhausted = true;
	return NULL;
}

void *enter_argument(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct invocation *invocation = &sink->event->invocation;
	struct str *argv = grow_to(sink->arena, ARGUMENTS_MAX, invocation->argv, invocation->argc,
				   sizeof(*invocation->argv));

	(void)target;
	(void)row;
	if (!argv)
		return NULL;
	invocation->argv = argv;
	argv[invocation->argc] = STR("");
	return &argv[invocation->argc++];
}

void *enter_metadata(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct property *entries = grow_to(sink->arena, PROPERTIES_MAX, sink->metadata,
					   sink->metadata_count, sizeof(*sink->metadata));

	(void)target;
	(void)row;
	if (!entries)
		return NULL;
	sink->metadata = entries;
	entries[sink->metadata_count] = (struct property){STR(""), STR("")};
	return &entries[sink->metadata_count++];
}

void *enter_property(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct attempt *attempt = target;
	struct property *properties =
		grow_to(sink->arena, PROPERTIES_MAX, attempt->properties, attempt->property_count,
			sizeof(*attempt->properties));

	(void)row;
	if (!properties)
		return NULL;
	attempt->properties = properties;
	properties[attempt->property_count] = (struct property){STR(""), STR("")};
	return &properties[attempt->property_count++];
}

void *enter_config(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct event *event = sink->event;
	struct config_value *config = grow_to(sink->arena, PROPERTIES_MAX, event->config,
					      event->config_count, sizeof(*event->config));

	(void)target;
	(void)row;
	if (!config)
		return NULL;
	event->config = config;
	config[event->config_count] =
		(struct config_value){STR_NULL, STR(""), STR(""), STR(""), false};
	return &config[event->config_count++];
}

void *enter_attempt(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct action *action = &sink->event->action;
	struct attempt *attempts = grow_to(sink->arena, ATTEMPTS_MAX, action->attempts,
					   action->attempt_count, sizeof(*action->attempts));

	(void)target;
	(void)row;
	if (!attempts)
		return NULL;
	action->attempts = attempts;
	attempts[action->attempt_count] = (struct attempt){
		.cache_hit_type = UNKNOWN,
		.exit_code = UNKNOWN,
		.queue_us = UNKNOWN,
		.wall_us = UNKNOWN,
		.execution_us = UNKNOWN,
		.start_ns = UNKNOWN,
		.input_us = UNKNOWN,
		.server_queue_us = UNKNOWN,
		.memory_peak_bytes = UNKNOWN,
	};
	return &attempts[action->attempt_count++];
}

void *enter_path(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct path *path = target;
	struct path_step *steps = grow(sink->arena, path->steps, path->count, sizeof(*path->steps));

	(void)row;
	if (!steps)
		return NULL;
	path->steps = steps;
	steps[path->count] = (struct path_step){
		.kind = UNKNOWN,
		.execution_kind = UNKNOWN,
		.start_ns = UNKNOWN,
		.duration_us = UNKNOWN,
		.user_us = UNKNOWN,
		.total_us = UNKNOWN,
		.potential_us = UNKNOWN,
		.queue_us = UNKNOWN,
		.off_path_us = UNKNOWN,
	};
	return &steps[path->count++];
}

/* ---- what presence says ---- */

void *enter_event(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	rules_set_kind(sink, (enum event_kind)row->value);
	return target;
}

/* proto3 does not write zeroes: what is absent in a message that is there is 0 or "". */
void *enter_run(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct action *action = target;

	action->type = ACTION_RUN;
	action->kind = 0;
	if (row->value == EVENT_ACTION_END)
		action->execution_kind = action->output_bytes = 0;
	return enter_event(sink, target, row);
}

void *enter_test(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	sink->event->action.type = ACTION_TEST;
	return enter_event(sink, target, row);
}

void *enter_listing(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	sink->event->action.type = ACTION_LISTING;
	return enter_event(sink, target, row);
}

void *enter_name(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct action_name *name = target;

	(void)sink;
	(void)row;
	name->category = name->identifier = STR("");
	return target;
}

void *enter_label(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct action_name *name = target;

	(void)sink;
	(void)row;
	name->buck_package = name->target = STR("");
	return target;
}

void *enter_stage(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	sink->event->stage.name = str_of(row->text);
	return enter_event(sink, target, row);
}

void *enter_command(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct attempt *attempt = target;

	(void)sink;
	attempt->kind = (enum attempt_kind)row->value;
	if (attempt->kind == ATTEMPT_REMOTE)
		attempt->cache_hit_type = HIT_ACTION_CACHE;
	return target;
}

void *enter_status(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct attempt *attempt = target;

	(void)sink;
	attempt->status = (enum attempt_status)row->value;
	return target;
}

void *enter_result(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct command_result *result = target;

	result->error_count = 0;
	return enter_event(sink, target, row);
}

/* An answer of a kind that we know: fine, unless it lists errors. */
void *enter_answer(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct command_result *result = target;

	(void)sink;
	result->succeeded = 1;
	if (row->value)
		result->exit_code = 0;
	return target;
}

void *enter_error(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct command_result *result = target;

	(void)row;
	result->succeeded = 0;
	return result->error_count++ ? &sink->unused : &result->error;
}

void *enter_graph(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct build_graph *graph = target;

	graph->nodes = graph->edges = 0;
	return enter_event(sink, target, row);
}

void *enter_step(struct shape_sink *sink, void *target, const struct shape_row *row)
{
	struct path_step *step = target;

	(void)sink;
	step->kind = row->value;
	if (step->kind == STEP_ACTION)
		step->execution_kind = 0;
	return target;
}

/* ---- values ---- */

/* Seconds that a 64-bit count of nanoseconds holds: the years 1677 to 2262. */
#define SECONDS_MAX (INT64_MAX / 1000000000 - 1)

int64_t rules_time_ns(int64_t seconds, int64_t nanos)
{
	if ((!seconds && !nanos) || seconds > SECONDS_MAX || seconds < -SECONDS_MAX || nanos < 0 ||
	    nanos > 999999999)
		return UNKNOWN;
	return seconds * 1000000000 + nanos;
}

int64_t rules_duration_us(int64_t seconds, int64_t nanos)
{
	if (seconds > SECONDS_MAX || seconds < -SECONDS_MAX || nanos > 999999999 ||
	    nanos < -999999999)
		return UNKNOWN;
	return seconds * 1000000 + nanos / 1000;
}

void rules_set_digest(struct digest *target, struct str text)
{
	if (digest_parse(text, target) < 0)
		target->hash_len = 0;
}

int64_t rules_action_kind(struct str name)
{
	/* prost's names of ActionKind's values, in their order */
	static const char *const names[] = {
		"NotSet",	"Copy",	 "DownloadFile",      "Run",
		"SymlinkedDir", "Write", "WriteMacrosToFile", "CasArtifact",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(name, names[i]))
			return (int64_t)i;
	return UNKNOWN;
}

/* ---- the whole event ---- */

/* Nearly all events that are read. */
#define USED_ACTION (1u << EVENT_ACTION_START | 1u << EVENT_ACTION_END)
#define USED_STAGE (1u << EVENT_STAGE)
/* They have no part of their own. */
#define USED_NOTHING (1u << EVENT_COMMAND_END | 1u << EVENT_SPAN_CANCELLED)

static void forget_action(struct action *action)
{
	memset(action, 0, sizeof(*action));
	action->kind = action->execution_kind = UNKNOWN;
	action->wall_us = action->duration_us = UNKNOWN;
	action->output_bytes = action->input_bytes = UNKNOWN;
	action->upload_result = action->dep_file_upload_result = UNKNOWN;
	action->scheduling_mode = UNKNOWN;
}

/* What lies in the hash counts by hash_len alone. */
static void forget_stage(struct stage *stage)
{
	stage->digest.hash_len = stage->digest.function = 0;
	stage->digest.size_bytes = 0;
	stage->name = STR_NULL;
}

static void forget_rest(struct event *event)
{
	event->invocation = (struct invocation){.start_ns = UNKNOWN};
	event->command_start = (struct command_start){.command = STR_NULL};
	event->command_result = (struct command_result){
		.succeeded = UNKNOWN, .exit_code = UNKNOWN, .error_count = UNKNOWN};
	event->config = NULL;
	event->config_count = 0;
	event->revision = STR_NULL;
	event->graph = (struct build_graph){.nodes = UNKNOWN, .edges = UNKNOWN};
}

void rules_begin(struct shape_sink *sink)
{
	struct event *event = sink->event;

	event->kind = EVENT_NONE;
	event->seq = event->span_id = event->parent_id = 0;
	event->time_ns = event->duration_us = UNKNOWN;
	event->trace_id = STR_NULL;
	if (sink->used & USED_STAGE)
		forget_stage(&event->stage);
	if (sink->used & USED_ACTION)
		forget_action(&event->action);
	if (sink->used & ~(USED_STAGE | USED_ACTION | USED_NOTHING))
		forget_rest(event);
	sink->used = 0;
	sink->metadata = NULL;
	sink->metadata_count = 0;
}

static void finish_invocation(struct event *event)
{
	event->trace_id = event->invocation.trace_id;
	event->time_ns = event->invocation.start_ns;
}

/* app/buck2_events/src/metadata.rs names the keys; there is no username in open source. */
static void finish_command_start(struct shape_sink *sink)
{
	struct command_start *start = &sink->event->command_start;
	const struct {
		const char *key;
		struct str *target;
	} known[] = {
		{"hostname", &start->host},
		{"os", &start->os},
		{"os_version", &start->os_version},
		{"arch", &start->arch},
		{"buck2_revision", &start->buck2_revision},
		{"daemon_uuid", &start->daemon_uuid},
		{"username", &start->user},
	};
	size_t i, k;

	for (i = 0; i < sink->metadata_count; i++)
		for (k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (str_is(sink->metadata[i].name, known[k].key))
				rules_set_text(known[k].target, sink->metadata[i].value.data,
					       sink->metadata[i].value.len);
}

/*
 * `-c section.key=` unsets the key, and the daemon logs that as the value
 * "not_set" (seen in real logs, argv beside it).
 */
static void finish_config(struct event *event)
{
	size_t i;

	for (i = 0; i < event->config_count; i++)
		if (event->config[i].is_cli && str_is(event->config[i].value, "not_set"))
			event->config[i].value = STR("");
}

/* A test run or listing has no `failed` of its own: its only attempt decides. */
static void finish_action(struct event *event)
{
	struct action *action = &event->action;

	action->duration_us = event->duration_us;
	if (action->type != ACTION_RUN && action->attempt_count)
		action->failed =
			action->attempts[action->attempt_count - 1].status != STATUS_SUCCESS;
}

static void finish_result(struct command_result *result)
{
	if (result->succeeded == 1 && result->exit_code != UNKNOWN && result->exit_code != 0)
		result->succeeded = 0;
}

void rules_finish(struct shape_sink *sink)
{
	struct event *event = sink->event;

	switch (event->kind) {
	case EVENT_INVOCATION:
		finish_invocation(event);
		break;
	case EVENT_COMMAND_START:
		finish_command_start(sink);
		break;
	case EVENT_CONFIG:
		finish_config(event);
		break;
	case EVENT_REVISION:
		if (!event->revision.data)
			event->kind = EVENT_NONE;
		break;
	case EVENT_STAGE:
		if (!event->stage.digest.hash_len)
			event->kind = EVENT_NONE;
		break;
	case EVENT_ACTION_END:
		finish_action(event);
		break;
	case EVENT_COMMAND_RESULT:
		finish_result(&event->command_result);
		break;
	case EVENT_NONE:
	case EVENT_COMMAND_END:
	case EVENT_ACTION_START:
	case EVENT_SPAN_CANCELLED:
	case EVENT_BUILD_GRAPH:
		break;
	}
}
