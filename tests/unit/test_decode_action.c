/* Actions, their attempts and stages, tests: both formats alike, today's shapes and older ones. */
#include "decode_testing.h"
#include "log_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_action_start(void **state)
{
	struct parts parts;

	(void)state;
	init_parts(&parts);
	expect_start(&parts.wrapped, JSON_START("\"ActionExecution\":{" JSON_KEY "," JSON_NAME "}"),
		     HEAD("6") "\n action type=1 failed=0" NAME "\n");
}

/* An action that met an error remotely, and was killed in the local fallback. */
struct fallback {
	Buck2__CommandExecutionStats stats;
	Buck2__CommandExecutionMetadata metadata[2];
	Buck2__RePlatform__Property property, *properties[1];
	Buck2__RePlatform platform;
	Buck2__RemoteCommandDetails remote_details;
	Buck2__RemoteCommand remote;
	Buck2__OmittedLocalCommand local;
	Buck2__CommandExecutionKind kinds[2];
	Buck2__CommandExecutionDetails details[2];
	Buck2__CommandExecution__Error error;
	Buck2__Empty failure;
	Buck2__CommandExecution executions[2], *commands[2];
};

static void init_remote_command(struct fallback *all)
{
	buck2__re_platform__property__init(&all->property);
	all->property.has_name = all->property.has_value = 1;
	all->property.name = bin("OSFamily");
	all->property.value = bin("linux");
	all->properties[0] = &all->property;
	buck2__re_platform__init(&all->platform);
	all->platform.n_properties = 1;
	all->platform.properties = all->properties;
	buck2__remote_command_details__init(&all->remote_details);
	all->remote_details.platform = &all->platform;
	all->remote_details.has_use_case = all->remote_details.has_persistent_worker = 1;
	all->remote_details.use_case = bin("u");
	all->remote_details.persistent_worker = 1;
	buck2__remote_command__init(&all->remote);
	all->remote.has_action_digest = all->remote.has_cache_hit_type = 1;
	all->remote.action_digest = bin(HASH ":141");
	all->remote.cache_hit_type = 2;
	all->remote.queue_time = &a_duration;
	all->remote.details = &all->remote_details;
	all->kinds[0].remote_command = &all->remote;
}

/* With zeroes where nothing is known, as Buck2 writes them. */
static void init_remote_attempt(struct fallback *all)
{
	static Buck2__Timestamp zero = BUCK2__TIMESTAMP__INIT;
	Buck2__CommandExecutionMetadata *metadata = &all->metadata[0];

	init_remote_command(all);
	buck2__command_execution_stats__init(&all->stats);
	all->stats.has_memory_peak = 1;
	metadata->execution_stats = &all->stats;
	metadata->start_time = &zero;
	metadata->wall_time = metadata->execution_time = &a_duration;
	metadata->input_materialization_duration = metadata->queue_duration = &a_duration;
	all->details[0].has_additional_message = 1;
	all->details[0].additional_message = bin("see there");
	buck2__command_execution__error__init(&all->error);
	all->error.has_stage = all->error.has_error = 1;
	all->error.stage = bin("remote_call_error");
	all->error.error = bin("gone");
	all->executions[0].error = &all->error;
}

static void init_local_attempt(struct fallback *all)
{
	buck2__omitted_local_command__init(&all->local);
	all->local.has_action_digest = 1;
	all->local.action_digest = bin("not a digest");
	all->kinds[1].omitted_local_command = &all->local;
	all->metadata[1].start_time = &a_time;
	all->details[1].has_signed_exit_code = all->details[1].has_cmd_stderr = 1;
	all->details[1].signed_exit_code = -1;
	all->details[1].cmd_stderr = bin("err\n");
	buck2__empty__init(&all->failure);
	all->executions[1].failure = &all->failure;
}

static void init_fallback(struct fallback *all)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		buck2__command_execution_kind__init(&all->kinds[i]);
		buck2__command_execution_metadata__init(&all->metadata[i]);
		buck2__command_execution_details__init(&all->details[i]);
		buck2__command_execution__init(&all->executions[i]);
		all->details[i].command_kind = &all->kinds[i];
		all->details[i].metadata = &all->metadata[i];
		all->executions[i].details = &all->details[i];
		all->commands[i] = &all->executions[i];
	}
	init_remote_attempt(all);
	init_local_attempt(all);
}

