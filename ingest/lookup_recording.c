#include "lookup_recording.h"

#include "digest.h"
#include "lookup_reply.h"
#include "util/base64.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FLUSH_BYTES ((size_t)256 << 10)

struct transport_record {
	struct transport base;
	struct transport *inner;
	struct lookup_request *requests; /* by slot, while in flight */
	char *path, *part_path;
	int fd; /* -1: finished */
	struct buf lines;
};

static const char *const methods[] = {
	[LOOKUP_ACTION_RESULT] = "GetActionResult",
	[LOOKUP_BLOB] = "ReadBlob",
};

#define METHODS (sizeof(methods) / sizeof(*methods))

const char *lookup_method_name(enum lookup_method method)
{
	return (size_t)method < METHODS ? methods[method] : NULL;
}

enum lookup_method lookup_method_parse(struct str name)
{
	size_t i;

	for (i = 1; i < METHODS; i++)
		if (str_is(name, methods[i]))
			return (enum lookup_method)i;
	return (enum lookup_method)0;
}

static struct transport_record *record_of(struct transport *transport)
{
	return (struct transport_record *)transport; /* base is its first member */
}

/* ---- writing -------------------------------------------------------------------------- */

static int flush_lines(struct transport_record *record, struct err *err)
{
	size_t done = 0;

	while (done < record->lines.len) {
		ssize_t wrote =
			write(record->fd, record->lines.data + done, record->lines.len - done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return err_errno(err, ERR_IO, errno, "cannot write %s", record->part_path);
		done += (size_t)wrote;
	}
	buf_clear(&record->lines);
	return 0;
}

static void add_key(struct buf *line, const struct lookup_request *request)
{
	const char *function = digest_function_name(request->digest.function);
	char digest[DIGEST_TEXT_MAX];

	digest_format(&request->digest, digest);
	buf_addstr(line, "{\"method\":");
	json_add_text(line, str_of(lookup_method_name(request->method)));
	buf_addstr(line, ",\"instance\":");
	json_add_text(line, str_of(request->instance));
	buf_addstr(line, ",\"function\":");
	json_add_text(line, str_of(function ? function : ""));
	buf_addstr(line, ",\"digest\":");
	json_add_text(line, str_of(digest));
}

static void add_reply(struct buf *line, const struct transport_reply *reply)
{
	buf_addf(line, ",\"code\":%d,\"message\":", reply->code);
	json_add_text(line, str_of(reply->message));
	buf_addstr(line, ",\"reply\":\"");
	if (reply->code == CODE_OK)
		base64_encode(reply->data, reply->len, line);
	buf_addstr(line, "\"}\n");
}

static int keep(struct transport_record *record, const struct transport_reply *reply,
		struct err *err)
{
	add_key(&record->lines, &record->requests[reply->slot]);
	add_reply(&record->lines, reply);
	return record->lines.len < FLUSH_BYTES ? 0 : flush_lines(record, err);
}

/* ---- the transport ---------------------------------------------------------------------- */

static int record_start(struct transport *self, uint32_t slot, const struct lookup_request *request,
			int64_t timeout_ms, struct err *err)
{
	struct transport_record *record = record_of(self);

	record->requests[slot] = *request;
	return record->inner->ops->start(record->inner, slot, request, timeout_ms, err);
}

static int record_wait(struct transport *self, int64_t timeout_ms,
		       struct transport_reply *out_reply, struct err *err)
{
	struct transport_record *record = record_of(self);
	int got = record->inner->ops->wait(record->inner, timeout_ms, out_reply, err);

	if (got <= 0 || record->fd < 0 || reply_is_outage(out_reply))
		return got;
	return keep(record, out_reply, err) < 0 ? -1 : got;
}

static int record_refresh(struct transport *self)
{
	struct transport *inner = record_of(self)->inner;

	return inner->ops->refresh ? inner->ops->refresh(inner) : 0;
}

static void record_explain(struct transport *self, int code, const char *message, struct buf *out)
{
	struct transport *inner = record_of(self)->inner;

	if (inner->ops->explain)
		inner->ops->explain(inner, code, message, out);
	else
		buf_addf(out, "%s (code %d)", message, code);
}

static int64_t record_now_ms(struct transport *self)
{
	struct transport *inner = record_of(self)->inner;

	return inner->ops->now_ms ? inner->ops->now_ms(inner) : clock_monotonic_ms();
}

/* After fsync(): a recording that has its name is whole, also after a power cut. */
static int put_in_place(struct transport_record *record, struct err *err)
{
	int fd = record->fd;

	if (flush_lines(record, err) < 0)
		return -1;
	record->fd = -1;
	if (fsync(fd) < 0 && errno != EINVAL) {
		err_errno(err, ERR_IO, errno, "cannot write %s", record->part_path);
		close(fd);
		return -1;
	}
	if (close(fd) < 0)
		return err_errno(err, ERR_IO, errno, "cannot write %s", record->part_path);
	if (rename(record->part_path, record->path) < 0)
		return err_errno(err, ERR_IO, errno, "cannot rename %s", record->part_path);
	free(record->part_path);
	record->part_path = NULL;
	return 0;
}

static int record_finish(struct transport *self, struct err *err)
{
	struct transport_record *record = record_of(self);
	struct transport *inner = record->inner;

	if (inner->ops->finish && inner->ops->finish(inner, err) < 0)
		return -1;
	return record->fd < 0 ? 0 : put_in_place(record, err);
}

static void record_free(struct transport *self)
{
	struct transport_record *record = record_of(self);

	record->inner->ops->free(record->inner);
	if (record->fd >= 0)
		close(record->fd);
	if (record->part_path)
		unlink(record->part_path);
	free(record->part_path);
	free(record->path);
	free(record->requests);
	buf_release(&record->lines);
	free(record);
}

static const struct transport_ops record_ops = {
	.start = record_start,
	.wait = record_wait,
	.refresh = record_refresh,
	.explain = record_explain,
	.finish = record_finish,
	.now_ms = record_now_ms,
	.free = record_free,
};

/* O_EXCL: neither a link nor a file that others may read is written to. */
static int make_file(const char *path, struct err *err)
{
	int fd;

	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(err, ERR_IO, errno, "cannot replace %s", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? err_errno(err, ERR_IO, errno, "cannot make %s", path) : fd;
}

int transport_record_new(struct transport **out_transport, struct transport *inner,
			 const char *path, struct err *err)
{
	char *part_path = xasprintf("%s.tmp", path);
	struct transport_record *record;
	int fd = make_file(part_path, err);

	if (fd < 0) {
		free(part_path);
		inner->ops->free(inner);
		return -1;
	}
	record = xcalloc(1, sizeof(*record));
	record->base = (struct transport){&record_ops, inner->slots};
	record->inner = inner;
	record->requests = xcalloc(inner->slots, sizeof(*record->requests));
	record->path = xstrdup(path);
	record->part_path = part_path;
	record->fd = fd;
	buf_init(&record->lines);
	buf_addf(&record->lines, "{\"format\":\"%s\",\"version\":%d}\n", RECORDING_FORMAT,
		 RECORDING_VERSION);
	*out_transport = &record->base;
	return 0;
}
