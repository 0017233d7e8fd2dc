/* A plan as one JSON object: every execution, every figure. Unknown is null. */
#include "plan.h"

#include "util/json.h"
#include "util/safe.h"

#include <errno.h>
#include <inttypes.h>

#define NS_PER_S 1e9
#define NS_PER_H 3.6e12
#define GIB 1073741824.0
#define MILLI 1000.0

static const char *const variant_names[PLAN_VARIANTS] = {
	[PLAN_SEEN] = "seen",
	[PLAN_TODAY] = "today",
	[PLAN_SAME] = "shapes",
	[PLAN_JOBS] = "shapes_by_jobs",
};

/* ---- members ---- */

/* What comes before a member: a comma, unless it is the first. */
static void add_key(struct buf *buf, const char *name)
{
	char last = buf->len ? buf->data[buf->len - 1] : '{';

	if (last != '{' && last != '[')
		buf_addch(buf, ',');
	buf_addf(buf, "\"%s\":", name);
}

static void add_text(struct buf *buf, const char *name, struct str text)
{
	add_key(buf, name);
	json_add_text(buf, text);
}

static void add_integer(struct buf *buf, const char *name, int64_t number)
{
	add_key(buf, name);
	if (number == UNKNOWN)
		buf_addstr(buf, "null");
	else
		json_add_integer(buf, number);
}

static void add_scaled(struct buf *buf, const char *name, int64_t number, double unit)
{
	add_key(buf, name);
	if (number == UNKNOWN)
		buf_addstr(buf, "null");
	else
		json_add_real(buf, (double)number / unit);
}

static void begin_element(struct buf *buf)
{
	if (buf->data[buf->len - 1] != '[')
		buf_addch(buf, ',');
	buf_addch(buf, '{');
}

/* ---- objects ---- */

static void add_figures(struct buf *buf, const struct plan_figures *f)
{
	add_integer(buf, "actions", f->actions);
	add_scaled(buf, "makespan_s", f->makespan_ns, NS_PER_S);
	add_scaled(buf, "node_h", f->node_ns, NS_PER_H);
	add_scaled(buf, "worker_h", f->worker_ns, NS_PER_H);
	add_integer(buf, "most_nodes", f->most_nodes);
	add_integer(buf, "most_workers", f->most_workers);
	add_scaled(buf, "queued_s", plan_wait_sum(f), NS_PER_S);
	add_scaled(buf, "queued_p90_s", plan_wait_p90(f), NS_PER_S);
	add_scaled(buf, "queued_max_s", plan_wait_max(f), NS_PER_S);
	add_integer(buf, "at_risk", f->at_risk);
	add_integer(buf, "risk_unknown", f->risk_unknown);
	add_scaled(buf, "requested_core_h", f->requested_core_ns, NS_PER_H);
}

static void add_line(struct buf *buf, const struct plan_line *line)
{
	size_t i;

	add_integer(buf, "workers_seen", (int64_t)line->workers);
	add_integer(buf, "workers_together", (int64_t)line->together);
	add_scaled(buf, "measured_s", line->measured_ns, NS_PER_S);
	add_key(buf, "difference_pct");
	json_add_real(buf, plan_difference_pct(line));
	add_scaled(buf, "used_core_h", line->cpu_ns, NS_PER_H);
	add_scaled(buf, "turn_s", line->turn_ns, NS_PER_S);
	add_integer(buf, "no_times", line->no_times);
	add_integer(buf, "no_queued", line->no_queued);
	add_integer(buf, "no_cpu", line->no_cpu);
	add_key(buf, "plans");
	buf_addch(buf, '{');
	for (i = 0; i < PLAN_VARIANTS; i++) {
		add_key(buf, variant_names[i]);
		buf_addch(buf, '{');
		add_figures(buf, &line->figures[i]);
		buf_addch(buf, '}');
	}
	buf_addch(buf, '}');
}

