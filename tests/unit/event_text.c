#include "event_text.h"

#include <inttypes.h>

static void add_text(struct buf *out, const char *name, struct str text)
{
	if (!text.data)
		return;
	buf_addf(out, " %s=\"", name);
	buf_add(out, text.data, text.len);
	buf_addch(out, '"');
}

static void add_number(struct buf *out, const char *name, int64_t number)
{
	if (number != UNKNOWN)
		buf_addf(out, " %s=%" PRId64, name, number);
}

static void add_digest(struct buf *out, const struct digest *digest)
{
	size_t i;

	if (!digest->hash_len)
		return;
	buf_addstr(out, " digest=");
	for (i = 0; i < digest->hash_len; i++)
		buf_addf(out, "%02x", digest->hash[i]);
	buf_addf(out, ":%" PRId64, digest->size_bytes);
}

static void add_attempt(struct buf *out, const struct attempt *attempt)
{
	size_t i;

	buf_addf(out, "\n  attempt kind=%d status=%d hit=%d worker=%d", (int)attempt->kind,
		 (int)attempt->status, attempt->cache_hit, attempt->persistent_worker);
	add_digest(out, &attempt->digest);
	add_number(out, "hit_type", attempt->cache_hit_type);
	add_number(out, "exit", attempt->exit_code);
	add_number(out, "queue_us", attempt->queue_us);
	add_number(out, "wall_us", attempt->wall_us);
	add_number(out, "execution_us", attempt->execution_us);
	add_number(out, "start_ns", attempt->start_ns);
	add_number(out, "input_us", attempt->input_us);
	add_number(out, "server_queue_us", attempt->server_queue_us);
	add_number(out, "memory_peak", attempt->memory_peak_bytes);
	add_text(out, "use_case", attempt->use_case);
	for (i = 0; i < attempt->property_count; i++) {
		add_text(out, "property", attempt->properties[i].name);
		add_text(out, "is", attempt->properties[i].value);
	}
	add_text(out, "stage", attempt->error_stage);
	add_text(out, "error", attempt->error_text);
	add_text(out, "stderr", attempt->stderr_text);
	add_text(out, "message", attempt->additional_message);
}

static void add_step(struct buf *out, size_t path, const struct path_step *step)
{
	buf_addf(out, "\n  step path=%zu span=%" PRIu64 " reused=%d", path, step->span_id,
		 step->reused);
	add_number(out, "kind", step->kind);
	add_text(out, "package", step->name.buck_package);
	add_text(out, "target", step->name.target);
	add_text(out, "category", step->name.category);
	add_text(out, "identifier", step->name.identifier);
	add_text(out, "configuration", step->name.configuration);
	add_text(out, "detail", step->detail);
	add_text(out, "rule_type", step->rule_type);
	add_number(out, "execution_kind", step->execution_kind);
	add_digest(out, &step->digest);
	add_number(out, "start_ns", step->start_ns);
	add_number(out, "duration_us", step->duration_us);
	add_number(out, "user_us", step->user_us);
	add_number(out, "total_us", step->total_us);
	add_number(out, "potential_us", step->potential_us);
	add_number(out, "queue_us", step->queue_us);
	add_number(out, "off_path_us", step->off_path_us);
}

static void add_graph(struct buf *out, const struct build_graph *graph)
{
	size_t path, i;

	add_number(out, "nodes", graph->nodes);
	add_number(out, "edges", graph->edges);
	for (path = PATH_CRITICAL; path < PATH_KINDS; path++)
		for (i = 0; i < graph->paths[path].count; i++)
			add_step(out, path, &graph->paths[path].steps[i]);
}

static void add_action(struct buf *out, const struct action *action)
{
	size_t i;

	buf_addf(out, "\n action type=%d failed=%d", (int)action->type, action->failed);
	add_text(out, "package", action->name.buck_package);
	add_text(out, "target", action->name.target);
	add_text(out, "category", action->name.category);
	add_text(out, "identifier", action->name.identifier);
	add_text(out, "configuration", action->name.configuration);
	add_number(out, "kind", action->kind);
	add_number(out, "execution_kind", action->execution_kind);
	add_text(out, "error", action->error_text);
	add_number(out, "wall_us", action->wall_us);
	add_number(out, "duration_us", action->duration_us);
	add_number(out, "output_bytes", action->output_bytes);
	add_number(out, "input_bytes", action->input_bytes);
	add_number(out, "upload", action->upload_result);
	add_number(out, "dep_file_upload", action->dep_file_upload_result);
	add_number(out, "scheduling_mode", action->scheduling_mode);
	add_text(out, "rule_type", action->rule_type);
	add_text(out, "host", action->host);
	add_text(out, "dep_file_key", action->dep_file_key);
	add_text(out, "suite", action->suite);
	for (i = 0; i < action->attempt_count; i++)
		add_attempt(out, &action->attempts[i]);
}

static void add_invocation(struct buf *out, const struct invocation *invocation)
{
	size_t i;

	add_text(out, "trace_id", invocation->trace_id);
	add_text(out, "working_dir", invocation->working_dir);
	for (i = 0; i < invocation->argc; i++)
		add_text(out, "arg", invocation->argv[i]);
	add_number(out, "start_ns", invocation->start_ns);
}

static void add_command(struct buf *out, const struct command_start *start)
{
	add_text(out, "command", start->command);
	add_text(out, "host", start->host);
	add_text(out, "os", start->os);
	add_text(out, "os_version", start->os_version);
	add_text(out, "arch", start->arch);
	add_text(out, "revision", start->buck2_revision);
	add_text(out, "daemon", start->daemon_uuid);
	add_text(out, "user", start->user);
}

static void add_config(struct buf *out, const struct event *event)
{
	size_t i;

	for (i = 0; i < event->config_count; i++) {
		const struct config_value *value = &event->config[i];

		buf_addf(out, "\n  config cli=%d", value->is_cli);
		add_text(out, "cell", value->cell);
		add_text(out, "section", value->section);
		add_text(out, "key", value->key);
		add_text(out, "value", value->value);
	}
}

static void add_result(struct buf *out, const struct command_result *result)
{
	add_number(out, "succeeded", result->succeeded);
	add_number(out, "exit", result->exit_code);
	add_number(out, "errors", result->error_count);
	add_text(out, "error", result->error);
}

void event_text(struct buf *out, const struct event *event)
{
	buf_addf(out, "%d seq=%" PRIu64 " span=%" PRIu64 " parent=%" PRIu64, (int)event->kind,
		 event->seq, event->span_id, event->parent_id);
	add_number(out, "time_ns", event->time_ns);
	add_text(out, "trace", event->trace_id);
	add_number(out, "duration_us", event->duration_us);
	add_invocation(out, &event->invocation);
	add_command(out, &event->command_start);
	add_config(out, event);
	add_text(out, "revision", event->revision);
	add_text(out, "stage", event->stage.name);
	add_digest(out, &event->stage.digest);
	add_result(out, &event->command_result);
	if (event->action.type)
		add_action(out, &event->action);
	add_graph(out, &event->graph);
	buf_addch(out, '\n');
}
