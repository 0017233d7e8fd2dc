#include "log_bytes.h"

#include "scratch.h"
#include "util/unpack.h"

#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>

int bytes_open(const void *data, size_t len)
{
	FILE *file = tmpfile();
	int fd;

	scratch_check(file && fwrite(data, 1, len, file) == len && fflush(file) == 0, "tmpfile");
	rewind(file);
	fd = dup(fileno(file));
	scratch_check(fd >= 0, "dup");
	fclose(file);
	return fd;
}

void bytes_load(struct buf *out, const char *path)
{
	FILE *file = fopen(path, "rb");
	char part[4096];
	size_t len;

	scratch_check(file != NULL, path);
	while ((len = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(out, part, len);
	fclose(file);
}

void bytes_load_unpacked(struct buf *out, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct unpack *unpack = NULL;
	struct err err = ERR_INIT;
	struct unpack_block block;
	int more;

	scratch_check(fd >= 0 && unpack_open(&unpack, fd, path, &err) == 0, path);
	do {
		more = unpack_next(unpack, 4096, &block, &err);
		buf_add(out, block.data, block.len);
	} while (more > 0);
	unpack_free(unpack);
}

void bytes_gzip(struct buf *out, const void *data, size_t len)
{
	z_stream gzip = {.avail_in = (unsigned int)len};
	size_t bound;

	scratch_check(deflateInit2(&gzip, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
			      Z_OK,
		      "deflateInit2");
	bound = deflateBound(&gzip, len) + 32;
	gzip.next_in = (Bytef *)(uintptr_t)data;
	gzip.next_out = (Bytef *)buf_reserve(out, bound);
	gzip.avail_out = (unsigned int)bound;
	scratch_check(deflate(&gzip, Z_FINISH) == Z_STREAM_END, "deflate");
	buf_grew(out, bound - gzip.avail_out);
	deflateEnd(&gzip);
}

void bytes_zstd(struct buf *out, const void *data, size_t len, size_t flush)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t at = 0, part, left;

	do {
		ZSTD_inBuffer in = {(const char *)data + at, 0, 0};
		ZSTD_outBuffer room;

		part = flush && len - at > flush ? flush : len - at;
		in.size = part;
		room = (ZSTD_outBuffer){buf_reserve(out, ZSTD_compressBound(part) + 64),
					ZSTD_compressBound(part) + 64, 0};
		left = ZSTD_compressStream2(zstd, &room, &in,
					    at + part == len ? ZSTD_e_end : ZSTD_e_flush);
		scratch_check(left == 0 && in.pos == part, "ZSTD_compressStream2");
		buf_grew(out, room.pos);
		at += part;
	} while (at < len);
	ZSTD_freeCCtx(zstd);
}

void bytes_zstd_window(struct buf *out, const void *data, size_t len, int window_log)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = {data, len, 0};
	ZSTD_outBuffer room = {buf_reserve(out, ZSTD_compressBound(len) + 64),
			       ZSTD_compressBound(len) + 64, 0};

	ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, window_log);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_enableLongDistanceMatching, window_log > 20);
	/* Its size is not told before: else the window would be as small as that. */
	ZSTD_compressStream2(zstd, &room, &in, ZSTD_e_continue);
	scratch_check(ZSTD_compressStream2(zstd, &room, &in, ZSTD_e_end) == 0 && in.pos == len,
		      "ZSTD_compressStream2");
	buf_grew(out, room.pos);
	ZSTD_freeCCtx(zstd);
}

void bytes_varint(struct buf *out, unsigned long long value)
{
	for (; value > 0x7f; value >>= 7)
		buf_addch(out, (char)(value | 0x80));
	buf_addch(out, (char)value);
}

void bytes_frame(struct buf *out, const void *data, size_t len)
{
	bytes_varint(out, len);
	buf_add(out, data, len);
}

void bytes_message(struct buf *out, const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);

	buf_grew(out, protobuf_c_message_pack(message, (uint8_t *)buf_reserve(out, len)));
}
