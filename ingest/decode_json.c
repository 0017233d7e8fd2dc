#include "decode_internal.h"
#include "decode_rules.h"
#include "util/json_scan.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/*
 * Lines are read where they lie, by the tables. A tree of each line was measured
 * first (jansson): 46 MB/s, no faster than jq. A text is borrowed from the line; one
 * that holds escapes is written out into the arena.
 */

/* ---- names ---- */

/* What a name in an object leads to; neither: nothing that we read. */
struct member {
	const struct shape_row *row;
	const char *oneof; /* the member holds one variant of this oneof */
};

#define NAME_MAX_KEPT 31
#define KNOWN_COUNT 512 /* a power of two; Buck2's logs hold some 150 */

/* The same few names come in every line: each is looked for in its table once. */
struct known {
	const struct shape *shape; /* NULL: free */
	const char *oneof;
	struct member member;
	unsigned char len;
	char name[NAME_MAX_KEPT];
};

struct json_line {
	struct known known[KNOWN_COUNT];
};

struct json_line *json_line_new(void)
{
	return xcalloc(1, sizeof(struct json_line));
}

void json_line_free(struct json_line *line)
{
	free(line);
}

static bool is_named(const struct shape_row *row, struct str name)
{
	return str_is(name, row->name) || (row->older && str_is(name, row->older));
}

/* `oneof`: the name is that of one of its variants; NULL: of a member. */
static struct member search(const struct shape *shape, const char *oneof, struct str name)
{
	struct member member = {NULL, NULL};
	uint32_t i;

	for (i = 0; i < shape->count; i++) {
		const struct shape_row *row = shape_find(shape, i);

		if (!row)
			continue;
		if (oneof ? row->oneof && strcmp(oneof, row->oneof) == 0 : !row->oneof) {
			if (is_named(row, name))
				return (struct member){row, NULL};
		} else if (!oneof && str_is(name, row->oneof)) {
			member.oneof = row->oneof;
		}
	}
	return member;
}

/* Where to look first. Names that begin, end and have their middle in common are rare. */
static size_t place_of(const struct shape *shape, const char *oneof, struct str name)
{
	uint64_t key = (uint64_t)(unsigned char)name.data[0] |
		       (uint64_t)(unsigned char)name.data[name.len / 2] << 8 |
		       (uint64_t)(unsigned char)name.data[name.len - 1] << 16 | name.len << 24;

	key ^= (uint64_t)(uintptr_t)shape << 20 ^ (uint64_t)(uintptr_t)oneof;
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static bool is_known(const struct known *known, const struct shape *shape, const char *oneof,
		     struct str name)
{
	return known->shape == shape && known->oneof == oneof && known->len == name.len &&
	       memcmp(known->name, name.data, name.len) == 0;
}

static struct member find(struct json_line *line, const struct shape *shape, const char *oneof,
			  struct str name)
{
	struct known *known;
	size_t place, i;

	if (!name.len || name.len > NAME_MAX_KEPT)
		return search(shape, oneof, name);
	place = place_of(shape, oneof, name);
	for (i = 0; i < 4; i++) {
		known = &line->known[(place + i) % KNOWN_COUNT];
		if (is_known(known, shape, oneof, name))
			return known->member;
		if (!known->shape)
			break;
	}
	known->shape = shape;
	known->oneof = oneof;
	known->len = (unsigned char)name.len;
	memcpy(known->name, name.data, name.len);
	known->member = search(shape, oneof, name);
	return known->member;
}

/* ---- first step: the head ---- */

/* The scan stands before an object that is read by `shape`; where it ends early we cannot tell. */
static enum decode_want route(struct json_line *line, const struct shape *shape,
			      struct json_scan scan)
{
	bool first = true;
	struct str name;

	while (json_scan_member(&scan, &first, &name) > 0) {
		struct member member = find(line, shape, NULL, name);
		bool is_variant = member.oneof != NULL;

		if (is_variant) {
			first = true;
			if (json_scan_member(&scan, &first, &name) <= 0)
				return DECODE_WANT;
			member = find(line, shape, member.oneof, name);
		}
		if (member.row && member.row->shape) {
			shape = member.row->shape;
			if (!shape->is_route)
				return DECODE_WANT;
			first = true;
		} else if (is_variant) {
			return DECODE_SKIP; /* a variant that we do not know, or do not keep */
		} else if (!json_scan_skip(&scan)) {
			return DECODE_WANT;
		}
	}
	return DECODE_WANT;
}

enum decode_want json_wants(struct json_line *line, const uint8_t *head, size_t head_len)
{
	return route(line, &shape_progress,
		     (struct json_scan){(const char *)head, (const char *)head + head_len});
}

/* ---- second step: the line ---- */

/* What is read, into what. */
struct line_reader {
	struct json_line *line;
	struct shape_sink *sink;
	struct json_scan scan;
	const char *start;
	struct err *err;
};

static int broken(const struct line_reader *read)
{
	return err_set(read->err, ERR_FORMAT, "malformed JSON at byte %zu",
		       (size_t)(read->scan.at - read->start));
}

static int skip(struct line_reader *read)
{
	return json_scan_skip(&read->scan) ? 0 : broken(read);
}

static int malformed(const struct line_reader *read, const struct shape_row *row)
{
	return err_set(read->err, ERR_FORMAT, "JSON of an unexpected kind in \"%s\"", row->name);
}

static int exhausted(const struct line_reader *read)
{
	return err_set(read->err, ERR_LIMIT, "record with more parts than are read");
}

static int read_text(struct line_reader *read, struct str *out)
{
	struct str raw;
	ptrdiff_t len;
	char *text;

	if (!json_scan_string(&read->scan, &raw))
		return broken(read);
	*out = raw;
	if (!json_is_escaped(raw))
		return 0;
	text = arena_alloc(read->sink->arena, raw.len);
	if (!text)
		return exhausted(read);
	len = json_unescape(raw, text);
	if (len < 0)
		return broken(read);
	*out = (struct str){text, (size_t)len};
	return 0;
}

/* A number as a text, which is how protobuf's own JSON has those of 64 bits. */
static bool number_of(struct str text, struct json_number *out_number)
{
	struct json_scan scan = {text.data, text.data + text.len};

	return json_scan_number(&scan, out_number) && scan.at == scan.end;
}

/* As a number, or as a text. */
static bool read_digits(struct line_reader *read, struct json_number *out_number)
{
	struct str text;

	if (json_scan_kind(&read->scan) != JSON_KIND_STRING)
		return json_scan_number(&read->scan, out_number);
	return json_scan_string(&read->scan, &text) && number_of(text, out_number);
}

/* [seconds, nanoseconds] */
static bool read_time(struct line_reader *read, int64_t *target)
{
	struct json_number parts[2];
	bool first = true, fits = true;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (json_scan_element(&read->scan, &first) <= 0 || !read_digits(read, &parts[i]))
			return false;
		fits &= parts[i].kind == JSON_NUMBER_SIGNED;
	}
	if (json_scan_element(&read->scan, &first) != 0)
		return false;
	*target = fits ? rules_time_ns(parts[0].value, parts[1].value) : UNKNOWN;
	return true;
}

