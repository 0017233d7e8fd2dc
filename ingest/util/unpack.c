#include "util/unpack.h"

#include "util/mem.h"
#include "util/unpack_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
/* For ZSTD_createDCtx_advanced() alone: shared libraries have it, too. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

/* Small, so that what is read lies near, and leaves the cache to what is written. */
#define INPUT_SIZE ((size_t)64 << 10)
/* RFC 8878 §3.1.1: magic 4, descriptor 1, window 1, dictionary 4, content size 8. */
#define FRAME_HEADER_MAX 18
#define FRAME_HEADER_MIN 6
#define WINDOW_LOG_MAX 27
/* What zstd wants is the rest of a block and the header of the next, §3.1.1.2. */
#define BLOCK_HEADER 3
/* A shorter file is read before huge pages are zeroed for it. */
#define LONG_FILE ((off_t)1 << 20)

enum magic { MAGIC_NONE, MAGIC_SHORT, MAGIC_GZIP, MAGIC_ZSTD };

struct unpack {
	int fd;
	char *name;
	enum unpack_packing packing; /* of the whole file */
	enum unpack_ending ending;
	enum magic frame; /* what the frame being read is; MAGIC_NONE for a plain file */
	bool in_frame;
	bool started;
	bool at_eof;
	bool is_long;
	ZSTD_DCtx *zstd;
	size_t zstd_hint; /* bytes of input that zstd would like next */
	bool zstd_full;	  /* more output may wait in the decoder */
	z_stream gzip;
	bool gzip_ready;
	uint64_t bytes_in, bytes_out;
	size_t pos, len; /* the unused part of input[] */
	char fault[200];
	uint8_t input[INPUT_SIZE];
};

static int unpack_break(struct unpack *unpack, const char *why)
{
	snprintf(unpack->fault, sizeof(unpack->fault), "%s", why);
	unpack->ending = UNPACK_BROKEN;
	return 0;
}

/* 1: *out_len bytes; 0: end of file; -1. */
static int read_some(struct unpack *unpack, void *data, size_t cap, size_t *out_len,
		     struct err *err)
{
	ssize_t got;

	do
		got = read(unpack->fd, data, cap);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(err, ERR_IO, errno, "%s", unpack->name);
	unpack->bytes_in += (uint64_t)got;
	*out_len = (size_t)got;
	return got > 0;
}

/* Reads until `want` bytes are there in a row, or the file ends. */
static int fill(struct unpack *unpack, size_t want, struct err *err)
{
	memmove(unpack->input, unpack->input + unpack->pos, unpack->len - unpack->pos);
	unpack->len -= unpack->pos;
	unpack->pos = 0;
	while (unpack->len < want && !unpack->at_eof) {
		size_t got = 0;
		int rc = read_some(unpack, unpack->input + unpack->len, INPUT_SIZE - unpack->len,
				   &got, err);

		if (rc < 0)
			return -1;
		unpack->at_eof = rc == 0;
		unpack->len += got;
	}
	return 0;
}

/* RFC 8878 §3.1 (frames begin FD2FB528, skippable ones 184D2A5?), RFC 1952 §2.3.1. */
static enum magic sniff(const uint8_t *head, size_t len)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18};
	static const uint8_t gzip[] = {0x1f, 0x8b};
	size_t part = len < 4 ? len : 4;
	bool is_zstd = memcmp(head, zstd, part) == 0;
	bool is_skippable = part && (head[0] & 0xf0) == skippable[0] &&
			    memcmp(head + 1, skippable + 1, part - 1) == 0;

	if (is_zstd || is_skippable)
		return part == 4 ? MAGIC_ZSTD : MAGIC_SHORT;
	if (memcmp(head, gzip, part < 2 ? part : 2) == 0)
		return part >= 2 ? MAGIC_GZIP : MAGIC_SHORT;
	return MAGIC_NONE;
}

/* What a zstd frame asks for, RFC 8878 §3.1.1.1.2; 0: too short to tell, or skippable. */
static uint64_t frame_window(const uint8_t *head, size_t len)
{
	uint64_t base;

	if (len < 6 || head[0] != 0x28)
		return 0;
	if (head[4] & 0x20) { /* Single_Segment_flag: the window is the content */
		unsigned long long size = ZSTD_getFrameContentSize(head, len);

		return size >= ZSTD_CONTENTSIZE_ERROR ? 0 : size;
	}
	base = (uint64_t)1 << (10 + (head[5] >> 3));
	return base + base / 8 * (head[5] & 7);
}

