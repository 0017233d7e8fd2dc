/* The text of one list of pods, in pieces: a pure function of bytes. Part of cluster_pods. */
#ifndef BR2_CLUSTER_POD_H
#define BR2_CLUSTER_POD_H

#include "cluster.h"
#include "util/buf.h"
#include "util/json_elements.h"

struct pod_list {
	struct json_elements elements;
	const struct cluster_sink *sink;
	struct cluster_tally *tally;
	uint64_t items; /* of the list, so far */
};

/* Borrows both until pod_list_release(). */
void pod_list_init(struct pod_list *list, const struct cluster_sink *sink,
		   struct cluster_tally *tally);
void pod_list_release(struct pod_list *list);
/* -1: ERR_FORMAT, ERR_LIMIT, or the sink's own error. */
int pod_list_feed(struct pod_list *list, const char *data, size_t len, struct err *err);
/*
 * At the text's end: reads what stood around the items, or a lone Pod. Puts the
 * token of the next page into `out_next` (empty: there is none).
 */
int pod_list_end(struct pod_list *list, struct buf *out_next, struct err *err);

/* What an error answer of the API says; NULL: it is none. Caller frees. */
char *pod_status_message(struct str text);

#endif
