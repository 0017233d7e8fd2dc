#include "decode_shape.h"

#include "decode_rules.h"

/*
 * Numbers and names: facebook/buck2 at e26331d4a2, app/buck2_data/data.proto and
 * app/buck2_cli_proto/daemon.proto. JSON is serde's over the structs that prost
 * makes of them (app/buck2_data/build.rs): the proto's names; a oneof is a
 * member of the oneof's name that holds one variant, CamelCase in data.proto,
 * snake_case in daemon.proto. A row with a date is what older Buck2 wrote until
 * then.
 */

#define AT(type, member) offsetof(struct type, member)
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define SHAPE(rows)                      \
	{                                \
		rows, COUNT(rows), false \
	}
#define ROUTE(rows)                     \
	{                               \
		rows, COUNT(rows), true \
	}

/* ---- small messages ---------------------------------------------------------- */

static const struct shape shape_empty;

static const struct shape_row entry_rows[] = {
	{1, SHAPE_TEXT, "key", .offset = AT(property, name)},
	{2, SHAPE_TEXT, "value", .offset = AT(property, value)},
};
const struct shape shape_entry = SHAPE(entry_rows);

static const struct shape_row property_rows[] = {
	{1, SHAPE_TEXT, "name", .offset = AT(property, name)},
	{2, SHAPE_TEXT, "value", .offset = AT(property, value)},
};
static const struct shape shape_property = SHAPE(property_rows);

/* ---- whose action it is: read into struct action_name -------------------------- */

static const struct shape_row target_label_rows[] = {
	{1, SHAPE_TEXT, "package", .offset = AT(action_name, buck_package)},
	{2, SHAPE_TEXT, "name", .offset = AT(action_name, target)},
};
static const struct shape shape_target_label = SHAPE(target_label_rows);

static const struct shape_row configuration_rows[] = {
	{2, SHAPE_TEXT, "full_name", .offset = AT(action_name, configuration)},
};
static const struct shape shape_configuration = SHAPE(configuration_rows);

static const struct shape_row configured_label_rows[] = {
	{1, SHAPE_MESSAGE, "label", .shape = &shape_target_label, .enter = enter_label},
	{2, SHAPE_MESSAGE, "configuration", .shape = &shape_configuration},
};
static const struct shape shape_configured_label = SHAPE(configured_label_rows);

/* A BXL function has no target: its file stands for the package, its name for the target. */
static const struct shape_row bxl_label_rows[] = {
	{1, SHAPE_TEXT, "bxl_path", .offset = AT(action_name, buck_package)},
	{2, SHAPE_TEXT, "name", .offset = AT(action_name, target)},
};
static const struct shape shape_bxl_label = SHAPE(bxl_label_rows);

static const struct shape_row bxl_key_rows[] = {
	{1, SHAPE_MESSAGE, "label", .shape = &shape_bxl_label, .enter = enter_label},
};
static const struct shape shape_bxl_key = SHAPE(bxl_key_rows);

/*
 * Anonymous targets of one rule share a name and differ by a hash that means
 * nothing from one run to the next: the name alone is what runs compare by.
 */
static const struct shape_row anon_target_rows[] = {
	{1, SHAPE_MESSAGE, "name", .shape = &shape_target_label, .enter = enter_label},
	{2, SHAPE_MESSAGE, "execution_configuration", .shape = &shape_configuration},
};
static const struct shape shape_anon_target = SHAPE(anon_target_rows);

static const struct shape_row key_rows[] = {
	{2, SHAPE_MESSAGE, "TargetLabel", "owner", .shape = &shape_configured_label},
	{4, SHAPE_MESSAGE, "BxlKey", "owner", .shape = &shape_bxl_key},
	{5, SHAPE_MESSAGE, "TestTargetLabel", "owner", .shape = &shape_configured_label},
	{6, SHAPE_MESSAGE, "AnonTarget", "owner", .shape = &shape_anon_target},
	{7, SHAPE_MESSAGE, "LocalResourceSetup", "owner", .shape = &shape_configured_label},
};
static const struct shape shape_key = SHAPE(key_rows);

static const struct shape_row name_rows[] = {
	{1, SHAPE_TEXT, "category", .offset = AT(action_name, category)},
	{2, SHAPE_TEXT, "identifier", .offset = AT(action_name, identifier)},
};
static const struct shape shape_name = SHAPE(name_rows);

