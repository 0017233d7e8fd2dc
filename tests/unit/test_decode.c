/* Records about the command -> events: both formats alike, today's shapes and older ones. */
#include "decode_testing.h"
#include "log_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
	text = decode_text(DECODE_PROTOBUF, packed.data, packed.len);
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
	expect_result(&result, JSON_RESULT("\"test_response\":{\"exit_code\":32,\"errors\":[]}"),
		      RESULT " succeeded=0 exit=32 errors=0\n");
}

/* What an answer listed as errors until 2023-10-27, and where those of tests went later. */
static void test_errors_of_other_times(void **state)
{
	Buck2__CommandResult result = BUCK2__COMMAND_RESULT__INIT;
	Buck2__Response response = BUCK2__RESPONSE__INIT;
	Buck2__TestResponse tests = BUCK2__TEST_RESPONSE__INIT;
	ProtobufCBinaryData messages[] = {bin("it broke"), bin("so did this")};
	Buck2__ErrorReport error = BUCK2__ERROR_REPORT__INIT;
	Buck2__ErrorReport *errors[] = {&error};

	(void)state;
	response.n_error_messages = 2;
	response.error_messages = messages;
	result.build_response = &response;
	expect_result(&result,
		      JSON_RESULT("\"build_response\":{\"error_messages\":[\"it broke\","
				  "\"so did this\"]}"),
		      RESULT " succeeded=0 errors=2 error=\"it broke\"\n");
	error.has_message = 1;
	error.message = bin("no such target");
	tests.n_build_errors = 1;
	tests.build_errors = errors;
	result.build_response = NULL;
	result.test_response = &tests;
	expect_result(&result,
		      JSON_RESULT("\"test_response\":{\"executor_exit_code\":0,\"build_errors\":"
				  "[{\"message\":\"no such target\"}],\"test_errors\":[]}"),
		      RESULT " succeeded=0 exit=0 errors=1 error=\"no such target\"\n");
	tests.n_build_errors = 0;
	tests.n_test_errors = 1;
	tests.test_errors = errors;
	expect_result(&result,
		      JSON_RESULT("\"test_response\":{\"executor_exit_code\":0,\"test_errors\":"
				  "[{\"message\":\"no such target\"}]}"),
		      RESULT " succeeded=0 exit=0 errors=1 error=\"no such target\"\n");
}

/* An answer that this version does not know may hold errors that it does not see. */
static void test_an_unknown_result(void **state)
{
	(void)state;
	/* result=2 {200: {}} */
	expect_text(DECODE_PROTOBUF, "\x12\x03\xc2\x0c\x00", 5, RESULT " errors=0\n");
	expect_text(DECODE_JSON, JSON_RESULT("\"new_response\":{}"),
		    strlen(JSON_RESULT("\"new_response\":{}")), RESULT " errors=0\n");
}

static void test_a_record_of_an_unknown_kind(void **state)
{
	static const char line[] = "{\"NewKind\":{\"Event\":{\"span_id\":1}}}";

	(void)state;
	expect_text(DECODE_PROTOBUF, "\x4a\x02\x08\x01", 4, "none"); /* 9: {1: 1} */
	expect_text(DECODE_JSON, line, strlen(line), "none");
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
		cmocka_unit_test(test_errors_of_other_times),
		cmocka_unit_test(test_an_unknown_result),
		cmocka_unit_test(test_a_record_of_an_unknown_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
