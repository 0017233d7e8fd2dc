#include "fake_connection.h"

#include "util/connection.h"
#include "util/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define PING_ACK "\0\0\10\6\1\0\0\0\0\0\0\0\0\0\0\0\0"
/* ":status: 200" and "content-type: application/grpc"; an empty message; "grpc-status: 0". */
#define HEAD "\x88\0\14content-type\20application/grpc"
#define TRAILERS             \
	"\0\13grpc-status\1" \
	"0"

struct fake_connection server;
int64_t now_ms;

void fake_connection_init(void)
{
	memset(&server, 0, sizeof(server));
	buf_init(&server.sent);
	buf_init(&server.said);
	buf_init(&server.pongs);
	server.settings = SETTINGS;
	server.settings_len = sizeof(SETTINGS) - 1;
	server.send_room = SIZE_MAX;
	now_ms = 1000000;
}

void fake_connection_release(void)
{
	buf_release(&server.sent);
	buf_release(&server.said);
	buf_release(&server.pongs);
}

/* ---- the clock and the connection in place of the true ones ---- */

int64_t __wrap_clock_monotonic_ms(void);
int64_t __wrap_clock_monotonic_ms(void)
{
	return now_ms;
}

int connection_check_tls(struct err *err)
{
	(void)err;
	return 0;
}

static void say(const char *data, size_t len)
{
	buf_add(&server.said, data, len);
}

struct connection *connection_new(const struct connection_options *options)
{
	assert_string_equal(options->server, "h:1");
	server.connections++;
	server.read = 24; /* the preface */
	server.open = 0;
	server.closed = false;
	buf_clear(&server.sent);
	buf_clear(&server.said);
	if (!server.mute)
		say(server.settings, server.settings_len);
	return (struct connection *)&server;
}

void connection_free(struct connection *connection)
{
	(void)connection;
}

int connection_establish(struct connection *connection, int64_t timeout_ms, struct err *err)
{
	(void)connection, (void)timeout_ms;
	return server.refusal ? err_set(err, ERR_NET, "%s", server.refusal) : 1;
}

void frame(unsigned type, unsigned flags, unsigned stream, const char *data, size_t len)
{
	const char head[9] = {0,
			      (char)(len >> 8),
			      (char)len,
			      (char)type,
			      (char)flags,
			      (char)(stream >> 24),
			      (char)(stream >> 16),
			      (char)(stream >> 8),
			      (char)stream};

	say(head, sizeof(head));
	say(data, len);
}

static void answer(unsigned stream)
{
	frame(FRAME_HEADERS, 4, stream, HEAD, sizeof(HEAD) - 1);
	frame(FRAME_DATA, 0, stream, "\0\0\0\0\0", 5);
	frame(FRAME_HEADERS, 5, stream, TRAILERS, sizeof(TRAILERS) - 1);
	server.open--;
}

static void take_frame(unsigned type, unsigned flags, unsigned stream, const uint8_t *data)
{
	if (type == FRAME_HEADERS) {
		server.requests++;
		if (++server.open > server.most_open)
			server.most_open = server.open;
	}
	server.resets += type == FRAME_RESET;
	if (type == FRAME_DATA && flags & 1 && !server.silent)
		answer(stream);
	if (type == FRAME_PING && flags & 1) {
		buf_add(&server.pongs, data, 8);
	} else if (type == FRAME_PING) {
		server.pings++;
		if (server.answers_pings)
			say(PING_ACK, sizeof(PING_ACK) - 1);
	}
}

static void take_frames(void)
{
	while (server.sent.len >= server.read + 9) {
		const uint8_t *at = (const uint8_t *)server.sent.data + server.read;
		size_t len = (size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2];

		if (server.sent.len < server.read + 9 + len)
			return;
		server.read += 9 + len;
		take_frame(at[3], at[4],
			   (unsigned)at[5] << 24 | (unsigned)at[6] << 16 | (unsigned)at[7] << 8 |
				   at[8],
			   at + 9);
	}
}

int connection_send(struct connection *connection, const void *data, size_t len, size_t *out_sent,
		    struct err *err)
{
	(void)connection, (void)err;
	server.sends++;
	*out_sent = len < server.send_room ? len : server.send_room;
	buf_add(&server.sent, data, *out_sent);
	take_frames();
	return 0;
}

int connection_receive(struct connection *connection, void *data, size_t room, size_t *out_got,
		       struct err *err)
{
	(void)connection;
	if (!server.said.len)
		return server.closed ? err_set(err, ERR_NET, "the server closed the connection")
				     : 0;
	assert_true(server.said.len <= room);
	memcpy(data, server.said.data, server.said.len);
	*out_got = server.said.len;
	buf_clear(&server.said);
	return 1;
}

bool connection_may_have_more(const struct connection *connection, size_t got, size_t room)
{
	(void)connection, (void)got, (void)room;
	return true;
}

void connection_wait(struct connection *connection, bool to_send, int64_t timeout_ms)
{
	(void)connection;
	if (to_send || server.said.len || server.closed)
		return;
	now_ms += timeout_ms;
	if (server.cancels_late)
		frame(FRAME_RESET, 0, 1, "\0\0\0\10", 4);
}
