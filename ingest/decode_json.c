#include "decode_internal.h"
#include "decode_rules.h"
#include "util/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- first step: the head ---------------------------------------------------- */

/* The beginning of a line; a walk that meets its end cannot tell. */
struct scan {
	const char *at, *end;
};

static bool take(struct scan *scan, char c)
{
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

/* A string without its quotes; escapes stay as they are: no name of ours holds any. */
static bool take_string(struct scan *scan, struct str *out_text)
{
	const char *start;

	if (!take(scan, '"'))
		return false;
	for (start = scan->at; scan->at < scan->end && *scan->at != '"'; scan->at++)
		if (*scan->at == '\\' && ++scan->at == scan->end)
			return false;
	*out_text = (struct str){start, (size_t)(scan->at - start)};
	return take(scan, '"');
}

/* Numbers, literals, and what is between brackets. */
static bool skip_value(struct scan *scan)
{
	unsigned int depth = 0;
	struct str text;

	for (; scan->at < scan->end; scan->at++) {
		switch (*scan->at) {
		case '"':
			if (!take_string(scan, &text))
				return false;
			scan->at--;
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (!depth)
				return true;
			depth--;
			break;
		case ',':
			if (!depth)
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

/* In an object, behind "{" or ",": the member's name; the scan stands before its value. */
static bool take_name(struct scan *scan, struct str *out_name)
{
	return take_string(scan, out_name) && take(scan, ':');
}

static bool is_named(const struct shape_row *row, struct str name)
{
	return str_is(name, row->name) || (row->older && str_is(name, row->older));
}

/* The row that a member's name, or a variant in the oneof of that name, leads to. */
static const struct shape_row *find_member(const struct shape *shape, struct str oneof,
					   struct str name)
{
	uint32_t i;

	for (i = 0; i < shape->count; i++) {
		const struct shape_row *row = shape_find(shape, i);
		bool is_variant = row && row->oneof;

		if (row && is_named(row, name) && is_variant == (oneof.data != NULL) &&
		    (!is_variant || str_is(oneof, row->oneof)))
			return row;
	}
	return NULL;
}

static bool is_oneof(const struct shape *shape, struct str name)
{
	uint32_t i;

	for (i = 0; i < shape->count; i++) {
		const struct shape_row *row = shape_find(shape, i);

		if (row && row->oneof && str_is(name, row->oneof))
			return true;
	}
	return false;
}

/* The scan stands before an object that is read by `shape`. */
static enum decode_want route(const struct shape *shape, struct scan scan)
{
	struct str name, oneof;

	if (!take(&scan, '{'))
		return DECODE_WANT;
	while (take_name(&scan, &name)) {
		const struct shape_row *row;

		oneof = STR_NULL;
		if (is_oneof(shape, name)) {
			oneof = name;
			if (!take(&scan, '{') || !take_name(&scan, &name))
				return DECODE_WANT;
		}
		row = find_member(shape, oneof, name);
		if (row && row->shape)
			return row->shape->is_route ? route(row->shape, scan) : DECODE_WANT;
		if (oneof.data)
			return DECODE_SKIP; /* a variant that we do not know, or do not keep */
		if (!skip_value(&scan) || !take(&scan, ','))
			return DECODE_WANT;
	}
	return DECODE_WANT;
}

enum decode_want json_wants(const uint8_t *head, size_t head_len)
{
	return route(&shape_progress,
		     (struct scan){(const char *)head, (const char *)head + head_len});
}

/* ---- second step: the line ------------------------------------------------------ */

/*
 * jansson takes some 40 bytes a value, so a hostile line of the largest size
 * could take half a gigabyte. Each value but the first follows one of these.
 */
#define VALUES_MAX ((size_t)1 << 20)

struct json_line {
	json_t *root;
};

struct json_line *json_line_new(void)
{
	return xcalloc(1, sizeof(struct json_line));
}

void json_line_free(struct json_line *line)
{
	if (!line)
		return;
	json_decref(line->root);
	free(line);
}

static bool has_too_many_values(const uint8_t *data, size_t len)
{
	size_t count = 0, i;

	for (i = 0; len > VALUES_MAX && i < len; i++)
		count += data[i] == ',' || data[i] == '[' || data[i] == '{';
	return count > VALUES_MAX;
}

static int malformed(const struct shape_row *row, struct err *err)
{
	return err_set(err, ERR_FORMAT, "JSON of an unexpected kind in \"%s\"", row->name);
}

static int exhausted(struct err *err)
{
	return err_set(err, ERR_LIMIT, "record with more parts than are read");
}

static struct str text_of(const json_t *value)
{
	return (struct str){json_string_value(value), json_string_length(value)};
}

/* [seconds, nanoseconds] */
static int read_time(int64_t *target, const json_t *value)
{
	const json_t *seconds = json_array_get(value, 0), *nanos = json_array_get(value, 1);

	if (!json_is_integer(seconds) || !json_is_integer(nanos))
		return -1;
	*target = rules_time_ns(json_integer_value(seconds), json_integer_value(nanos));
	return 0;
}

static int read_number(void *target, enum shape_type type, int64_t value)
{
	if (type == SHAPE_NONZERO)
		*(int64_t *)target = value > 0 ? value : UNKNOWN;
	else if (type == SHAPE_ID)
		*(uint64_t *)target = (uint64_t)value;
	else if (type == SHAPE_IDS)
		rules_set_first(target, (uint64_t)value);
	else if (type == SHAPE_BOOL)
		*(bool *)target = value != 0;
	else if (type == SHAPE_SIZE)
		*(int64_t *)target = value < 0 ? UNKNOWN : value;
	else if (type == SHAPE_INT || type == SHAPE_ENUM || type == SHAPE_ZIGZAG ||
		 type == SHAPE_DURATION)
		*(int64_t *)target = value;
	else
		return -1;
	return 0;
}

static int read_string(void *target, const struct shape_row *row, struct str text)
{
	if (row->type == SHAPE_TEXT || row->type == SHAPE_TEXTS)
		rules_set_text(target, text.data, text.len);
	else if (row->type == SHAPE_DIGEST)
		rules_set_digest(target, text);
	else if (row->type == SHAPE_ENUM)
		*(int64_t *)target = rules_action_kind(text);
	else
		return -1;
	return 0;
}

static int read_object(struct shape_sink *sink, const struct shape *shape, void *around,
		       const json_t *object, struct err *err);

/* What is no array and no map. */
static int read_one(struct shape_sink *sink, const struct shape_row *row, void *around,
		    const json_t *value, struct err *err)
{
	void *target = shape_enter_row(sink, around, row);
	int rc = -1;

	if (!target)
		return exhausted(err);
	if (row->type == SHAPE_MESSAGE && json_is_object(value))
		return read_object(sink, row->shape, target, value, err);
	if (row->type == SHAPE_NAME) {
		*(struct str *)target = str_of(row->text);
		return 0;
	}
	if (row->type == SHAPE_TIME)
		rc = read_time(target, value);
	else if (json_is_string(value))
		rc = read_string(target, row, text_of(value));
	else if (json_is_integer(value))
		rc = read_number(target, row->type, json_integer_value(value));
	else if (json_is_boolean(value))
		rc = read_number(target, row->type, json_is_true(value));
	return rc < 0 ? malformed(row, err) : 0;
}

static int read_array(struct shape_sink *sink, const struct shape_row *row, void *around,
		      const json_t *array, struct err *err)
{
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		if (read_one(sink, row, around, json_array_get(array, i), err) < 0)
			return -1;
	return 0;
}

static int read_map(struct shape_sink *sink, const struct shape_row *row, void *around, json_t *map,
		    struct err *err)
{
	const char *key;
	size_t key_len;
	json_t *value;

	json_object_keylen_foreach(map, key, key_len, value)
	{
		struct property *entry = shape_enter_row(sink, around, row);

		if (!entry)
			return exhausted(err);
		if (!json_is_string(value))
			return malformed(row, err);
		rules_set_text(&entry->name, key, key_len);
		rules_set_text(&entry->value, json_string_value(value), json_string_length(value));
	}
	return 0;
}

static int read_member(struct shape_sink *sink, const struct shape_row *row, void *around,
		       json_t *value, struct err *err)
{
	if (!value || json_is_null(value))
		return 0;
	if (row->type == SHAPE_MAP)
		return read_map(sink, row, around, value, err);
	if (json_is_array(value) &&
	    (row->type == SHAPE_MESSAGE || row->type == SHAPE_TEXTS || row->type == SHAPE_IDS))
		return read_array(sink, row, around, value, err);
	return read_one(sink, row, around, value, err);
}

static json_t *find_value(const json_t *object, const struct shape_row *row)
{
	const json_t *holder = row->oneof ? json_object_get(object, row->oneof) : object;
	json_t *value = json_object_get(holder, row->name);

	return value || !row->older ? value : json_object_get(holder, row->older);
}

/* Goes as deep as the tables do, whatever the input. */
static int read_object(struct shape_sink *sink, const struct shape *shape, void *around,
		       const json_t *object, struct err *err)
{
	uint32_t i;

	for (i = 0; i < shape->count; i++) {
		const struct shape_row *row = shape_find(shape, i);

		if (row && read_member(sink, row, around, find_value(object, row), err) < 0)
			return -1;
	}
	return 0;
}

/* {"Event":…}, {"Result":…}, or the Invocation's members without a tag. */
static int read_root(struct shape_sink *sink, const json_t *root, struct err *err)
{
	if (json_object_get(root, "Event") || json_object_get(root, "Result"))
		return read_object(sink, &shape_progress, sink->event, root, err);
	if (!json_object_get(root, "trace_id") && !json_object_get(root, "command_line_args"))
		return err_set(err, ERR_FORMAT, "JSON that is no record of Buck2's log");
	sink->event->kind = EVENT_INVOCATION;
	return read_object(sink, &shape_invocation, sink->event, root, err);
}

int json_read(struct json_line *line, struct shape_sink *sink, const uint8_t *data, size_t len,
	      struct err *err)
{
	json_error_t error;

	json_decref(line->root);
	line->root = NULL;
	if (has_too_many_values(data, len))
		return exhausted(err);
	line->root = json_loadb((const char *)data, len, JSON_ALLOW_NUL, &error);
	if (!line->root)
		return err_set(err, ERR_FORMAT, "malformed JSON: %s", error.text);
	return read_root(sink, line->root, err);
}
