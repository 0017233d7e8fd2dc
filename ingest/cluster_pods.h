/*
 * Pods as Kubernetes describes them: what `kubectl get pods -o json` prints, or
 * the API's own answer. Field names: k8s.io/api core/v1 types.go.
 *
 * The list is read pod by pod: memory is bounded by the largest pod (at most
 * CLUSTER_POD_MAX bytes of JSON), not by the list.
 */
#ifndef BR2_CLUSTER_PODS_H
#define BR2_CLUSTER_PODS_H

#include "cluster.h"
#include "util/http.h"

/* etcd takes no object above 1.5 MB. */
#define CLUSTER_POD_MAX ((size_t)4 << 20)

/*
 * Reads `source`: a file, "-" for standard input, or an http(s):// URL
 * (`kubectl proxy`), whose further pages are fetched by metadata.continue. In
 * it any object with an array `items` (kind List, PodList or none), or one Pod.
 * Adds to *tally. `options` is for URLs; its url is not used.
 *
 * Both terminations of a container are given, state and lastState; the kubelet
 * keeps no older ones. A pod that cannot be read is warned of and counted, what
 * cannot be read in one is UNKNOWN and counted.
 *
 * -1: the sink's own error; ERR_IO; ERR_NET; ERR_FORMAT: not JSON, cut short, an
 * error message of the API in place of a list, a list of something else. The
 * text names the source. What was given before that stands.
 */
int cluster_pods_read(const char *source, const struct http_options *options,
		      const struct cluster_sink *sink, struct cluster_tally *tally,
		      struct err *err);

#endif
