/*
 * A second witness: on every record of the real samples libprotobuf-c, told by
 * proto/buck2.proto, sees what our tables see.
 */
#include "buck2.pb-c.h"
#include "decode.h"
#include "digest.h"
#include "scratch.h"
#include "stream.h"
#include "util/arena.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void *witness_alloc(void *arena, size_t size)
{
	return arena_alloc(arena, size);
}

static void witness_free(void *arena, void *memory)
{
	(void)arena;
	(void)memory;
}

/* ---- one attempt ---- */

static void same_text(struct str ours, int has, ProtobufCBinaryData theirs)
{
	assert_int_equal(ours.len, has ? theirs.len : 0);
	if (ours.len)
		assert_memory_equal(ours.data, theirs.data, ours.len);
}

static void same_duration(int64_t us, const Buck2__Duration *theirs)
{
	if (!theirs)
		assert_true(us == UNKNOWN);
	else
		assert_int_equal(us, theirs->seconds * 1000000 + theirs->nanos / 1000);
}

static void same_time(int64_t ns, const Buck2__Timestamp *theirs)
{
	if (!theirs || (!theirs->seconds && !theirs->nanos))
		assert_true(ns == UNKNOWN);
	else
		assert_int_equal(ns, theirs->seconds * 1000000000 + theirs->nanos);
}

static void same_digest(const struct digest *ours, int has, ProtobufCBinaryData theirs)
{
	char text[DIGEST_TEXT_MAX];

	assert_int_equal(ours->hash_len != 0, has);
	if (!has)
		return;
	digest_format(ours, text);
	same_text(str_of(text), has, theirs);
}

static void same_remote(const struct attempt *ours, const Buck2__RemoteCommand *theirs)
{
	const Buck2__RemoteCommandDetails *details = theirs->details;
	size_t properties = details && details->platform ? details->platform->n_properties : 0;

	assert_int_equal(ours->kind, ATTEMPT_REMOTE);
	same_digest(&ours->digest, theirs->has_action_digest, theirs->action_digest);
	assert_int_equal(ours->cache_hit, theirs->cache_hit);
	assert_int_equal(ours->cache_hit_type, theirs->cache_hit_type);
	same_duration(ours->queue_us, theirs->queue_time);
	assert_int_equal(ours->property_count, properties);
}

static void same_metadata(const struct attempt *ours, const Buck2__CommandExecutionMetadata *theirs)
{
	same_duration(ours->wall_us, theirs->wall_time);
	same_duration(ours->execution_us, theirs->execution_time);
	same_duration(ours->input_us, theirs->input_materialization_duration);
	same_duration(ours->server_queue_us, theirs->queue_duration);
	same_time(ours->start_ns, theirs->start_time);
}

static void same_attempt(const struct attempt *ours, const Buck2__CommandExecution *theirs)
{
	const Buck2__CommandExecutionDetails *details = theirs->details;

	assert_int_equal(ours->status == STATUS_SUCCESS, theirs->success != NULL);
	assert_int_equal(ours->status == STATUS_FAILURE, theirs->failure != NULL);
	assert_int_equal(ours->status == STATUS_ERROR, theirs->error != NULL);
	if (theirs->error)
		same_text(ours->error_text, theirs->error->has_error, theirs->error->error);
	assert_non_null(details);
	assert_int_equal(ours->exit_code != UNKNOWN, details->has_signed_exit_code);
	if (details->has_signed_exit_code)
		assert_int_equal(ours->exit_code, details->signed_exit_code);
	same_text(ours->stderr_text, details->has_cmd_stderr, details->cmd_stderr);
	same_text(ours->additional_message, details->has_additional_message,
		  details->additional_message);
	if (details->command_kind && details->command_kind->remote_command)
		same_remote(ours, details->command_kind->remote_command);
	if (details->metadata)
		same_metadata(ours, details->metadata);
}

/* ---- one record ---- */

