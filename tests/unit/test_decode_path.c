/* The build's critical and slowest path: each kind of step, in both formats. */
#include "decode_testing.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A graph of one step, and what the step may hang on. */
struct graph {
	struct parts parts; /* label and names */
	Buck2__BuildGraphExecutionInfo info;
	Buck2__CriticalPathEntry2 step, *path[1];
};

static void init_graph(struct graph *graph)
{
	init_parts(&graph->parts);
	buck2__build_graph_execution_info__init(&graph->info);
	buck2__critical_path_entry2__init(&graph->step);
	graph->path[0] = &graph->step;
	graph->info.critical_path2 = graph->info.slowest_path = graph->path;
	graph->info.n_critical_path2 = 1;
	graph->parts.wrapped.event.instant = &graph->parts.wrapped.instant;
	graph->parts.wrapped.instant.build_graph_info = &graph->info;
}

#define JSON_GRAPH(members) JSON_INSTANT("\"BuildGraphInfo\":{\"metadata\":{}," members "}")
#define GRAPH HEAD("11")
#define LABELLED " package=\"root//a\" target=\"b\" configuration=\"cfg#1\""

/* The step, made anew behind it. */
static void expect_step(struct graph *graph, const char *json, const char *want)
{
	char *line = xasprintf(JSON_GRAPH("\"critical_path2\":[{\"span_ids\":[],\"entry\":{%s}}]"),
			       json);
	char *text = xasprintf(GRAPH " nodes=0 edges=0\n  step path=1 span=0 reused=0%s\n", want);

	expect_both(&graph->parts.wrapped.progress.base, line, text);
	buck2__critical_path_entry2__init(&graph->step);
	free(line);
	free(text);
}

#define JSON_ACTION_STEP                                                                    \
	"{\"span_ids\":[222,7],\"duration_us\":1000999,\"user_duration_us\":0,"             \
	"\"total_duration_us\":1000999,\"potential_improvement_duration_us\":null,"         \
	"\"queue_duration_us\":null,\"non_critical_path_duration_us\":0,"                   \
	"\"start_offset_ns\":268987809,\"was_reused\":true,\"entry\":{\"ActionExecution\":" \
	"{\"name\":{\"category\":\"c\",\"identifier\":\"\"},\"execution_kind\":2,"          \
	"\"target_rule_type_name\":\"package\",\"action_digest\":\"" HASH ":141\","         \
	"\"invalidation_info\":null,\"owner\":{\"TargetLabel\":" JSON_LABEL "}}}}"
#define ACTION_STEP(path)                                                                    \
	"\n  step path=" path " span=222 reused=1 kind=101 package=\"root//a\" target=\"b\"" \
	" category=\"c\" identifier=\"\" configuration=\"cfg#1\" rule_type=\"package\""      \
	" execution_kind=2 digest=" HASH ":141 start_ns=268987809 duration_us=1000999"       \
	" user_us=0 total_us=1000999 off_path_us=0"

static void fill_action_step(Buck2__CriticalPathEntry2 *step, uint64_t spans[2],
			     Buck2__Duration *none)
{
	step->n_span_ids = 2;
	step->span_ids = spans;
	step->duration = step->total_duration = &a_duration;
	step->user_duration = step->non_critical_path_duration = none;
	step->has_start_offset_ns = 1;
	step->start_offset_ns = 268987809;
	step->has_was_reused = step->was_reused = 1;
}

