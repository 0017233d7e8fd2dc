#include "util/unpack.h"

#include "util/mem.h"
#include "util/unpack_ring.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
/*
 * For the functions that write each block where we say: ZSTD_decompressStream() writes it in a
 * ring of its own, and copies it from there. Shared libraries have them, too.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

/* Small, so that what is read lies near, and leaves the cache to what is written. */
#define INPUT_USUAL ((size_t)64 << 10)
/* A block of zstd is taken whole. */
#define INPUT_SIZE (UNPACK_PIECE_MAX + 64)
/* RFC 8878 §3.1.1: magic 4, descriptor 1, window 1, dictionary 4, content size 8. */
#define FRAME_HEADER_MAX 18
/* RFC 8878 §3.1.2: magic 4, size 4. */
#define SKIPPABLE_HEADER 8
/* A shorter file is read before huge pages are zeroed for it. */
#define LONG_FILE ((off_t)1 << 20)

enum magic { MAGIC_NONE, MAGIC_SHORT, MAGIC_GZIP, MAGIC_ZSTD, MAGIC_SKIPPABLE };

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
	uint64_t skip; /* bytes left of a skippable frame */
	z_stream gzip;
	bool gzip_ready;
	uint64_t bytes_in, bytes_out;
	size_t pos, len; /* the unused part of input[] */
	struct unpack_ring ring;
	struct err failed; /* of a read, behind what was given */
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
	size_t cap = want > INPUT_USUAL ? want : INPUT_USUAL;

	if (unpack->len - unpack->pos >= want || unpack->at_eof)
		return 0;
	memmove(unpack->input, unpack->input + unpack->pos, unpack->len - unpack->pos);
	unpack->len -= unpack->pos;
	unpack->pos = 0;
	while (unpack->len < want && !unpack->at_eof) {
		size_t got = 0;
		int rc = read_some(unpack, unpack->input + unpack->len, cap - unpack->len, &got,
				   err);

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
		return part < 4 ? MAGIC_SHORT : is_zstd ? MAGIC_ZSTD : MAGIC_SKIPPABLE;
	if (memcmp(head, gzip, part < 2 ? part : 2) == 0)
		return part >= 2 ? MAGIC_GZIP : MAGIC_SHORT;
	return MAGIC_NONE;
}

static size_t at_hand(const struct unpack *unpack)
{
	return unpack->len - unpack->pos;
}

/* Room for one more piece at least, with `window` bytes to look back into. */
static void reserve(struct unpack *unpack, uint64_t window)
{
	if (!unpack_ring_reserve(&unpack->ring, window, unpack->is_long))
		abort();
}

static int break_for_window(struct unpack *unpack, uint64_t window)
{
	char why[160];

	snprintf(why, sizeof(why),
		 "zstd window of %llu MiB, over the limit of %llu MiB: compress it again "
		 "without --long",
		 (unsigned long long)((window - 1) >> 20) + 1,
		 (unsigned long long)(UNPACK_WINDOW_MAX >> 20));
	return unpack_break(unpack, why);
}

static int begin_zstd(struct unpack *unpack)
{
	ZSTD_frameHeader header;
	size_t rc = ZSTD_getFrameHeader(&header, unpack->input + unpack->pos, at_hand(unpack));

	if (ZSTD_isError(rc))
		return unpack_break(unpack, ZSTD_getErrorName(rc));
	if (rc) {
		unpack->ending = UNPACK_CUT;
		return 0;
	}
	if (header.windowSize > UNPACK_WINDOW_MAX)
		return break_for_window(unpack, header.windowSize);
	if (!unpack->zstd)
		unpack->zstd = ZSTD_createDCtx();
	if (!unpack->zstd)
		abort();
	reserve(unpack, header.windowSize);
	ZSTD_decompressBegin(unpack->zstd);
	unpack->in_frame = true;
	return 0;
}