static void init_failed_end(Buck2__ActionExecutionEnd *end)
{
	end->has_failed = end->has_unknown = end->has_execution_kind = 1;
	end->failed = 1;
	end->unknown = bin("why");
	end->execution_kind = 1;
	end->wall_time = &a_duration;
	end->has_output_size = end->has_input_files_bytes = 1;
	end->output_size = 10;
	end->input_files_bytes = UINT64_MAX / 2 + 1; /* does not fit: unknown */
	end->has_cache_upload_result = end->has_dep_file_cache_upload_result = 1;
	end->cache_upload_result = 1;
	end->dep_file_cache_upload_result = 0;
	end->has_hostname = end->has_dep_file_key = 1;
	end->hostname = bin("h");
	end->dep_file_key = bin("d");
	end->has_target_rule_type_name = end->has_scheduling_mode = 1;
	end->target_rule_type_name = bin("r");
	end->scheduling_mode = 13;
}

static const char fallback_json[] =
	JSON_END("\"ActionExecution\":{" JSON_KEY "," JSON_NAME ",\"failed\":true,"
		 "\"error\":{\"Unknown\":\"why\"},\"execution_kind\":1,"
		 "\"wall_time_us\":1000999,\"output_size\":10,"
		 "\"input_files_bytes\":9223372036854775808,\"cache_upload_result\":1,"
		 "\"dep_file_cache_upload_result\":0,\"hostname\":\"h\","
		 "\"dep_file_key\":\"d\",\"target_rule_type_name\":\"r\","
		 "\"scheduling_mode\":13,\"commands\":["
		 "{\"details\":{\"signed_exit_code\":null,\"stdout\":\"\",\"stderr\":\"\","
		 "\"command_kind\":{\"command\":{\"RemoteCommand\":{"
		 "\"action_digest\":\"" HASH ":141\",\"cache_hit\":false,"
		 "\"queue_time_us\":1000999,\"cache_hit_type\":2,\"details\":{"
		 "\"session_id\":null,\"use_case\":\"u\",\"platform\":{\"properties\":["
		 "{\"name\":\"OSFamily\",\"value\":\"linux\"}]},"
		 "\"persistent_worker\":true}}}},\"metadata\":{\"wall_time_us\":1000999,"
		 "\"execution_time_us\":1000999,\"start_time\":[0,0],"
		 "\"input_materialization_duration_us\":1000999,"
		 "\"execution_stats\":{\"memory_peak\":0},"
		 "\"queue_duration_us\":1000999,\"suspend_duration\":null},"
		 "\"additional_message\":\"see there\"},"
		 "\"status\":{\"Error\":{\"stage\":\"remote_call_error\",\"error\":\"gone\"}}},"
		 "{\"details\":{\"signed_exit_code\":-1,\"stderr\":\"err\\n\","
		 "\"command_kind\":{\"command\":{\"OmittedLocalCommand\":{"
		 "\"action_digest\":\"not a digest\"}}},\"metadata\":{"
		 "\"start_time\":[1796003972,211896568]}},\"status\":{\"Failure\":{}}}]}");

static void test_action_end(void **state)
{
	struct parts parts;
	struct fallback all;

	(void)state;
	init_parts(&parts);
	init_fallback(&all);
	init_failed_end(&parts.end);
	parts.end.n_commands = 2;
	parts.end.commands = all.commands;
	expect_end(&parts.wrapped, fallback_json,
		   HEAD("8") " duration_us=1000999\n action type=1 failed=1" NAME
			     " execution_kind=1 error=\"why\" wall_us=1000999"
			     " duration_us=1000999 output_bytes=10 upload=1 scheduling_mode=13"
			     " rule_type=\"r\" host=\"h\" dep_file_key=\"d\""
			     "\n  attempt kind=2 status=5 hit=0 worker=1 digest=" HASH ":141"
			     " hit_type=2 queue_us=1000999 wall_us=1000999 execution_us=1000999"
			     " input_us=1000999 server_queue_us=1000999 use_case=\"u\""
			     " property=\"OSFamily\" is=\"linux\" stage=\"remote_call_error\""
			     " error=\"gone\" message=\"see there\""
			     "\n  attempt kind=3 status=3 hit=0 worker=0 exit=-1"
			     " start_ns=1796003972211896568 stderr=\"err\n\"\n");
}