/* What does not fit is unknown: of a record that has it the rest is worth as much. */
static int read_number(void *target, enum shape_type type, const struct json_number *number)
{
	bool is_signed = number->kind == JSON_NUMBER_SIGNED;
	int64_t value = number->value;

	if (type == SHAPE_NONZERO)
		*(int64_t *)target = is_signed && value > 0 ? value : UNKNOWN;
	else if (type == SHAPE_ID)
		*(uint64_t *)target = (uint64_t)value;
	else if (type == SHAPE_IDS)
		rules_set_first(target, (uint64_t)value);
	else if (type == SHAPE_BOOL)
		*(bool *)target = value != 0;
	else if (type == SHAPE_SIZE)
		*(int64_t *)target = is_signed && value >= 0 ? value : UNKNOWN;
	else if (type == SHAPE_INT || type == SHAPE_ENUM || type == SHAPE_ZIGZAG ||
		 type == SHAPE_DURATION)
		*(int64_t *)target = is_signed ? value : UNKNOWN;
	else
		return -1;
	return 0;
}

static int read_string(void *target, const struct shape_row *row, struct str text)
{
	struct json_number number;

	if (row->type == SHAPE_TEXT || row->type == SHAPE_TEXTS)
		rules_set_text(target, text.data, text.len);
	else if (row->type == SHAPE_DIGEST)
		rules_set_digest(target, text);
	else if (row->type == SHAPE_ENUM)
		*(int64_t *)target = rules_action_kind(text);
	else
		return number_of(text, &number) ? read_number(target, row->type, &number) : -1;
	return 0;
}

static int read_object(struct line_reader *read, const struct shape *shape, void *around);

static int read_plain(struct line_reader *read, const struct shape_row *row, void *target)
{
	struct str text = STR_NULL;
	struct json_number number;
	bool flag = false;
	int rc = -1;

	switch (json_scan_kind(&read->scan)) {
	case JSON_KIND_STRING:
		if (read_text(read, &text) < 0)
			return -1;
		rc = read_string(target, row, text);
		break;
	case JSON_KIND_NUMBER:
		if (json_scan_number(&read->scan, &number))
			rc = read_number(target, row->type, &number);
		break;
	case JSON_KIND_BOOL:
		if (!json_scan_bool(&read->scan, &flag))
			return broken(read);
		number = (struct json_number){JSON_NUMBER_SIGNED, flag};
		rc = read_number(target, row->type, &number);
		break;
	case JSON_KIND_NONE:
		return broken(read);
	case JSON_KIND_OBJECT:
	case JSON_KIND_ARRAY:
	case JSON_KIND_NULL:
		break;
	}
	return rc < 0 ? malformed(read, row) : 0;
}

/* What is no array and no map. */
static int read_one(struct line_reader *read, const struct shape_row *row, void *around)
{
	void *target = shape_enter_row(read->sink, around, row);

	if (!target)
		return exhausted(read);
	if (row->type == SHAPE_MESSAGE && json_scan_kind(&read->scan) == JSON_KIND_OBJECT)
		return read_object(read, row->shape, target);
	if (row->type == SHAPE_NAME) {
		*(struct str *)target = str_of(row->text);
		return skip(read);
	}
	if (row->type == SHAPE_TIME)
		return read_time(read, target) ? 0 : malformed(read, row);
	return read_plain(read, row, target);
}

