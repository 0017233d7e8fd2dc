/* Any bytes as a list of pods. Laws: how they are cut into pieces makes no difference; rows have
 * names. */
#include "cluster_pod.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_container(void *context, const struct container_spec *spec, struct err *err)
{
	(void)context, (void)err;
	assert(spec->pod.data && spec->container.data);
	assert(spec->memory_limit_bytes == UNKNOWN || spec->memory_limit_bytes >= 0);
	return 0;
}

static int on_termination(void *context, const struct termination *end, struct err *err)
{
	(void)context, (void)err;
	assert(end->pod.data && end->container.data);
	assert(end->finished_ns == UNKNOWN || end->finished_ns > 0);
	return 0;
}

static void on_warning(void *context, const char *text)
{
	(void)context;
	assert(*text);
}

static int read_pods(const uint8_t *data, size_t size, size_t piece, struct cluster_tally *tally)
{
	static const struct cluster_sink sink = {NULL, on_container, on_termination, NULL,
						 on_warning};
	struct pod_list list;
	struct buf next = BUF_INIT;
	struct err err = ERR_INIT;
	size_t at, len;
	int rc = 0;

	pod_list_init(&list, &sink, tally);
	for (at = 0; rc == 0 && at < size; at += len) {
		len = size - at < piece ? size - at : piece;
		rc = pod_list_feed(&list, (const char *)data + at, len, &err);
	}
	if (rc == 0)
		rc = pod_list_end(&list, &next, &err);
	assert(rc == 0 || err.kind == ERR_FORMAT || err.kind == ERR_LIMIT);
	pod_list_release(&list);
	buf_release(&next);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster_tally whole = CLUSTER_TALLY_INIT, cut = CLUSTER_TALLY_INIT;
	int rc = read_pods(data, size, size, &whole);

	assert(read_pods(data, size, 7, &cut) == rc);
	assert(whole.pods == cut.pods && whole.containers == cut.containers);
	assert(whole.terminations == cut.terminations && whole.malformed == cut.malformed);
	return 0;
}
