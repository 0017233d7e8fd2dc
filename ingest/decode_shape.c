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

#define AT(type, member) ((uint32_t)offsetof(struct type, member))
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define SHAPE(rows)                      \
	{                                \
		rows, COUNT(rows), false \
	}
#define ROUTE(rows)                     \
	{                               \
		rows, COUNT(rows), true \
	}

/* ---- small messages ---- */

static const struct shape shape_empty;

static const struct shape_row entry_rows[] = {
	[1] = {SHAPE_TEXT, "key", .offset = AT(property, name)},
	[2] = {SHAPE_TEXT, "value", .offset = AT(property, value)},
};
const struct shape shape_entry = SHAPE(entry_rows);

static const struct shape_row property_rows[] = {
	[1] = {SHAPE_TEXT, "name", .offset = AT(property, name)},
	[2] = {SHAPE_TEXT, "value", .offset = AT(property, value)},
};
static const struct shape shape_property = SHAPE(property_rows);

/* ---- whose action it is: read into struct action_name ---- */

static const struct shape_row target_label_rows[] = {
	[1] = {SHAPE_TEXT, "package", .offset = AT(action_name, buck_package)},
	[2] = {SHAPE_TEXT, "name", .offset = AT(action_name, target)},
};
static const struct shape shape_target_label = SHAPE(target_label_rows);

static const struct shape_row configuration_rows[] = {
	[2] = {SHAPE_TEXT, "full_name", .offset = AT(action_name, configuration)},
};
static const struct shape shape_configuration = SHAPE(configuration_rows);

static const struct shape_row configured_label_rows[] = {
	[1] = {SHAPE_MESSAGE, "label", .shape = &shape_target_label, .enter = enter_label},
	[2] = {SHAPE_MESSAGE, "configuration", .shape = &shape_configuration},
};
static const struct shape shape_configured_label = SHAPE(configured_label_rows);

/* A BXL function has no target: its file stands for the package, its name for the target. */
static const struct shape_row bxl_label_rows[] = {
	[1] = {SHAPE_TEXT, "bxl_path", .offset = AT(action_name, buck_package)},
	[2] = {SHAPE_TEXT, "name", .offset = AT(action_name, target)},
};
static const struct shape shape_bxl_label = SHAPE(bxl_label_rows);

static const struct shape_row bxl_key_rows[] = {
	[1] = {SHAPE_MESSAGE, "label", .shape = &shape_bxl_label, .enter = enter_label},
};
static const struct shape shape_bxl_key = SHAPE(bxl_key_rows);

/*
 * Anonymous targets of one rule share a name and differ by a hash that means
 * nothing from one run to the next: the name alone is what runs compare by.
 */
static const struct shape_row anon_target_rows[] = {
	[1] = {SHAPE_MESSAGE, "name", .shape = &shape_target_label, .enter = enter_label},
	[2] = {SHAPE_MESSAGE, "execution_configuration", .shape = &shape_configuration},
};
static const struct shape shape_anon_target = SHAPE(anon_target_rows);

static const struct shape_row key_rows[] = {
	[2] = {SHAPE_MESSAGE, "TargetLabel", "owner", .shape = &shape_configured_label},
	[4] = {SHAPE_MESSAGE, "BxlKey", "owner", .shape = &shape_bxl_key},
	[5] = {SHAPE_MESSAGE, "TestTargetLabel", "owner", .shape = &shape_configured_label},
	[6] = {SHAPE_MESSAGE, "AnonTarget", "owner", .shape = &shape_anon_target},
	[7] = {SHAPE_MESSAGE, "LocalResourceSetup", "owner", .shape = &shape_configured_label},
};
static const struct shape shape_key = SHAPE(key_rows);

static const struct shape_row name_rows[] = {
	[1] = {SHAPE_TEXT, "category", .offset = AT(action_name, category)},
	[2] = {SHAPE_TEXT, "identifier", .offset = AT(action_name, identifier)},
};
static const struct shape shape_name = SHAPE(name_rows);

/* ---- one CommandExecution: read into struct attempt ---- */

static const struct shape_row platform_rows[] = {
	[1] = {SHAPE_MESSAGE, "properties", .shape = &shape_property, .enter = enter_property},
};
static const struct shape shape_platform = SHAPE(platform_rows);

