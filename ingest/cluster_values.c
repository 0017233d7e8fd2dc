#include "cluster_values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A node and its entry take less; texts come on top. */
#define ARENA_MAX (VALUES_MAX * (sizeof(struct values_node) + 64) + 4 * VALUES_BYTES_MAX)
#define ANCHORS_MAX 1000

struct values_entry {
	struct str key; /* of a map */
	const struct values_node *value;
	struct values_entry *next;
};

struct anchor {
	struct str name;
	const struct values_node *node;
	bool open; /* what it names has not ended yet */
};

/* One file that is being read. */
struct reader {
	struct values *values;
	const char *name;
	struct str text;
	yaml_parser_t parser;
	yaml_event_t event; /* the one that is looked at */
	struct anchor anchors[ANCHORS_MAX];
	size_t anchor_count;
	int depth;
};

/* ---- faults ---- */

static int fault_at(const struct reader *reader, const yaml_mark_t *mark, enum err_kind kind,
		    const char *what, struct err *err)
{
	return err_set(err, kind, "%s:%zu:%zu: %s", reader->name, mark->line + 1, mark->column + 1,
		       what);
}

static int fault(const struct reader *reader, const char *what, struct err *err)
{
	return fault_at(reader, &reader->event.start_mark, ERR_FORMAT, what, err);
}

static int over_limit(const struct reader *reader, const char *what, struct err *err)
{
	return fault_at(reader, &reader->event.start_mark, ERR_LIMIT, what, err);
}