static int begin_skippable(struct unpack *unpack)
{
	uint32_t size;

	if (at_hand(unpack) < SKIPPABLE_HEADER) {
		unpack->ending = UNPACK_CUT;
		return 0;
	}
	memcpy(&size, unpack->input + unpack->pos + SKIPPABLE_HEADER - sizeof(size), sizeof(size));
	unpack->pos += SKIPPABLE_HEADER;
	unpack->skip = le32toh(size);
	unpack->in_frame = unpack->skip > 0;
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
	if (!at_hand(unpack)) {
		unpack->ending = UNPACK_WHOLE;
		return 0;
	}
	unpack->frame = sniff(unpack->input + unpack->pos, at_hand(unpack));
	if (unpack->frame == MAGIC_ZSTD)
		return begin_zstd(unpack);
	if (unpack->frame == MAGIC_SKIPPABLE)
		return begin_skippable(unpack);
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

/* ---- steps: each writes a piece at `data`, of `cap` bytes at most, or none ---- */

/* First what sniffing took, then straight from the file. */
static int step_plain(struct unpack *unpack, uint8_t *data, size_t cap, size_t *out_len,
		      struct err *err)
{
	size_t left = at_hand(unpack);
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

/* Of a block that the file's end cuts: nothing, unless it is stored and not compressed. */
static size_t cut_block(struct unpack *unpack, uint8_t *data)
{
	size_t rc = ZSTD_decompressContinue(unpack->zstd, data, UNPACK_PIECE_MAX,
					    unpack->input + unpack->pos, at_hand(unpack));

	unpack->ending = UNPACK_CUT;
	return ZSTD_isError(rc) ? 0 : rc;
}

/*
 * A header, a block or a checksum, and no more: where a call meets damage, zstd does not say
 * how much it had written before.
 */
static int step_zstd(struct unpack *unpack, uint8_t *data, size_t *out_len, struct err *err)
{
	size_t want = ZSTD_nextSrcSizeToDecompress(unpack->zstd), rc;

	if (fill(unpack, want, err) < 0)
		return -1;
	if (at_hand(unpack) < want) {
		*out_len = cut_block(unpack, data);
		return 0;
	}
	rc = ZSTD_decompressContinue(unpack->zstd, data, UNPACK_PIECE_MAX,
				     unpack->input + unpack->pos, want);
	if (ZSTD_isError(rc))
		return unpack_break(unpack, ZSTD_getErrorName(rc));
	unpack->pos += want;
	*out_len = rc;
	unpack->in_frame = ZSTD_nextSrcSizeToDecompress(unpack->zstd) > 0;
	return 0;
}

static int step_skippable(struct unpack *unpack, struct err *err)
{
	uint64_t part;

	if (fill(unpack, 1, err) < 0)
		return -1;
	part = at_hand(unpack) < unpack->skip ? at_hand(unpack) : unpack->skip;
	if (!part)
		unpack->ending = UNPACK_CUT;
	unpack->pos += (size_t)part;
	unpack->skip -= part;
	unpack->in_frame = unpack->skip > 0;
	return 0;
}

static int step_gzip(struct unpack *unpack, uint8_t *data, size_t cap, size_t *out_len,
		     struct err *err)
{
	z_stream *gzip = &unpack->gzip;
	int rc;

	if (fill(unpack, 1, err) < 0)
		return -1;
	gzip->next_in = unpack->input + unpack->pos;
	gzip->avail_in = (unsigned int)at_hand(unpack);
	gzip->next_out = data;
	gzip->avail_out = (unsigned int)cap;
	rc = inflate(gzip, Z_NO_FLUSH);
	unpack->pos = unpack->len - gzip->avail_in;
	*out_len = cap - gzip->avail_out;
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

/* A block of zstd is as long as it is; `want` bounds the other pieces. */
static int step(struct unpack *unpack, size_t want, size_t *out_len, struct err *err)
{
	uint8_t *data = unpack->ring.start + unpack->ring.at;
	size_t cap = want < UNPACK_PIECE_MAX ? want : UNPACK_PIECE_MAX;

	if (!unpack->in_frame)
		return begin_frame(unpack, err);
	if (unpack->packing == UNPACK_PLAIN)
		return step_plain(unpack, data, cap, out_len, err);
	if (unpack->frame == MAGIC_ZSTD)
		return step_zstd(unpack, data, out_len, err);
	if (unpack->frame == MAGIC_SKIPPABLE)
		return step_skippable(unpack, err);
	return step_gzip(unpack, data, cap, out_len, err);
}

/* ---- blocks: pieces in a row ---- */

static void begin_block(struct unpack_ring *ring, struct unpack_block *out)
{
	if (!unpack_ring_fits(ring))
		ring->at = 0;
	*out = (struct unpack_block){ring->start + ring->at, 0,
				     ring->at < UNPACK_ROOM ? ring->at : UNPACK_ROOM};
}

static int say_failed(const struct unpack *unpack, struct err *err)
{
	*err = unpack->failed;
	return -1;
}

int unpack_next(struct unpack *unpack, size_t want, struct unpack_block *out_block, struct err *err)
{
	struct unpack_ring *ring = &unpack->ring;

	begin_block(ring, out_block);
	while (out_block->len < want && unpack_ring_fits(ring)) {
		const uint8_t *start = ring->start;
		size_t len = 0;

		if (unpack->ending != UNPACK_OPEN)
			return 0;
		if (unpack->failed.kind ||
		    step(unpack, want - out_block->len, &len, &unpack->failed) < 0)
			return say_failed(unpack, err);
		/* It has moved: what comes stands apart from what was given. */
		if (ring->start != start && out_block->len)
			return 1;
		if (ring->start != start)
			begin_block(ring, out_block);
		ring->at += len;
		out_block->len += len;
		unpack->bytes_out += len;
	}
	return 1;
}

/* ---- a file ---- */

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
	unpack_ring_init(&unpack->ring);
	reserve(unpack, 0);
	if (begin_frame(unpack, err) < 0) {
		unpack_free(unpack);
		return -1;
	}
	unpack->started = true;
	if (unpack->frame == MAGIC_ZSTD || unpack->frame == MAGIC_SKIPPABLE)
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
	unpack_ring_release(&unpack->ring);
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
