/* The channel on a connection and a clock of our own. */
#include "lookup_grpc_channel.h"

#include "fake_connection.h"
#include "lookup_reply.h"

#include <nghttp2/nghttp2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* ---- the client ---- */

static char endpoint[] = "h:1";
static const struct remote remote = {.endpoint = endpoint, .loopback = true};
static const struct rpc_method method = {"/a.B/C", NULL};
static struct channel *channel;

/* The number of a connection's first stream. */
static int32_t first_stream;

int __real_nghttp2_session_client_new2(nghttp2_session **out_session,
				       const nghttp2_session_callbacks *callbacks, void *context,
				       const nghttp2_option *option);
int __wrap_nghttp2_session_client_new2(nghttp2_session **out_session,
				       const nghttp2_session_callbacks *callbacks, void *context,
				       const nghttp2_option *option);
int __wrap_nghttp2_session_client_new2(nghttp2_session **out_session,
				       const nghttp2_session_callbacks *callbacks, void *context,
				       const nghttp2_option *option)
{
	int rc = __real_nghttp2_session_client_new2(out_session, callbacks, context, option);

	return rc ? rc : nghttp2_session_set_next_stream_id(*out_session, first_stream);
}

static int setup(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	first_stream = 1;
	fake_connection_init();
	return channel_new(&remote, &channel, &err);
}

static int teardown(void **state)
{
	(void)state;
	channel_free(channel);
	fake_connection_release();
	return 0;
}

static void start(struct rpc *rpc, int64_t timeout_ms)
{
	rpc_init(rpc);
	buf_addstr(rpc_begin(rpc, &method, now_ms + timeout_ms), "question");
	rpc_ready(rpc);
	channel_start(channel, rpc);
}

/* Turns until the next call ends; NULL: none did in so long. */
static struct rpc *wait_end(int64_t timeout_ms)
{
	int64_t end_ms = now_ms + timeout_ms;
	struct rpc *rpc;
	int turns = 0;

	while ((rpc = channel_ended(channel)) == NULL && now_ms < end_ms) {
		channel_turn(channel, end_ms);
		assert_true(turns++ < 1000); /* no busy loop */
	}
	return rpc;
}

static void expect(struct rpc *wanted, int code, const char *message)
{
	struct rpc *rpc = wait_end(1000000);

	assert_ptr_equal(rpc, wanted);
	assert_int_equal(rpc->code, code);
	assert_string_equal(rpc->message.data, message);
	rpc_release(rpc);
}

static void test_calls_go_out_together(void **state)
{
	struct rpc rpcs[8];
	unsigned before;
	size_t i;

	(void)state;
	start(&rpcs[0], 1000);
	expect(&rpcs[0], CODE_OK, "");
	before = server.sends;
	for (i = 0; i < 8; i++)
		start(&rpcs[i], 1000);
	for (i = 0; i < 8; i++)
		expect(&rpcs[i], CODE_OK, "");
	assert_int_equal(server.sends, before + 1);
	assert_int_equal(server.connections, 1);
	assert_int_equal(now_ms, 1000000);
}

static void test_little_room_to_send(void **state)
{
	struct rpc rpc;

	(void)state;
	server.send_room = 1;
	start(&rpc, 1000);
	expect(&rpc, CODE_OK, "");
	assert_true(server.sends > 100);
}

static void test_deadlines(void **state)
{
	struct rpc late, soon;

	(void)state;
	server.silent = true;
	start(&late, 700);
	start(&soon, 300);
	expect(&soon, CODE_DEADLINE_EXCEEDED, "no answer in time");
	assert_int_equal(now_ms, 1000300);
	expect(&late, CODE_DEADLINE_EXCEEDED, "no answer in time");
	assert_int_equal(now_ms, 1000700);
	start(&soon, 300); /* the server hears of both with the next turn */
	expect(&soon, CODE_DEADLINE_EXCEEDED, "no answer in time");
	assert_int_equal(server.resets, 2);
	assert_int_equal(server.connections, 1);
}

