/*
 * One record -> one event: both formats alike, today's shapes and older ones,
 * and nothing that a future or a hostile writer sends does harm.
 */
#include "buck2.pb-c.h"
#include "decode.h"
#include "event_text.h"
#include "log_bytes.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HASH "ab34567890ab34567890ab34567890ab34567890ab34567890ab34567890ab34"
#define TRACE "83f0a2c4-0000-4000-8000-123456789abc"

static ProtobufCBinaryData bin(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

#define TEXT(member, text) .has_##member = 1, .member = bin(text)
#define NUMBER(member, number) .has_##member = 1, .member = number

/* ---- running the decoder ---- */

/* The text of the event; "none" or the error's text where there is none. Caller frees. */
static char *decode(enum decode_format format, const void *data, size_t len)
{
	struct decoder *decoder = decoder_new(format);
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;
	int rc;

	rc = decode_record(decoder, data, len, &event, &err);
	/* the first step never drops what the second step would give */
	if (decode_wants(decoder, data, len, len) == DECODE_SKIP)
		assert_true(rc <= 0);
	if (rc > 0)
		event_text(&text, event);
	else
		buf_addstr(&text, rc < 0 ? err.text : "none");
	decoder_free(decoder);
	return buf_detach(&text);
}

static void expect(enum decode_format format, const void *data, size_t len, const char *want)
{
	char *text = decode(format, data, len);

	assert_string_equal(text, want);
	free(text);
}

/* Both formats give this text. */
static void expect_both(const ProtobufCMessage *message, const char *json, const char *want)
{
	struct buf packed = BUF_INIT;

	bytes_message(&packed, message);
	expect(DECODE_PROTOBUF, packed.data, packed.len, want);
	expect(DECODE_JSON, json, strlen(json), want);
	buf_release(&packed);
}

/* ---- events, wrapped as in a log ---- */

static Buck2__Timestamp a_time = {
	.base = PROTOBUF_C_MESSAGE_INIT(&buck2__timestamp__descriptor),
	NUMBER(seconds, 1796003972),
	NUMBER(nanos, 211896568),
};
static Buck2__Duration a_duration = {
	.base = PROTOBUF_C_MESSAGE_INIT(&buck2__duration__descriptor),
	NUMBER(seconds, 1),
	NUMBER(nanos, 999999),
};

struct wrapped {
	Buck2__CommandProgress progress;
	Buck2__BuckEvent event;
	Buck2__SpanStartEvent start;
	Buck2__SpanEndEvent end;
	Buck2__InstantEvent instant;
};

static void wrap(struct wrapped *wrapped)
{
	buck2__command_progress__init(&wrapped->progress);
	buck2__buck_event__init(&wrapped->event);
	buck2__span_start_event__init(&wrapped->start);
	buck2__span_end_event__init(&wrapped->end);
	buck2__instant_event__init(&wrapped->instant);
	wrapped->progress.event = &wrapped->event;
	wrapped->event.timestamp = &a_time;
	wrapped->event.has_trace_id = 1;
	wrapped->event.trace_id = bin(TRACE);
	wrapped->event.has_span_id = wrapped->event.has_parent_id = 1;
	wrapped->event.span_id = 7;
	wrapped->event.parent_id = 3;
	wrapped->end.duration = &a_duration;
}

#define JSON_EVENT(data)                                                         \
	"{\"Event\":{\"timestamp\":[1796003972,211896568],\"trace_id\":\"" TRACE \
	"\",\"span_id\":7,\"parent_id\":3,\"data\":{" data "}}}"
#define JSON_START(data) JSON_EVENT("\"SpanStart\":{\"data\":{" data "}}")
#define JSON_END(data)                                                                \
	JSON_EVENT("\"SpanEnd\":{\"stats\":{\"max_poll_time_us\":1},\"duration_us\":" \
		   "1000999,\"data\":{" data "}}")
#define JSON_INSTANT(data) JSON_EVENT("\"Instant\":{\"data\":{" data "}}")
#define HEAD(kind) kind " seq=0 span=7 parent=3 time_ns=1796003972211896568 trace=\"" TRACE "\""

static void expect_start(struct wrapped *wrapped, const char *json, const char *want)
{
	wrapped->event.span_start = &wrapped->start;
	expect_both(&wrapped->progress.base, json, want);
}

static void expect_end(struct wrapped *wrapped, const char *json, const char *want)
{
	wrapped->event.span_end = &wrapped->end;
	expect_both(&wrapped->progress.base, json, want);
}

/* ---- the command ---- */

static void test_invocation(void **state)
{
	ProtobufCBinaryData argv[] = {bin("buck2"), bin("build"), bin("")};
	Buck2__Invocation message = {
		.base = PROTOBUF_C_MESSAGE_INIT(&buck2__invocation__descriptor),
		.n_command_line_args = 3,
		.command_line_args = argv,
		TEXT(working_dir, "/home/br2"),
		TEXT(trace_id, TRACE),
		.start_time = &a_time,
	};

	(void)state;
	expect_both(&message.base,
		    "{\"command_line_args\":[\"buck2\",\"build\",\"\"],"
		    "\"expanded_command_line_args\":[\"buck2\"],\"working_dir\":\"/home/br2\","
		    "\"trace_id\":\"" TRACE "\",\"start_time\":[1796003972,211896568]}",
		    "1 seq=0 span=0 parent=0 time_ns=1796003972211896568 trace=\"" TRACE
		    "\" trace_id=\"" TRACE "\" working_dir=\"/home/br2\" arg=\"buck2\" "
		    "arg=\"build\" arg=\"\" start_ns=1796003972211896568\n");
	message.start_time = NULL; /* before 2025-09-24 */
	message.n_command_line_args = 0;
	message.has_working_dir = 0;
	expect_both(&message.base, "{\"trace_id\":\"" TRACE "\"}",
		    "1 seq=0 span=0 parent=0 trace=\"" TRACE "\" trace_id=\"" TRACE "\"\n");
}

/* An argument that parses as a message must not make an event of the header. */
static void test_invocation_with_an_odd_argument(void **state)
{
	ProtobufCBinaryData argv[] = {bin("\x0a\x00"), bin("x")};
	Buck2__Invocation message = {
		.base = PROTOBUF_C_MESSAGE_INIT(&buck2__invocation__descriptor),
		.n_command_line_args = 2,
		.command_line_args = argv,
	};
	struct buf packed = BUF_INIT;
	char *text;

	(void)state;
	bytes_message(&packed, &message.base);
	text = decode(DECODE_PROTOBUF, packed.data, packed.len);
	assert_int_equal(text[0], '1');
	free(text);
	buf_release(&packed);
}

static void test_command_start_and_end(void **state)
{
	struct wrapped wrapped;
	Buck2__Empty empty = BUCK2__EMPTY__INIT;
	Buck2__CommandStart__Metadata entries[] = {
		{.base = PROTOBUF_C_MESSAGE_INIT(&buck2__command_start__metadata__descriptor),
		 TEXT(key, "hostname"),
		 TEXT(value, "vm")},
		{.base = PROTOBUF_C_MESSAGE_INIT(&buck2__command_start__metadata__descriptor),
		 TEXT(key, "my_own"),
		 TEXT(value, "x")},
		{.base = PROTOBUF_C_MESSAGE_INIT(&buck2__command_start__metadata__descriptor),
		 TEXT(key, "username"),
		 TEXT(value, "me")},
	};
	Buck2__CommandStart__Metadata *metadata[] = {&entries[0], &entries[1], &entries[2]};
	Buck2__CommandStart start = BUCK2__COMMAND_START__INIT;

	(void)state;
	start.n_metadata = 3;
	start.metadata = metadata;
	start.test = &empty;
	wrap(&wrapped);
	wrapped.start.command = &start;
	expect_start(&wrapped,
		     JSON_START("\"Command\":{\"metadata\":{\"hostname\":\"vm\",\"my_own\":\"x\","
				"\"username\":\"me\"},\"cli_args\":[],\"data\":{\"Test\":{}}}"),
		     HEAD("2") " command=\"test\" host=\"vm\" user=\"me\"\n");
	wrap(&wrapped);
	wrapped.end.command = &empty;
	expect_end(&wrapped, JSON_END("\"Command\":{\"is_success\":false,\"data\":{\"Test\":{}}}"),
		   HEAD("3") " duration_us=1000999\n");
}

static void test_config(void **state)
{
	struct wrapped wrapped;
	Buck2__ConfigValue one = BUCK2__CONFIG_VALUE__INIT, two = BUCK2__CONFIG_VALUE__INIT;
	Buck2__ConfigValue *values[] = {&two};
	Buck2__GlobalExternalConfig external = BUCK2__GLOBAL_EXTERNAL_CONFIG__INIT;
	Buck2__ConfigFile file = BUCK2__CONFIG_FILE__INIT;
	Buck2__BuckconfigComponent parts[] = {BUCK2__BUCKCONFIG_COMPONENT__INIT,
					      BUCK2__BUCKCONFIG_COMPONENT__INIT,
					      BUCK2__BUCKCONFIG_COMPONENT__INIT};
	Buck2__BuckconfigComponent *components[] = {&parts[0], &parts[1], &parts[2]};
	Buck2__BuckconfigInputValues config = BUCK2__BUCKCONFIG_INPUT_VALUES__INIT;

	(void)state;
	one.section = two.section = bin("s");
	one.key = two.key = bin("k");
	one.has_section = one.has_key = one.has_value = one.has_is_cli = 1;
	two.has_section = two.has_key = two.has_cell = 1;
	one.value = bin("v");
	one.is_cli = 1;
	two.cell = bin("root");
	external.n_values = 1;
	external.values = values;
	file.global_external_config = &external;
	parts[0].config_value = &one;
	parts[1].config_file = &file;
	parts[2].global_external_config_file = &external;
	config.n_components = 3;
	config.components = components;
	wrap(&wrapped);
	wrapped.instant.buckconfig_input_values = &config;
	wrapped.event.instant = &wrapped.instant;
#define TWO "{\"section\":\"s\",\"key\":\"k\",\"value\":\"\",\"cell\":\"root\",\"is_cli\":false}"
	expect_both(
		&wrapped.progress.base,
		JSON_INSTANT("\"BuckconfigInputValues\":{\"components\":["
			     "{\"data\":{\"ConfigValue\":{\"section\":\"s\",\"key\":\"k\","
			     "\"value\":\"v\",\"cell\":null,\"is_cli\":true}}},"
			     "{\"data\":{\"ConfigFile\":{\"data\":{\"GlobalExternalConfig\":"
			     "{\"values\":[" TWO "],\"origin_path\":\"/etc/x\"}}}}},"
			     "{\"data\":{\"GlobalExternalConfigFile\":{\"values\":[" TWO "]}}}]}"),
		HEAD("4") "\n  config cli=1 section=\"s\" key=\"k\" value=\"v\""
			  "\n  config cli=0 cell=\"root\" section=\"s\" key=\"k\" value=\"\""
			  "\n  config cli=0 cell=\"root\" section=\"s\" key=\"k\" value=\"\"\n");
}

static void test_revision(void **state)
{
	struct wrapped wrapped;
	Buck2__VersionControlRevision revision = BUCK2__VERSION_CONTROL_REVISION__INIT;

	(void)state;
	wrap(&wrapped);
	wrapped.event.instant = &wrapped.instant;
	wrapped.instant.version_control_revision = &revision;
	expect_both(&wrapped.progress.base,
		    JSON_INSTANT("\"VersionControlRevision\":{\"hg_revision\":null,"
				 "\"command_error\":\"no hg\"}"),
		    "none");
	revision.has_git_revision = 1;
	revision.git_revision = bin("c0ffee");
	expect_both(&wrapped.progress.base,
		    JSON_INSTANT("\"VersionControlRevision\":{\"git_revision\":\"c0ffee\"}"),
		    HEAD("5") " revision=\"c0ffee\"\n");
}

/* ---- the command's result ---- */

#define RESULT "10 seq=0 span=0 parent=0"
#define JSON_RESULT(data) "{\"Result\":{\"result\":{" data "}}}"

static void expect_result(Buck2__CommandResult *result, const char *json, const char *want)
{
	Buck2__CommandProgress progress = BUCK2__COMMAND_PROGRESS__INIT;

	progress.result = result;
	expect_both(&progress.base, json, want);
}

static void test_results(void **state)
{
	Buck2__CommandResult result = BUCK2__COMMAND_RESULT__INIT;
	Buck2__Response response = BUCK2__RESPONSE__INIT;
	Buck2__TestResponse tests = BUCK2__TEST_RESPONSE__INIT;
	Buck2__ErrorReport one = BUCK2__ERROR_REPORT__INIT, two = BUCK2__ERROR_REPORT__INIT;
	Buck2__ErrorReport *errors[] = {&one, &two};

	(void)state;
	one.has_message = two.has_message = 1;
	one.message = bin("it broke");
	two.message = bin("so did this");

	result.error = &one;
	expect_result(&result, JSON_RESULT("\"error\":{\"message\":\"it broke\"}"),
		      RESULT " succeeded=0 errors=1 error=\"it broke\"\n");
	result.error = NULL;
	result.build_response = &response;
	expect_result(&result, JSON_RESULT("\"build_response\":{\"errors\":[]}"),
		      RESULT " succeeded=1 errors=0\n");
	response.n_errors = 2;
	response.errors = errors;
	expect_result(&result,
		      JSON_RESULT("\"build_response\":{\"errors\":[{\"message\":\"it broke\"},"
				  "{\"message\":\"so did this\"}]}"),
		      RESULT " succeeded=0 errors=2 error=\"it broke\"\n");
	result.build_response = NULL;
	result.test_response = &tests;
	expect_result(&result,
		      JSON_RESULT("\"test_response\":{\"executor_exit_code\":0,\"errors\":[]}"),
		      RESULT " succeeded=1 exit=0 errors=0\n");
	tests.has_executor_exit_code = 1;
	tests.executor_exit_code = 32;
	expect_result(&result,
		      JSON_RESULT("\"test_response\":{\"executor_exit_code\":32,\"errors\":[]}"),
		      RESULT " succeeded=0 exit=32 errors=0\n");
}

/* An answer that this version does not know may hold errors that it does not see. */
static void test_an_unknown_result(void **state)
{
	(void)state;
	/* result=2 {200: {}} */
	expect(DECODE_PROTOBUF, "\x12\x03\xc2\x0c\x00", 5, RESULT " errors=0\n");
	expect(DECODE_JSON, JSON_RESULT("\"new_response\":{}"),
	       strlen(JSON_RESULT("\"new_response\":{}")), RESULT " errors=0\n");
}

/* ---- actions ---- */

struct parts {
	struct wrapped wrapped;
	Buck2__TargetLabel label;
	Buck2__TargetConfiguration configuration;
	Buck2__ConfiguredTargetLabel owner;
	Buck2__ActionKey key;
	Buck2__ActionName name;
	Buck2__ActionExecutionStart start;
	Buck2__ActionExecutionEnd end;
};

static void init_parts(struct parts *parts)
{
	wrap(&parts->wrapped);
	buck2__target_label__init(&parts->label);
	buck2__target_configuration__init(&parts->configuration);
	buck2__configured_target_label__init(&parts->owner);
	buck2__action_key__init(&parts->key);
	buck2__action_name__init(&parts->name);
	buck2__action_execution_start__init(&parts->start);
	buck2__action_execution_end__init(&parts->end);
	parts->label.has_package = parts->label.has_name = 1;
	parts->label.package = bin("root//a");
	parts->label.name = bin("b");
	parts->configuration.has_full_name = 1;
	parts->configuration.full_name = bin("cfg#1");
	parts->owner.label = &parts->label;
	parts->owner.configuration = &parts->configuration;
	parts->key.target_label = &parts->owner;
	parts->name.has_category = 1;
	parts->name.category = bin("c"); /* the identifier stays empty */
	parts->start.key = parts->end.key = &parts->key;
	parts->start.name = parts->end.name = &parts->name;
	parts->start.has_kind = parts->end.has_kind = 1;
	parts->start.kind = parts->end.kind = 3;
	parts->wrapped.start.action_execution = &parts->start;
	parts->wrapped.end.action_execution = &parts->end;
}

#define JSON_LABEL                                             \
	"{\"label\":{\"package\":\"root//a\",\"name\":\"b\"}," \
	"\"configuration\":{\"full_name\":\"cfg#1\"},\"execution_configuration\":null}"
#define JSON_KEY \
	"\"key\":{\"id\":\"0102\",\"key\":\"_1\",\"owner\":{\"TargetLabel\":" JSON_LABEL "}}"
#define JSON_NAME "\"kind\":\"Run\",\"name\":{\"category\":\"c\",\"identifier\":\"\"}"
#define LABEL " package=\"root//a\" target=\"b\""
#define NAME LABEL " category=\"c\" identifier=\"\" configuration=\"cfg#1\" kind=3"

static void test_action_start(void **state)
{
	struct parts parts;

	(void)state;
	init_parts(&parts);
	expect_start(&parts.wrapped, JSON_START("\"ActionExecution\":{" JSON_KEY "," JSON_NAME "}"),
		     HEAD("6") "\n action type=1 failed=0" NAME "\n");
}

static void test_action_end(void **state)
{
	struct parts parts;
	Buck2__Timestamp zero = BUCK2__TIMESTAMP__INIT;
	Buck2__CommandExecutionStats stats = BUCK2__COMMAND_EXECUTION_STATS__INIT;
	Buck2__CommandExecutionMetadata metadata[] = {BUCK2__COMMAND_EXECUTION_METADATA__INIT,
						      BUCK2__COMMAND_EXECUTION_METADATA__INIT};
	Buck2__RePlatform__Property property = BUCK2__RE_PLATFORM__PROPERTY__INIT;
	Buck2__RePlatform__Property *properties[] = {&property};
	Buck2__RePlatform platform = BUCK2__RE_PLATFORM__INIT;
	Buck2__RemoteCommandDetails remote_details = BUCK2__REMOTE_COMMAND_DETAILS__INIT;
	Buck2__RemoteCommand remote = BUCK2__REMOTE_COMMAND__INIT;
	Buck2__OmittedLocalCommand local = BUCK2__OMITTED_LOCAL_COMMAND__INIT;
	Buck2__CommandExecutionKind kinds[] = {BUCK2__COMMAND_EXECUTION_KIND__INIT,
					       BUCK2__COMMAND_EXECUTION_KIND__INIT};
	Buck2__CommandExecutionDetails details[] = {BUCK2__COMMAND_EXECUTION_DETAILS__INIT,
						    BUCK2__COMMAND_EXECUTION_DETAILS__INIT};
	Buck2__CommandExecution__Error error = BUCK2__COMMAND_EXECUTION__ERROR__INIT;
	Buck2__Empty empty = BUCK2__EMPTY__INIT;
	Buck2__CommandExecution executions[] = {BUCK2__COMMAND_EXECUTION__INIT,
						BUCK2__COMMAND_EXECUTION__INIT};
	Buck2__CommandExecution *commands[] = {&executions[0], &executions[1]};

	(void)state;
	init_parts(&parts);
	/* a remote attempt that met an error, with zeroes where nothing is known */
	property.has_name = property.has_value = 1;
	property.name = bin("OSFamily");
	property.value = bin("linux");
	platform.n_properties = 1;
	platform.properties = properties;
	remote_details.platform = &platform;
	remote_details.has_use_case = remote_details.has_persistent_worker = 1;
	remote_details.use_case = bin("u");
	remote_details.persistent_worker = 1;
	remote.has_action_digest = remote.has_cache_hit_type = 1;
	remote.action_digest = bin(HASH ":141");
	remote.cache_hit_type = 2;
	remote.queue_time = &a_duration;
	remote.details = &remote_details;
	kinds[0].remote_command = &remote;
	metadata[0].start_time = &zero;
	metadata[0].execution_stats = &stats;
	metadata[0].wall_time = metadata[0].execution_time = &a_duration;
	metadata[0].input_materialization_duration = metadata[0].queue_duration = &a_duration;
	details[0].command_kind = &kinds[0];
	details[0].metadata = &metadata[0];
	details[0].has_additional_message = 1;
	details[0].additional_message = bin("see there");
	error.has_stage = error.has_error = 1;
	error.stage = bin("remote_call_error");
	error.error = bin("gone");
	executions[0].details = &details[0];
	executions[0].error = &error;
	/* then a local one that was killed */
	local.has_action_digest = 1;
	local.action_digest = bin("not a digest");
	kinds[1].omitted_local_command = &local;
	stats.has_memory_peak = 1;
	stats.memory_peak = 0;
	metadata[1].start_time = &a_time;
	details[1].command_kind = &kinds[1];
	details[1].metadata = &metadata[1];
	details[1].has_signed_exit_code = details[1].has_cmd_stderr = 1;
	details[1].signed_exit_code = -1;
	details[1].cmd_stderr = bin("err\n");
	executions[1].details = &details[1];
	executions[1].failure = &empty;

	parts.end.n_commands = 2;
	parts.end.commands = commands;
	parts.end.has_failed = parts.end.has_unknown = parts.end.has_execution_kind = 1;
	parts.end.failed = 1;
	parts.end.unknown = bin("why");
	parts.end.execution_kind = 1;
	parts.end.wall_time = &a_duration;
	parts.end.has_output_size = parts.end.has_input_files_bytes = 1;
	parts.end.output_size = 10;
	parts.end.input_files_bytes = UINT64_MAX / 2 + 1; /* does not fit: unknown */
	parts.end.has_cache_upload_result = parts.end.has_dep_file_cache_upload_result = 1;
	parts.end.cache_upload_result = 1;
	parts.end.dep_file_cache_upload_result = 0;
	parts.end.has_hostname = parts.end.has_dep_file_key = 1;
	parts.end.hostname = bin("h");
	parts.end.dep_file_key = bin("d");
	parts.end.has_target_rule_type_name = parts.end.has_scheduling_mode = 1;
	parts.end.target_rule_type_name = bin("r");
	parts.end.scheduling_mode = 13;
	expect_end(
		&parts.wrapped,
		JSON_END("\"ActionExecution\":{" JSON_KEY "," JSON_NAME ",\"failed\":true,"
			 "\"error\":{\"Unknown\":\"why\"},\"execution_kind\":1,"
			 "\"wall_time_us\":1000999,\"output_size\":10,"
			 "\"input_files_bytes\":null,\"cache_upload_result\":1,"
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
			 "\"execution_stats\":{\"memory_peak\":null},"
			 "\"queue_duration_us\":1000999,\"suspend_duration\":null},"
			 "\"additional_message\":\"see there\"},"
			 "\"status\":{\"Error\":{\"stage\":\"remote_call_error\","
			 "\"error\":\"gone\"}}},"
			 "{\"details\":{\"signed_exit_code\":-1,\"stderr\":\"err\\n\","
			 "\"command_kind\":{\"command\":{\"OmittedLocalCommand\":{"
			 "\"action_digest\":\"not a digest\"}}},\"metadata\":{"
			 "\"start_time\":[1796003972,211896568]}},\"status\":{\"Failure\":{}}}]}"),
		HEAD("8") " duration_us=1000999\n action type=1 failed=1" NAME
			  " execution_kind=1 error=\"why\" wall_us=1000999 duration_us=1000999"
			  " output_bytes=10 upload=1 scheduling_mode=13 rule_type=\"r\""
			  " host=\"h\" dep_file_key=\"d\""
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
	text = decode(DECODE_PROTOBUF, packed.data, packed.len);
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
#define JSON_STAGE(stage) JSON_START("\"ExecutorStage\":{\"stage\":{" stage "}}")
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
	expect(DECODE_JSON, JSON_START("\"TestStart\":{\"suite\":" JSON_SUITE "}"),
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

/* ---- what others may send ---- */

/* Wraps `len` bytes at the end of `buf`, from `start` on, as a field. */
static void enclose(struct buf *buf, size_t start, unsigned int number)
{
	struct buf inner = BUF_INIT;

	buf_add(&inner, buf->data + start, buf->len - start);
	buf->len = start;
	bytes_varint(buf, number << 3 | 2);
	bytes_frame(buf, inner.data, inner.len);
	buf_release(&inner);
}

/* An action's start, with `extra` at each level of nesting, before and behind. */
static void pack_with(struct buf *out, const void *extra, size_t len)
{
	static const char start_fields[] = "\x18\x03"; /* kind=3: RUN */

	buf_add(out, extra, len);
	buf_add(out, start_fields, 2);
	buf_add(out, extra, len);
	enclose(out, 0, 51);
	buf_add(out, extra, len);
	enclose(out, 0, 20);
	buf_add(out, "\x18\x07", 2); /* span_id=7 */
	buf_add(out, extra, len);
	enclose(out, 0, 1);
	buf_add(out, extra, len);
}

static void test_unknown_fields(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} extras[] = {
		{"", 0},
		{"\xf8\xff\x01\x05", 4},    /* 4095: 5 */
		{"\xfa\xff\x01\x03zzz", 7}, /* 4095: "zzz" */
		{"\xf9\xff\x01"
		 "12345678",
		 11}, /* 4095: fixed64 */
		{"\xfd\xff\x01"
		 "1234",
		 7},						  /* 4095: fixed32 */
		{"\xfb\xff\x01\x08\x01\xfc\xff\x01", 8},	  /* 4095: group {1: 1} */
		{"\xfb\xff\x01\x0b\x0c\xfc\xff\x01", 8},	  /* group in a group */
		{"\xf8\xff\xff\xff\x0f\x80\x80\x80\x80\x00", 10}, /* the largest number, a long 0 */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(extras) / sizeof(extras[0]); i++) {
		struct buf record = BUF_INIT;

		pack_with(&record, extras[i].bytes, extras[i].len);
		expect(DECODE_PROTOBUF, record.data, record.len,
		       "6 seq=0 span=7 parent=0\n action type=1 failed=0 kind=3\n");
		buf_release(&record);
	}
}

static void test_deep_nesting(void **state)
{
	struct buf deep = BUF_INIT, record = BUF_INIT;
	char *text;
	int i;

	(void)state;
	for (i = 0; i < 500; i++)
		enclose(&deep, 0, 100);
	pack_with(&record, deep.data, deep.len);
	expect(DECODE_PROTOBUF, record.data, record.len,
	       "6 seq=0 span=7 parent=0\n action type=1 failed=0 kind=3\n");
	buf_clear(&deep);
	for (i = 0; i < 500; i++)
		buf_add(&deep, "\xa3\x06", 2); /* group 100 begins */
	for (i = 0; i < 500; i++)
		buf_add(&deep, "\xa4\x06", 2);
	buf_clear(&record);
	pack_with(&record, deep.data, deep.len);
	text = decode(DECODE_PROTOBUF, record.data, record.len);
	assert_non_null(strstr(text, "malformed"));
	free(text);
	buf_release(&record);

	/* JSON: deeper than jansson goes, in an event that would be wanted */
	buf_clear(&deep);
	buf_addstr(&deep, "{\"Event\":{\"data\":{\"SpanEnd\":{\"data\":{\"SpanCancelled\":{\"x\":");
	for (i = 0; i < 100000; i++)
		buf_addch(&deep, '[');
	text = decode(DECODE_JSON, deep.data, deep.len);
	assert_non_null(strstr(text, "malformed JSON"));
	free(text);
	buf_release(&deep);
}

static void test_malformed_protobuf(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} cases[] = {
		{"", 0},
		{"\x0a", 1},			 /* a tag, no length */
		{"\x0a\x05x", 3},		 /* longer than the record */
		{"\x0a\x02\x00\x00", 4},	 /* field number 0 */
		{"\x0a\x01\x0f", 3},		 /* wire type 7 */
		{"\x0a\x04\x08\x01\x12\x00", 6}, /* timestamp is no message */
		{"\x0a\x04\x0a\x02\x08\xff", 6}, /* seconds cut */
		{"\x0b", 1},			 /* a group that does not end */
		{"\x0c", 1},			 /* one that does not begin */
		{"\xa0\x06\x01", 3},		 /* neither invocation nor progress */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(DECODE_PROTOBUF, cases[i].bytes, cases[i].len, "malformed protobuf message");
}

static void test_malformed_json(void **state)
{
	static const char *const cases[] = {
		"{",
		"null",
		"[]",
		"{}",
		"{\"Event\":{\"data\":{\"SpanEnd\":{\"data\":{\"SpanCancelled\":{}",
		"{\"Event\":7}",
		"{\"command_report\":1}",
		"{\"Event\":{\"timestamp\":\"now\",\"data\":{\"SpanEnd\":{\"data\":"
		"{\"SpanCancelled\":{}}}}}}",
		"{\"Event\":{\"span_id\":\"x\",\"data\":{\"SpanEnd\":{\"data\":"
		"{\"SpanCancelled\":{}}}}}}",
		"{\"command_line_args\":[7]}",
	};
	struct decoder *decoder = decoder_new(DECODE_JSON);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *data = (const uint8_t *)cases[i];
		struct err err = ERR_INIT;
		struct event *event;

		assert_int_equal(decode_wants(decoder, data, strlen(cases[i]), strlen(cases[i])),
				 DECODE_WANT);
		assert_int_equal(decode_record(decoder, data, strlen(cases[i]), &event, &err), -1);
		assert_int_equal(err.kind, ERR_FORMAT);
	}
	assert_int_equal(decode_wants(decoder, (const uint8_t *)"\0\0\0\0", 4, 4), DECODE_WANT);
	decoder_free(decoder);
}

/* Half the record is a million attempts that say nothing: refused, and the next one is read. */
static void test_too_many_parts(void **state)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;
	struct err err = ERR_INIT;
	struct event *event;
	int i;

	(void)state;
	for (i = 0; i < 1000000; i++)
		buf_add(&record, "\xca\x01\x00", 3); /* commands=25 {} */
	enclose(&record, 0, 51);
	enclose(&record, 0, 21);
	enclose(&record, 0, 1);
	assert_int_equal(decode_record(decoder, (uint8_t *)record.data, record.len, &event, &err),
			 -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_clear(&record);
	pack_with(&record, "", 0);
	assert_int_equal(decode_record(decoder, (uint8_t *)record.data, record.len, &event, &err),
			 1);
	buf_release(&record);
	decoder_free(decoder);
}

static void test_too_many_json_values(void **state)
{
	struct buf line = BUF_INIT;
	char *text;
	int i;

	(void)state;
	buf_addstr(&line, "{\"command_line_args\":[\"x\"");
	for (i = 0; i < 2000000; i++)
		buf_addstr(&line, ",1");
	buf_addstr(&line, "]}");
	text = decode(DECODE_JSON, line.data, line.len);
	assert_non_null(strstr(text, "more parts"));
	free(text);
	buf_release(&line);
}

static void test_a_nul_in_a_text(void **state)
{
	static const char json[] = "{\"trace_id\":\"t\",\"working_dir\":\"a\\u0000b\"}";
	struct decoder *decoder = decoder_new(DECODE_JSON);
	struct err err = ERR_INIT;
	struct event *event;

	(void)state;
	assert_int_equal(decode_record(decoder, (const uint8_t *)json, strlen(json), &event, &err),
			 1);
	assert_int_equal(event->invocation.working_dir.len, 3);
	decoder_free(decoder);
}

/* ---- the first step ---- */

/* Whatever the head's length: never SKIP for what is wanted, SKIP for the rest once it can tell. */
static void expect_wants(enum decode_format format, const void *data, size_t len, bool wanted)
{
	struct decoder *decoder = decoder_new(format);
	size_t head;
	bool skipped = false;

	for (head = 0; head <= len; head++) {
		if (decode_wants(decoder, data, head, len) == DECODE_WANT) {
			assert_false(skipped);
			continue;
		}
		assert_false(wanted);
		skipped = true;
	}
	assert_int_equal(skipped, !wanted);
	decoder_free(decoder);
}

static void test_wants(void **state)
{
	static const char snapshot[] = JSON_INSTANT("\"Snapshot\":{\"buck2_rss\":1}");
	static const char local[] =
		JSON_STAGE("\"Local\":{\"stage\":{\"Execute\":{\"command\":{\"argv\":[\"x\"]}}}}");
	static const char query[] = JSON_STAGE("\"CacheQuery\":{\"action_digest\":\"x\"}");
	static const char end[] = JSON_END("\"ActionExecution\":{}");
	static const char other[] = JSON_END("\"Materialization\":{\"path\":\"{\\\"\"}");
	struct buf record = BUF_INIT;

	(void)state;
	expect_wants(DECODE_JSON, snapshot, strlen(snapshot), false);
	expect_wants(DECODE_JSON, local, strlen(local), false);
	expect_wants(DECODE_JSON, query, strlen(query), true);
	expect_wants(DECODE_JSON, end, strlen(end), true);
	expect_wants(DECODE_JSON, other, strlen(other), false);

	pack_with(&record, "", 0);
	expect_wants(DECODE_PROTOBUF, record.data, record.len, true);
	buf_clear(&record);
	buf_addstr(&record, "a snapshot");
	enclose(&record, 0, 10);
	enclose(&record, 0, 22);
	enclose(&record, 0, 1);
	expect_wants(DECODE_PROTOBUF, record.data, record.len, false);
	buf_release(&record);
}

/* A huge unwanted record is known by its head alone. */
static void test_wants_by_the_head(void **state)
{
	struct decoder *decoder = decoder_new(DECODE_PROTOBUF);
	struct buf record = BUF_INIT;

	(void)state;
	memset(buf_reserve(&record, 1 << 20), 'x', 1 << 20);
	buf_grew(&record, 1 << 20);
	enclose(&record, 0, 2);	 /* LocalStage.execute */
	enclose(&record, 0, 21); /* ExecutorStageStart.local */
	enclose(&record, 0, 54); /* SpanStartEvent.executor_stage */
	enclose(&record, 0, 20);
	enclose(&record, 0, 1);
	assert_int_equal(decode_wants(decoder, (uint8_t *)record.data, 64, record.len),
			 DECODE_WANT);
	assert_int_equal(decode_wants(decoder, (uint8_t *)record.data, record.len, record.len),
			 DECODE_SKIP);
	buf_release(&record);
	decoder_free(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invocation),
		cmocka_unit_test(test_invocation_with_an_odd_argument),
		cmocka_unit_test(test_command_start_and_end),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_revision),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_an_unknown_result),
		cmocka_unit_test(test_action_start),
		cmocka_unit_test(test_action_end),
		cmocka_unit_test(test_a_bare_action_end),
		cmocka_unit_test(test_missing_outputs),
		cmocka_unit_test(test_older_shapes),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_cancelled_span),
		cmocka_unit_test(test_test_runs),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_malformed_protobuf),
		cmocka_unit_test(test_malformed_json),
		cmocka_unit_test(test_too_many_parts),
		cmocka_unit_test(test_too_many_json_values),
		cmocka_unit_test(test_a_nul_in_a_text),
		cmocka_unit_test(test_wants),
		cmocka_unit_test(test_wants_by_the_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