static void test_an_action_of_both_paths(void **state)
{
	uint64_t spans[] = {222, 7};
	Buck2__Duration none = BUCK2__DURATION__INIT;
	Buck2__CriticalPathEntry2__ActionExecution action =
		BUCK2__CRITICAL_PATH_ENTRY2__ACTION_EXECUTION__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	action.name = &graph.parts.name;
	action.target_label = &graph.parts.owner;
	action.has_execution_kind = action.has_target_rule_type_name = action.has_action_digest = 1;
	action.execution_kind = 2;
	action.target_rule_type_name = bin("package");
	action.action_digest = bin(HASH ":141");
	fill_action_step(&graph.step, spans, &none);
	graph.step.action_execution = &action;
	graph.info.n_slowest_path = 1;
	graph.info.has_num_nodes = 1;
	graph.info.num_nodes = 160; /* no edges: proto3 does not write 0 */
	expect_both(&graph.parts.wrapped.progress.base,
		    JSON_GRAPH("\"num_nodes\":160,\"num_edges\":0,\"critical_path2\":"
			       "[" JSON_ACTION_STEP "],\"slowest_path\":[" JSON_ACTION_STEP "]"),
		    GRAPH " nodes=160 edges=0" ACTION_STEP("1") ACTION_STEP("2") "\n");
}

static void test_steps_of_a_word(void **state)
{
	Buck2__CriticalPathEntry2__Word word = BUCK2__CRITICAL_PATH_ENTRY2__WORD__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	word.has_word = 1;
	word.word = bin("w");
	graph.step.load = &word;
	expect_step(&graph, "\"Load\":{\"package\":\"w\"}", " kind=104 detail=\"w\"");
	graph.step.listing = &word;
	expect_step(&graph, "\"Listing\":{\"package\":\"w\"}", " kind=105 detail=\"w\"");
	graph.step.generic_entry = &word;
	expect_step(&graph, "\"GenericEntry\":{\"kind\":\"w\"}", " kind=106 detail=\"w\"");
	graph.step.waiting = &word;
	expect_step(&graph, "\"Waiting\":{\"category\":\"w\"}", " kind=109 detail=\"w\"");
	graph.step.page_in = &word;
	expect_step(&graph, "\"PageIn\":{\"key_type\":\"w\",\"count\":1}",
		    " kind=113 detail=\"w\"");
	word.has_word = 0;
	graph.step.waiting = &word;
	expect_step(&graph, "\"Waiting\":{\"category\":null}", " kind=109");
}

static void test_steps_without_more(void **state)
{
	Buck2__Empty empty = BUCK2__EMPTY__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	graph.step.compute_critical_path = &empty;
	expect_step(&graph, "\"ComputeCriticalPath\":{}", " kind=103");
	graph.step.ensure_transitive_set_projection = &empty;
	expect_step(&graph, "\"EnsureTransitiveSetProjection\":{}", " kind=111");
}

static void test_analyses(void **state)
{
	Buck2__CriticalPathEntry2__Analysis analysis = BUCK2__CRITICAL_PATH_ENTRY2__ANALYSIS__INIT;
	Buck2__CriticalPathEntry2__DynamicAnalysis dynamic =
		BUCK2__CRITICAL_PATH_ENTRY2__DYNAMIC_ANALYSIS__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	analysis.standard_target = dynamic.standard_target = &graph.parts.owner;
	graph.step.analysis = &analysis;
	expect_step(&graph,
		    "\"Analysis\":{\"target_rule_type_name\":null,\"part\":null,\"target\":"
		    "{\"StandardTarget\":" JSON_LABEL "}}",
		    " kind=100" LABELLED);
	analysis.has_target_rule_type_name = 1;
	analysis.target_rule_type_name = bin("package");
	analysis.standard_target = NULL;
	graph.step.analysis = &analysis;
	expect_step(&graph, "\"Analysis\":{\"target_rule_type_name\":\"package\",\"target\":null}",
		    " kind=100 rule_type=\"package\"");
	graph.step.dynamic_analysis = &dynamic;
	expect_step(&graph,
		    "\"DynamicAnalysis\":{\"index\":0,\"target\":{\"StandardTarget\":" JSON_LABEL
		    "}}",
		    " kind=110" LABELLED);
}

