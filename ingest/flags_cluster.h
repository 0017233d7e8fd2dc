/*
 * What `ingest` was told of the cluster, as it stands on the command line: pods,
 * Prometheus, values files, shapes. The rows of its option table fill the struct.
 */
#ifndef BR2_FLAGS_CLUSTER_H
#define BR2_FLAGS_CLUSTER_H

#include "pipeline.h"
#include "util/err.h"
#include "util/options.h"

struct cluster_flags {
	struct option_list pods;
	const char *pods_user, *pods_password_file, *pods_token_file, *pods_ca;
	const char *prometheus, *namespace, *container;
	const char *prom_user, *prom_password_file, *prom_token_file, *prom_ca;
	struct option_list values, shapes;
	const char *valid_from;
};

/* -1 (ERR_USAGE): options that want another one, or that cannot go together. */
int cluster_flags_check(const struct cluster_flags *flags, struct err *err);
/*
 * Fills all of *out, which borrows from the flags; cluster_flags_release() gives
 * back what it took. -1 (ERR_USAGE): --valid-from or --shape cannot be read.
 */
int cluster_flags_fill(const struct cluster_flags *flags, int64_t now_ns,
		       struct cluster_options *out, struct err *err);
void cluster_flags_release(struct cluster_flags *flags, struct cluster_options *options);

#endif
