/*
 * Any text as http_headers of a .buckconfig, and as a --header. Laws: each name once, in lower
 * case, and every value one that a header may hold; no message shows a value.
 */
#include "remote_header.h"
#include "util/mem.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "zQ5vJ8"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct remote *remote)
{
	size_t i, j;

	for (i = 0; i < remote->header_count; i++) {
		const struct header *header = &remote->headers[i];

		assert(*header->name && headers_have(remote, header->name));
		assert(!strpbrk(header->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ :=\n"));
		assert(header_value_is_legal(header->value));
		for (j = 0; j < i; j++)
			assert(strcmp(header->name, remote->headers[j].name) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmemdup0(data, size), *list = xasprintf("x-one: " SECRET ",%s", text);
	struct remote remote = {0};
	struct err err = ERR_INIT;

	if (headers_add_config(&remote, list, &err) < 0)
		assert(err.kind == ERR_USAGE && !strstr(err.text, SECRET));
	check(&remote);
	err = (struct err)ERR_INIT;
	if (headers_add_flag(&remote, text, 1, &err) < 0)
		assert(err.kind == ERR_USAGE && *err.text);
	check(&remote);
	while (remote.header_count)
		headers_drop(&remote, remote.headers[0].name);
	remote_release(&remote);
	free(list);
	free(text);
	return 0;
}
