#include "rows.h"

#include <stdint.h>
#include <string.h>

void rows_init(struct rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	/* What goes in was bounded before: a record's own size, and decode.h's arena. */
	arena_init(&rows->arena, SIZE_MAX);
}

void rows_release(struct rows *rows)
{
	arena_release(&rows->arena);
	rows_init(rows);
}

void rows_move(struct rows *to, struct rows *from)
{
	*to = *from;
	rows_init(from);
}

size_t rows_bytes(const struct rows *rows)
{
	return rows->arena.used;
}

static struct log_row *add(struct rows *rows, enum row_kind kind)
{
	struct log_row *row = arena_alloc(&rows->arena, sizeof(*row));

	row->kind = kind;
	row->next = NULL;
	if (rows->last)
		rows->last->next = row;
	else
		rows->first = row;
	rows->last = row;
	rows->count++;
	return row;
}

/* ---- copies ----------------------------------------------------------------------- */

static void *copy(struct rows *rows, const void *data, size_t size)
{
	void *mine = size ? arena_alloc(&rows->arena, size) : NULL;

	if (size)
		memcpy(mine, data, size);
	return mine;
}

static const char *copy_string(struct rows *rows, const char *text)
{
	return text ? copy(rows, text, strlen(text) + 1) : NULL;
}

/* An empty text stays one: it is not NULL. */
static void keep(struct rows *rows, struct str *text)
{
	if (text->len)
		text->data = copy(rows, text->data, text->len);
	else if (text->data)
		text->data = "";
}

/* At most ROWS_TEXT_MAX bytes and *left, to the end of a character; fewer are left then. */
static void keep_begin(struct rows *rows, struct str *text, size_t *left)
{
	size_t max = *left < ROWS_TEXT_MAX ? *left : ROWS_TEXT_MAX;

	if (text->len > max) {
		text->len = max;
		while (text->len && ((unsigned char)text->data[text->len] & 0xc0) == 0x80)
			text->len--;
	}
	*left -= text->len;
	keep(rows, text);
}

static void keep_name(struct rows *rows, struct action_name *name, size_t *left)
{
	keep_begin(rows, &name->buck_package, left);
	keep_begin(rows, &name->target, left);
	keep_begin(rows, &name->category, left);
	keep_begin(rows, &name->identifier, left);
	keep_begin(rows, &name->configuration, left);
}

/* Those that fit whole: half a value would be another one. */
static void keep_properties(struct rows *rows, struct attempt *attempt, size_t *left)
{
	const struct property *given = attempt->properties;
	size_t i;

	for (i = 0; i < attempt->property_count; i++) {
		size_t size = sizeof(*given) + given[i].name.len + given[i].value.len;

		if (size > *left)
			break;
		*left -= size;
	}
	attempt->property_count = i;
	attempt->properties = copy(rows, given, i * sizeof(*given));
	for (i = 0; i < attempt->property_count; i++) {
		keep(rows, &attempt->properties[i].name);
		keep(rows, &attempt->properties[i].value);
	}
}

/* No more of it than is stored: it can be nearly all of a record of the largest size. */
static void keep_stderr(struct rows *rows, struct attempt *attempt, size_t *left)
{
	struct str tail = attempt->stderr_clean.data ? attempt->stderr_clean : attempt->stderr_text;
	size_t max = *left < STORE_STDERR_MAX ? *left : STORE_STDERR_MAX;

	attempt->stderr_bytes = (int64_t)attempt->stderr_text.len;
	if (tail.len > max) {
		tail.data += tail.len - max;
		tail.len = max;
	}
	*left -= tail.len;
	attempt->stderr_text = tail;
	attempt->stderr_clean = STR_NULL;
	keep(rows, &attempt->stderr_text);
}

static void keep_attempt(struct rows *rows, struct attempt *attempt, size_t *left)
{
	keep_begin(rows, &attempt->use_case, left);
	keep_properties(rows, attempt, left);
	keep_begin(rows, &attempt->error_stage, left);
	keep_begin(rows, &attempt->error_text, left);
	keep_stderr(rows, attempt, left);
	keep_begin(rows, &attempt->additional_message, left);
}

static void keep_action(struct rows *rows, struct action *action)
{
	size_t left = ROWS_ROW_MAX, i;

	keep_name(rows, &action->name, &left);
	keep_begin(rows, &action->error_text, &left);
	keep_begin(rows, &action->rule_type, &left);
	keep_begin(rows, &action->host, &left);
	keep_begin(rows, &action->dep_file_key, &left);
	keep_begin(rows, &action->suite, &left);
	action->attempts =
		copy(rows, action->attempts, action->attempt_count * sizeof(*action->attempts));
	for (i = 0; i < action->attempt_count; i++)
		keep_attempt(rows, &action->attempts[i], &left);
}