static void test_tests_and_materializations(void **state)
{
	Buck2__CriticalPathEntry2__Test test = BUCK2__CRITICAL_PATH_ENTRY2__TEST__INIT;
	Buck2__CriticalPathEntry2__FinalMaterialization final =
		BUCK2__CRITICAL_PATH_ENTRY2__FINAL_MATERIALIZATION__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	test.target_label = final.target_label = &graph.parts.owner;
	test.has_suite = final.has_path = 1;
	test.suite = final.path = bin("w");
	graph.step.test_execution = &test;
	expect_step(&graph,
		    "\"TestExecution\":{\"target_label\":" JSON_LABEL
		    ",\"suite\":\"w\",\"testcases\":[],\"variant\":null}",
		    " kind=107" LABELLED " detail=\"w\"");
	graph.step.test_listing = &test;
	expect_step(&graph, "\"TestListing\":{\"target_label\":" JSON_LABEL ",\"suite\":\"w\"}",
		    " kind=108" LABELLED " detail=\"w\"");
	graph.step.final_materialization = &final;
	expect_step(
		&graph,
		"\"FinalMaterialization\":{\"path\":\"w\",\"owner\":{\"TargetLabel\":" JSON_LABEL
		"}}",
		" kind=102" LABELLED " detail=\"w\"");
}

/* Of an anonymous target the name alone is kept, of a BXL function its file and name. */
static void test_other_owners(void **state)
{
	Buck2__BxlFunctionLabel label = BUCK2__BXL_FUNCTION_LABEL__INIT;
	Buck2__BxlFunctionKey bxl = BUCK2__BXL_FUNCTION_KEY__INIT;
	Buck2__AnonTarget anon = BUCK2__ANON_TARGET__INIT;
	Buck2__CriticalPathEntry2__ActionExecution action =
		BUCK2__CRITICAL_PATH_ENTRY2__ACTION_EXECUTION__INIT;
	Buck2__CriticalPathEntry2__AnonAnalysis analysis =
		BUCK2__CRITICAL_PATH_ENTRY2__ANON_ANALYSIS__INIT;
	struct graph graph;

	(void)state;
	init_graph(&graph);
	label.has_bxl_path = label.has_name = anon.has_hash = 1;
	label.bxl_path = bin("root//x.bxl");
	label.name = bin("main");
	bxl.label = &label;
	anon.name = &graph.parts.label;
	anon.hash = bin("h");
	action.bxl_key = &bxl;
	analysis.anon_target = &anon;
	graph.step.action_execution = &action;
	expect_step(&graph,
		    "\"ActionExecution\":{\"name\":null,\"execution_kind\":0,\"owner\":{\"BxlKey\":"
		    "{\"label\":{\"bxl_path\":\"root//x.bxl\",\"name\":\"main\"}}}}",
		    " kind=101 package=\"root//x.bxl\" target=\"main\" execution_kind=0");
	graph.step.anon_analysis = &analysis;
	expect_step(&graph,
		    "\"AnonAnalysis\":{\"anon_target\":{\"name\":{\"package\":\"root//a\",\"name\":"
		    "\"b\"},\"execution_configuration\":null,\"hash\":\"h\"},\"part\":null}",
		    " kind=112 package=\"root//a\" target=\"b\"");
}

/* A Buck2 of tomorrow: its steps are there, of a kind that is not known. */
static void test_an_unknown_kind(void **state)
{
	uint8_t no_fields = 0; /* the length of an empty message */
	ProtobufCMessageUnknownField field = {
		.tag = 4000,
		.wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
		.len = 1,
		.data = &no_fields,
	};
	struct graph graph;

	(void)state;
	init_graph(&graph);
	graph.step.base.n_unknown_fields = 1;
	graph.step.base.unknown_fields = &field;
	expect_step(&graph, "\"Teleport\":{\"to\":\"w\"}", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_action_of_both_paths),
		cmocka_unit_test(test_steps_of_a_word),
		cmocka_unit_test(test_steps_without_more),
		cmocka_unit_test(test_analyses),
		cmocka_unit_test(test_tests_and_materializations),
		cmocka_unit_test(test_other_owners),
		cmocka_unit_test(test_an_unknown_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
