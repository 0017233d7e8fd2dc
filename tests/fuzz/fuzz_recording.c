/* Any bytes as a recording, and a question to the one that it is. */
#include "digest.h"
#include "lookup_recording.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A nameless file with the bytes, to be opened by its descriptor. */
static int make_file(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz-recording-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static void ask(struct transport *transport)
{
	struct lookup_request request = {.method = LOOKUP_ACTION_RESULT, .instance = "a"};
	struct transport_reply reply;
	struct err err = ERR_INIT;

	if (digest_parse(STR("d41d8cd98f00b204e9800998ecf8427e:1"), &request.digest) < 0)
		abort();
	request.digest.function = DIGEST_MD5;
	if (transport->ops->start(transport, 0, &request, 1, &err) < 0 ||
	    transport->ops->wait(transport, 1, &reply, &err) != 1 || reply.slot != 0 ||
	    reply.code < 0 || reply.code > 16 || !reply.message)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = make_file(data, size);
	char *path = xasprintf("/dev/fd/%d", fd);
	struct transport *transport;
	struct err err = ERR_INIT;

	if (transport_replay_new(&transport, path, 1, &err) == 0) {
		ask(transport);
		transport->ops->free(transport);
	} else if (!err.text[0]) {
		abort();
	}
	free(path);
	close(fd);
	return 0;
}