/* What waits for a place has a deadline too, and the server heard nothing of it. */
static void test_deadline_of_one_that_waits(void **state)
{
	struct rpc taken, waits;

	(void)state;
	server.settings = ONE_STREAM;
	server.settings_len = sizeof(ONE_STREAM) - 1;
	server.silent = true;
	start(&taken, 700);
	assert_null(wait_end(10));
	start(&waits, 300);
	expect(&waits, CODE_DEADLINE_EXCEEDED, "no answer in time");
	assert_int_equal(now_ms, 1000310);
	assert_null(wait_end(10));
	assert_int_equal(server.requests, 1);
	assert_int_equal(server.resets, 0);
	expect(&taken, CODE_DEADLINE_EXCEEDED, "no answer in time");
}

/* The server's clock was the first to see the end; but only the end makes it one. */
static void test_cancelled_at_the_deadline(void **state)
{
	struct rpc rpc;

	(void)state;
	server.silent = server.cancels_late = true;
	start(&rpc, 300);
	expect(&rpc, CODE_DEADLINE_EXCEEDED, "the stream was reset (HTTP/2 error 8)");
	assert_int_equal(now_ms, 1000300);
}

static void test_cancelled_before_the_deadline(void **state)
{
	struct rpc rpc;

	(void)state;
	server.silent = server.cancels_late = true;
	start(&rpc, 30000);
	assert_null(channel_ended(channel));
	channel_turn(channel, now_ms + 1);
	channel_turn(channel, now_ms + 1);
	channel_turn(channel, now_ms + 1);
	expect(&rpc, CODE_CANCELLED, "the stream was reset (HTTP/2 error 8)");
	assert_int_equal(now_ms, 1000001);
}

/* The last number that a stream can have is used; the next call has another connection. */
static void test_no_number_left(void **state)
{
	struct rpc last, next;

	(void)state;
	first_stream = INT32_MAX;
	start(&last, 30000);
	start(&next, 30000);
	expect(&last, CODE_OK, "");
	assert_int_equal(server.connections, 1);
	first_stream = 1;
	expect(&next, CODE_OK, "");
	assert_int_equal(server.connections, 2);
	assert_int_equal(server.requests, 2);
	assert_int_equal(now_ms, 1000000);
}

static void test_no_settings(void **state)
{
	struct rpc rpc;

	(void)state;
	server.mute = true;
	start(&rpc, 30000);
	expect(&rpc, CODE_UNAVAILABLE, "the server sent no SETTINGS");
	assert_int_equal(now_ms, 1004000);
	assert_int_equal(server.requests, 0);
}

/* Calls between attempts fail at once; 100, 200, 400, 800, then 1000 ms. */
static void test_pauses_between_attempts(void **state)
{
	const int64_t pauses[] = {100, 200, 400, 800, 1000, 1000};
	struct rpc rpc;
	size_t i;

	(void)state;
	server.refusal = "Connection refused";
	for (i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		start(&rpc, 30000);
		expect(&rpc, CODE_UNAVAILABLE, "Connection refused");
		assert_int_equal(server.connections, i + 1);
		now_ms += pauses[i] - 1;
		start(&rpc, 30000);
		expect(&rpc, CODE_UNAVAILABLE, "Connection refused");
		assert_int_equal(server.connections, i + 1);
		now_ms++;
	}
	server.refusal = NULL;
	start(&rpc, 30000);
	expect(&rpc, CODE_OK, "");
}

static void test_keepalive(void **state)
{
	struct rpc rpc;

	(void)state;
	server.silent = true;
	start(&rpc, 90000);
	assert_null(wait_end(19999));
	assert_int_equal(server.pings, 0);
	assert_null(wait_end(2));
	assert_int_equal(server.pings, 1);
	expect(&rpc, CODE_UNAVAILABLE, "the server does not answer a PING");
	assert_int_equal(now_ms, 1030000);
}

