#include "lookup_recording.h"

#include "digest.h"
#include "lookup_reply.h"
#include "util/base64.h"
#include "util/mem.h"
#include "util/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)256 << 10)
/* A reply of the largest size in base64, and room for what stands around it. */
#define LINE_MAX_BYTES (LOOKUP_REPLY_MAX / 3 * 4 + ((size_t)1 << 20))

/* What finds an answer, and where its message and reply lie in the spool. */
struct entry {
	const char *instance; /* shared by entries that follow each other */
	enum lookup_method method;
	struct digest digest;
	int code;
	uint64_t line;
	uint64_t offset;
	size_t message_len, reply_len;
};

struct transport_replay {
	struct transport base;
	const char *path; /* of the recording; only while it is read */
	FILE *spool;
	uint64_t spool_bytes;
	struct entry *entries; /* once read: sorted, each key once */
	size_t count, allocated;
	char **instances;
	size_t instance_count;
	/* Calls that were started, oldest first: a ring. */
	struct lookup_request *requests; /* by slot */
	uint32_t *queue;
	uint32_t head, queued;
	struct buf message, reply;
};

static struct transport_replay *replay_of(struct transport *transport)
{
	return (struct transport_replay *)transport; /* base is its first member */
}

/* ---- lines of a file ---- */

struct lines {
	struct unpack *unpack;
	struct buf text;
	size_t at; /* of what was not given yet */
	uint64_t number;
};

/* 1: there are more bytes; 0: the end; -1. */
static int lines_fill(struct lines *lines, struct err *err)
{
	size_t left = lines->text.len - lines->at;
	struct unpack_block block;
	int more;

	if (left > LINE_MAX_BYTES)
		return err_set(err, ERR_LIMIT, "a line longer than %zu bytes", LINE_MAX_BYTES);
	if (lines->at) {
		memmove(lines->text.data, lines->text.data + lines->at, left);
		lines->text.len = left;
		lines->at = 0;
	}
	more = unpack_next(lines->unpack, CHUNK_BYTES, &block, err);
	buf_add(&lines->text, block.data, block.len);
	return more < 0 ? -1 : block.len > 0;
}

static int lines_end(struct lines *lines, struct err *err)
{
	if (unpack_ending(lines->unpack) == UNPACK_BROKEN)
		return err_set(err, ERR_FORMAT, "%s", unpack_fault(lines->unpack));
	if (unpack_ending(lines->unpack) == UNPACK_CUT || lines->text.len > lines->at)
		return err_set(err, ERR_FORMAT, "the recording is cut short");
	return 0;
}

/* 1: *out_line, without its newline, until the next call; 0: the end; -1. */
static int lines_next(struct lines *lines, struct str *out_line, struct err *err)
{
	size_t searched = 0;
	char *newline;
	int more;

	for (;;) {
		char *start = lines->text.data + lines->at;
		size_t left = lines->text.len - lines->at;

		newline = left > searched ? memchr(start + searched, '\n', left - searched) : NULL;
		if (newline) {
			*out_line = (struct str){start, (size_t)(newline - start)};
			lines->at += out_line->len + 1;
			lines->number++;
			return 1;
		}
		searched = left;
		more = lines_fill(lines, err);
		if (more <= 0)
			return more < 0 ? -1 : lines_end(lines, err);
	}
}

/* ---- a line ---- */

static struct str text_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_string(value))
		return STR_NULL;
	return (struct str){json_string_value(value), json_string_length(value)};
}

/* -1 where the member is missing or no integer. */
static json_int_t number_member(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

static json_t *parse_object(struct str line, struct err *err)
{
	json_error_t fault;
	json_t *object = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &fault);

	if (!json_is_object(object)) {
		err_set(err, ERR_FORMAT, "not a JSON object");
		json_decref(object);
		return NULL;
	}
	return object;
}

static int check_header(const json_t *header, struct err *err)
{
	if (!str_is(text_member(header, "format"), RECORDING_FORMAT))
		return err_set(err, ERR_FORMAT, "not a recording of br2-ingest");
	if (number_member(header, "version") != RECORDING_VERSION)
		return err_set(err, ERR_FORMAT,
			       "a recording of another version; this program reads version %d",
			       RECORDING_VERSION);
	return 0;
}

/* An empty function: the digest was asked without one. */
static int parse_digest(const json_t *object, struct digest *out_digest, struct err *err)
{
	struct str text = text_member(object, "digest");
	struct str name = text_member(object, "function");
	enum digest_function function;

	if (!text.data || !name.data || digest_parse(text, out_digest) < 0)
		return err_set(err, ERR_FORMAT, "'digest' or 'function' is missing or malformed");
	function = digest_function_parse(name);
	if (name.len && digest_function_length((int)function) != out_digest->hash_len)
		return err_set(err, ERR_FORMAT, "'function' does not fit the digest");
	out_digest->function = (uint8_t)function;
	return 0;
}

/* ---- reading the file ---- */

