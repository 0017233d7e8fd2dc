/*
 * What-if: how many nodes the workers need that lived. Pure.
 *
 * First fit: workers in the order in which they begin (of several at once the
 * larger first) go to the first node with room for what they request, else to a new
 * one; nobody moves. A node is there while it has a worker: how long the cluster
 * keeps an empty one is not counted.
 */
#ifndef BR2_PLAN_NODES_H
#define BR2_PLAN_NODES_H

#include "plan_sim.h"
#include "shape.h"

/* A worker's pod: when it lived, and what it requests, all its containers together. */
struct plan_pod {
	struct plan_life life;
	int64_t cpu_milli, memory_bytes;
};

/* How many equal pods one node holds; 0: not even one. Requests are > 0. */
int64_t plan_node_holds(const struct node_size *node, int64_t cpu_milli, int64_t memory_bytes);

/*
 * Sorts `pods`, each of which fits a node. Nanoseconds of all nodes together, and how
 * many there were at most at once.
 */
int64_t plan_node_time(const struct node_size *node, struct plan_pod *pods, size_t count,
		       int64_t *out_most);

#endif