static void test_keepalive_is_answered(void **state)
{
	struct rpc rpc;

	(void)state;
	server.silent = server.answers_pings = true;
	start(&rpc, 90000);
	expect(&rpc, CODE_DEADLINE_EXCEEDED, "no answer in time");
	assert_int_equal(now_ms, 1090000);
	assert_int_equal(server.pings, 4);
}

/* A server may mind; but a path that was forgotten meanwhile must be found out. */
static void test_no_keepalive_without_calls(void **state)
{
	struct rpc rpc;

	(void)state;
	start(&rpc, 1000);
	expect(&rpc, CODE_OK, "");
	assert_null(wait_end(600000));
	assert_int_equal(server.pings, 0);
	server.silent = true;
	start(&rpc, 30000);
	expect(&rpc, CODE_UNAVAILABLE, "the server does not answer a PING");
	assert_int_equal(now_ms, 1610000);
}

static void ping(const char data[8])
{
	frame(FRAME_PING, 0, 0, data, 8);
}

/* A call that stays open, and all that begins a connection is over. */
static void start_silent(struct rpc *rpc)
{
	server.silent = true;
	start(rpc, 1000);
	assert_null(wait_end(5));
}

static void test_pong_waits(void **state)
{
	struct rpc rpc;
	unsigned before;

	(void)state;
	start_silent(&rpc);
	before = server.sends;
	ping("question");
	assert_null(wait_end(9));
	assert_int_equal(server.sends, before);
	assert_null(wait_end(2));
	assert_string_equal(server.pongs.data, "question");
	assert_null(wait_end(200));
	assert_int_equal(server.sends, before + 1);
	rpc_release(&rpc);
}

/* One in so many milliseconds, beside what is sent anyway. */
static void test_pong_goes_with_a_call(void **state)
{
	struct rpc rpc;
	unsigned before, i;

	(void)state;
	start(&rpc, 1000);
	expect(&rpc, CODE_OK, "");
	before = server.sends;
	ping("question");
	for (i = 0; i < 12; i++) {
		start(&rpc, 1000);
		expect(&rpc, CODE_OK, "");
		assert_int_equal(server.pongs.len, i <= 10 ? 0 : 8);
		now_ms++;
	}
	assert_int_equal(server.sends, before + 12);
}

static void test_each_ping_is_answered(void **state)
{
	struct rpc rpc;

	(void)state;
	start_silent(&rpc);
	ping("first...");
	ping("second..");
	ping("third...");
	assert_null(wait_end(5));
	assert_string_equal(server.pongs.data, "first...second..");
	assert_null(wait_end(10));
	assert_string_equal(server.pongs.data, "first...second..third...");
	rpc_release(&rpc);
}

/* Who asks so often does not read the answers. */
static void test_too_many_pings(void **state)
{
	struct rpc rpc;
	int i;

	(void)state;
	start_silent(&rpc);
	for (i = 0; i < 1100; i++)
		ping("question");
	expect(&rpc, CODE_UNAVAILABLE,
	       "the server breaks the rules of HTTP/2: Flooding was detected in this HTTP/2 "
	       "session, and it must be closed");
}

static void test_closed_while_idle(void **state)
{
	struct rpc rpc;

	(void)state;
	start(&rpc, 1000);
	expect(&rpc, CODE_OK, "");
	server.closed = true;
	now_ms += 5000;
	start(&rpc, 1000);
	expect(&rpc, CODE_OK, "");
	assert_int_equal(server.connections, 2);
}

static void test_lost_with_calls_in_flight(void **state)
{
	struct rpc first, second;

	(void)state;
	start(&first, 1000);
	expect(&first, CODE_OK, "");
	server.silent = true;
	start(&first, 1000);
	assert_null(wait_end(10));
	server.closed = true;
	expect(&first, CODE_UNAVAILABLE, "the server closed the connection");
	server.silent = false;
	start(&second, 1000); /* no pause: the server was there */
	expect(&second, CODE_OK, "");
	assert_int_equal(server.connections, 2);
}

