/*
 * Any bytes as a values file. Laws: what is given could run; a file merged with itself says what
 * it says alone.
 */
#include "cluster_pools.h"
#include "util/buf.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct buf *rows, int64_t value)
{
	assert(value == UNKNOWN || value >= 0);
	buf_add(rows, &value, sizeof(value));
}

static int on_pool(void *context, const struct pool_spec *pool, struct err *err)
{
	struct buf *rows = context;

	(void)err;
	assert(pool->pool.data && pool->pool.len);
	assert(pool->concurrency != 0);
	assert(pool->memory_limit_bytes == UNKNOWN ||
	       pool->memory_request_bytes <= pool->memory_limit_bytes);
	buf_add(rows, pool->pool.data, pool->pool.len);
	add(rows, pool->enabled);
	add(rows, pool->concurrency);
	add(rows, pool->cpu_request_millicores);
	add(rows, pool->cpu_limit_millicores);
	add(rows, pool->memory_request_bytes);
	add(rows, pool->memory_limit_bytes);
	add(rows, pool->workers_min);
	add(rows, pool->workers_max);
	add(rows, pool->cooldown_s);
	return 0;
}

static void on_warning(void *context, const char *text)
{
	(void)context;
	assert(*text);
}

static int read_times(const uint8_t *data, size_t size, size_t times, struct buf *rows,
		      struct err *err)
{
	struct pool_text file = {"values.yaml", {(const char *)data, size}};
	struct pool_text files[] = {file, file};
	struct pool_sink sink = {rows, on_pool, on_warning, NULL};
	struct pool_tally tally = {0, 0};
	int rc = cluster_pools_read(files, times, &sink, &tally, err);

	assert(rc == 0 || err->kind == ERR_FORMAT || err->kind == ERR_LIMIT);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct err err = ERR_INIT, again = ERR_INIT;
	int rc = read_times(data, size, 1, &once, &err);

	if (read_times(data, size, 2, &twice, &again) != rc)
		assert(again.kind == ERR_LIMIT);
	else if (rc == 0)
		assert(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
