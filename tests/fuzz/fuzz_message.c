/*
 * Any bytes as a server's answer about blobs. Laws: a blob that was given has bytes, however few;
 * a part is put behind what is there, and no larger than its message.
 */
#include "digest.h"
#include "lookup_message.h"
#include "lookup_reply.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sink;

static void touch(struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		sink = (unsigned char)text.data[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf part = BUF_INIT;
	struct blob_answer answer;
	struct digest digest;

	assert(digest_parse(STR("d41d8cd98f00b204e9800998ecf8427e:1"), &digest) == 0);
	digest.function = DIGEST_MD5;
	message_batch_find(data, size, &digest, &answer);
	assert(answer.code >= CODE_OK && answer.code <= CODE_UNAUTHENTICATED);
	assert(answer.code != CODE_OK || answer.data.data);
	touch(answer.message);
	touch(answer.data);
	buf_addstr(&part, "before");
	message_read_part(data, size, &part);
	assert(part.len <= 6 + size && memcmp(part.data, "before", 6) == 0);
	buf_release(&part);
	return 0;
}