/* What proto3 leaves out is 0, "" or false, as JSON writes it. */
static void test_a_bare_action_end(void **state)
{
	struct parts parts;

	(void)state;
	init_parts(&parts);
	parts.end.has_kind = 0;
	parts.end.key = NULL;
	expect_end(&parts.wrapped,
		   JSON_END("\"ActionExecution\":{\"key\":null,\"kind\":\"NotSet\",\"name\":"
			    "{\"category\":\"c\",\"identifier\":\"\"},\"failed\":false,"
			    "\"error\":null,\"execution_kind\":0,\"wall_time_us\":null,"
			    "\"output_size\":0,\"commands\":[],\"cache_upload_result\":0}"),
		   HEAD("8") " duration_us=1000999\n action type=1 failed=0 category=\"c\""
			     " identifier=\"\" kind=0 execution_kind=0 duration_us=1000999"
			     " output_bytes=0\n");
}

static void test_missing_outputs(void **state)
{
	struct parts parts;
	Buck2__CommandOutputsMissing missing = BUCK2__COMMAND_OUTPUTS_MISSING__INIT;
	char *text;
	struct buf packed = BUF_INIT;

	(void)state;
	init_parts(&parts);
	missing.has_message = 1;
	missing.message = bin("no such output");
	parts.end.missing_outputs = &missing;
	parts.wrapped.event.span_end = &parts.wrapped.end;
	bytes_message(&packed, &parts.wrapped.progress.base);
	text = decode_text(DECODE_PROTOBUF, packed.data, packed.len);
	assert_non_null(strstr(text, " error=\"no such output\""));
	free(text);
	buf_release(&packed);
}

/* Until 2023-09-29 the oneof stood in details, the exit code was unsigned (2023-06). */
static void test_older_shapes(void **state)
{
	struct parts parts;
	Buck2__RemoteCommand remote = BUCK2__REMOTE_COMMAND__INIT;
	Buck2__CommandExecutionDetails details = BUCK2__COMMAND_EXECUTION_DETAILS__INIT;
	Buck2__Empty empty = BUCK2__EMPTY__INIT;
	Buck2__CommandExecution execution = BUCK2__COMMAND_EXECUTION__INIT;
	Buck2__CommandExecution *commands[] = {&execution};

	(void)state;
	init_parts(&parts);
	remote.has_action_digest = remote.has_cache_hit = 1;
	remote.action_digest = bin(HASH ":1");
	remote.cache_hit = 1;
	details.remote_command = &remote;
	details.has_exit_code = 1;
	details.exit_code = 137;
	execution.details = &details;
	execution.success = &empty;
	parts.end.n_commands = 1;
	parts.end.commands = commands;
	parts.end.has_cache_upload_result = 1;
	parts.end.cache_upload_result = 1; /* did_cache_upload: true */
	expect_end(&parts.wrapped,
		   JSON_END("\"ActionExecution\":{" JSON_KEY "," JSON_NAME
			    ",\"did_cache_upload\":true,\"did_dep_file_cache_upload\":false,"
			    "\"commands\":[{\"details\":{\"exit_code\":137,"
			    "\"command\":{\"RemoteCommand\":{\"action_digest\":\"" HASH ":1\","
			    "\"cache_hit\":true}}},\"status\":{\"Success\":{}}}],"
			    "\"execution_kind\":0,\"output_size\":0}"),
		   HEAD("8") " duration_us=1000999\n action type=1 failed=0" NAME
			     " execution_kind=0 duration_us=1000999 output_bytes=0 upload=1"
			     "\n  attempt kind=2 status=2 hit=1 worker=0 digest=" HASH
			     ":1 hit_type=0 exit=137\n");
}

