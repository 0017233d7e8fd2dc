#include "shape.h"

#include "util/quantity.h"

#include <stdbool.h>

/* A thousand times the largest machine; sums over a million of them still fit 64 bits. Table shape
 * checks the same. */
#define CPU_MILLI_MAX INT64_C(1000000000)
#define MEMORY_MAX (INT64_C(1) << 50)

#define QUOTED_MAX 60
#define SHAPE_EXAMPLE "write NAME=CPU,MEMORY[,LIMIT] such as small=1.5,2GiB,4GiB"
#define NODE_EXAMPLE "write CPU,MEMORY such as 16,32GiB"

/* Says what is wrong with `text`, and what would be right. */
static int fault(struct str text, const char *what, const char *example, struct err *err)
{
	int len = text.len < QUOTED_MAX ? (int)text.len : QUOTED_MAX;

	return err_set(err, ERR_USAGE, "'%.*s': %s; %s", len, text.data ? text.data : "", what,
		       example);
}

/* Cuts off what stands before the next `mark`; the whole where there is none. */
static bool cut(struct str *rest, char mark, struct str *out_part)
{
	const char *at = rest->len ? memchr(rest->data, mark, rest->len) : NULL;

	*out_part = *rest;
	if (!at)
		return false;
	out_part->len = (size_t)(at - rest->data);
	rest->data = at + 1;
	rest->len -= out_part->len + 1;
	return true;
}

static bool is_name(struct str name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	size_t i;

	for (i = 0; i < name.len; i++)
		if (!memchr(allowed, name.data[i], sizeof(allowed) - 1))
			return false;
	return name.len > 0 && name.len <= SHAPE_NAME_MAX;
}

static bool parse_cpu(struct str text, int64_t *out_milli)
{
	struct err unused = ERR_INIT;

	return quantity_millicores(text, out_milli, &unused) == 0 && *out_milli > 0 &&
	       *out_milli <= CPU_MILLI_MAX;
}

static bool parse_memory(struct str text, int64_t *out_bytes)
{
	struct err unused = ERR_INIT;

	return quantity_size(text, out_bytes, &unused) == 0 && *out_bytes > 0 &&
	       *out_bytes <= MEMORY_MAX;
}

int shape_parse(struct str text, struct shape *out_shape, struct err *err)
{
	struct str rest = text, cpu, request, limit;
	struct shape shape;

	if (!text.data || !cut(&rest, '=', &shape.name) || !is_name(shape.name))
		return fault(text, "no name before a '='", SHAPE_EXAMPLE, err);
	if (!cut(&rest, ',', &cpu) || !parse_cpu(cpu, &shape.cpu_milli))
		return fault(text, "no number of cores after the '='", SHAPE_EXAMPLE, err);
	limit = cut(&rest, ',', &request) ? rest : request;
	if (!parse_memory(request, &shape.memory_request_bytes))
		return fault(text, "no memory after the cores", SHAPE_EXAMPLE, err);
	if (!parse_memory(limit, &shape.memory_limit_bytes))
		return fault(text, "no limit after the memory", SHAPE_EXAMPLE, err);
	if (shape.memory_limit_bytes < shape.memory_request_bytes)
		return fault(text, "the limit is below what is requested", SHAPE_EXAMPLE, err);
	*out_shape = shape;
	return 0;
}

int shapes_check_names(const struct shape *shapes, size_t count, struct err *err)
{
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < i; k++)
			if (str_equal(shapes[i].name, shapes[k].name))
				return err_set(err, ERR_USAGE, "two shapes are named %.*s",
					       (int)shapes[i].name.len, shapes[i].name.data);
	return 0;
}

int shape_parse_node(struct str text, struct node_size *out_node, struct err *err)
{
	struct str rest = text, cpu;
	struct node_size node;

	if (!text.data || !cut(&rest, ',', &cpu) || !parse_cpu(cpu, &node.cpu_milli) ||
	    !parse_memory(rest, &node.memory_bytes))
		return fault(text, "no cores and memory of a node", NODE_EXAMPLE, err);
	*out_node = node;
	return 0;
}
