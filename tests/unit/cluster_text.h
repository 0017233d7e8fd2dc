/* A cluster_sink that writes what it is given as lines of text, for comparisons. */
#ifndef BR2_CLUSTER_TEXT_H
#define BR2_CLUSTER_TEXT_H

#include "cluster.h"
#include "util/buf.h"

/*
 * Lines are added to *out:
 *   container POD/CONTAINER uid node cpu REQUEST LIMIT memory REQUEST LIMIT restarts N
 *   termination POD/CONTAINER uid id REASON exit N signal N STARTED FINISHED restarts N
 *   oom POD/CONTAINER id (FIRST,LAST] count N
 *   warning TEXT
 * "-" is unknown; times are seconds since the epoch. A reason "stop" is refused.
 */
struct cluster_sink cluster_text_sink(struct buf *out);

#endif