static void *take_memory(void *opaque, size_t size)
{
	const struct unpack *unpack = opaque;

	return unpack_window_take(size, unpack->is_long);
}

static void give_memory(void *opaque, void *memory)
{
	(void)opaque;
	unpack_window_give(memory);
}

static ZSTD_DCtx *new_zstd(struct unpack *unpack)
{
	ZSTD_DCtx *zstd =
		ZSTD_createDCtx_advanced((ZSTD_customMem){take_memory, give_memory, unpack});

	if (!zstd)
		abort();
	return zstd;
}

static int begin_zstd(struct unpack *unpack)
{
	uint64_t window = frame_window(unpack->input + unpack->pos, unpack->len - unpack->pos);
	char why[160];

	if (window > UNPACK_WINDOW_MAX) {
		snprintf(why, sizeof(why),
			 "zstd window of %llu MiB, over the limit of %llu MiB: compress it again "
			 "without --long",
			 (unsigned long long)((window + ((1 << 20) - 1)) >> 20),
			 (unsigned long long)(UNPACK_WINDOW_MAX >> 20));
		return unpack_break(unpack, why);
	}
	if (!unpack->zstd)
		unpack->zstd = new_zstd(unpack);
	ZSTD_DCtx_reset(unpack->zstd, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(unpack->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	unpack->zstd_hint = FRAME_HEADER_MIN;
	unpack->zstd_full = false;
	unpack->in_frame = true;
	return 0;
}

static int begin_gzip(struct unpack *unpack)
{
	int rc = unpack->gzip_ready ? inflateReset(&unpack->gzip)
				    : inflateInit2(&unpack->gzip, 16 + MAX_WBITS);

	if (rc != Z_OK)
		abort();
	unpack->gzip_ready = unpack->in_frame = true;
	return 0;
}

/* At the start of the file, or where a frame has just ended. */
static int begin_frame(struct unpack *unpack, struct err *err)
{
	if (fill(unpack, FRAME_HEADER_MAX, err) < 0)
		return -1;
	if (unpack->pos == unpack->len) {
		unpack->ending = UNPACK_WHOLE;
		return 0;
	}
	unpack->frame = sniff(unpack->input + unpack->pos, unpack->len - unpack->pos);
	if (unpack->frame == MAGIC_ZSTD)
		return begin_zstd(unpack);
	if (unpack->frame == MAGIC_GZIP)
		return begin_gzip(unpack);
	if (!unpack->started)
		unpack->in_frame = true; /* a plain file is one frame to its end */
	else if (unpack->frame == MAGIC_SHORT)
		unpack->ending = UNPACK_CUT;
	else
		return unpack_break(unpack, "what follows the last frame is neither gzip nor zstd");
	return 0;
}

/* First what sniffing took, then straight from the file. */
static int step_plain(struct unpack *unpack, void *data, size_t cap, size_t *out_len,
		      struct err *err)
{
	size_t left = unpack->len - unpack->pos;
	int rc;

	if (left) {
		*out_len = left < cap ? left : cap;
		memcpy(data, unpack->input + unpack->pos, *out_len);
		unpack->pos += *out_len;
		return 0;
	}
	rc = read_some(unpack, data, cap, out_len, err);
	if (rc == 0)
		unpack->ending = UNPACK_WHOLE;
	return rc < 0 ? -1 : 0;
}

/*
 * The rest of one block and no more, and nothing while output waits: where a
 * call meets damage, zstd does not say how much it had written before, so what
 * shares a call with it would be lost.
 */
static size_t zstd_take(const struct unpack *unpack)
{
	size_t left = unpack->len - unpack->pos;
	size_t want = unpack->zstd_hint > BLOCK_HEADER ? unpack->zstd_hint - BLOCK_HEADER
						       : unpack->zstd_hint;

	if (unpack->zstd_full)
		return 0;
	return left < want ? left : want;
}

static int step_zstd(struct unpack *unpack, void *data, size_t cap, size_t *out_len)
{
	ZSTD_inBuffer in = {unpack->input + unpack->pos, zstd_take(unpack), 0};
	ZSTD_outBuffer out = {data, cap, 0};
	size_t rc = ZSTD_decompressStream(unpack->zstd, &out, &in);

	if (ZSTD_isError(rc))
		return unpack_break(unpack, ZSTD_getErrorName(rc));
	unpack->pos += in.pos;
	*out_len = out.pos;
	unpack->zstd_hint = rc;
	unpack->zstd_full = out.pos == cap;
	if (rc == 0)
		unpack->in_frame = false;
	else if (!in.pos && !out.pos && unpack->at_eof && unpack->pos == unpack->len)
		unpack->ending = UNPACK_CUT;
	return 0;
}

static int step_gzip(struct unpack *unpack, void *data, size_t cap, size_t *out_len)
{
	z_stream *gzip = &unpack->gzip;
	unsigned int room = cap < INPUT_SIZE ? (unsigned int)cap : (unsigned int)INPUT_SIZE;
	int rc;

	gzip->next_in = unpack->input + unpack->pos;
	gzip->avail_in = (unsigned int)(unpack->len - unpack->pos);
	gzip->next_out = data;
	gzip->avail_out = room;
	rc = inflate(gzip, Z_NO_FLUSH);
	unpack->pos = unpack->len - gzip->avail_in;
	*out_len = room - gzip->avail_out;
	if (rc == Z_STREAM_END)
		unpack->in_frame = false;
	else if (rc == Z_MEM_ERROR)
		abort();
	else if (rc == Z_BUF_ERROR && unpack->at_eof)
		unpack->ending = UNPACK_CUT;
	else if (rc != Z_OK && rc != Z_BUF_ERROR)
		return unpack_break(unpack, gzip->msg ? gzip->msg : "gzip data is damaged");
	return 0;
}

static int step(struct unpack *unpack, void *data, size_t cap, size_t *out_len, struct err *err)
{
	if (unpack->packing == UNPACK_PLAIN)
		return step_plain(unpack, data, cap, out_len, err);
	if (unpack->pos == unpack->len && !unpack->at_eof && fill(unpack, 1, err) < 0)
		return -1;
	if (unpack->frame == MAGIC_ZSTD)
		return step_zstd(unpack, data, cap, out_len);
	return step_gzip(unpack, data, cap, out_len);
}

int unpack_read(struct unpack *unpack, void *data, size_t cap, size_t *out_len, struct err *err)
{
	size_t len = 0;

	while (unpack->ending == UNPACK_OPEN && !len) {
		int rc = unpack->in_frame ? step(unpack, data, cap, &len, err)
					  : begin_frame(unpack, err);

		if (rc < 0)
			return -1;
	}
	if (!len)
		return 0;
	unpack->bytes_out += len;
	*out_len = len;
	return 1;
}

static bool is_long(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size >= LONG_FILE;
}

int unpack_open(struct unpack **out_unpack, int fd, const char *name, struct err *err)
{
	struct unpack *unpack = xcalloc(1, sizeof(*unpack));

	unpack->fd = fd;
	unpack->name = xstrdup(name);
	unpack->is_long = is_long(fd);
	if (begin_frame(unpack, err) < 0) {
		unpack_free(unpack);
		return -1;
	}
	unpack->started = true;
	if (unpack->frame == MAGIC_ZSTD)
		unpack->packing = UNPACK_ZSTD;
	else if (unpack->frame == MAGIC_GZIP)
		unpack->packing = UNPACK_GZIP;
	*out_unpack = unpack;
	return 0;
}

void unpack_free(struct unpack *unpack)
{
	if (!unpack)
		return;
	ZSTD_freeDCtx(unpack->zstd);
	if (unpack->gzip_ready)
		inflateEnd(&unpack->gzip);
	close(unpack->fd);
	free(unpack->name);
	free(unpack);
}

enum unpack_packing unpack_packing(const struct unpack *unpack)
{
	return unpack->packing;
}

enum unpack_ending unpack_ending(const struct unpack *unpack)
{
	return unpack->ending;
}

const char *unpack_fault(const struct unpack *unpack)
{
	return unpack->fault;
}

uint64_t unpack_bytes_in(const struct unpack *unpack)
{
	return unpack->bytes_in;
}

uint64_t unpack_bytes_out(const struct unpack *unpack)
{
	return unpack->bytes_out;
}