static void same_end(const struct action *ours, const Buck2__ActionExecutionEnd *theirs)
{
	const Buck2__ConfiguredTargetLabel *owner = theirs->key->target_label;
	size_t i;

	assert_int_equal(ours->type, ACTION_RUN);
	same_text(ours->name.buck_package, owner->label->has_package, owner->label->package);
	same_text(ours->name.target, owner->label->has_name, owner->label->name);
	same_text(ours->name.category, theirs->name->has_category, theirs->name->category);
	same_text(ours->name.identifier, theirs->name->has_identifier, theirs->name->identifier);
	assert_int_equal(ours->kind, theirs->kind);
	assert_int_equal(ours->execution_kind, theirs->execution_kind);
	assert_int_equal(ours->failed, theirs->failed);
	assert_int_equal(ours->output_bytes, theirs->output_size);
	same_duration(ours->wall_us, theirs->wall_time);
	assert_int_equal(ours->attempt_count, theirs->n_commands);
	for (i = 0; i < ours->attempt_count; i++)
		same_attempt(&ours->attempts[i], theirs->commands[i]);
}

static int64_t kind_of_step(const Buck2__CriticalPathEntry2 *step)
{
	const struct {
		int64_t kind;
		const void *member;
	} members[] = {
		{STEP_ANALYSIS, step->analysis},
		{STEP_ACTION, step->action_execution},
		{STEP_MATERIALIZATION, step->final_materialization},
		{STEP_COMPUTE, step->compute_critical_path},
		{STEP_LOAD, step->load},
		{STEP_LISTING, step->listing},
		{STEP_GENERIC, step->generic_entry},
		{STEP_TEST, step->test_execution},
		{STEP_TEST_LISTING, step->test_listing},
		{STEP_WAITING, step->waiting},
	};
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].member)
			return members[i].kind;
	return UNKNOWN;
}

static void same_step_action(const struct path_step *ours,
			     const Buck2__CriticalPathEntry2__ActionExecution *theirs)
{
	const Buck2__TargetLabel *label = theirs->target_label->label;

	same_text(ours->name.buck_package, label->has_package, label->package);
	same_text(ours->name.target, label->has_name, label->name);
	same_text(ours->name.category, theirs->name->has_category, theirs->name->category);
	same_text(ours->name.identifier, theirs->name->has_identifier, theirs->name->identifier);
	same_text(ours->rule_type, theirs->has_target_rule_type_name,
		  theirs->target_rule_type_name);
	same_digest(&ours->digest, theirs->has_action_digest, theirs->action_digest);
	assert_int_equal(ours->execution_kind, theirs->execution_kind);
}

static void same_step(const struct path_step *ours, const Buck2__CriticalPathEntry2 *theirs)
{
	assert_int_equal(ours->kind, kind_of_step(theirs));
	assert_int_equal(ours->span_id, theirs->n_span_ids ? theirs->span_ids[0] : 0);
	same_duration(ours->duration_us, theirs->duration);
	same_duration(ours->user_us, theirs->user_duration);
	same_duration(ours->total_us, theirs->total_duration);
	same_duration(ours->potential_us, theirs->potential_improvement_duration);
	same_duration(ours->queue_us, theirs->queue_duration);
	same_duration(ours->off_path_us, theirs->non_critical_path_duration);
	assert_true(theirs->has_start_offset_ns);
	assert_int_equal(ours->start_ns, theirs->start_offset_ns);
	if (theirs->action_execution)
		same_step_action(ours, theirs->action_execution);
	if (theirs->waiting)
		same_text(ours->detail, theirs->waiting->has_word, theirs->waiting->word);
}

static void same_path(const struct path *ours, size_t count, Buck2__CriticalPathEntry2 **theirs)
{
	size_t i;

	assert_int_equal(ours->count, count);
	for (i = 0; i < count; i++)
		same_step(&ours->steps[i], theirs[i]);
}

static void same_graph(const struct build_graph *ours, const Buck2__BuildGraphExecutionInfo *theirs)
{
	assert_int_equal(ours->nodes, theirs->num_nodes);
	assert_int_equal(ours->edges, theirs->num_edges);
	same_path(&ours->paths[PATH_CRITICAL], theirs->n_critical_path2, theirs->critical_path2);
	same_path(&ours->paths[PATH_SLOWEST], theirs->n_slowest_path, theirs->slowest_path);
}

static enum event_kind kind_of_start(const Buck2__SpanStartEvent *start)
{
	const Buck2__ExecutorStageStart *stage = start->executor_stage;

