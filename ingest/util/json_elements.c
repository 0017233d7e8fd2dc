#include "util/json_elements.h"

#include <string.h>

/* Longer keys are none of a path's. */
#define KEY_MAX 64

void json_elements_init(struct json_elements *e, const char *const *path, size_t max,
			json_element_fn *fn, void *context)
{
	*e = (struct json_elements){.path = path, .max = max, .fn = fn, .context = context};
	buf_init(&e->element);
	buf_init(&e->rest);
	buf_init(&e->key);
}

void json_elements_release(struct json_elements *e)
{
	buf_release(&e->element);
	buf_release(&e->rest);
	buf_release(&e->key);
}

static bool in_array(const struct json_elements *e)
{
	return e->array_depth > 0;
}

/* Directly in the object whose key would lead further on the path? */
static bool at_path(const struct json_elements *e)
{
	return !in_array(e) && e->depth == e->matched + 1;
}

static bool is_last_key(const struct json_elements *e)
{
	return !e->path[e->matched + 1];
}

static bool is_blank(const struct buf *text)
{
	return strspn(text->data, " \t\r\n") == text->len;
}

static int give(struct json_elements *e, struct err *err)
{
	int rc = e->fn(e->context, (struct str){e->element.data, e->element.len}, err);

	buf_clear(&e->element);
	return rc;
}

static int keep(struct json_elements *e, char c, struct err *err)
{
	struct buf *to = in_array(e) ? &e->element : &e->rest;

	if (to->len == e->max)
		return err_set(err, ERR_LIMIT, "a part of the JSON is larger than %zu bytes",
			       e->max);
	buf_addch(to, c);
	return 0;
}

static int open_bracket(struct json_elements *e, char c, struct err *err)
{
	bool leads = at_path(e) && e->key_matches;
	bool is_ours = leads && c == '[' && is_last_key(e);

	if (keep(e, c, err) < 0)
		return -1;
	e->depth++;
	e->key_matches = false;
	if (leads && c == '{' && !is_last_key(e))
		e->matched++;
	if (is_ours) {
		e->found = true;
		e->has_element = false;
		e->array_depth = e->depth;
	}
	return 0;
}

static int close_array(struct json_elements *e, struct err *err)
{
	int rc = 0;

	/* After a comma even nothing is an element: the parser shall refuse it. */
	if (e->has_element || !is_blank(&e->element))
		rc = give(e, err);
	buf_clear(&e->element);
	e->array_depth = 0;
	return rc;
}

static int close_bracket(struct json_elements *e, char c, struct err *err)
{
	if (in_array(e) && e->depth == e->array_depth && close_array(e, err) < 0)
		return -1;
	if (e->depth)
		e->depth--;
	if (e->matched && e->depth <= e->matched)
		e->matched = e->depth ? e->depth - 1 : 0;
	return keep(e, c, err);
}

static int structure(struct json_elements *e, char c, struct err *err)
{
	switch (c) {
	case '"':
		e->in_string = true;
		buf_clear(&e->key);
		break;
	case '{':
	case '[':
		return open_bracket(e, c, err);
	case '}':
	case ']':
		return close_bracket(e, c, err);
	case ':':
		e->key_matches = at_path(e) && strcmp(e->key.data, e->path[e->matched]) == 0;
		break;
	case ',':
		e->key_matches = false;
		if (in_array(e) && e->depth == e->array_depth) {
			e->has_element = true;
			return give(e, err);
		}
		break;
	default:
		break;
	}
	return keep(e, c, err);
}

static int string(struct json_elements *e, char c, struct err *err)
{
	if (e->escaped)
		e->escaped = false;
	else if (c == '\\')
		e->escaped = true;
	else if (c == '"')
		e->in_string = false;
	if (e->in_string && at_path(e) && e->key.len < KEY_MAX)
		buf_addch(&e->key, c);
	return keep(e, c, err);
}

int json_elements_feed(struct json_elements *e, const char *data, size_t len, struct err *err)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((e->in_string ? string(e, data[i], err) : structure(e, data[i], err)) < 0)
			return -1;
	return 0;
}

struct str json_elements_rest(const struct json_elements *e)
{
	return (struct str){e->rest.data, e->rest.len};
}

bool json_elements_found(const struct json_elements *e)
{
	return e->found;
}
