#include "pipeline_values.h"

#include "cluster_pools.h"
#include "util/file.h"
#include "util/safe.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/msg.h"
#include "util/timefmt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kubernetes keeps no release with larger values; cluster_values.h says the same of all. */
#define FILE_MAX ((size_t)1 << 20)

struct texts {
	struct pool_text *files;
	struct buf *bufs;
	size_t count;
};

/* ---- reading ---- */

static const char *name_of(const char *source)
{
	return strcmp(source, "-") == 0 ? "standard input" : source;
}

/* A pipe will do, too: --values <(helm get values …). */
static int read_source(const char *source, struct buf *out, struct err *err)
{
	bool is_stdin = strcmp(source, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(source, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "%s: cannot open", source);
	rc = file_read_open(fd, name_of(source), FILE_MAX, out, err);
	if (!is_stdin)
		close(fd);
	return rc;
}

static int read_sources(const struct cluster_options *options, struct texts *texts, struct err *err)
{
	size_t i;

	texts->files = xcalloc(options->value_count, sizeof(*texts->files));
	texts->bufs = xcalloc(options->value_count, sizeof(*texts->bufs));
	texts->count = options->value_count;
	for (i = 0; i < texts->count; i++)
		buf_init(&texts->bufs[i]);
	for (i = 0; i < texts->count; i++) {
		if (read_source(options->values[i], &texts->bufs[i], err) < 0)
			return -1;
		texts->files[i] = (struct pool_text){name_of(options->values[i]),
						     {texts->bufs[i].data, texts->bufs[i].len}};
	}
	return 0;
}

static void texts_release(struct texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		buf_release(&texts->bufs[i]);
	free(texts->bufs);
	free(texts->files);
}

/* ---- storing ---- */

struct putting {
	struct store *store; /* NULL: --dry-run */
	const struct ingest_options *options;
	struct values_news *news;
	size_t changed;	  /* pools */
	struct buf until; /* "NAME until WHEN, ...": what a later row takes back */
	struct buf named; /* pools of the files, a JSON array */
};

static void on_warning(void *context, const char *text)
{
	(void)context;
	msg_warn("%s", text);
}

static void on_named(void *context, struct str pool)
{
	struct buf *named = &((struct putting *)context)->named;

	buf_addch(named, named->len ? ',' : '[');
	json_add_text(named, pool);
}

static void add_news(struct values_news *news, struct str pool)
{
	news->pools = xreallocarray(news->pools, news->count + 1, sizeof(*news->pools));
	news->pools[news->count++] = xmemdup0(pool.data, pool.len);
}

static int64_t since_ns(const struct putting *putting)
{
	int64_t from_ns = putting->options->cluster.valid_from_ns;

	return from_ns == UNKNOWN ? putting->options->now_ns : from_ns;
}

static void add_until(struct buf *buf, struct str pool, int64_t until_ns)
{
	char until[TIME_TEXT_MAX];

	time_format(until_ns, until);
	if (buf->len)
		buf_addstr(buf, ", ");
	safe_add(buf, pool);
	buf_addf(buf, " until %s", until);
}

static bool gives_something(const struct pool_spec *pool)
{
	return pool->cpu_request_millicores != UNKNOWN || pool->cpu_limit_millicores != UNKNOWN ||
	       pool->memory_request_bytes != UNKNOWN || pool->memory_limit_bytes != UNKNOWN;
}

static void note_change(struct putting *putting, const struct pool_spec *pool, int64_t until_ns)
{
	putting->changed++;
	if (until_ns != UNKNOWN)
		add_until(&putting->until, pool->pool, until_ns);
	if (putting->options->cluster.valid_from_ns == UNKNOWN && gives_something(pool))
		add_news(putting->news, pool->pool);
}

static int on_pool(void *context, const struct pool_spec *pool, struct err *err)
{
	struct putting *putting = context;
	const char *cache = putting->options->cache;
	bool observed = putting->options->cluster.valid_from_ns == UNKNOWN;
	int64_t until_ns;
	int news, put;

	if (!putting->store)
		return 0;
	news = store_pool_news(putting->store, cache, pool, since_ns(putting), &until_ns, err);
	if (news < 0)
		return -1;
	put = store_put_pool(putting->store, cache, pool, since_ns(putting), observed, err);
	if (put > 0 && news)
		note_change(putting, pool, until_ns);
	return put < 0 ? -1 : 0;
}

static void tell_read(const struct putting *putting, const struct pool_tally *tally)
{
	char since[TIME_TEXT_MAX];

	time_format(since_ns(putting), since);
	if (!putting->store)
		msg_note("values: %" PRIu64 " pools read", tally->pools);
	else if (!putting->changed)
		msg_note("values: %" PRIu64 " pools read, nothing new", tally->pools);
	else
		msg_note("values: %" PRIu64 " pools read, %zu of them new or changed from %s on",
			 tally->pools, putting->changed, since);
	if (putting->until.len)
		msg_note("values: later rows of pool_spec say something else: %s",
			 putting->until.data);
	if (tally->bad)
		msg_error("values: %" PRIu64 " pool%s cannot be read: what is stored of %s stays",
			  tally->bad, tally->bad == 1 ? "" : "s", tally->bad == 1 ? "it" : "them");
}

static int add_absent(void *context, const struct row *row, struct err *err)
{
	struct buf *absent = context;

	(void)err;
	if (absent->len)
		buf_addstr(absent, ", ");
	safe_add(absent, row->values[0].text);
	return 0;
}

/* The files may be a part of the chart's values: only a word retires a pool. */
static int tell_absent(struct putting *putting, struct err *err)
{
	struct buf absent = BUF_INIT;
	bool many;
	int rc;

	buf_addstr(&putting->named, putting->named.len ? "]" : "[]");
	rc = store_pools_besides(putting->store, putting->options->cache,
				 (struct str){putting->named.data, putting->named.len},
				 since_ns(putting), add_absent, &absent, err);
	many = absent.len && strstr(absent.data, ", ");
	if (rc == 0 && absent.len)
		msg_note("values: pool%s %s %s stored and not in these files: %s; enabled: false "
			 "retires %s",
			 many ? "s" : "", absent.data, many ? "are" : "is",
			 many ? "they stay as they are" : "it stays as it is",
			 many ? "them" : "it");
	buf_release(&absent);
	return rc;
}

/* 1: the files failed, as `fault` says; 0, and adds to *trouble; -1: the store did. */
static int put_pools(struct putting *putting, const struct texts *texts, bool *trouble,
		     struct err *fault, struct err *err)
{
	struct pool_sink sink = {putting, on_pool, on_warning, on_named};
	struct pool_tally tally = {0, 0};

	if (putting->store && store_begin(putting->store, err) < 0)
		return -1;
	if (cluster_pools_read(texts->files, texts->count, &sink, &tally, fault) < 0) {
		if (putting->store)
			store_rollback(putting->store);
		if (fault->kind != ERR_DB)
			return 1;
		*err = *fault;
		return -1;
	}
	if (putting->store && store_commit(putting->store, err) < 0)
		return -1;
	tell_read(putting, &tally);
	*trouble |= tally.bad > 0;
	return putting->store ? tell_absent(putting, err) : 0;
}

static int store_values(struct putting *putting, bool *trouble, struct err *err)
{
	struct texts texts = {NULL, NULL, 0};
	struct err fault = ERR_INIT;
	int rc;

	if (!putting->options->cluster.value_count)
		return 0;
	rc = read_sources(&putting->options->cluster, &texts, &fault) < 0
		     ? 1
		     : put_pools(putting, &texts, trouble, &fault, err);
	texts_release(&texts);
	if (rc <= 0)
		return rc;
	*trouble = true;
	msg_error("%s", fault.text);
	return 0;
}

static int put_shapes(struct store *store, const struct cluster_options *options, struct err *err)
{
	size_t i;

	if (!store || !options->shape_count)
		return 0;
	if (store_begin(store, err) < 0)
		return -1;
	for (i = 0; i < options->shape_count; i++)
		if (store_put_shape(store, &options->shapes[i], err) < 0) {
			store_rollback(store);
			return -1;
		}
	return store_commit(store, err);
}

int values_store(struct store *store, const struct ingest_options *options,
		 struct values_news *news, bool *trouble, struct err *err)
{
	struct putting putting = {store, options, news, 0, BUF_INIT, BUF_INIT};
	int rc = store_values(&putting, trouble, err);

	buf_release(&putting.named);
	buf_release(&putting.until);
	if (rc < 0)
		return -1;
	return put_shapes(store, &options->cluster, err);
}

/* ---- telling ---- */

int values_tell(struct store *store, const char *cache, const struct values_news *news,
		struct err *err)
{
	int64_t results = 0, of_pool;
	size_t i;

	for (i = 0; i < news->count; i++) {
		if (store_count_uncovered(store, cache, news->pools[i], &of_pool, err) < 0)
			return -1;
		results += of_pool;
	}
	if (results)
		msg_note("values: %" PRId64 " stored results of these pools ran before; if it held "
			 "then, too: --valid-from DATE says since when",
			 results);
	return 0;
}

void values_news_release(struct values_news *news)
{
	size_t i;

	for (i = 0; i < news->count; i++)
		free(news->pools[i]);
	free(news->pools);
	*news = (struct values_news)VALUES_NEWS_INIT;
}
