#include "plan_nodes.h"

#include "util/heap.h"
#include "util/mem.h"

#include <stdlib.h>

struct host {
	int64_t cpu_milli, memory_bytes; /* free */
	int64_t since_ns;
	size_t pods;
};

struct hosts {
	const struct node_size *size;
	struct host *list; /* empty ones keep their place in the order */
	size_t count, cap;
	int64_t in_use, most, total_ns;
};

int64_t plan_node_holds(const struct node_size *node, int64_t cpu_milli, int64_t memory_bytes)
{
	/* A pool may request nothing. */
	int64_t by_cpu = cpu_milli ? node->cpu_milli / cpu_milli : INT64_MAX;
	int64_t by_memory = memory_bytes ? node->memory_bytes / memory_bytes : INT64_MAX;

	return by_cpu < by_memory ? by_cpu : by_memory;
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_begin(const void *a, const void *b)
{
	const struct plan_pod *x = a, *y = b;
	int by = order(x->life.from_ns, y->life.from_ns);

	if (!by)
		by = order(y->cpu_milli, x->cpu_milli);
	if (!by)
		by = order(y->memory_bytes, x->memory_bytes);
	return by ? by : order(x->life.until_ns, y->life.until_ns);
}

static size_t add_host(struct hosts *hosts)
{
	if (hosts->count == hosts->cap) {
		hosts->cap = hosts->cap ? hosts->cap * 2 : 16;
		hosts->list = xreallocarray(hosts->list, hosts->cap, sizeof(*hosts->list));
	}
	hosts->list[hosts->count] = (struct host){.cpu_milli = hosts->size->cpu_milli,
						  .memory_bytes = hosts->size->memory_bytes};
	return hosts->count++;
}

/* The first node in use with room, else an empty one, else a new one. */
static size_t find_host(struct hosts *hosts, const struct plan_pod *pod)
{
	size_t i, empty = SIZE_MAX;

	for (i = 0; i < hosts->count; i++) {
		const struct host *host = &hosts->list[i];

		if (!host->pods)
			empty = empty == SIZE_MAX ? i : empty;
		else if (host->cpu_milli >= pod->cpu_milli &&
			 host->memory_bytes >= pod->memory_bytes)
			return i;
	}
	return empty == SIZE_MAX ? add_host(hosts) : empty;
}

static void place(struct hosts *hosts, const struct plan_pod *pod, size_t number)
{
	struct host *host = &hosts->list[number];

	if (!host->pods++) {
		host->since_ns = pod->life.from_ns;
		if (++hosts->in_use > hosts->most)
			hosts->most = hosts->in_use;
	}
	host->cpu_milli -= pod->cpu_milli;
	host->memory_bytes -= pod->memory_bytes;
}

static void leave(struct hosts *hosts, const struct plan_pod *pod, size_t number)
{
	struct host *host = &hosts->list[number];

	host->cpu_milli += pod->cpu_milli;
	host->memory_bytes += pod->memory_bytes;
	if (--host->pods)
		return;
	hosts->in_use--;
	hosts->total_ns = plan_add(hosts->total_ns, pod->life.until_ns - host->since_ns);
}

int64_t plan_node_time(const struct node_size *node, struct plan_pod *pods, size_t count,
		       int64_t *out_most)
{
	struct hosts hosts = {.size = node};
	struct heap living = HEAP_INIT; /* pods by when they go */
	size_t i, gone, *host_of = xcalloc(count + 1, sizeof(*host_of));

	if (count)
		qsort(pods, count, sizeof(*pods), by_begin);
	for (i = 0; i <= count; i++) {
		/* Who goes makes room for who comes at that moment; at the end all go. */
		while (living.count &&
		       (i == count || living.items[0].key <= pods[i].life.from_ns)) {
			gone = heap_pop(&living).number;
			leave(&hosts, &pods[gone], host_of[gone]);
		}
		if (i == count)
			break;
		host_of[i] = find_host(&hosts, &pods[i]);
		place(&hosts, &pods[i], host_of[i]);
		heap_push(&living, pods[i].life.until_ns, i);
	}
	*out_most = hosts.most;
	free(hosts.list);
	free(host_of);
	heap_release(&living);
	return hosts.total_ns;
}