static int spool_add(struct transport_replay *replay, const void *data, size_t len, struct err *err)
{
	if (len && fwrite(data, 1, len, replay->spool) != len)
		return err_errno(err, ERR_IO, errno, "cannot write a temporary file");
	replay->spool_bytes += len;
	return 0;
}

/* Recordings name the same instance line after line. */
static const char *keep_instance(struct transport_replay *replay, struct str name)
{
	size_t count = replay->instance_count;

	if (count && str_equal(str_of(replay->instances[count - 1]), name))
		return replay->instances[count - 1];
	replay->instances = xreallocarray(replay->instances, count + 1, sizeof(*replay->instances));
	replay->instances[count] = xmemdup0(name.data, name.len);
	replay->instance_count++;
	return replay->instances[count];
}

static void add_entry(struct transport_replay *replay, const struct entry *entry)
{
	if (replay->count == replay->allocated) {
		replay->allocated = replay->allocated ? replay->allocated * 2 : 256;
		replay->entries =
			xreallocarray(replay->entries, replay->allocated, sizeof(*replay->entries));
	}
	replay->entries[replay->count++] = *entry;
}

static int add_answer(struct transport_replay *replay, enum lookup_method method,
		      const json_t *object, uint64_t line, struct err *err)
{
	struct str instance = text_member(object, "instance");
	struct str message = text_member(object, "message");
	struct str reply = text_member(object, "reply");
	json_int_t code = number_member(object, "code");
	struct entry entry = {.method = method, .line = line};

	if (!instance.data || !message.data || !reply.data || code < 0 || code > 16)
		return err_set(err, ERR_FORMAT,
			       "'instance', 'code', 'message' or 'reply' is missing or malformed");
	if (parse_digest(object, &entry.digest, err) < 0)
		return -1;
	buf_clear(&replay->reply);
	if (base64_decode(reply.data, reply.len, &replay->reply) < 0)
		return err_set(err, ERR_FORMAT, "'reply' is not base64");
	entry.instance = keep_instance(replay, instance);
	entry.code = (int)code;
	entry.offset = replay->spool_bytes;
	entry.message_len = message.len;
	entry.reply_len = replay->reply.len;
	add_entry(replay, &entry);
	if (spool_add(replay, message.data, message.len, err) < 0)
		return -1;
	return spool_add(replay, replay->reply.data, replay->reply.len, err);
}

/* Methods that this program does not ask are passed over: a newer one recorded them. */
static int read_line(struct transport_replay *replay, struct str line, uint64_t number,
		     struct err *err)
{
	json_t *object = parse_object(line, err);
	enum lookup_method method;
	int result = 0;

	if (!object)
		return -1;
	method = lookup_method_parse(text_member(object, "method"));
	if (number == 1)
		result = check_header(object, err);
	else if (method)
		result = add_answer(replay, method, object, number, err);
	json_decref(object);
	return result;
}

static int read_lines(struct transport_replay *replay, struct unpack *unpack, struct err *err)
{
	struct lines lines = {unpack, BUF_INIT, 0, 0};
	struct str line = STR_NULL;
	int more;

	while ((more = lines_next(&lines, &line, err)) > 0)
		if (read_line(replay, line, lines.number, err) < 0)
			break;
	if (more == 0 && !lines.number)
		more = err_set(err, ERR_FORMAT, "%s: not a recording of br2-ingest", replay->path);
	else if (more)
		err_prefix(err, "%s:%llu", replay->path,
			   (unsigned long long)lines.number + (more < 0));
	buf_release(&lines.text);
	return more ? -1 : 0;
}

static int read_file(struct transport_replay *replay, struct err *err)
{
	struct unpack *unpack;
	int fd = open(replay->path, O_RDONLY | O_CLOEXEC), result;

	if (fd < 0)
		return err_errno(err, ERR_IO, errno, "cannot open %s", replay->path);
	if (unpack_open(&unpack, fd, replay->path, err) < 0)
		return -1;
	result = read_lines(replay, unpack, err);
	unpack_free(unpack);
	if (result == 0 && fflush(replay->spool) != 0)
		return err_errno(err, ERR_IO, errno, "cannot write a temporary file");
	return result;
}

/* ---- finding ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_digests(const struct digest *a, const struct digest *b)
{
	int order = compare_numbers(a->function, b->function);

	if (!order)
		order = compare_numbers(a->hash_len, b->hash_len);
	if (!order)
		order = memcmp(a->hash, b->hash, a->hash_len);
	return order ? order : compare_numbers((uint64_t)a->size_bytes, (uint64_t)b->size_bytes);
}

static int compare_keys(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = compare_numbers(a->method, b->method);

	if (!order)
		order = compare_digests(&a->digest, &b->digest);
	return order ? order : strcmp(a->instance, b->instance);
}

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = compare_keys(a, b);

	return order ? order : compare_numbers(a->line, b->line);
}

/* The last line of a key counts. */
static void sort_entries(struct transport_replay *replay)
{
	struct entry *entries = replay->entries;
	size_t from, to = 0;

	if (!replay->count)
		return;
	qsort(entries, replay->count, sizeof(*entries), compare_entries);
	for (from = 1; from < replay->count; from++)
		if (compare_keys(&entries[to], &entries[from]) == 0)
			entries[to] = entries[from];
		else
			entries[++to] = entries[from];
	replay->count = to + 1;
}

