#include "lookup_recording.h"

#include "digest.h"
#include "lookup_reply.h"
#include "redact.h"
#include "util/base64.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_BYTES ((size_t)256 << 10)
#define HEADER_MAX 128
/* How packed files begin: gzip, zstd. */
#define GZIP_MAGIC "\x1f\x8b"
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

struct transport_record {
	struct transport base;
	struct transport *inner;
	struct transport *old;		 /* what the recording held before; NULL */
	struct lookup_request *requests; /* by slot, while in flight */
	char *path, *part_path;
	int fd; /* -1: finished */
	struct buf lines;
	struct buf words; /* the server's, without secrets */
	bool added;	  /* an answer, so far */
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

/* ---- writing ---- */

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

/* Has the recording this very answer? 1, 0, -1. */
static int is_known(struct transport_record *record, const struct lookup_request *request,
		    const struct transport_reply *reply, struct err *err)
{
	struct transport_reply known;

	if (!record->old)
		return 0;
	if (record->old->ops->start(record->old, 0, request, 0, err) < 0 ||
	    record->old->ops->wait(record->old, 0, &known, err) < 0)
		return -1;
	return known.code == reply->code && strcmp(known.message, reply->message) == 0 &&
	       (known.code != CODE_OK ||
		(known.len == reply->len &&
		 (!known.len || memcmp(known.data, reply->data, known.len) == 0)));
}

static int keep(struct transport_record *record, const struct transport_reply *reply,
		struct err *err)
{
	const struct lookup_request *request = &record->requests[reply->slot];
	int known = is_known(record, request, reply, err);

	if (known)
		return known < 0 ? -1 : 0;
	record->added = true;
	add_key(&record->lines, request);
	add_reply(&record->lines, reply);
	return record->lines.len < FLUSH_BYTES ? 0 : flush_lines(record, err);
}

/* ---- the transport ---- */

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
	out_reply->message = redact_text(str_of(out_reply->message), &record->words).data;
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
	return record->fd < 0 || !record->added ? 0 : put_in_place(record, err);
}

static void record_free(struct transport *self)
{
	struct transport_record *record = record_of(self);

	record->inner->ops->free(record->inner);
	if (record->old)
		record->old->ops->free(record->old);
	if (record->fd >= 0)
		close(record->fd);
	if (record->part_path)
		unlink(record->part_path);
	free(record->part_path);
	free(record->path);
	free(record->requests);
	buf_release(&record->words);
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

/* ---- the file ---- */

static size_t add_header(struct buf *out)
{
	size_t before = out->len;

	buf_addf(out, "{\"format\":\"%s\",\"version\":%d}\n", RECORDING_FORMAT, RECORDING_VERSION);
	return out->len - before;
}

/* Only what begins exactly as this program begins one: all else is somebody's file. */
static int check_beginning(int fd, const char *path, struct err *err)
{
	struct buf header = BUF_INIT;
	size_t len = add_header(&header);
	char start[HEADER_MAX] = "";
	ssize_t got = pread(fd, start, len, 0);
	int rc = 0;

	if (got < 0)
		rc = err_errno(err, ERR_USAGE, errno, "--record %s", path);
	else if (memcmp(start, GZIP_MAGIC, strlen(GZIP_MAGIC)) == 0 ||
		 memcmp(start, ZSTD_MAGIC, strlen(ZSTD_MAGIC)) == 0)
		rc = err_set(err, ERR_USAGE,
			     "--record %s: a packed file: unpack it first, or name a new one",
			     path);
	else if ((size_t)got < len || memcmp(start, header.data, len) != 0)
		rc = err_set(err, ERR_USAGE,
			     "--record %s: is there, and is no recording of this version: name a "
			     "new file, or a recording to complete",
			     path);
	buf_release(&header);
	return rc;
}

/* O_NONBLOCK: a pipe must not hold up open(). */
static int check_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0)
		return err_errno(err, ERR_USAGE, errno, "--record %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		rc = check_beginning(fd, path, err);
	else
		rc = err_set(err, ERR_USAGE,
			     "--record %s: not a regular file: name a new file, or a recording to "
			     "complete",
			     path);
	close(fd);
	return rc;
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

int recording_open(struct transport **out_old, const char *path, struct err *err)
{
	*out_old = NULL;
	if (!is_there(path))
		return 0;
	if (check_file(path, err) < 0)
		return -1;
	if (transport_replay_new(out_old, path, 1, err) == 0)
		return 0;
	err->kind = ERR_USAGE;
	return err_prefix(err, "--record");
}

/* A name that nobody has: neither a link nor another's file is written to. Mode 0600. */
static int make_part(struct transport_record *record, struct err *err)
{
	record->part_path = xasprintf("%s.XXXXXX", record->path);
	record->fd = mkstemp(record->part_path);
	if (record->fd >= 0)
		return 0;
	free(record->part_path);
	record->part_path = NULL;
	return err_errno(err, ERR_IO, errno, "cannot make a file beside %s", record->path);
}

/* What the recording holds comes first, as it is. */
static int copy_old(struct transport_record *record, struct err *err)
{
	int fd = open(record->path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t got = 1;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "cannot read %s", record->path);
	while (rc == 0 && got != 0) {
		got = read(fd, buf_reserve(&record->lines, FLUSH_BYTES), FLUSH_BYTES);
		if (got > 0)
			buf_grew(&record->lines, (size_t)got);
		else if (got < 0 && errno != EINTR)
			rc = err_errno(err, ERR_IO, errno, "cannot read %s", record->path);
		if (got > 0)
			rc = flush_lines(record, err);
	}
	close(fd);
	return rc;
}

static int begin_part(struct transport_record *record, struct err *err)
{
	if (record->old && check_file(record->path, err) < 0)
		return -1;
	/* The database that this very ingest made, for one. */
	if (!record->old && is_there(record->path))
		return err_set(err, ERR_USAGE,
			       "--record %s: has come to be there meanwhile: name a new file",
			       record->path);
	if (make_part(record, err) < 0)
		return -1;
	if (record->old)
		return copy_old(record, err);
	add_header(&record->lines);
	return 0;
}

int transport_record_new(struct transport **out_transport, struct transport *inner,
			 struct transport *old, const char *path, struct err *err)
{
	struct transport_record *record = xcalloc(1, sizeof(*record));
	char *real = realpath(path, NULL);

	record->base = (struct transport){&record_ops, inner->slots};
	record->inner = inner;
	record->old = old;
	record->requests = xcalloc(inner->slots, sizeof(*record->requests));
	/* Not in place of a link, but of what it leads to. */
	record->path = real ? real : xstrdup(path);
	record->fd = -1;
	buf_init(&record->words);
	buf_init(&record->lines);
	if (begin_part(record, err) < 0) {
		record_free(&record->base);
		return -1;
	}
	*out_transport = &record->base;
	return 0;
}