static void add_places(struct buf *buf, const struct plan *plan)
{
	size_t i;

	add_key(buf, "shapes");
	buf_addch(buf, '[');
	for (i = 0; i < plan->place_count; i++) {
		const struct plan_place *place = &plan->places[i];

		begin_element(buf);
		add_text(buf, "shape", place->shape.name);
		add_scaled(buf, "cpu", place->shape.cpu_milli, MILLI);
		add_scaled(buf, "request_gib", place->shape.memory_request_bytes, GIB);
		add_scaled(buf, "limit_gib", place->shape.memory_limit_bytes, GIB);
		add_integer(buf, "make_jobs", place->jobs);
		add_integer(buf, "workers_min", (int64_t)place->workers_min);
		add_integer(buf, "workers_max", (int64_t)place->workers_max);
		add_key(buf, "own_max");
		buf_addstr(buf, place->shares ? "false" : "true");
		add_scaled(buf, "cooldown_s", place->cooldown_ns, NS_PER_S);
		add_integer(buf, "per_node", place->node_holds);
		add_integer(buf, "packages", (int64_t)place->packages);
		add_integer(buf, "actions", place->actions);
		buf_addch(buf, '}');
	}
	buf_addch(buf, ']');
}

static void add_packages(struct buf *buf, const struct plan *plan)
{
	struct buf reason = BUF_INIT;
	size_t i;

	add_key(buf, "packages");
	buf_addch(buf, '[');
	for (i = 0; i < plan->met_count; i++) {
		const struct plan_package *package = plan->met[i];

		reason.len = 0;
		plan_reason(plan, package, &reason);
		begin_element(buf);
		add_text(buf, "package", package->name);
		add_text(buf, "shape", plan->places[plan_place_of(plan, package)].shape.name);
		add_text(buf, "reason", (struct str){reason.data, reason.len});
		buf_addch(buf, '}');
	}
	buf_addch(buf, ']');
	buf_release(&reason);
}

static void add_today(struct buf *buf, const struct plan *plan)
{
	size_t i;

	add_key(buf, "today");
	buf_addch(buf, '[');
	for (i = 0; i < plan->today_count; i++) {
		const struct plan_today *pool = &plan->today[i];

		begin_element(buf);
		add_text(buf, "pool", pool->pool);
		add_scaled(buf, "cpu", pool->cpu_milli, MILLI);
		add_scaled(buf, "request_gib", pool->memory_bytes, GIB);
		add_scaled(buf, "limit_gib", pool->limit_bytes, GIB);
		add_integer(buf, "workers_min", (int64_t)pool->workers_min);
		add_integer(buf, "workers_max", (int64_t)pool->workers_max);
		add_key(buf, "scaling_known");
		buf_addstr(buf, pool->scaling_known ? "true" : "false");
		add_integer(buf, "concurrency", (int64_t)pool->concurrency);
		add_scaled(buf, "cooldown_s", pool->cooldown_ns, NS_PER_S);
		add_integer(buf, "executions", pool->executions);
		add_integer(buf, "executions_otherwise", pool->otherwise);
		add_integer(buf, "actions", pool->actions);
		buf_addch(buf, '}');
	}
	buf_addch(buf, ']');
}

static void add_lines(struct buf *buf, const struct plan *plan)
{
	size_t i;

	add_key(buf, "executions");
	buf_addch(buf, '[');
	for (i = 0; i < plan->line_count; i++) {
		const struct plan_line *line = &plan->lines[i];

		begin_element(buf);
		add_text(buf, "execution", line->execution->invocation);
		add_text(buf, "project", line->execution->project);
		add_text(buf, "salt", line->execution->salt);
		add_key(buf, "log_known");
		buf_addstr(buf, line->execution->logged ? "true" : "false");
		add_line(buf, line);
		buf_addch(buf, '}');
	}
	buf_addch(buf, ']');
}

int plan_print_json(const struct plan *plan, FILE *out, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	buf_addch(&text, '{');
	add_places(&text, plan);
	add_packages(&text, plan);
	add_today(&text, plan);
	add_lines(&text, plan);
	add_key(&text, "total");
	buf_addch(&text, '{');
	add_line(&text, &plan->total);
	buf_addch(&text, '}');
	add_integer(&text, "executions_left_out", plan->empty);
	add_integer(&text, "results_without_invocation", plan->known.nameless);
	buf_addstr(&text, "}\n");
	if (safe_print(out, (struct str){text.data, text.len}) < 0)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	buf_release(&text);
	return rc;
}
