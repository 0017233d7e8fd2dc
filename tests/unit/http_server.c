#include "http_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char http_server_silence[] = "";

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

/* Until the head is there, and the body that it announces. A TLS hello is answered at once. */
static int is_whole(const struct buf *request)
{
	const int hello = 0x16;
	const char *end = strstr(request->data, "\r\n\r\n");
	const char *length = strstr(request->data, "Content-Length: ");

	if (!end)
		return request->data[0] == hello;
	if (!length || length > end)
		return 1;
	return strlen(end + 4) >= strtoul(length + 16, NULL, 10);
}

static void read_request(int fd, struct buf *request)
{
	ssize_t got;

	while (!is_whole(request)) {
		got = recv(fd, buf_reserve(request, 4096), 4096, 0);
		if (got <= 0)
			return;
		buf_grew(request, (size_t)got);
	}
}

static void wait_for_stop(const struct http_server *server)
{
	struct pollfd stop = {server->stop[0], POLLIN, 0};

	check(poll(&stop, 1, -1) == 1, "poll");
}

static void answer(struct http_server *server, int fd)
{
	const char *text = server->answers[server->count];

	if (server->count == HTTP_SERVER_MAX || !text)
		return;
	read_request(fd, &server->requests[server->count++]);
	if (text == http_server_silence)
		wait_for_stop(server);
	/* A client that has had enough closes first. */
	send(fd, text, strlen(text), MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

static void *serve(void *context)
{
	struct http_server *server = context;
	struct pollfd fds[] = {{server->listener, POLLIN, 0}, {server->stop[0], POLLIN, 0}};
	int fd;

	for (;;) {
		check(poll(fds, 2, -1) > 0, "poll");
		if (fds[1].revents)
			return NULL;
		fd = accept(server->listener, NULL, NULL);
		check(fd >= 0, "accept");
		answer(server, fd);
		close(fd);
	}
}

void http_server_start(struct http_server *server, const char *const *answers)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);
	size_t i;

	memset(server, 0, sizeof(*server));
	server->answers = answers;
	for (i = 0; i < HTTP_SERVER_MAX; i++)
		buf_init(&server->requests[i]);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check(server->listener >= 0, "socket");
	check(bind(server->listener, (struct sockaddr *)&address, len) == 0, "bind");
	check(listen(server->listener, 8) == 0, "listen");
	check(getsockname(server->listener, (struct sockaddr *)&address, &len) == 0, "getsockname");
	snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	check(pipe(server->stop) == 0, "pipe");
	check(pthread_create(&server->thread, NULL, serve, server) == 0, "pthread_create");
}

void http_server_stop(struct http_server *server)
{
	check(write(server->stop[1], "x", 1) == 1, "write");
	check(pthread_join(server->thread, NULL) == 0, "pthread_join");
	close(server->listener);
	close(server->stop[0]);
	close(server->stop[1]);
}

void http_server_release(struct http_server *server)
{
	size_t i;

	for (i = 0; i < HTTP_SERVER_MAX; i++)
		buf_release(&server->requests[i]);
}
