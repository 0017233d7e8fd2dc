#include "cluster_text.h"

static void add_text(struct buf *out, const char *before, struct str text)
{
	buf_addstr(out, before);
	if (text.data)
		buf_add(out, text.data, text.len);
	else
		buf_addch(out, '-');
}

static void add_number(struct buf *out, const char *before, int64_t number)
{
	buf_addstr(out, before);
	if (number == UNKNOWN)
		buf_addch(out, '-');
	else
		buf_addf(out, "%lld", (long long)number);
}

static void add_time(struct buf *out, const char *before, int64_t ns)
{
	if (ns == UNKNOWN || ns % 1000000000 == 0)
		add_number(out, before, ns == UNKNOWN ? UNKNOWN : ns / 1000000000);
	else
		buf_addf(out, "%s%.3f", before, (double)(ns / 1000000) / 1000);
}

static int on_container(void *context, const struct container_spec *spec, struct err *err)
{
	struct buf *out = context;

	(void)err;
	add_text(out, "container ", spec->pod);
	add_text(out, "/", spec->container);
	add_text(out, " ", spec->uid);
	add_text(out, " ", spec->node);
	add_number(out, " cpu ", spec->cpu_request_millicores);
	add_number(out, " ", spec->cpu_limit_millicores);
	add_number(out, " memory ", spec->memory_request_bytes);
	add_number(out, " ", spec->memory_limit_bytes);
	add_number(out, " restarts ", spec->restart_count);
	buf_addch(out, '\n');
	return 0;
}

static int on_termination(void *context, const struct termination *end, struct err *err)
{
	struct buf *out = context;

	if (str_is(end->reason, "stop"))
		return err_set(err, ERR_DB, "refused");
	add_text(out, "termination ", end->pod);
	add_text(out, "/", end->container);
	add_text(out, " ", end->uid);
	add_text(out, " ", end->container_id);
	add_text(out, " ", end->reason);
	add_number(out, " exit ", end->exit_code);
	add_number(out, " signal ", end->signal);
	add_time(out, " ", end->started_ns);
	add_time(out, " ", end->finished_ns);
	add_number(out, " restarts ", end->restarts);
	buf_addch(out, '\n');
	return 0;
}

static int on_oom(void *context, const struct oom_count *oom, struct err *err)
{
	struct buf *out = context;

	(void)err;
	add_text(out, "oom ", oom->pod);
	add_text(out, "/", oom->container);
	add_text(out, " ", oom->container_id);
	add_time(out, " (", oom->first_ns);
	add_time(out, ",", oom->last_ns);
	add_number(out, "] count ", oom->count);
	buf_addch(out, '\n');
	return 0;
}

static void on_warning(void *context, const char *text)
{
	struct buf *out = context;

	buf_addf(out, "warning %s\n", text);
}

struct cluster_sink cluster_text_sink(struct buf *out)
{
	return (struct cluster_sink){out, on_container, on_termination, on_oom, on_warning};
}