/* ---- one CommandExecution: read into struct attempt ---------------------------- */

static const struct shape_row platform_rows[] = {
	{1, SHAPE_MESSAGE, "properties", .shape = &shape_property, .enter = enter_property},
};
static const struct shape shape_platform = SHAPE(platform_rows);

static const struct shape_row remote_details_rows[] = {
	{2, SHAPE_TEXT, "use_case", .offset = AT(attempt, use_case)},
	{3, SHAPE_MESSAGE, "platform", .shape = &shape_platform},
	{4, SHAPE_BOOL, "persistent_worker", .offset = AT(attempt, persistent_worker)},
};
static const struct shape shape_remote_details = SHAPE(remote_details_rows);

static const struct shape_row remote_rows[] = {
	{1, SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
	{2, SHAPE_BOOL, "cache_hit", .offset = AT(attempt, cache_hit)},
	{3, SHAPE_DURATION, "queue_time_us", .offset = AT(attempt, queue_us)},
	{4, SHAPE_MESSAGE, "details", .shape = &shape_remote_details},
	{5, SHAPE_INT, "cache_hit_type", .offset = AT(attempt, cache_hit_type)},
};
static const struct shape shape_remote = SHAPE(remote_rows);

/* LocalCommand and WorkerCommand; argv and environment are not read: they hold secrets. */
static const struct shape_row local_rows[] = {
	{3, SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
};
static const struct shape shape_local = SHAPE(local_rows);

static const struct shape_row omitted_rows[] = {
	{1, SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
};
static const struct shape shape_omitted = SHAPE(omitted_rows);

#define COMMAND(number, name, what, kind)                                                     \
	{                                                                                     \
		number, SHAPE_MESSAGE, name, "command", .shape = &shape_##what,               \
							.enter = enter_command, .value = kind \
	}

static const struct shape_row command_kind_rows[] = {
	COMMAND(1, "LocalCommand", local, ATTEMPT_LOCAL),
	COMMAND(2, "RemoteCommand", remote, ATTEMPT_REMOTE),
	COMMAND(3, "OmittedLocalCommand", omitted, ATTEMPT_OMITTED_LOCAL),
	COMMAND(4, "WorkerInitCommand", empty, ATTEMPT_WORKER_INIT),
	COMMAND(5, "WorkerCommand", local, ATTEMPT_WORKER),
};
static const struct shape shape_command_kind = SHAPE(command_kind_rows);

/* memory_peak: Buck2 writes 0 for remote commands, whose memory it never learns. */
static const struct shape_row stats_rows[] = {
	{5, SHAPE_NONZERO, "memory_peak", .offset = AT(attempt, memory_peak_bytes)},
};
static const struct shape shape_stats = SHAPE(stats_rows);

static const struct shape_row metadata_rows[] = {
	{1, SHAPE_DURATION, "wall_time_us", .offset = AT(attempt, wall_us)},
	{2, SHAPE_DURATION, "execution_time_us", .offset = AT(attempt, execution_us)},
	{3, SHAPE_TIME, "start_time", .offset = AT(attempt, start_ns)},
	{4, SHAPE_DURATION, "input_materialization_duration_us", .offset = AT(attempt, input_us)},
	{5, SHAPE_MESSAGE, "execution_stats", .shape = &shape_stats},
	{8, SHAPE_DURATION, "queue_duration_us", .offset = AT(attempt, server_queue_us)},
};
static const struct shape shape_metadata = SHAPE(metadata_rows);

static const struct shape_row details_rows[] = {
	{1, SHAPE_INT, "exit_code", .offset = AT(attempt, exit_code)}, /* 2023-06 */
	{3, SHAPE_TEXT, "stderr", .offset = AT(attempt, stderr_text)},
	{4, SHAPE_ZIGZAG, "signed_exit_code", .offset = AT(attempt, exit_code)},
	{5, SHAPE_MESSAGE, "command_kind", .shape = &shape_command_kind},
	/* 2023-09-29: the oneof stood here */
	COMMAND(7, "LocalCommand", local, ATTEMPT_LOCAL),
	COMMAND(8, "RemoteCommand", remote, ATTEMPT_REMOTE),
	COMMAND(9, "OmittedLocalCommand", omitted, ATTEMPT_OMITTED_LOCAL),
	COMMAND(11, "WorkerInitCommand", empty, ATTEMPT_WORKER_INIT),
	COMMAND(12, "WorkerCommand", local, ATTEMPT_WORKER),
	{13, SHAPE_MESSAGE, "metadata", .shape = &shape_metadata},
	{14, SHAPE_TEXT, "additional_message", .offset = AT(attempt, additional_message)},
};
static const struct shape shape_details = SHAPE(details_rows);

static const struct shape_row error_status_rows[] = {
	{1, SHAPE_TEXT, "stage", .offset = AT(attempt, error_stage)},
	{2, SHAPE_TEXT, "error", .offset = AT(attempt, error_text)},
};
static const struct shape shape_error_status = SHAPE(error_status_rows);

#define STATUS(number, name, what, status)                                                    \
	{                                                                                     \
		number, SHAPE_MESSAGE, name, "status", .shape = &shape_##what,                \
						       .enter = enter_status, .value = status \
	}

static const struct shape_row execution_rows[] = {
	{1, SHAPE_MESSAGE, "details", .shape = &shape_details},
	STATUS(2, "Success", empty, STATUS_SUCCESS),
	STATUS(3, "Failure", empty, STATUS_FAILURE),
	STATUS(4, "Timeout", empty, STATUS_TIMEOUT),
	STATUS(5, "Error", error_status, STATUS_ERROR),
	STATUS(7, "Cancelled", empty, STATUS_CANCELLED),
	STATUS(8, "WorkerFailure", empty, STATUS_WORKER_FAILURE),
};
static const struct shape shape_execution = SHAPE(execution_rows);

/* ---- actions and tests: read into struct action --------------------------------- */

static const struct shape_row action_start_rows[] = {
	{1, SHAPE_MESSAGE, "key", .offset = AT(action, name), .shape = &shape_key},
	{3, SHAPE_ENUM, "kind", .offset = AT(action, kind)},
	{4, SHAPE_MESSAGE, "name", .offset = AT(action, name), .shape = &shape_name,
	 .enter = enter_name},
};
static const struct shape shape_action_start = SHAPE(action_start_rows);

static const struct shape_row missing_outputs_rows[] = {
	{2, SHAPE_TEXT, "message", .offset = AT(action, error_text)},
};
static const struct shape shape_missing_outputs = SHAPE(missing_outputs_rows);

static const struct shape_row action_end_rows[] = {
	/* 2026-04-29 */
	{0, SHAPE_NONZERO, "did_cache_upload", .offset = AT(action, upload_result)},
	{0, SHAPE_NONZERO, "did_dep_file_cache_upload",
	 .offset = AT(action, dep_file_upload_result)},
	{1, SHAPE_MESSAGE, "key", .offset = AT(action, name), .shape = &shape_key},
	{4, SHAPE_ENUM, "kind", .offset = AT(action, kind)},
	{5, SHAPE_MESSAGE, "name", .offset = AT(action, name), .shape = &shape_name,
	 .enter = enter_name},
	{6, SHAPE_BOOL, "failed", .offset = AT(action, failed)},
	{7, SHAPE_TEXT, "Unknown", "error", .offset = AT(action, error_text)},
	{9, SHAPE_MESSAGE, "MissingOutputs", "error", .shape = &shape_missing_outputs},
	{22, SHAPE_INT, "execution_kind", .offset = AT(action, execution_kind)},
	{23, SHAPE_DURATION, "wall_time_us", .offset = AT(action, wall_us)},
	{24, SHAPE_SIZE, "output_size", .offset = AT(action, output_bytes)},
	{25, SHAPE_MESSAGE, "commands", .shape = &shape_execution, .enter = enter_attempt},
	/* 0 is "unspecified", and false where these were bool: nothing is known of an upload */
	{30, SHAPE_NONZERO, "cache_upload_result", .offset = AT(action, upload_result)},
	{34, SHAPE_TEXT, "hostname", .offset = AT(action, host)},
	{36, SHAPE_NONZERO, "dep_file_cache_upload_result",
	 .offset = AT(action, dep_file_upload_result)},
	{37, SHAPE_TEXT, "dep_file_key", .offset = AT(action, dep_file_key)},
	{39, SHAPE_SIZE, "input_files_bytes", .offset = AT(action, input_bytes)},
	{41, SHAPE_TEXT, "target_rule_type_name", .offset = AT(action, rule_type)},
	{43, SHAPE_INT, "scheduling_mode", .offset = AT(action, scheduling_mode)},
};
static const struct shape shape_action_end = SHAPE(action_end_rows);

static const struct shape_row suite_rows[] = {
	{1, SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	{3, SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	 .shape = &shape_configured_label},
};
static const struct shape shape_suite = SHAPE(suite_rows);

/* TestRunStart and TestRunEnd; the start has no report. */
static const struct shape_row test_rows[] = {
	{1, SHAPE_MESSAGE, "suite", .shape = &shape_suite},
	{2, SHAPE_MESSAGE, "command_report", .shape = &shape_execution, .enter = enter_attempt},
};
static const struct shape shape_test = SHAPE(test_rows);

static const struct shape_row listing_start_rows[] = {
	{1, SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	{2, SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	 .shape = &shape_configured_label},
};
static const struct shape shape_listing_start = SHAPE(listing_start_rows);

static const struct shape_row listing_end_rows[] = {
	{1, SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	{2, SHAPE_MESSAGE, "command_report", .shape = &shape_execution, .enter = enter_attempt},
	{5, SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	 .shape = &shape_configured_label},
};
static const struct shape shape_listing_end = SHAPE(listing_end_rows);

/* ---- executor stages that name a digest: read into struct stage ------------------ */

/* ReExecute, ReQueue, ReUnknown, CacheQuery, CacheHit */
static const struct shape_row stage_rows[] = {
	{1, SHAPE_DIGEST, "action_digest", .offset = AT(stage, digest)},
};
static const struct shape shape_stage = SHAPE(stage_rows);

#define STAGE(number, name, text_)                                                                 \
	{                                                                                          \
		number, SHAPE_MESSAGE, name, "stage", .shape = &shape_stage, .enter = enter_stage, \
						      .text = text_                                \
	}

static const struct shape_row remote_stage_rows[] = {
	STAGE(5, "Execute", "execute"),
	STAGE(7, "Queue", "queue"),
	STAGE(10, "Unknown", "unknown"),
};
static const struct shape shape_remote_stage = ROUTE(remote_stage_rows);

static const struct shape_row executor_stage_rows[] = {
	{20, SHAPE_MESSAGE, "Re", "stage", .shape = &shape_remote_stage},
	STAGE(22, "CacheQuery", "cache_query"),
	STAGE(23, "CacheHit", "cache_hit"),
};
static const struct shape shape_executor_stage = ROUTE(executor_stage_rows);

/* ---- the command ------------------------------------------------------------------ */

#define VERB(number, name, text_)                                                       \
	{                                                                               \
		number, SHAPE_NAME, name, "data", .offset = AT(command_start, command), \
						  .text = text_                         \
	}

static const struct shape_row command_start_rows[] = {
	{1, SHAPE_MAP, "metadata", .shape = &shape_entry, .enter = enter_metadata},
	VERB(20, "Build", "build"), /* `buck2 run` too */
	VERB(21, "Targets", "targets"),
	VERB(22, "Query", "query"),
	VERB(23, "Cquery", "cquery"),
	VERB(24, "Test", "test"),
	VERB(25, "Audit", "audit"),
	VERB(26, "Docs", "docs"),
	VERB(27, "Clean", "clean"),
	VERB(28, "Aquery", "aquery"),
	VERB(29, "Install", "install"),
	VERB(30, "Materialize", "materialize"),
	VERB(31, "Profile", "profile"),
	VERB(32, "Bxl", "bxl"),
	VERB(33, "Lsp", "lsp"),
	VERB(34, "FileStatus", "file_status"),
	VERB(35, "Starlark", "starlark"),
	VERB(36, "Subscribe", "subscribe"),
	VERB(37, "Trace", "trace"),
	VERB(38, "Ctargets", "ctargets"),
	VERB(39, "StarlarkDebugAttach", "starlark_debug_attach"),
	VERB(40, "Explain", "explain"),
	VERB(41, "ExpandExternalCell", "expand_external_cell"),
	VERB(42, "Complete", "complete"),
	VERB(43, "Hydration", "hydration"),
};
static const struct shape shape_command_start = SHAPE(command_start_rows);

static const struct shape_row error_rows[] = {
	{3, SHAPE_TEXT, "message", .offset = 0}, /* read into struct str */
};
static const struct shape shape_error = SHAPE(error_rows);

/* BuildResponse, BxlResponse; 101 held errors until 2023-10-27, in a shape that is gone. */
static const struct shape_row response_rows[] = {
	{102, SHAPE_MESSAGE, "errors", .shape = &shape_error, .enter = enter_error},
};
static const struct shape shape_response = SHAPE(response_rows);

static const struct shape_row test_response_rows[] = {
	{1, SHAPE_INT, "executor_exit_code", .offset = AT(command_result, exit_code)},
	{102, SHAPE_MESSAGE, "errors", .shape = &shape_error, .enter = enter_error},
};
static const struct shape shape_test_response = SHAPE(test_response_rows);

#define ANSWER(number, name, what, has_exit_code)                                             \
	{                                                                                     \
		number, SHAPE_MESSAGE, name, "result",                                        \
			.shape = &shape_##what, .enter = enter_answer, .value = has_exit_code \
	}

/* daemon.proto: CommandResult, read into struct command_result */
static const struct shape_row result_rows[] = {
	{1, SHAPE_MESSAGE, "error", "result", .shape = &shape_error, .enter = enter_error},
	ANSWER(2, "kill_response", empty, 0),
	ANSWER(3, "status_response", empty, 0),
	ANSWER(4, "ping_response", empty, 0),
	ANSWER(5, "build_response", response, 0),
	ANSWER(6, "targets_response", empty, 0),
	ANSWER(7, "cquery_response", empty, 0),
	ANSWER(8, "uquery_response", empty, 0),
	ANSWER(9, "test_response", test_response, 1),
	ANSWER(11, "profile_response", empty, 0),
	ANSWER(12, "targets_show_outputs_response", empty, 0),
	ANSWER(14, "install_response", empty, 0),
	ANSWER(15, "aquery_response", empty, 0),
	ANSWER(17, "bxl_response", response, 0),
	ANSWER(18, "lsp_response", empty, 0),
	ANSWER(19, "allocative_response", empty, 0),
	ANSWER(20, "clean_stale_response", empty, 0),
	ANSWER(21, "subscription_command_response", empty, 0),
	ANSWER(22, "trace_io_response", empty, 0),
	ANSWER(23, "configured_targets_response", empty, 0),
	ANSWER(24, "dap_response", empty, 0),
	ANSWER(25, "hydration_response", empty, 0),
	ANSWER(100, "generic_response", empty, 0),
	ANSWER(101, "new_generic_response_message", empty, 0),
};
static const struct shape shape_result = SHAPE(result_rows);

static const struct shape_row revision_rows[] = {
	{1, SHAPE_TEXT, "hg_revision", .offset = AT(event, revision)},
	{4, SHAPE_TEXT, "git_revision", .offset = AT(event, revision)},
};
static const struct shape shape_revision = SHAPE(revision_rows);

static const struct shape_row config_value_rows[] = {
	{1, SHAPE_TEXT, "section", .offset = AT(config_value, section)},
	{2, SHAPE_TEXT, "key", .offset = AT(config_value, key)},
	{3, SHAPE_TEXT, "value", .offset = AT(config_value, value)},
	{4, SHAPE_TEXT, "cell", .offset = AT(config_value, cell)},
	{5, SHAPE_BOOL, "is_cli", .offset = AT(config_value, is_cli)},
};
static const struct shape shape_config_value = SHAPE(config_value_rows);

static const struct shape_row external_config_rows[] = {
	{1, SHAPE_MESSAGE, "values", .shape = &shape_config_value, .enter = enter_config},
};
static const struct shape shape_external_config = SHAPE(external_config_rows);

static const struct shape_row config_file_rows[] = {
	{2, SHAPE_MESSAGE, "GlobalExternalConfig", "data", .shape = &shape_external_config},
};
static const struct shape shape_config_file = SHAPE(config_file_rows);

static const struct shape_row component_rows[] = {
	{1, SHAPE_MESSAGE, "ConfigValue", "data", .shape = &shape_config_value,
	 .enter = enter_config},
	{2, SHAPE_MESSAGE, "ConfigFile", "data", .shape = &shape_config_file},
	{3, SHAPE_MESSAGE, "GlobalExternalConfigFile", "data", .shape = &shape_external_config},
};
static const struct shape shape_component = SHAPE(component_rows);

static const struct shape_row config_rows[] = {
	{1, SHAPE_MESSAGE, "components", .shape = &shape_component},
};
static const struct shape shape_config = SHAPE(config_rows);

/* ---- the records: read into struct event ------------------------------------------- */

#define EVENT(number, name, member, what, hook, kind)                                     \
	{                                                                                 \
		number, SHAPE_MESSAGE, name, "data", .offset = AT(event, member),         \
						     .shape = &shape_##what,              \
						     .enter = enter_##hook, .value = kind \
	}

static const struct shape_row span_start_rows[] = {
	/* 2026-05-12 */
	EVENT(0, "TestStart", action, test, test, EVENT_ACTION_START),
	EVENT(50, "Command", command_start, command_start, event, EVENT_COMMAND_START),
	EVENT(51, "ActionExecution", action, action_start, run, EVENT_ACTION_START),
	{54, SHAPE_MESSAGE, "ExecutorStage", "data", .offset = AT(event, stage),
	 .shape = &shape_executor_stage},
	EVENT(55, "TestDiscovery", action, listing_start, listing, EVENT_ACTION_START),
	EVENT(56, "TestRun", action, test, test, EVENT_ACTION_START),
};
static const struct shape shape_span_start = ROUTE(span_start_rows);

static const struct shape_row span_end_rows[] = {
	/* 2026-05-12 */
	EVENT(0, "TestEnd", action, test, test, EVENT_ACTION_END),
	{2, SHAPE_DURATION, "duration_us", .offset = AT(event, duration_us)},
	EVENT(50, "Command", command_start, empty, event, EVENT_COMMAND_END),
	EVENT(51, "ActionExecution", action, action_end, run, EVENT_ACTION_END),
	EVENT(55, "TestDiscovery", action, listing_end, listing, EVENT_ACTION_END),
	EVENT(56, "TestRun", action, test, test, EVENT_ACTION_END),
	EVENT(57, "SpanCancelled", action, empty, event, EVENT_SPAN_CANCELLED),
};
static const struct shape shape_span_end = ROUTE(span_end_rows);

static const struct shape_row instant_rows[] = {
	{42, SHAPE_MESSAGE, "VersionControlRevision", "data", .shape = &shape_revision,
	 .enter = enter_event, .value = EVENT_REVISION},
	{47, SHAPE_MESSAGE, "BuckconfigInputValues", "data", .shape = &shape_config,
	 .enter = enter_event, .value = EVENT_CONFIG},
};
static const struct shape shape_instant = ROUTE(instant_rows);

static const struct shape_row buck_event_rows[] = {
	{1, SHAPE_TIME, "timestamp", .offset = AT(event, time_ns)},
	{2, SHAPE_TEXT, "trace_id", .offset = AT(event, trace_id)},
	{3, SHAPE_ID, "span_id", .offset = AT(event, span_id)},
	{4, SHAPE_ID, "parent_id", .offset = AT(event, parent_id)},
	{20, SHAPE_MESSAGE, "SpanStart", "data", .shape = &shape_span_start},
	{21, SHAPE_MESSAGE, "SpanEnd", "data", .shape = &shape_span_end},
	{22, SHAPE_MESSAGE, "Instant", "data", .shape = &shape_instant},
};
static const struct shape shape_buck_event = ROUTE(buck_event_rows);

static const struct shape_row progress_rows[] = {
	{1, SHAPE_MESSAGE, "Event", .shape = &shape_buck_event},
	{2, SHAPE_MESSAGE, "Result", .offset = AT(event, command_result), .shape = &shape_result,
	 .enter = enter_result, .value = EVENT_COMMAND_RESULT},
};
const struct shape shape_progress = ROUTE(progress_rows);

static const struct shape_row invocation_rows[] = {
	{1, SHAPE_TEXTS, "command_line_args", .enter = enter_argument},
	{2, SHAPE_TEXT, "working_dir", .offset = AT(event, invocation.working_dir)},
	{3, SHAPE_TEXT, "trace_id", .offset = AT(event, invocation.trace_id)},
	{4, SHAPE_TIME, "start_time",
	 .offset = AT(event, invocation.start_ns)}, /* since 2025-09-24 */
};
const struct shape shape_invocation = SHAPE(invocation_rows);
