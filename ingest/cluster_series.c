#include "cluster_series.h"

struct str series_label(const struct series *series, const char *name)
{
	size_t i;

	for (i = 0; i < series->label_count; i++)
		if (str_is(series->labels[i].name, name) && series->labels[i].value.len)
			return series->labels[i].value;
	return STR_NULL;
}

/* The choice of robusta-dev/krr (prometheus_metrics/base.py), so that figures agree. */
bool series_job_before(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order;

	if (!a.data || !b.data)
		return a.data && !b.data;
	if (str_is(a, "kubelet") || str_is(b, "kubelet"))
		return !str_is(b, "kubelet");
	order = memcmp(a.data, b.data, shorter);
	return order ? order < 0 : a.len < b.len;
}
