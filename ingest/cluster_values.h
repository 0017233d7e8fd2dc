/*
 * Values files of a chart, merged as Helm merges them: maps key by key, all else
 * replaced by the later file, null takes a key away. Part of cluster_pools.
 *
 * Nothing is put together in advance: a place is looked up in every file at once,
 * the last one first. So an alias costs nothing however often it is followed, and
 * memory is bounded by the files: VALUES_MAX values and VALUES_BYTES_MAX bytes of
 * text in all. YAML is read as Helm's library reads it (sigs.k8s.io/yaml, YAML 1.1,
 * checked by running it): of a key that stands twice the last one counts, `<<`
 * writes over what stands before it, a second document is not read.
 */
#ifndef BR2_CLUSTER_VALUES_H
#define BR2_CLUSTER_VALUES_H

#include "util/arena.h"
#include "util/err.h"
#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>

#define VALUES_FILES_MAX 16
/* Large charts have some thousands. */
#define VALUES_MAX 50000
/* Kubernetes keeps a release's values in an object of at most 1 MiB. */
#define VALUES_BYTES_MAX ((size_t)1 << 20)
#define VALUES_DEPTH_MAX 100

enum values_kind { VALUES_NULL, VALUES_SCALAR, VALUES_LIST, VALUES_MAP };

struct values_entry;

/* One value where it stands in a file. */
struct values_node {
	enum values_kind kind;
	bool plain;	     /* a scalar without quotes and tag: it may be a number or a bool */
	struct str text;     /* of a scalar */
	const char *file;    /* as it was named to values_add() */
	size_t line, column; /* from 1 */
	struct values_entry *first, *last; /* of a map and a list, in the file's order */
};

struct values {
	struct arena arena;
	const struct values_node *roots[VALUES_FILES_MAX];
	size_t count;	     /* files */
	size_t nodes, bytes; /* so far */
	const char *later;   /* a file with more than one document; NULL */
};

void values_init(struct values *values);
void values_release(struct values *values);

/*
 * Reads one more file's text. `name` is borrowed until values_release(), the text
 * only during the call. -1: ERR_FORMAT, not YAML, or no map; ERR_LIMIT. The text
 * begins with name:line:column.
 */
int values_add(struct values *values, const char *name, struct str text, struct err *err);

/* What the files say of one place, the last one first: several maps, or one other value. */
struct values_place {
	const struct values_node *nodes[VALUES_FILES_MAX];
	size_t count; /* 0: nothing, or null */
};

void values_top(const struct values *values, struct values_place *out);
/* What stands below `key`; nothing where the place is no map. `out` may be `place`. */
void values_get(const struct values_place *place, struct str key, struct values_place *out);
bool values_is_map(const struct values_place *place);

/* 0 to go on; all else ends values_each(), which returns it. */
typedef int values_key_fn(void *context, struct str key, struct err *err);
/*
 * Calls for each key of a map, files and keys in their order; a key that several
 * files have comes as often.
 */
int values_each(const struct values_place *place, values_key_fn *fn, void *context,
		struct err *err);

#endif