static void keep_path(struct rows *rows, struct path *path)
{
	size_t left = ROWS_ROW_MAX, i;

	path->steps = copy(rows, path->steps, path->count * sizeof(*path->steps));
	for (i = 0; i < path->count; i++) {
		keep_name(rows, &path->steps[i].name, &left);
		keep_begin(rows, &path->steps[i].detail, &left);
		keep_begin(rows, &path->steps[i].rule_type, &left);
	}
}

static void keep_facts(struct rows *rows, struct run_facts *facts)
{
	struct str *texts[] = {
		&facts->trace_id,	&facts->command,     &facts->argv_json,
		&facts->working_dir,	&facts->host,	     &facts->os,
		&facts->os_version,	&facts->arch,	     &facts->user,
		&facts->buck2_revision, &facts->daemon_uuid, &facts->revision,
		&facts->error,
	};
	size_t left = ROWS_ROW_MAX, i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		keep_begin(rows, texts[i], &left);
}

static void keep_choice(struct rows *rows, struct instance_choice *choice)
{
	choice->cache = copy_string(rows, choice->cache);
	choice->name = copy_string(rows, choice->name);
	choice->source = copy_string(rows, choice->source);
}

/* ---- rows ------------------------------------------------------------------------- */

void rows_add_run(struct rows *rows, const struct run_facts *facts, const struct sighting *sighting)
{
	struct run_row *run = &add(rows, ROW_RUN)->run;

	run->facts = *facts;
	keep_facts(rows, &run->facts);
	run->sighting = *sighting;
	run->sighting.path = copy_string(rows, sighting->path);
	run->sighting.project = copy_string(rows, sighting->project);
	run->sighting.isolation_dir = copy_string(rows, sighting->isolation_dir);
}

void rows_add_config(struct rows *rows, const struct config_value *values, size_t count)
{
	struct config_row *config = &add(rows, ROW_CONFIG)->config;
	size_t i;

	config->values = copy(rows, values, count * sizeof(*values));
	config->count = count;
	for (i = 0; i < count; i++) {
		keep(rows, &config->values[i].cell);
		keep(rows, &config->values[i].section);
		keep(rows, &config->values[i].key);
		keep(rows, &config->values[i].value);
	}
}

void rows_add_instance(struct rows *rows, const struct instance_choice *choice, bool if_none)
{
	struct instance_row *instance = &add(rows, ROW_INSTANCE)->instance;

	instance->choice = *choice;
	instance->if_none = if_none;
	keep_choice(rows, &instance->choice);
}

void rows_add_candidates(struct rows *rows, const struct instance_choice *choices, size_t count)
{
	struct candidates_row *candidates = &add(rows, ROW_CANDIDATES)->candidates;
	size_t i;

	candidates->choices = copy(rows, choices, count * sizeof(*choices));
	candidates->count = count;
	for (i = 0; i < count; i++)
		keep_choice(rows, &candidates->choices[i]);
}

void rows_add_action(struct rows *rows, uint64_t span_id, uint64_t seq, int64_t start_ns,
		     const struct action *action)
{
	struct action_row *row = &add(rows, ROW_ACTION)->action;

	row->span_id = span_id;
	row->seq = seq;
	row->start_ns = start_ns;
	row->action = *action;
	keep_action(rows, &row->action);
}

void rows_add_started(struct rows *rows, const struct started *started)
{
	struct started_row *row = &add(rows, ROW_STARTED)->started;

	row->started = *started;
	row->action = *started->action;
	row->started.action = &row->action;
	keep_action(rows, &row->action);
	keep(rows, &row->started.stage.name);
}

void rows_add_dropped(struct rows *rows, uint64_t span_id)
{
	add(rows, ROW_DROPPED)->dropped = span_id;
}

void rows_add_graph(struct rows *rows, uint64_t seq, const struct build_graph *graph)
{
	struct graph_row *row = &add(rows, ROW_GRAPH)->graph;

	row->seq = seq;
	row->graph = *graph;
	keep_path(rows, &row->graph.paths[PATH_CRITICAL]);
	keep_path(rows, &row->graph.paths[PATH_SLOWEST]);
}

void rows_add_run_end(struct rows *rows)
{
	add(rows, ROW_RUN_END);
}
