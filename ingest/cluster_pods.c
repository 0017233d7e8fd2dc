#include "cluster_pods.h"

#include "cluster_pod.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10)
/* The API gives 500 pods a page where it pages at all. */
#define PAGES_MAX 10000

/* ---- files ---- */

static int feed_file(struct pod_list *list, int fd, struct err *err)
{
	char chunk[CHUNK];
	ssize_t got;

	for (;;) {
		got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, ERR_IO, errno, "cannot read");
		if (got == 0)
			return 0;
		if (pod_list_feed(list, chunk, (size_t)got, err) < 0)
			return -1;
	}
}

/* A file holds all pages: kubectl has put them together. */
static int read_file(struct pod_list *list, const char *path, struct err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct buf next = BUF_INIT;
	int rc;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "cannot open");
	rc = feed_file(list, fd, err);
	if (rc == 0)
		rc = pod_list_end(list, &next, err);
	if (rc == 0 && next.len)
		list->sink->warning(list->sink->context,
				    "the list of pods is one page of several; the others are not "
				    "in it");
	if (!is_stdin)
		close(fd);
	buf_release(&next);
	return rc;
}

/* ---- URLs ---- */

struct page {
	struct http *http;
	struct pod_list *list;
};

static int on_body(void *context, const char *data, size_t len, struct err *err)
{
	struct page *page = context;

	if (pod_list_feed(page->list, data, len, err) < 0)
		return err_prefix(err, "%s", http_name(page->http));
	return 0;
}

static int status_fault(const struct http *http, const struct http_reply *reply, struct err *err)
{
	char *message = NULL;

	if (reply->is_json)
		message = pod_status_message((struct str){reply->text.data, reply->text.len});
	http_fault(http, reply, err);
	if (message)
		err_set(err, ERR_NET, "%s: the API says: %.300s (%d)", http_name(http), message,
			reply->status);
	free(message);
	return -1;
}

/* One page; `token` is that of the page before, and becomes its own. */
static int read_page(struct http *http, struct pod_list *list, struct buf *token, struct err *err)
{
	struct http_field field = {"continue", token->data};
	struct page page = {http, list};
	struct http_request request = {
		.fields = &field,
		.field_count = token->len > 0,
		.body = on_body,
		.context = &page,
	};
	struct http_reply reply = HTTP_REPLY_INIT;
	struct buf next = BUF_INIT;
	int rc = http_send(http, &request, &reply, err);

	if (rc == 0 && reply.status != 200)
		rc = status_fault(http, &reply, err);
	else if (rc == 0 && (rc = pod_list_end(list, &next, err)) < 0)
		err_prefix(err, "%s", http_name(http));
	buf_clear(token);
	buf_add(token, next.data, next.len);
	buf_release(&next);
	http_reply_release(&reply);
	return rc;
}

static int read_pages(struct http *http, const struct cluster_sink *sink,
		      struct cluster_tally *tally, struct err *err)
{
	struct buf token = BUF_INIT;
	struct pod_list list;
	int rc, pages = 0;

	do {
		pod_list_init(&list, sink, tally);
		rc = read_page(http, &list, &token, err);
		pod_list_release(&list);
	} while (rc == 0 && token.len && ++pages < PAGES_MAX);
	if (rc == 0 && token.len)
		rc = err_set(err, ERR_LIMIT, "%s: more than %d pages of pods", http_name(http),
			     PAGES_MAX);
	buf_release(&token);
	return rc;
}

static int read_url(const char *url, const struct http_options *options,
		    const struct cluster_sink *sink, struct cluster_tally *tally, struct err *err)
{
	struct http_options own = *options;
	struct http *http;
	int rc;

	own.url = url;
	if (http_new(&own, &http, err) < 0)
		return -1;
	if (http_secret_in_clear(http))
		sink->warning(sink->context, "the API gets a password or token without TLS");
	rc = read_pages(http, sink, tally, err);
	http_free(http);
	return rc;
}

int cluster_pods_read(const char *source, const struct http_options *options,
		      const struct cluster_sink *sink, struct cluster_tally *tally, struct err *err)
{
	struct pod_list list;
	int rc;

	if (strncmp(source, "http://", 7) == 0 || strncmp(source, "https://", 8) == 0)
		return read_url(source, options, sink, tally, err);
	pod_list_init(&list, sink, tally);
	rc = read_file(&list, source, err);
	if (rc < 0)
		err_prefix(err, "%s", strcmp(source, "-") == 0 ? "standard input" : source);
	pod_list_release(&list);
	return rc;
}