static void test_owners(void **state)
{
	struct parts parts;
	Buck2__BxlFunctionLabel function = BUCK2__BXL_FUNCTION_LABEL__INIT;
	Buck2__BxlFunctionKey bxl = BUCK2__BXL_FUNCTION_KEY__INIT;
	Buck2__AnonTarget anon = BUCK2__ANON_TARGET__INIT;

	(void)state;
	init_parts(&parts);
	parts.start.name = NULL;
	function.has_bxl_path = function.has_name = 1;
	function.bxl_path = bin("root//tools/x.bxl");
	function.name = bin("main");
	bxl.label = &function;
	parts.key.target_label = NULL;
	parts.key.bxl_key = &bxl;
#define JSON_OWNER(owner) \
	JSON_START("\"ActionExecution\":{\"key\":{\"owner\":{" owner "}},\"kind\":\"Run\"}")
	expect_start(&parts.wrapped,
		     JSON_OWNER("\"BxlKey\":{\"label\":{\"bxl_path\":\"root//tools/x.bxl\","
				"\"name\":\"main\"}}"),
		     HEAD("6") "\n action type=1 failed=0 package=\"root//tools/x.bxl\""
			       " target=\"main\" kind=3\n");
	anon.name = &parts.label;
	anon.execution_configuration = &parts.configuration;
	parts.key.bxl_key = NULL;
	parts.key.anon_target = &anon;
	expect_start(&parts.wrapped,
		     JSON_OWNER("\"AnonTarget\":{\"name\":{\"package\":\"root//a\",\"name\":\"b\"},"
				"\"execution_configuration\":{\"full_name\":\"cfg#1\"},"
				"\"hash\":\"f00\"}"),
		     HEAD("6") "\n action type=1 failed=0" LABEL
			       " configuration=\"cfg#1\" kind=3\n");
	parts.key.anon_target = NULL;
	parts.key.test_target_label = &parts.owner;
	expect_start(&parts.wrapped, JSON_OWNER("\"TestTargetLabel\":" JSON_LABEL),
		     HEAD("6") "\n action type=1 failed=0" LABEL
			       " configuration=\"cfg#1\" kind=3\n");
	parts.key.test_target_label = NULL;
	parts.key.local_resource_setup = &parts.owner;
	expect_start(&parts.wrapped, JSON_OWNER("\"LocalResourceSetup\":" JSON_LABEL),
		     HEAD("6") "\n action type=1 failed=0" LABEL
			       " configuration=\"cfg#1\" kind=3\n");
}

/* ---- stages, cancelled spans ---- */

static void test_stages(void **state)
{
	struct wrapped wrapped;
	Buck2__StageDigest digest = BUCK2__STAGE_DIGEST__INIT;
	Buck2__ReStage re = BUCK2__RE_STAGE__INIT;
	Buck2__CacheQuery query = BUCK2__CACHE_QUERY__INIT;
	Buck2__ExecutorStageStart stage = BUCK2__EXECUTOR_STAGE_START__INIT;

	(void)state;
	wrap(&wrapped);
	wrapped.start.executor_stage = &stage;
	digest.has_action_digest = query.has_action_digest = 1;
	digest.action_digest = query.action_digest = bin(HASH ":5");
	stage.re = &re;
	re.queue = &digest;
	expect_start(&wrapped,
		     JSON_STAGE("\"Re\":{\"stage\":{\"Queue\":{\"action_digest\":\"" HASH
				":5\",\"use_case\":\"u\"}}}"),
		     HEAD("7") " stage=\"queue\" digest=" HASH ":5\n");
	stage.re = NULL;
	stage.cache_query = &query;
	expect_start(&wrapped, JSON_STAGE("\"CacheQuery\":{\"action_digest\":\"" HASH ":5\"}"),
		     HEAD("7") " stage=\"cache_query\" digest=" HASH ":5\n");
	query.action_digest = bin("");
	expect_start(&wrapped, JSON_STAGE("\"CacheQuery\":{\"action_digest\":\"\"}"), "none");
	stage.cache_query = NULL;
	expect_start(&wrapped, JSON_STAGE("\"Local\":{\"stage\":{\"Execute\":{\"command\":{}}}}"),
		     "none");
}