static const struct shape_row remote_details_rows[] = {
	[2] = {SHAPE_TEXT, "use_case", .offset = AT(attempt, use_case)},
	[3] = {SHAPE_MESSAGE, "platform", .shape = &shape_platform},
	[4] = {SHAPE_BOOL, "persistent_worker", .offset = AT(attempt, persistent_worker)},
};
static const struct shape shape_remote_details = SHAPE(remote_details_rows);

static const struct shape_row remote_rows[] = {
	[1] = {SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
	[2] = {SHAPE_BOOL, "cache_hit", .offset = AT(attempt, cache_hit)},
	[3] = {SHAPE_DURATION, "queue_time_us", .offset = AT(attempt, queue_us)},
	[4] = {SHAPE_MESSAGE, "details", .shape = &shape_remote_details},
	[5] = {SHAPE_INT, "cache_hit_type", .offset = AT(attempt, cache_hit_type)},
};
static const struct shape shape_remote = SHAPE(remote_rows);

/* LocalCommand and WorkerCommand; argv and environment are not read: they hold secrets. */
static const struct shape_row local_rows[] = {
	[3] = {SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
};
static const struct shape shape_local = SHAPE(local_rows);

static const struct shape_row omitted_rows[] = {
	[1] = {SHAPE_DIGEST, "action_digest", .offset = AT(attempt, digest)},
};
static const struct shape shape_omitted = SHAPE(omitted_rows);

#define COMMAND(name, what, kind)                                                       \
	SHAPE_MESSAGE, name, "command", .shape = &shape_##what, .enter = enter_command, \
					.value = kind

static const struct shape_row command_kind_rows[] = {
	[1] = {COMMAND("LocalCommand", local, ATTEMPT_LOCAL)},
	[2] = {COMMAND("RemoteCommand", remote, ATTEMPT_REMOTE)},
	[3] = {COMMAND("OmittedLocalCommand", omitted, ATTEMPT_OMITTED_LOCAL)},
	[4] = {COMMAND("WorkerInitCommand", empty, ATTEMPT_WORKER_INIT)},
	[5] = {COMMAND("WorkerCommand", local, ATTEMPT_WORKER)},
};
static const struct shape shape_command_kind = SHAPE(command_kind_rows);

/* memory_peak: Buck2 writes 0 for remote commands, whose memory it never learns. */
static const struct shape_row stats_rows[] = {
	[5] = {SHAPE_NONZERO, "memory_peak", .offset = AT(attempt, memory_peak_bytes)},
};
static const struct shape shape_stats = SHAPE(stats_rows);

static const struct shape_row metadata_rows[] = {
	[1] = {SHAPE_DURATION, "wall_time_us", .offset = AT(attempt, wall_us)},
	[2] = {SHAPE_DURATION, "execution_time_us", .offset = AT(attempt, execution_us)},
	[3] = {SHAPE_TIME, "start_time", .offset = AT(attempt, start_ns)},
	[4] = {SHAPE_DURATION, "input_materialization_duration_us",
	       .offset = AT(attempt, input_us)},
	[5] = {SHAPE_MESSAGE, "execution_stats", .shape = &shape_stats},
	[8] = {SHAPE_DURATION, "queue_duration_us", .offset = AT(attempt, server_queue_us)},
};
static const struct shape shape_metadata = SHAPE(metadata_rows);

static const struct shape_row details_rows[] = {
	[1] = {SHAPE_INT, "exit_code", .offset = AT(attempt, exit_code)}, /* 2023-06 */
	[3] = {SHAPE_TEXT, "stderr", .offset = AT(attempt, stderr_text)},
	[4] = {SHAPE_ZIGZAG, "signed_exit_code", .offset = AT(attempt, exit_code)},
	[5] = {SHAPE_MESSAGE, "command_kind", .shape = &shape_command_kind},
	/* 2023-09-29: the oneof stood here */
	[7] = {COMMAND("LocalCommand", local, ATTEMPT_LOCAL)},
	[8] = {COMMAND("RemoteCommand", remote, ATTEMPT_REMOTE)},
	[9] = {COMMAND("OmittedLocalCommand", omitted, ATTEMPT_OMITTED_LOCAL)},
	[11] = {COMMAND("WorkerInitCommand", empty, ATTEMPT_WORKER_INIT)},
	[12] = {COMMAND("WorkerCommand", local, ATTEMPT_WORKER)},
	[13] = {SHAPE_MESSAGE, "metadata", .shape = &shape_metadata},
	[14] = {SHAPE_TEXT, "additional_message", .offset = AT(attempt, additional_message)},
};
static const struct shape shape_details = SHAPE(details_rows);

static const struct shape_row error_status_rows[] = {
	[1] = {SHAPE_TEXT, "stage", .offset = AT(attempt, error_stage)},
	[2] = {SHAPE_TEXT, "error", .offset = AT(attempt, error_text)},
};
static const struct shape shape_error_status = SHAPE(error_status_rows);

#define STATUS(name, what, status)                                                    \
	SHAPE_MESSAGE, name, "status", .shape = &shape_##what, .enter = enter_status, \
				       .value = status

static const struct shape_row execution_rows[] = {
	[1] = {SHAPE_MESSAGE, "details", .shape = &shape_details},
	[2] = {STATUS("Success", empty, STATUS_SUCCESS)},
	[3] = {STATUS("Failure", empty, STATUS_FAILURE)},
	[4] = {STATUS("Timeout", empty, STATUS_TIMEOUT)},
	[5] = {STATUS("Error", error_status, STATUS_ERROR)},
	[7] = {STATUS("Cancelled", empty, STATUS_CANCELLED)},
	[8] = {STATUS("WorkerFailure", empty, STATUS_WORKER_FAILURE)},
};
static const struct shape shape_execution = SHAPE(execution_rows);

/* ---- actions and tests: read into struct action ---- */

static const struct shape_row action_start_rows[] = {
	[1] = {SHAPE_MESSAGE, "key", .offset = AT(action, name), .shape = &shape_key},
	[3] = {SHAPE_ENUM, "kind", .offset = AT(action, kind)},
	[4] = {SHAPE_MESSAGE, "name", .offset = AT(action, name), .shape = &shape_name,
	       .enter = enter_name},
};
static const struct shape shape_action_start = SHAPE(action_start_rows);

static const struct shape_row missing_outputs_rows[] = {
	[2] = {SHAPE_TEXT, "message", .offset = AT(action, error_text)},
};
static const struct shape shape_missing_outputs = SHAPE(missing_outputs_rows);

static const struct shape_row action_end_rows[] = {
	[1] = {SHAPE_MESSAGE, "key", .offset = AT(action, name), .shape = &shape_key},
	[4] = {SHAPE_ENUM, "kind", .offset = AT(action, kind)},
	[5] = {SHAPE_MESSAGE, "name", .offset = AT(action, name), .shape = &shape_name,
	       .enter = enter_name},
	[6] = {SHAPE_BOOL, "failed", .offset = AT(action, failed)},
	[7] = {SHAPE_TEXT, "Unknown", "error", .offset = AT(action, error_text)},
	[9] = {SHAPE_MESSAGE, "MissingOutputs", "error", .shape = &shape_missing_outputs},
	[22] = {SHAPE_INT, "execution_kind", .offset = AT(action, execution_kind)},
	[23] = {SHAPE_DURATION, "wall_time_us", .offset = AT(action, wall_us)},
	[24] = {SHAPE_SIZE, "output_size", .offset = AT(action, output_bytes)},
	[25] = {SHAPE_MESSAGE, "commands", .shape = &shape_execution, .enter = enter_attempt},
	/* bool until 2026-04-29; 0 is "unspecified" or false: nothing is known of an upload */
	[30] = {SHAPE_NONZERO, "cache_upload_result", .offset = AT(action, upload_result),
		.older = "did_cache_upload"},
	[34] = {SHAPE_TEXT, "hostname", .offset = AT(action, host)},
	[36] = {SHAPE_NONZERO, "dep_file_cache_upload_result",
		.offset = AT(action, dep_file_upload_result), .older = "did_dep_file_cache_upload"},
	[37] = {SHAPE_TEXT, "dep_file_key", .offset = AT(action, dep_file_key)},
	[39] = {SHAPE_SIZE, "input_files_bytes", .offset = AT(action, input_bytes)},
	[41] = {SHAPE_TEXT, "target_rule_type_name", .offset = AT(action, rule_type)},
	[43] = {SHAPE_INT, "scheduling_mode", .offset = AT(action, scheduling_mode)},
};
static const struct shape shape_action_end = SHAPE(action_end_rows);

static const struct shape_row suite_rows[] = {
	[1] = {SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	[3] = {SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	       .shape = &shape_configured_label},
};
static const struct shape shape_suite = SHAPE(suite_rows);

/* TestRunStart and TestRunEnd; the start has no report. */
static const struct shape_row test_rows[] = {
	[1] = {SHAPE_MESSAGE, "suite", .shape = &shape_suite},
	[2] = {SHAPE_MESSAGE, "command_report", .shape = &shape_execution, .enter = enter_attempt},
};
static const struct shape shape_test = SHAPE(test_rows);

static const struct shape_row listing_start_rows[] = {
	[1] = {SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	[2] = {SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	       .shape = &shape_configured_label},
};
static const struct shape shape_listing_start = SHAPE(listing_start_rows);

static const struct shape_row listing_end_rows[] = {
	[1] = {SHAPE_TEXT, "suite_name", .offset = AT(action, suite)},
	[2] = {SHAPE_MESSAGE, "command_report", .shape = &shape_execution, .enter = enter_attempt},
	[5] = {SHAPE_MESSAGE, "target_label", .offset = AT(action, name),
	       .shape = &shape_configured_label},
};
static const struct shape shape_listing_end = SHAPE(listing_end_rows);

/* ---- executor stages that name a digest: read into struct stage ---- */

/* ReExecute, ReQueue, ReUnknown, CacheQuery, CacheHit */
static const struct shape_row stage_rows[] = {
	[1] = {SHAPE_DIGEST, "action_digest", .offset = AT(stage, digest)},
};
static const struct shape shape_stage = SHAPE(stage_rows);

#define STAGE(name, text_)                                                                        \
	SHAPE_MESSAGE, name, "stage", .shape = &shape_stage, .enter = enter_stage, .text = text_, \
				      .value = EVENT_STAGE

static const struct shape_row remote_stage_rows[] = {
	[5] = {STAGE("Execute", "execute")},
	[7] = {STAGE("Queue", "queue")},
	[10] = {STAGE("Unknown", "unknown")},
};
static const struct shape shape_remote_stage = ROUTE(remote_stage_rows);

static const struct shape_row executor_stage_rows[] = {
	[20] = {SHAPE_MESSAGE, "Re", "stage", .shape = &shape_remote_stage},
	[22] = {STAGE("CacheQuery", "cache_query")},
	[23] = {STAGE("CacheHit", "cache_hit")},
};
static const struct shape shape_executor_stage = ROUTE(executor_stage_rows);

/* ---- the command ---- */

#define VERB(name, text_) \
	SHAPE_NAME, name, "data", .offset = AT(command_start, command), .text = text_

static const struct shape_row command_start_rows[] = {
	[1] = {SHAPE_MAP, "metadata", .shape = &shape_entry, .enter = enter_metadata},
	[20] = {VERB("Build", "build")}, /* `buck2 run` too */
	[21] = {VERB("Targets", "targets")},
	[22] = {VERB("Query", "query")},
	[23] = {VERB("Cquery", "cquery")},
	[24] = {VERB("Test", "test")},
	[25] = {VERB("Audit", "audit")},
	[26] = {VERB("Docs", "docs")},
	[27] = {VERB("Clean", "clean")},
	[28] = {VERB("Aquery", "aquery")},
	[29] = {VERB("Install", "install")},
	[30] = {VERB("Materialize", "materialize")},
	[31] = {VERB("Profile", "profile")},
	[32] = {VERB("Bxl", "bxl")},
	[33] = {VERB("Lsp", "lsp")},
	[34] = {VERB("FileStatus", "file_status")},
	[35] = {VERB("Starlark", "starlark")},
	[36] = {VERB("Subscribe", "subscribe")},
	[37] = {VERB("Trace", "trace")},
	[38] = {VERB("Ctargets", "ctargets")},
	[39] = {VERB("StarlarkDebugAttach", "starlark_debug_attach")},
	[40] = {VERB("Explain", "explain")},
	[41] = {VERB("ExpandExternalCell", "expand_external_cell")},
	[42] = {VERB("Complete", "complete")},
	[43] = {VERB("Hydration", "hydration")},
};
static const struct shape shape_command_start = SHAPE(command_start_rows);

static const struct shape_row error_rows[] = {
	[3] = {SHAPE_TEXT, "message", .offset = 0}, /* read into struct str */
};
static const struct shape shape_error = SHAPE(error_rows);

/*
 * Until 2023-10-27; reserved since. What is listed there says that the command failed.
 * BuildResponse, BxlResponse and TestResponse of facebook/buck2 at 02f63f0f66, then in
 * cli_proto/daemon.proto: `repeated string error_messages = 101`.
 */
#define OLDER_ERRORS SHAPE_TEXTS, "error_messages", .enter = enter_error

/* BuildResponse, BxlResponse */
static const struct shape_row response_rows[] = {
	[101] = {OLDER_ERRORS},
	[102] = {SHAPE_MESSAGE, "errors", .shape = &shape_error, .enter = enter_error},
};
static const struct shape shape_response = SHAPE(response_rows);

/*
 * 103 and 104 took the place of 102 after the commit above. The exit code had its shorter
 * name from 02f63f0f66 to after d5f9ae9bf2 (app/buck2_cli_proto/daemon.proto), of 2024.
 */
static const struct shape_row test_response_rows[] = {
	[1] = {SHAPE_INT, "executor_exit_code", .offset = AT(command_result, exit_code),
	       .older = "exit_code"},
	[101] = {OLDER_ERRORS},
	[102] = {SHAPE_MESSAGE, "errors", .shape = &shape_error, .enter = enter_error},
	[103] = {SHAPE_MESSAGE, "build_errors", .shape = &shape_error, .enter = enter_error},
	[104] = {SHAPE_MESSAGE, "test_errors", .shape = &shape_error, .enter = enter_error},
};
static const struct shape shape_test_response = SHAPE(test_response_rows);

#define ANSWER(name, what, has_exit_code)                                             \
	SHAPE_MESSAGE, name, "result", .shape = &shape_##what, .enter = enter_answer, \
				       .value = has_exit_code

/* daemon.proto: CommandResult, read into struct command_result */
static const struct shape_row result_rows[] = {
	[1] = {SHAPE_MESSAGE, "error", "result", .shape = &shape_error, .enter = enter_error},
	[2] = {ANSWER("kill_response", empty, 0)},
	[3] = {ANSWER("status_response", empty, 0)},
	[4] = {ANSWER("ping_response", empty, 0)},
	[5] = {ANSWER("build_response", response, 0)},
	[6] = {ANSWER("targets_response", empty, 0)},
	[7] = {ANSWER("cquery_response", empty, 0)},
	[8] = {ANSWER("uquery_response", empty, 0)},
	[9] = {ANSWER("test_response", test_response, 1)},
	[11] = {ANSWER("profile_response", empty, 0)},
	[12] = {ANSWER("targets_show_outputs_response", empty, 0)},
	[14] = {ANSWER("install_response", empty, 0)},
	[15] = {ANSWER("aquery_response", empty, 0)},
	[17] = {ANSWER("bxl_response", response, 0)},
	[18] = {ANSWER("lsp_response", empty, 0)},
	[19] = {ANSWER("allocative_response", empty, 0)},
	[20] = {ANSWER("clean_stale_response", empty, 0)},
	[21] = {ANSWER("subscription_command_response", empty, 0)},
	[22] = {ANSWER("trace_io_response", empty, 0)},
	[23] = {ANSWER("configured_targets_response", empty, 0)},
	[24] = {ANSWER("dap_response", empty, 0)},
	[25] = {ANSWER("hydration_response", empty, 0)},
	[100] = {ANSWER("generic_response", empty, 0)},
	[101] = {ANSWER("new_generic_response_message", empty, 0)},
};
static const struct shape shape_result = SHAPE(result_rows);

static const struct shape_row revision_rows[] = {
	[1] = {SHAPE_TEXT, "hg_revision", .offset = AT(event, revision)},
	[4] = {SHAPE_TEXT, "git_revision", .offset = AT(event, revision)},
};
static const struct shape shape_revision = SHAPE(revision_rows);

static const struct shape_row config_value_rows[] = {
	[1] = {SHAPE_TEXT, "section", .offset = AT(config_value, section)},
	[2] = {SHAPE_TEXT, "key", .offset = AT(config_value, key)},
	[3] = {SHAPE_TEXT, "value", .offset = AT(config_value, value)},
	[4] = {SHAPE_TEXT, "cell", .offset = AT(config_value, cell)},
	[5] = {SHAPE_BOOL, "is_cli", .offset = AT(config_value, is_cli)},
};
static const struct shape shape_config_value = SHAPE(config_value_rows);

static const struct shape_row external_config_rows[] = {
	[1] = {SHAPE_MESSAGE, "values", .shape = &shape_config_value, .enter = enter_config},
};
static const struct shape shape_external_config = SHAPE(external_config_rows);

static const struct shape_row config_file_rows[] = {
	[2] = {SHAPE_MESSAGE, "GlobalExternalConfig", "data", .shape = &shape_external_config},
};
static const struct shape shape_config_file = SHAPE(config_file_rows);

static const struct shape_row component_rows[] = {
	[1] = {SHAPE_MESSAGE, "ConfigValue", "data", .shape = &shape_config_value,
	       .enter = enter_config},
	[2] = {SHAPE_MESSAGE, "ConfigFile", "data", .shape = &shape_config_file},
	[3] = {SHAPE_MESSAGE, "GlobalExternalConfigFile", "data", .shape = &shape_external_config},
};
static const struct shape shape_component = SHAPE(component_rows);

static const struct shape_row config_rows[] = {
	[1] = {SHAPE_MESSAGE, "components", .shape = &shape_component},
};
static const struct shape shape_config = SHAPE(config_rows);

/* ---- the build's paths: read into struct path_step ---- */

#define STEP_OWNER(name_, oneof_, what) \
	SHAPE_MESSAGE, name_, oneof_, .offset = AT(path_step, name), .shape = &shape_##what
#define STEP_DETAIL(name) SHAPE_TEXT, name, .offset = AT(path_step, detail)
#define STEP_RULE_TYPE SHAPE_TEXT, "target_rule_type_name", .offset = AT(path_step, rule_type)

static const struct shape_row step_action_rows[] = {
	[1] = {SHAPE_MESSAGE, "name", .offset = AT(path_step, name), .shape = &shape_name,
	       .enter = enter_name},
	[2] = {STEP_OWNER("TargetLabel", "owner", configured_label)},
	[3] = {STEP_OWNER("BxlKey", "owner", bxl_key)},
	[4] = {STEP_OWNER("AnonTarget", "owner", anon_target)},
	[5] = {SHAPE_INT, "execution_kind", .offset = AT(path_step, execution_kind)},
	[6] = {STEP_RULE_TYPE},
	[7] = {SHAPE_DIGEST, "action_digest", .offset = AT(path_step, digest)},
};
static const struct shape shape_step_action = SHAPE(step_action_rows);

static const struct shape_row step_materialization_rows[] = {
	[1] = {STEP_DETAIL("path")},
	[2] = {STEP_OWNER("TargetLabel", "owner", configured_label)},
	[3] = {STEP_OWNER("BxlKey", "owner", bxl_key)},
	[4] = {STEP_OWNER("AnonTarget", "owner", anon_target)},
};
static const struct shape shape_step_materialization = SHAPE(step_materialization_rows);

static const struct shape_row step_analysis_rows[] = {
	[1] = {STEP_OWNER("StandardTarget", "target", configured_label)},
	[2] = {STEP_RULE_TYPE},
};
static const struct shape shape_step_analysis = SHAPE(step_analysis_rows);

static const struct shape_row step_dynamic_rows[] = {
	[10] = {STEP_OWNER("StandardTarget", "target", configured_label)},
};
static const struct shape shape_step_dynamic = SHAPE(step_dynamic_rows);

static const struct shape_row step_anon_rows[] = {
	[1] = {STEP_OWNER("anon_target", NULL, anon_target)},
};
static const struct shape shape_step_anon = SHAPE(step_anon_rows);

/* TestExecution, TestListing */
static const struct shape_row step_test_rows[] = {
	[1] = {STEP_OWNER("target_label", NULL, configured_label)},
	[2] = {STEP_DETAIL("suite")},
};
static const struct shape shape_step_test = SHAPE(step_test_rows);

/* Load, Listing */
static const struct shape_row step_package_rows[] = {[1] = {STEP_DETAIL("package")}};
static const struct shape shape_step_package = SHAPE(step_package_rows);
static const struct shape_row step_generic_rows[] = {[1] = {STEP_DETAIL("kind")}};
static const struct shape shape_step_generic = SHAPE(step_generic_rows);
static const struct shape_row step_waiting_rows[] = {[1] = {STEP_DETAIL("category")}};
static const struct shape shape_step_waiting = SHAPE(step_waiting_rows);
static const struct shape_row step_page_in_rows[] = {[1] = {STEP_DETAIL("key_type")}};
static const struct shape shape_step_page_in = SHAPE(step_page_in_rows);

#define STEP_US(name, member) SHAPE_DURATION, name, .offset = AT(path_step, member)
#define STEP(kind, name, what)                                                          \
	[kind] = {SHAPE_MESSAGE,       name,	       "entry", .shape = &shape_##what, \
		  .enter = enter_step, .value = (kind)}

/* CriticalPathEntry2; 9 and 113 came after the commit above. */
static const struct shape_row step_rows[] = {
	[1] = {SHAPE_IDS, "span_ids", .offset = AT(path_step, span_id)},
	[2] = {STEP_US("duration_us", duration_us)},
	[3] = {STEP_US("user_duration_us", user_us)},
	[4] = {STEP_US("total_duration_us", total_us)},
	[5] = {STEP_US("potential_improvement_duration_us", potential_us)},
	[6] = {STEP_US("queue_duration_us", queue_us)},
	[7] = {STEP_US("non_critical_path_duration_us", off_path_us)},
	[8] = {SHAPE_SIZE, "start_offset_ns", .offset = AT(path_step, start_ns)},
	[9] = {SHAPE_BOOL, "was_reused", .offset = AT(path_step, reused)},
	STEP(STEP_ANALYSIS, "Analysis", step_analysis),
	STEP(STEP_ACTION, "ActionExecution", step_action),
	STEP(STEP_MATERIALIZATION, "FinalMaterialization", step_materialization),
	STEP(STEP_COMPUTE, "ComputeCriticalPath", empty),
	STEP(STEP_LOAD, "Load", step_package),
	STEP(STEP_LISTING, "Listing", step_package),
	STEP(STEP_GENERIC, "GenericEntry", step_generic),
	STEP(STEP_TEST, "TestExecution", step_test),
	STEP(STEP_TEST_LISTING, "TestListing", step_test),
	STEP(STEP_WAITING, "Waiting", step_waiting),
	STEP(STEP_DYNAMIC_ANALYSIS, "DynamicAnalysis", step_dynamic),
	STEP(STEP_SET_PROJECTION, "EnsureTransitiveSetProjection", empty),
	STEP(STEP_ANON_ANALYSIS, "AnonAnalysis", step_anon),
	STEP(STEP_PAGE_IN, "PageIn", step_page_in),
};
static const struct shape shape_step = SHAPE(step_rows);

/* 1 was the path before critical_path2: pretty-printed names, no digests; not read. */
static const struct shape_row graph_rows[] = {
	[3] = {SHAPE_SIZE, "num_nodes", .offset = AT(build_graph, nodes)},
	[4] = {SHAPE_SIZE, "num_edges", .offset = AT(build_graph, edges)},
	[5] = {SHAPE_MESSAGE, "critical_path2", .offset = AT(build_graph, paths[PATH_CRITICAL]),
	       .shape = &shape_step, .enter = enter_path},
	[11] = {SHAPE_MESSAGE, "slowest_path", .offset = AT(build_graph, paths[PATH_SLOWEST]),
		.shape = &shape_step, .enter = enter_path},
};
static const struct shape shape_graph = SHAPE(graph_rows);

/* ---- the records: read into struct event ---- */

#define EVENT(name, member, what, hook, kind)                                             \
	SHAPE_MESSAGE, name, "data", .offset = AT(event, member), .shape = &shape_##what, \
				     .enter = enter_##hook, .value = kind

static const struct shape_row span_start_rows[] = {
	[50] = {EVENT("Command", command_start, command_start, event, EVENT_COMMAND_START)},
	[51] = {EVENT("ActionExecution", action, action_start, run, EVENT_ACTION_START)},
	[54] = {SHAPE_MESSAGE, "ExecutorStage", "data", .offset = AT(event, stage),
		.shape = &shape_executor_stage},
	[55] = {EVENT("TestDiscovery", action, listing_start, listing, EVENT_ACTION_START)},
	[56] = {EVENT("TestRun", action, test, test, EVENT_ACTION_START),
		.older = "TestStart"}, /* 2026-05-12 */
};
static const struct shape shape_span_start = ROUTE(span_start_rows);

static const struct shape_row span_end_rows[] = {
	[2] = {SHAPE_DURATION, "duration_us", .offset = AT(event, duration_us)},
	[50] = {EVENT("Command", command_start, empty, event, EVENT_COMMAND_END)},
	[51] = {EVENT("ActionExecution", action, action_end, run, EVENT_ACTION_END)},
	[55] = {EVENT("TestDiscovery", action, listing_end, listing, EVENT_ACTION_END)},
	[56] = {EVENT("TestRun", action, test, test, EVENT_ACTION_END),
		.older = "TestEnd"}, /* 2026-05-12 */
	[57] = {EVENT("SpanCancelled", action, empty, event, EVENT_SPAN_CANCELLED)},
};
static const struct shape shape_span_end = ROUTE(span_end_rows);

static const struct shape_row instant_rows[] = {
	[4] = {EVENT("BuildGraphInfo", graph, graph, graph, EVENT_BUILD_GRAPH)},
	[42] = {SHAPE_MESSAGE, "VersionControlRevision", "data", .shape = &shape_revision,
		.enter = enter_event, .value = EVENT_REVISION},
	[47] = {SHAPE_MESSAGE, "BuckconfigInputValues", "data", .shape = &shape_config,
		.enter = enter_event, .value = EVENT_CONFIG},
};
static const struct shape shape_instant = ROUTE(instant_rows);

static const struct shape_row buck_event_rows[] = {
	[1] = {SHAPE_TIME, "timestamp", .offset = AT(event, time_ns)},
	[2] = {SHAPE_TEXT, "trace_id", .offset = AT(event, trace_id)},
	[3] = {SHAPE_ID, "span_id", .offset = AT(event, span_id)},
	[4] = {SHAPE_ID, "parent_id", .offset = AT(event, parent_id)},
	[20] = {SHAPE_MESSAGE, "SpanStart", "data", .shape = &shape_span_start},
	[21] = {SHAPE_MESSAGE, "SpanEnd", "data", .shape = &shape_span_end},
	[22] = {SHAPE_MESSAGE, "Instant", "data", .shape = &shape_instant},
};
const struct shape shape_buck_event = ROUTE(buck_event_rows);

static const struct shape_row progress_rows[] = {
	[1] = {SHAPE_MESSAGE, "Event", .shape = &shape_buck_event},
	[2] = {SHAPE_MESSAGE, "Result", .offset = AT(event, command_result), .shape = &shape_result,
	       .enter = enter_result, .value = EVENT_COMMAND_RESULT},
};
const struct shape shape_progress = ROUTE(progress_rows);

static const struct shape_row invocation_rows[] = {
	[1] = {SHAPE_TEXTS, "command_line_args", .enter = enter_argument},
	[2] = {SHAPE_TEXT, "working_dir", .offset = AT(event, invocation.working_dir)},
	[3] = {SHAPE_TEXT, "trace_id", .offset = AT(event, invocation.trace_id)},
	[4] = {SHAPE_TIME, "start_time",
	       .offset = AT(event, invocation.start_ns)}, /* since 2025-09-24 */
};
const struct shape shape_invocation = SHAPE(invocation_rows);
