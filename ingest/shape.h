/*
 * Shapes of workers as people type them: "small=1.5,2GiB,4GiB" is a name, the
 * cores and the memory that a worker requests, and the memory that it may use.
 * A node is "16,32GiB". One grammar for every option and verb; table `shape`
 * holds the same values. Pure.
 */
#ifndef BR2_SHAPE_H
#define BR2_SHAPE_H

#include "util/err.h"
#include "util/str.h"

#include <stddef.h>
#include <stdint.h>

#define SHAPE_NAME_MAX 63

struct shape {
	struct str name;   /* letters, digits and -_. ; borrowed */
	int64_t cpu_milli; /* requested, thousandths of a core */
	int64_t memory_request_bytes;
	int64_t memory_limit_bytes; /* over this the kernel kills; never below the request */
};

struct node_size {
	int64_t cpu_milli, memory_bytes;
};

/*
 * NAME=CPU,MEMORY_REQUEST[,MEMORY_LIMIT], the limit being the request where it is
 * left out. CPU is a Kubernetes quantity (1.5, 1500m), memory too, or with the B
 * that people write (2GiB). -1 (ERR_USAGE): something else, zero, a limit below the
 * request, or more than any machine has; the text says what and gives an example.
 * The name in *out is borrowed from `text`.
 */
int shape_parse(struct str text, struct shape *out_shape, struct err *err);

/* -1 (ERR_USAGE): two of them have one name. */
int shapes_check_names(const struct shape *shapes, size_t count, struct err *err);

/* CPU,MEMORY of a machine, as above. */
int shape_parse_node(struct str text, struct node_size *out_node, struct err *err);

#endif
