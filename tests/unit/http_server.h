/*
 * A server for tests: gives prepared answers, byte for byte, one a connection,
 * and keeps what it was asked. On a free port of 127.0.0.1, in a thread.
 */
#ifndef BR2_HTTP_SERVER_H
#define BR2_HTTP_SERVER_H

#include "util/buf.h"

#include <pthread.h>
#include <stddef.h>

#define HTTP_SERVER_MAX 16

/* In place of an answer: says nothing until the server is stopped. */
extern const char http_server_silence[];

struct http_server {
	int listener, stop[2];
	char url[64]; /* http://127.0.0.1:PORT */
	pthread_t thread;
	const char *const *answers; /* NULL-terminated; once used up, connections are closed */
	struct buf requests[HTTP_SERVER_MAX];
	size_t count; /* of requests; to be read once the server is stopped */
};

/* Whatever fails ends the test program. */
void http_server_start(struct http_server *server, const char *const *answers);
void http_server_stop(struct http_server *server);
void http_server_release(struct http_server *server);

#endif
