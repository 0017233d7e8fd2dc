/*
 * Cuts a JSON text, as its bytes come in, into the elements of one array in it
 * and all that stands around them: a list of any length is read with the memory
 * of its largest element. The cut is made by brackets and quotes alone; each
 * piece goes to a real parser, which refuses whatever is not JSON. So a text is
 * well-formed exactly where all of its pieces are.
 */
#ifndef BR2_JSON_ELEMENTS_H
#define BR2_JSON_ELEMENTS_H

#include "util/buf.h"
#include "util/err.h"
#include "util/str.h"

#include <stdbool.h>

/* Takes one element's text, borrowed during the call. -1 stops the reading. */
typedef int json_element_fn(void *context, struct str element, struct err *err);

struct json_elements {
	/* Keys from the top object down to the array, NULL-terminated; borrowed. */
	const char *const *path;
	size_t max; /* bytes of one element, and of the rest */
	json_element_fn *fn;
	void *context;
	/* From here on: the state. */
	struct buf element, rest, key;
	size_t depth, matched; /* open brackets; keys of the path that stand open */
	size_t array_depth;    /* depth of the array's elements; 0: not in it */
	bool in_string, escaped, key_matches, has_element, found;
};

void json_elements_init(struct json_elements *e, const char *const *path, size_t max,
			json_element_fn *fn, void *context);
void json_elements_release(struct json_elements *e);

/* -1: the function's own error, or ERR_LIMIT: an element or the rest is larger than max. */
int json_elements_feed(struct json_elements *e, const char *data, size_t len, struct err *err);

/*
 * At the text's end: what stood around the elements, the array empty in its
 * place; borrowed from `e`. Not well-formed where the text was not, or was cut.
 */
struct str json_elements_rest(const struct json_elements *e);
/* Was the array there? (As an array: of any other value, the rest tells.) */
bool json_elements_found(const struct json_elements *e);

#endif