/* What waits for a place goes to the next connection. */
static void test_one_stream_at_a_time(void **state)
{
	struct rpc rpcs[4];
	size_t i;

	(void)state;
	server.settings = ONE_STREAM;
	server.settings_len = sizeof(ONE_STREAM) - 1;
	start(&rpcs[0], 1000);
	expect(&rpcs[0], CODE_OK, "");
	server.silent = true;
	for (i = 0; i < 4; i++)
		start(&rpcs[i], 1000);
	assert_null(wait_end(10));
	server.closed = true;
	expect(&rpcs[0], CODE_UNAVAILABLE, "the server closed the connection");
	server.silent = false;
	for (i = 1; i < 4; i++)
		expect(&rpcs[i], CODE_OK, "");
	assert_int_equal(server.connections, 2);
	assert_int_equal(server.most_open, 1);
}

static void test_goaway(void **state)
{
	struct rpc taken, next;

	(void)state;
	start(&taken, 30000);
	expect(&taken, CODE_OK, "");
	server.silent = true;
	start(&taken, 30000);
	assert_null(wait_end(10));
	frame(FRAME_GOAWAY, 0, 0, "\0\0\0\3\0\0\0\0", 8);
	assert_null(wait_end(10));
	start(&next, 30000); /* has to wait for a connection of its own */
	expect(&taken, CODE_UNAVAILABLE, "the server ends the connection");
	assert_in_range(now_ms, 1002010, 1002020);
	server.silent = false;
	expect(&next, CODE_OK, "");
	assert_int_equal(server.connections, 2);
}

/* What it never took goes to the next connection, as if it had waited for that. */
static void test_goaway_before_the_last(void **state)
{
	struct rpc taken, left;

	(void)state;
	start(&taken, 30000);
	expect(&taken, CODE_OK, "");
	server.silent = true;
	start(&taken, 30000);
	start(&left, 30000);
	assert_null(wait_end(10));
	frame(FRAME_GOAWAY, 0, 0, "\0\0\0\3\0\0\0\0", 8);
	assert_null(wait_end(10));
	server.silent = false;
	expect(&taken, CODE_UNAVAILABLE, "the server ends the connection");
	expect(&left, CODE_OK, "");
	assert_int_equal(server.connections, 2);
}

/* As if it had not been reached at all: nothing to be gained by haste. */
static void test_goaway_at_once(void **state)
{
	struct rpc rpc;

	(void)state;
	server.settings = SETTINGS "\0\0\10\7\0\0\0\0\0"
				   "\0\0\0\0\0\0\0\0";
	server.settings_len = 9 + 9 + 8;
	start(&rpc, 30000);
	expect(&rpc, CODE_UNAVAILABLE, "the server ends the connection");
	start(&rpc, 30000);
	expect(&rpc, CODE_UNAVAILABLE, "the server ends the connection");
	assert_int_equal(server.connections, 1);
}

static void test_freed_with_calls_in_flight(void **state)
{
	static struct rpc flying, waiting;

	(void)state;
	server.silent = true;
	start(&flying, 1000);
	assert_null(wait_end(10));
	start(&waiting, 1000);
	rpc_release(&flying);
	rpc_release(&waiting);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_calls_go_out_together),
		TEST(test_little_room_to_send),
		TEST(test_deadlines),
		TEST(test_deadline_of_one_that_waits),
		TEST(test_cancelled_at_the_deadline),
		TEST(test_cancelled_before_the_deadline),
		TEST(test_no_number_left),
		TEST(test_no_settings),
		TEST(test_pauses_between_attempts),
		TEST(test_keepalive),
		TEST(test_keepalive_is_answered),
		TEST(test_no_keepalive_without_calls),
		TEST(test_pong_waits),
		TEST(test_pong_goes_with_a_call),
		TEST(test_each_ping_is_answered),
		TEST(test_too_many_pings),
		TEST(test_closed_while_idle),
		TEST(test_lost_with_calls_in_flight),
		TEST(test_one_stream_at_a_time),
		TEST(test_goaway),
		TEST(test_goaway_before_the_last),
		TEST(test_goaway_at_once),
		TEST(test_freed_with_calls_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