static void test_cancelled_span(void **state)
{
	struct wrapped wrapped;
	Buck2__Empty empty = BUCK2__EMPTY__INIT;

	(void)state;
	wrap(&wrapped);
	wrapped.end.span_cancelled = &empty;
	expect_end(&wrapped, JSON_END("\"SpanCancelled\":{}"), HEAD("9") " duration_us=1000999\n");
}

/* ---- tests ---- */

static void test_test_runs(void **state)
{
	struct parts parts;
	Buck2__TestSuite suite = BUCK2__TEST_SUITE__INIT;
	Buck2__TestRunStart start = BUCK2__TEST_RUN_START__INIT;
	Buck2__TestRunEnd end = BUCK2__TEST_RUN_END__INIT;
	Buck2__TestDiscoveryStart list = BUCK2__TEST_DISCOVERY_START__INIT;
	Buck2__TestDiscoveryEnd listed = BUCK2__TEST_DISCOVERY_END__INIT;
	Buck2__CommandExecution report = BUCK2__COMMAND_EXECUTION__INIT;
	Buck2__Empty empty = BUCK2__EMPTY__INIT;

	(void)state;
	init_parts(&parts);
	parts.wrapped.start.action_execution = NULL;
	parts.wrapped.end.action_execution = NULL;
	suite.has_suite_name = list.has_suite_name = listed.has_suite_name = 1;
	suite.suite_name = list.suite_name = listed.suite_name = bin("s");
	suite.target_label = list.target_label = listed.target_label = &parts.owner;
	start.suite = end.suite = &suite;
	end.command_report = listed.command_report = &report;
	report.failure = &empty;
#define JSON_SUITE "{\"suite_name\":\"s\",\"test_names\":[],\"target_label\":" JSON_LABEL "}"
#define SUITE LABEL " configuration=\"cfg#1\""
	parts.wrapped.start.test_run = &start;
	expect_start(&parts.wrapped, JSON_START("\"TestRun\":{\"suite\":" JSON_SUITE "}"),
		     HEAD("6") "\n action type=2 failed=0" SUITE " suite=\"s\"\n");
	expect_text(DECODE_JSON, JSON_START("\"TestStart\":{\"suite\":" JSON_SUITE "}"),
		    strlen(JSON_START("\"TestStart\":{\"suite\":" JSON_SUITE "}")),
		    HEAD("6") "\n action type=2 failed=0" SUITE " suite=\"s\"\n");
	parts.wrapped.end.test_run = &end;
	expect_end(&parts.wrapped,
		   JSON_END("\"TestRun\":{\"suite\":" JSON_SUITE
			    ",\"command_report\":{\"details\":null,\"status\":{\"Failure\":{}}}}"),
		   HEAD("8") " duration_us=1000999\n action type=2 failed=1" SUITE
			     " duration_us=1000999 suite=\"s\""
			     "\n  attempt kind=0 status=3 hit=0 worker=0\n");
	parts.wrapped.event.span_end = NULL;
	parts.wrapped.start.test_run = NULL;
	parts.wrapped.start.test_discovery = &list;
	expect_start(
		&parts.wrapped,
		JSON_START("\"TestDiscovery\":{\"suite_name\":\"s\",\"target_label\":" JSON_LABEL
			   "}"),
		HEAD("6") "\n action type=3 failed=0" SUITE " suite=\"s\"\n");
	parts.wrapped.event.span_start = NULL;
	parts.wrapped.end.test_run = NULL;
	parts.wrapped.end.test_discovery = &listed;
	report.failure = NULL;
	report.success = &empty;
	expect_end(&parts.wrapped,
		   JSON_END("\"TestDiscovery\":{\"suite_name\":\"s\",\"command_report\":"
			    "{\"status\":{\"Success\":{}}},\"target_label\":" JSON_LABEL "}"),
		   HEAD("8") " duration_us=1000999\n action type=3 failed=0" SUITE
			     " duration_us=1000999 suite=\"s\""
			     "\n  attempt kind=0 status=2 hit=0 worker=0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_action_start),
		cmocka_unit_test(test_action_end),
		cmocka_unit_test(test_a_bare_action_end),
		cmocka_unit_test(test_missing_outputs),
		cmocka_unit_test(test_older_shapes),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_cancelled_span),
		cmocka_unit_test(test_test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