/* A byte that is no text has an offset and no mark. */
static yaml_mark_t mark_of_byte(const struct reader *reader)
{
	size_t end = reader->parser.problem_offset, i;
	yaml_mark_t mark = {0, 0, 0};

	for (i = 0; i < end && i < reader->text.len; i++) {
		mark.column++;
		if (reader->text.data[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static int parser_fault(const struct reader *reader, struct err *err)
{
	const yaml_parser_t *parser = &reader->parser;
	yaml_mark_t mark =
		parser->error == YAML_READER_ERROR ? mark_of_byte(reader) : parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		abort();
	return fault_at(reader, &mark, ERR_FORMAT, parser->problem ? parser->problem : "not YAML",
			err);
}

/* ---- memory ---- */

static void *take(struct reader *reader, size_t size, struct err *err)
{
	void *memory = arena_alloc(&reader->values->arena, size);

	if (!memory)
		over_limit(reader, "the values files hold too much text", err);
	return memory;
}

static int copy_text(struct reader *reader, const void *data, size_t len, struct str *out,
		     struct err *err)
{
	char *copy = take(reader, len + 1, err);

	if (!copy)
		return -1;
	memcpy(copy, data, len);
	copy[len] = '\0';
	*out = (struct str){copy, len};
	return 0;
}

static int count_one(struct reader *reader, struct err *err)
{
	if (reader->values->nodes++ < VALUES_MAX)
		return 0;
	return over_limit(reader, "too many values, with those that << repeats", err);
}

static struct values_node *new_node(struct reader *reader, enum values_kind kind, struct err *err)
{
	struct values_node *node;

	if (count_one(reader, err) < 0)
		return NULL;
	node = take(reader, sizeof(*node), err);
	if (!node)
		return NULL;
	memset(node, 0, sizeof(*node));
	node->kind = kind;
	node->file = reader->name;
	node->line = reader->event.start_mark.line + 1;
	node->column = reader->event.start_mark.column + 1;
	return node;
}

static int add_entry(struct reader *reader, struct values_node *to, struct str key,
		     const struct values_node *value, struct err *err)
{
	struct values_entry *entry = take(reader, sizeof(*entry), err);

	if (!entry)
		return -1;
	*entry = (struct values_entry){key, value, NULL};
	if (to->last)
		to->last->next = entry;
	else
		to->first = entry;
	to->last = entry;
	return 0;
}

/* ---- anchors and aliases ---- */

static int add_anchor(struct reader *reader, const yaml_char_t *name,
		      const struct values_node *node, struct err *err)
{
	struct anchor *anchor;

	if (!name)
		return 0;
	if (reader->anchor_count == ANCHORS_MAX)
		return over_limit(reader, "too many anchors", err);
	anchor = &reader->anchors[reader->anchor_count++];
	*anchor = (struct anchor){STR_NULL, node, true};
	return copy_text(reader, name, strlen((const char *)name), &anchor->name, err);
}

static void close_anchors(struct reader *reader, const struct values_node *node)
{
	size_t i;

	for (i = 0; i < reader->anchor_count; i++)
		if (reader->anchors[i].node == node)
			reader->anchors[i].open = false;
}

/* The last one of that name. */
static int follow_alias(struct reader *reader, const struct values_node **out, struct err *err)
{
	const char *name = (const char *)reader->event.data.alias.anchor;
	size_t i;

	for (i = reader->anchor_count; i-- > 0;) {
		if (!str_is(reader->anchors[i].name, name))
			continue;
		if (reader->anchors[i].open)
			return fault(reader, "an anchor's value contains itself", err);
		*out = reader->anchors[i].node;
		return 0;
	}
	return fault(reader, "an alias of no anchor", err);
}

/* ---- nodes ---- */

static int next_event(struct reader *reader, struct err *err)
{
	yaml_event_delete(&reader->event);
	return yaml_parser_parse(&reader->parser, &reader->event) ? 0 : parser_fault(reader, err);
}

static int read_node(struct reader *reader, const struct values_node **out, struct err *err);

static bool is_null(struct str text)
{
	return text.len == 0 || str_is(text, "~") || str_is(text, "null") || str_is(text, "Null") ||
	       str_is(text, "NULL");
}

static int read_scalar(struct reader *reader, const struct values_node **out, struct err *err)
{
	bool plain = reader->event.data.scalar.plain_implicit &&
		     reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct values_node *node = new_node(reader, VALUES_SCALAR, err);

	if (!node || copy_text(reader, reader->event.data.scalar.value,
			       reader->event.data.scalar.length, &node->text, err) < 0)
		return -1;
	node->plain = plain;
	if (plain && is_null(node->text))
		node->kind = VALUES_NULL;
	*out = node;
	if (add_anchor(reader, reader->event.data.scalar.anchor, node, err) < 0)
		return -1;
	close_anchors(reader, node);
	return 0;
}

static int merge_map(struct reader *reader, struct values_node *to, const struct values_node *from,
		     struct err *err)
{
	const struct values_entry *entry;

	if (from->kind != VALUES_MAP)
		return fault(reader, "<< wants a map, or a list of maps", err);
	for (entry = from->first; entry; entry = entry->next)
		if (count_one(reader, err) < 0 ||
		    add_entry(reader, to, entry->key, entry->value, err) < 0)
			return -1;
	return 0;
}

/* Of a list the first map has the last word. */
static int merge_list(struct reader *reader, struct values_node *to,
		      const struct values_entry *item, struct err *err)
{
	const struct values_node *maps[VALUES_FILES_MAX];
	size_t count = 0;

	for (; item; item = item->next) {
		if (count == sizeof(maps) / sizeof(*maps))
			return over_limit(reader, "too many maps for one <<", err);
		maps[count++] = item->value;
	}
	while (count-- > 0)
		if (merge_map(reader, to, maps[count], err) < 0)
			return -1;
	return 0;
}

static int read_entry(struct reader *reader, struct values_node *map, struct err *err)
{
	const struct values_node *key, *value;

	if (read_node(reader, &key, err) < 0)
		return -1;
	if (key->kind != VALUES_SCALAR && key->kind != VALUES_NULL)
		return fault(reader, "a map's key is a list or a map", err);
	if (next_event(reader, err) < 0 || read_node(reader, &value, err) < 0)
		return -1;
	if (!key->plain || !str_is(key->text, "<<"))
		return add_entry(reader, map, key->text, value, err);
	return value->kind == VALUES_LIST ? merge_list(reader, map, value->first, err)
					  : merge_map(reader, map, value, err);
}

static int read_item(struct reader *reader, struct values_node *list, struct err *err)
{
	const struct values_node *item;

	if (read_node(reader, &item, err) < 0)
		return -1;
	return add_entry(reader, list, STR_NULL, item, err);
}

/* A map or a list, to the event that ends it. */
static int read_whole(struct reader *reader, enum values_kind kind, const yaml_char_t *anchor,
		      const struct values_node **out, struct err *err)
{
	yaml_event_type_t end =
		kind == VALUES_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
	struct values_node *node = new_node(reader, kind, err);

	if (!node || add_anchor(reader, anchor, node, err) < 0)
		return -1;
	if (++reader->depth > VALUES_DEPTH_MAX)
		return over_limit(reader, "too many maps and lists inside each other", err);
	while (next_event(reader, err) == 0) {
		if (reader->event.type == end) {
			reader->depth--;
			close_anchors(reader, node);
			*out = node;
			return 0;
		}
		if ((kind == VALUES_MAP ? read_entry : read_item)(reader, node, err) < 0)
			return -1;
	}
	return -1;
}

/* The value that begins with the event looked at. */
static int read_node(struct reader *reader, const struct values_node **out, struct err *err)
{
	const yaml_event_t *event = &reader->event;

	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(reader, out, err);
	if (event->type == YAML_ALIAS_EVENT)
		return follow_alias(reader, out, err);
	if (event->type == YAML_MAPPING_START_EVENT)
		return read_whole(reader, VALUES_MAP, event->data.mapping_start.anchor, out, err);
	return read_whole(reader, VALUES_LIST, event->data.sequence_start.anchor, out, err);
}

/* ---- a file ---- */

/* `root` is what read_node() gave. */
static int check_top(const struct reader *reader, const struct values_node *root, struct err *err)
{
	assert(root);
	if (root->kind == VALUES_MAP || root->kind == VALUES_NULL)
		return 0;
	return err_set(err, ERR_FORMAT, "%s:%zu:%zu: no values file: it holds no map of values",
		       reader->name, root->line, root->column);
}

/* The first document; *out_root NULL where there is none. */
static int read_document(struct reader *reader, const struct values_node **out_root,
			 struct err *err)
{
	*out_root = NULL;
	if (next_event(reader, err) < 0 || next_event(reader, err) < 0)
		return -1;
	if (reader->event.type != YAML_DOCUMENT_START_EVENT)
		return 0;
	if (next_event(reader, err) < 0 || read_node(reader, out_root, err) < 0 ||
	    check_top(reader, *out_root, err) < 0)
		return -1;
	return next_event(reader, err);
}

/* Whatever follows, also if it is no YAML: Helm does not see it. */
static bool more_follows(struct reader *reader)
{
	struct err ignored = ERR_INIT;

	return reader->event.type == YAML_DOCUMENT_END_EVENT &&
	       (next_event(reader, &ignored) < 0 || reader->event.type != YAML_STREAM_END_EVENT);
}

static int read_text(struct values *values, const char *name, struct str text, struct err *err)
{
	struct reader reader = {.values = values, .name = name, .text = text};
	const struct values_node *root;
	int rc;

	if (!yaml_parser_initialize(&reader.parser))
		abort();
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text.data, text.len);
	rc = read_document(&reader, &root, err);
	if (rc == 0 && more_follows(&reader))
		values->later = name;
	if (rc == 0 && root && root->kind == VALUES_MAP)
		values->roots[values->count++] = root;
	yaml_event_delete(&reader.event);
	yaml_parser_delete(&reader.parser);
	return rc;
}

int values_add(struct values *values, const char *name, struct str text, struct err *err)
{
	if (values->count == VALUES_FILES_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d values files", name,
			       VALUES_FILES_MAX);
	values->bytes += text.len;
	if (values->bytes > VALUES_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s: values files of more than %zu bytes", name,
			       VALUES_BYTES_MAX);
	return read_text(values, name, text, err);
}

void values_init(struct values *values)
{
	memset(values, 0, sizeof(*values));
	arena_init(&values->arena, ARENA_MAX);
}

void values_release(struct values *values)
{
	arena_release(&values->arena);
}

/* ---- looking up ---- */

void values_top(const struct values *values, struct values_place *out)
{
	size_t i;

	out->count = 0;
	for (i = values->count; i-- > 0;)
		out->nodes[out->count++] = values->roots[i];
}

static const struct values_node *find(const struct values_node *map, struct str key)
{
	const struct values_node *found = NULL;
	const struct values_entry *entry;

	for (entry = map->first; entry; entry = entry->next)
		if (str_equal(entry->key, key))
			found = entry->value;
	return found;
}

/* From the last file on: maps add up until a file has something else there, which hides the rest.
 */
void values_get(const struct values_place *place, struct str key, struct values_place *out)
{
	struct values_place found = {.count = 0};
	size_t i;

	for (i = 0; values_is_map(place) && i < place->count; i++) {
		const struct values_node *node = find(place->nodes[i], key);

		if (!node)
			continue;
		if (node->kind == VALUES_MAP)
			found.nodes[found.count++] = node;
		else if (node->kind != VALUES_NULL && !found.count)
			found.nodes[found.count++] = node;
		if (node->kind != VALUES_MAP)
			break;
	}
	*out = found;
}

bool values_is_map(const struct values_place *place)
{
	return place->count && place->nodes[0]->kind == VALUES_MAP;
}

int values_each(const struct values_place *place, values_key_fn *fn, void *context, struct err *err)
{
	const struct values_entry *entry;
	size_t i;
	int rc = 0;

	for (i = values_is_map(place) ? place->count : 0; rc == 0 && i-- > 0;)
		for (entry = place->nodes[i]->first; rc == 0 && entry; entry = entry->next)
			rc = fn(context, entry->key, err);
	return rc;
}
