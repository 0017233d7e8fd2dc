/* `br2-ingest plan`: what executions would have cost on workers of other shapes. */
#include "cmd.h"

#include "common.h"
#include "database.h"
#include "plan.h"
#include "scope.h"
#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	struct scope_flags scope;
	struct option_list shapes, executions, min, max;
	const char *node;
	bool json;
} flags;

static const struct option table[] = {
	{"shape", 0, "NAME=CPU,MEMORY[,LIMIT]", OPTION_LIST, &flags.shapes,
	 "a shape of workers: cores and memory requested, memory limit (default: the request); may "
	 "be repeated (default: table shape, where a new file has small and big)"},
	{"node", 0, "CPU,MEMORY", OPTION_TEXT, &flags.node,
	 "what a node has for workers: 16,32GiB; gives node-hours"},
	{"max", 0, "NAME=N", OPTION_LIST, &flags.max,
	 "at most N workers of that shape, beside the others (default: all shapes together as many "
	 "as today's pools)"},
	{"min", 0, "NAME=N", OPTION_LIST, &flags.min,
	 "so many that always stay (default: of the pool of that name, else 0)"},
	{"execution", 0, "ID", OPTION_LIST, &flags.executions,
	 "only what this invocation executed (a prefix of its trace id will do); may be repeated"},
	{"all", 0, NULL, OPTION_FLAG, &flags.scope.all, "the whole file, not this project only"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.scope.project, "all executions of this project"},
	{"json", 0, NULL, OPTION_FLAG, &flags.json,
	 "one JSON object, with each execution's figures"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest plan [PATH...] [options]\n"
	"\n"
	"Replays stored executions of builds on workers of other shapes: makespan,\n"
	"node-hours, queueing, actions at risk of a kill for memory, beside what was\n"
	"measured and beside today's shape under the same rules. It needs no log of the\n"
	"run that executed. Executions: those that belong to the runs whose logs are at\n"
	"or below each PATH, else to the project around the current directory, else all.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest plan --shape small=1.5,2GiB,4GiB --shape big=6,8GiB,12GiB\n"
	"  br2-ingest plan --node 16,32GiB --max small=12    the shapes of table shape\n"
	"  br2-ingest plan --execution 83f0 --json | jq '.total.plans.shapes.makespan_s'\n"
	"  br2-ingest sql \"SELECT invocation, project, salt, seconds FROM executions\"\n";

/* ---- options ---- */

/* All that points into argv. */
struct request {
	struct plan_options options;
	struct shape *shapes;
	struct plan_bound *min, *max;
	struct node_size node;
};

static void request_release(struct request *request)
{
	free(request->shapes);
	free(request->min);
	free(request->max);
}

static int parse_shapes(struct request *request, struct err *err)
{
	size_t i, count = flags.shapes.count;

	request->shapes = xcalloc(count + 1, sizeof(*request->shapes));
	for (i = 0; i < count; i++)
		if (shape_parse(str_of(flags.shapes.values[i]), &request->shapes[i], err) < 0)
			return err_prefix(err, "--shape");
	request->options.shapes = request->shapes;
	request->options.shape_count = count;
	return 0;
}

static int parse_bounds(const struct option_list *list, const char *option,
			struct plan_bound **out_bounds, struct err *err)
{
	size_t i;

	*out_bounds = xcalloc(list->count + 1, sizeof(**out_bounds));
	for (i = 0; i < list->count; i++)
		if (plan_bound_parse(str_of(list->values[i]), &(*out_bounds)[i], err) < 0)
			return err_prefix(err, "%s", option);
	return 0;
}

static int parse_node(struct request *request, struct err *err)
{
	if (!flags.node)
		return 0;
	if (shape_parse_node(str_of(flags.node), &request->node, err) < 0)
		return err_prefix(err, "--node");
	request->options.node = &request->node;
	return 0;
}

static int parse_request(struct request *request, struct err *err)
{
	if (parse_shapes(request, err) < 0 || parse_node(request, err) < 0 ||
	    parse_bounds(&flags.min, "--min", &request->min, err) < 0 ||
	    parse_bounds(&flags.max, "--max", &request->max, err) < 0)
		return -1;
	request->options.now_ns = clock_now_ns();
	request->options.min = request->min;
	request->options.min_count = flags.min.count;
	request->options.max = request->max;
	request->options.max_count = flags.max.count;
	request->options.executions = flags.executions.values;
	request->options.execution_count = flags.executions.count;
	return 0;
}

/* ---- the verb ---- */

/* Whoever names an execution need not say where it belongs. */
static int choose_scope(struct store *store, int operands, char **argv, struct report_scope *scope,
			struct err *err)
{
	if (flags.executions.count && !operands && !flags.scope.project)
		flags.scope.all = true;
	if (flags.scope.project && scope_check_project(store, flags.scope.project, err) < 0)
		return -1;
	return scope_choose(store, &flags.scope, operands, argv, scope, err);
}

static int print_plan(struct store *store, const struct report_scope *scope,
		      const struct plan_options *options, struct err *err)
{
	struct plan plan;
	int rc = plan_make(store, scope, options, &plan, err);

	if (rc == 0)
		rc = flags.json ? plan_print_json(&plan, stdout, err)
				: plan_print_text(&plan, scope->title.data, stdout, err);
	plan_release(&plan);
	return rc;
}

static int plan(int operands, char **argv, struct err *err)
{
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct request request = {0};
	struct store *store = NULL;
	int code = -1;

	if (scope_check(&flags.scope, operands, err) == 0 && parse_request(&request, err) == 0 &&
	    database_open(&store, err) == 0 &&
	    choose_scope(store, operands, argv, &scope, err) == 0 &&
	    print_plan(store, &scope, &request.options, err) == 0)
		code = EXIT_DONE;
	report_scope_release(&scope);
	store_close(store);
	request_release(&request);
	return code;
}

int cmd_plan(int argc, char **argv, struct err *err)
{
	int code, operands = common_parse(table, argc, argv, err);

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		code = EXIT_DONE;
	} else {
		code = plan(operands, argv, err);
	}
	option_list_release(&flags.shapes);
	option_list_release(&flags.executions);
	option_list_release(&flags.min);
	option_list_release(&flags.max);
	return code;
}