static int read_array(struct line_reader *read, const struct shape_row *row, void *around)
{
	bool first = true;
	int rc;

	while ((rc = json_scan_element(&read->scan, &first)) > 0)
		if (read_one(read, row, around) < 0)
			return -1;
	return rc < 0 ? broken(read) : 0;
}

static int read_map(struct line_reader *read, const struct shape_row *row, void *around)
{
	bool first = true;
	struct str name;
	int rc;

	while ((rc = json_scan_member(&read->scan, &first, &name)) > 0) {
		struct property *entry = shape_enter_row(read->sink, around, row);
		struct str value = STR_NULL;

		if (!entry)
			return exhausted(read);
		if (json_scan_kind(&read->scan) != JSON_KIND_STRING)
			return malformed(read, row);
		if (read_text(read, &value) < 0)
			return -1;
		rules_set_text(&entry->name, name.data, name.len);
		rules_set_text(&entry->value, value.data, value.len);
	}
	return rc < 0 ? broken(read) : 0;
}

static int read_value(struct line_reader *read, const struct shape_row *row, void *around)
{
	enum json_kind kind = json_scan_kind(&read->scan);

	if (kind == JSON_KIND_NULL)
		return skip(read);
	if (row->type == SHAPE_MAP)
		return kind == JSON_KIND_OBJECT ? read_map(read, row, around) : skip(read);
	if (kind == JSON_KIND_ARRAY &&
	    (row->type == SHAPE_MESSAGE || row->type == SHAPE_TEXTS || row->type == SHAPE_IDS))
		return read_array(read, row, around);
	return read_one(read, row, around);
}

/* {"Variant":…}, or null. */
static int read_oneof(struct line_reader *read, const struct shape *shape, const char *oneof,
		      void *around)
{
	bool first = true;
	struct str name;
	int rc;

	if (json_scan_kind(&read->scan) != JSON_KIND_OBJECT)
		return skip(read);
	while ((rc = json_scan_member(&read->scan, &first, &name)) > 0) {
		const struct shape_row *row = find(read->line, shape, oneof, name).row;

		if ((row ? read_value(read, row, around) : skip(read)) < 0)
			return -1;
	}
	return rc < 0 ? broken(read) : 0;
}

/* Goes as deep as the tables do, whatever the input. */
static int read_object(struct line_reader *read, const struct shape *shape, void *around)
{
	bool first = true;
	struct str name;
	int rc;

	while ((rc = json_scan_member(&read->scan, &first, &name)) > 0) {
		struct member member = find(read->line, shape, NULL, name);

		if (member.oneof)
			rc = read_oneof(read, shape, member.oneof, around);
		else
			rc = member.row ? read_value(read, member.row, around) : skip(read);
		if (rc < 0)
			return -1;
	}
	return rc < 0 ? broken(read) : 0;
}

/* serde writes a variant of CommandProgress in CamelCase, and nothing beside it. */
static bool is_variant(size_t members, struct str name)
{
	return members == 1 && name.len && name.data[0] >= 'A' && name.data[0] <= 'Z';
}

/*
 * {"Event":…}, {"Result":…}, or the Invocation's members without a tag: the first name
 * that is one of these decides. Another variant is a record of a kind that came later.
 */
static int find_root(struct line_reader *read, bool *out_is_invocation)
{
	struct json_scan start = read->scan;
	bool first = true, is_progress = false;
	struct str name = STR("");
	size_t members = 0;
	int rc;

	*out_is_invocation = false;
	while ((rc = json_scan_member(&read->scan, &first, &name)) > 0) {
		is_progress = find(read->line, &shape_progress, NULL, name).row != NULL;
		*out_is_invocation = str_is(name, "trace_id") || str_is(name, "command_line_args");
		if (is_progress || *out_is_invocation)
			break;
		members++;
		if (skip(read) < 0)
			return -1;
	}
	if (rc < 0)
		return broken(read);
	if (rc == 0 && !is_variant(members, name))
		return err_set(read->err, ERR_FORMAT, "JSON that is no record of Buck2's log");
	read->scan = start;
	return 0;
}

static int read_root(struct line_reader *read)
{
	struct event *event = read->sink->event;
	bool is_invocation;

	if (find_root(read, &is_invocation) < 0)
		return -1;
	if (is_invocation)
		rules_set_kind(read->sink, EVENT_INVOCATION);
	if (read_object(read, is_invocation ? &shape_invocation : &shape_progress, event) < 0)
		return -1;
	return json_scan_ended(&read->scan) ? 0 : broken(read);
}

int json_read(struct json_line *line, struct shape_sink *sink, const uint8_t *data, size_t len,
	      struct err *err)
{
	const char *start = (const char *)data;
	struct line_reader read = {line, sink, {start, start + len}, start, err};

	return read_root(&read);
}
