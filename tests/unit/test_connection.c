/* A connection to a socket of our own, and a libcurl that is not the one we want. */
#include "util/connection.h"

#include "util/mem.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define PATIENCE_MS 10000

/* The library for TLS that libcurl says to have. */
static const char *library;

curl_version_info_data *__wrap_curl_version_info(CURLversion age);
curl_version_info_data *__wrap_curl_version_info(CURLversion age)
{
	static curl_version_info_data data;

	data.age = age;
	data.ssl_version = library;
	return &data;
}

static void check_refused(const char *name, const char *text)
{
	struct err err = ERR_INIT;

	library = name;
	assert_int_equal(connection_check_tls(&err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_string_equal(err.text, text);
}

static void test_library_for_tls(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	library = "OpenSSL/3.0.17";
	assert_int_equal(connection_check_tls(&err), 0);
	check_refused("GnuTLS/3.7.9",
		      "TLS wants a libcurl with OpenSSL; this one has GnuTLS/3.7.9");
	check_refused(NULL, "TLS wants a libcurl with OpenSSL; this one has no TLS");
}

/* Its port is in *out_port. */
static int listen_here(unsigned *out_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*out_port = ntohs(address.sin_port);
	return fd;
}

static int establish(struct connection *connection)
{
	struct err err = ERR_INIT;
	int done, turns = 0;

	while ((done = connection_establish(connection, 100, &err)) == 0)
		assert_true(turns++ < PATIENCE_MS / 100);
	if (done < 0)
		fail_msg("%s", err.text);
	return done;
}

/* Established once it stays so, whoever asks again. */
static void test_established(void **state)
{
	struct connection_options options = {.connect_ms = PATIENCE_MS};
	struct connection *connection;
	struct err err = ERR_INIT;
	char *name, word[5] = "";
	unsigned port;
	size_t sent;
	int listener = listen_here(&port), peer;

	(void)state;
	name = xasprintf("127.0.0.1:%u", port);
	options.server = name;
	connection = connection_new(&options);
	assert_int_equal(establish(connection), 1);
	assert_int_equal(connection_establish(connection, 0, &err), 1);
	peer = accept(listener, NULL, NULL);
	assert_true(peer >= 0);
	assert_int_equal(connection_send(connection, "word", 4, &sent, &err), 0);
	assert_int_equal(sent, 4);
	assert_int_equal(recv(peer, word, 4, MSG_WAITALL), 4);
	assert_string_equal(word, "word");
	connection_free(connection);
	close(peer);
	close(listener);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_for_tls),
		cmocka_unit_test(test_established),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