static const struct entry *find_entry(const struct transport_replay *replay,
				      const struct lookup_request *request)
{
	struct entry key = {
		.instance = request->instance,
		.method = request->method,
		.digest = request->digest,
	};

	if (!replay->count)
		return NULL;
	return bsearch(&key, replay->entries, replay->count, sizeof(key), compare_keys);
}

/* ---- the transport ---- */

static int replay_start(struct transport *self, uint32_t slot, const struct lookup_request *request,
			int64_t timeout_ms, struct err *err)
{
	struct transport_replay *replay = replay_of(self);

	(void)timeout_ms;
	(void)err;
	replay->requests[slot] = *request;
	replay->queue[(replay->head + replay->queued++) % self->slots] = slot;
	return 0;
}

static int spool_read(struct transport_replay *replay, uint64_t offset, size_t len, struct buf *out,
		      struct err *err)
{
	size_t done = 0;

	buf_clear(out);
	while (done < len) {
		ssize_t got = pread(fileno(replay->spool), buf_reserve(out, len - done), len - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_errno(err, ERR_IO, got < 0 ? errno : EIO,
					 "cannot read a temporary file");
		buf_grew(out, (size_t)got);
		done += (size_t)got;
	}
	return 0;
}

static int fill_reply(struct transport_replay *replay, const struct entry *entry,
		      struct transport_reply *out_reply, struct err *err)
{
	if (!entry) {
		buf_clear(&replay->message);
		buf_addstr(&replay->message, "not in the recording");
		out_reply->code = CODE_NOT_FOUND;
		return 1;
	}
	if (spool_read(replay, entry->offset, entry->message_len, &replay->message, err) < 0 ||
	    spool_read(replay, entry->offset + entry->message_len, entry->reply_len, &replay->reply,
		       err) < 0)
		return -1;
	out_reply->code = entry->code;
	return 1;
}

/* As the contract has it, also where nothing can come: the engine waits to retry. */
static int sleep_ms(int64_t ms)
{
	struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
	return 0;
}

static int replay_wait(struct transport *self, int64_t timeout_ms,
		       struct transport_reply *out_reply, struct err *err)
{
	struct transport_replay *replay = replay_of(self);

	if (!replay->queued)
		return sleep_ms(timeout_ms);
	out_reply->slot = replay->queue[replay->head];
	replay->head = (replay->head + 1) % self->slots;
	replay->queued--;
	buf_clear(&replay->reply);
	if (fill_reply(replay, find_entry(replay, &replay->requests[out_reply->slot]), out_reply,
		       err) < 0)
		return -1;
	out_reply->message = replay->message.data;
	out_reply->data = (const uint8_t *)replay->reply.data;
	out_reply->len = replay->reply.len;
	return 1;
}

static void replay_free(struct transport *self)
{
	struct transport_replay *replay = replay_of(self);

	if (replay->spool)
		fclose(replay->spool);
	while (replay->instance_count)
		free(replay->instances[--replay->instance_count]);
	free(replay->instances);
	free(replay->entries);
	free(replay->requests);
	free(replay->queue);
	buf_release(&replay->message);
	buf_release(&replay->reply);
	free(replay);
}

static const struct transport_ops replay_ops = {
	.start = replay_start,
	.wait = replay_wait,
	.free = replay_free,
};

static struct transport_replay *replay_alloc(uint32_t in_flight)
{
	struct transport_replay *replay = xcalloc(1, sizeof(*replay));

	replay->base = (struct transport){
		&replay_ops,
		(in_flight ? in_flight : LOOKUP_IN_FLIGHT) + 1,
	};
	replay->requests = xcalloc(replay->base.slots, sizeof(*replay->requests));
	replay->queue = xcalloc(replay->base.slots, sizeof(*replay->queue));
	buf_init(&replay->message);
	buf_init(&replay->reply);
	return replay;
}

/* Nameless at once, so that nothing stays behind however the program ends. */
static FILE *open_spool(struct err *err)
{
	const char *folder = getenv("TMPDIR");
	char *path = xasprintf("%s/br2-replay-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkstemp(path);
	FILE *spool = NULL;

	if (fd < 0) {
		err_errno(err, ERR_IO, errno, "cannot make %s", path);
	} else {
		unlink(path);
		spool = fdopen(fd, "w+");
		if (!spool) {
			err_errno(err, ERR_IO, errno, "cannot use %s", path);
			close(fd);
		}
	}
	free(path);
	return spool;
}

int transport_replay_new(struct transport **out_transport, const char *path, uint32_t in_flight,
			 struct err *err)
{
	struct transport_replay *replay = replay_alloc(in_flight);

	replay->path = path;
	replay->spool = open_spool(err);
	if (!replay->spool || read_file(replay, err) < 0) {
		replay_free(&replay->base);
		return -1;
	}
	replay->path = NULL;
	sort_entries(replay);
	*out_transport = &replay->base;
	return 0;
}