	if (start->command)
		return EVENT_COMMAND_START;
	if (start->action_execution || start->test_run || start->test_discovery)
		return EVENT_ACTION_START;
	if (stage && (stage->cache_hit || stage->cache_query))
		return EVENT_STAGE;
	if (stage && stage->re && (stage->re->execute || stage->re->queue || stage->re->unknown))
		return EVENT_STAGE;
	return EVENT_NONE;
}

static enum event_kind kind_of_end(const Buck2__SpanEndEvent *end)
{
	if (end->command)
		return EVENT_COMMAND_END;
	if (end->action_execution || end->test_run || end->test_discovery)
		return EVENT_ACTION_END;
	return end->span_cancelled ? EVENT_SPAN_CANCELLED : EVENT_NONE;
}

static enum event_kind kind_of(const Buck2__CommandProgress *record)
{
	const Buck2__BuckEvent *event = record->event;

	if (record->result)
		return EVENT_COMMAND_RESULT;
	assert_non_null(event);
	if (event->span_start)
		return kind_of_start(event->span_start);
	if (event->span_end)
		return kind_of_end(event->span_end);
	if (event->instant && event->instant->buckconfig_input_values)
		return EVENT_CONFIG;
	if (event->instant && event->instant->build_graph_info)
		return EVENT_BUILD_GRAPH;
	return EVENT_NONE; /* no sample knows a revision */
}

static void same_event(const struct event *ours, const Buck2__CommandProgress *record)
{
	const Buck2__BuckEvent *theirs = record->event;

	assert_int_equal(ours->kind, kind_of(record));
	if (!theirs)
		return;
	assert_int_equal(ours->span_id, theirs->span_id);
	assert_int_equal(ours->parent_id, theirs->parent_id);
	same_time(ours->time_ns, theirs->timestamp);
	same_text(ours->trace_id, theirs->has_trace_id, theirs->trace_id);
	if (theirs->span_end)
		same_duration(ours->duration_us, theirs->span_end->duration);
	if (theirs->span_end && theirs->span_end->action_execution)
		same_end(&ours->action, theirs->span_end->action_execution);
	if (theirs->instant && theirs->instant->build_graph_info)
		same_graph(&ours->graph, theirs->instant->build_graph_info);
}

/* ---- all records ---- */

struct witness {
	struct decoder *decoder;
	struct arena arena;
	size_t records, events;
};

static void see_record(struct witness *witness, const uint8_t *data, size_t len)
{
	ProtobufCAllocator allocator = {witness_alloc, witness_free, &witness->arena};
	Buck2__CommandProgress *record;
	struct err err = ERR_INIT;
	struct event *event;
	int rc;

	arena_reset(&witness->arena);
	rc = decode_record(witness->decoder, data, len, &event, &err);
	assert_int_not_equal(rc, -1);
	witness->records++;
	witness->events += (size_t)rc;
	if (rc && event->kind == EVENT_INVOCATION)
		return;
	record = buck2__command_progress__unpack(&allocator, len, data);
	assert_non_null(record);
	if (rc)
		same_event(event, record);
	else
		assert_int_equal(kind_of(record), EVENT_NONE);
}

static void see_file(struct witness *witness, const char *path)
{
	struct stream *stream;
	struct stream_record record;
	struct err err = ERR_INIT;
	const uint8_t *data;
	size_t len;
	bool too_large;

	assert_int_equal(stream_open(&stream, open(path, O_RDONLY), path, true, &err), 0);
	while (stream_next(stream, &record, &err) > 0)
		if (stream_body(stream, &data, &len, &too_large, &err) > 0)
			see_record(witness, data, len);
	stream_free(stream);
}

static void test_samples(void **state)
{
	char logs[] = TEST_DATA "/logs";
	char *const roots[] = {logs, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct witness witness = {.decoder = decoder_new(DECODE_PROTOBUF)};
	FTSENT *entry;

	(void)state;
	arena_init(&witness.arena, (size_t)64 << 20);
	while ((entry = fts_read(walk)) != NULL)
		if (entry->fts_info == FTS_F && strstr(entry->fts_name, "_events.pb"))
			see_file(&witness, entry->fts_path);
	fts_close(walk);
	assert_true(witness.records > 30000);
	assert_true(witness.events > 5000);
	arena_release(&witness.arena);
	decoder_free(witness.decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
