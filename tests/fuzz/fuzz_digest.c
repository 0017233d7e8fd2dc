/*
 * Digests (in the first line), links and instance names of arbitrary text. Laws: a digest that
 * parses is written as it was read; a link's parts lie inside the text; every
 * instance name that a link proposes is one that servers take.
 */
#include "digest.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_digest(struct str text)
{
	char written[DIGEST_TEXT_MAX];
	struct digest digest, again;

	if (digest_parse(text, &digest) < 0)
		return;
	digest_format(&digest, written);
	assert(strlen(written) == text.len);
	assert(digest_parse(str_of(written), &again) == 0);
	assert(again.size_bytes == digest.size_bytes && again.hash_len == digest.hash_len);
	assert(memcmp(again.hash, digest.hash, digest.hash_len) == 0);
}

static void check_link(struct str text)
{
	struct err err = ERR_INIT;
	char *names[8];
	struct link link;
	size_t count, i;

	link_find(text, &link);
	count = link_instances(&link, names, 8);
	if (link.kind == LINK_NONE) {
		assert(count == 0);
		return;
	}
	assert(link.prefix.data >= text.data);
	assert(link.prefix.data + link.prefix.len <= text.data + text.len);
	assert(digest_function_length(link.digest.function) == link.digest.hash_len);
	for (i = 0; i < count; i++) {
		assert(instance_name_check(names[i], &err) == 0);
		free(names[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;

	check_digest((struct str){text.data, newline ? (size_t)(newline - data) : size});
	check_link(text);
	return 0;
}
