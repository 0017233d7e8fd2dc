/* The transport over gRPC: how its calls share what goes out. */
#include "lookup_grpc.h"

#include "fake_connection.h"
#include "lookup_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static char endpoint[] = "h:1";
static const struct remote remote = {.endpoint = endpoint, .loopback = true};
static const struct lookup_request question = {
	.method = LOOKUP_ACTION_RESULT,
	.instance = "i",
	.digest = {.function = DIGEST_SHA256},
};

static uint32_t take_answer(struct transport *transport)
{
	struct transport_reply reply;
	struct err err = ERR_INIT;

	assert_int_equal(transport->ops->wait(transport, 1000, &reply, &err), 1);
	assert_int_equal(reply.code, CODE_OK);
	return reply.slot;
}

static void ask(struct transport *transport, uint32_t slot)
{
	struct err err = ERR_INIT;

	assert_int_equal(transport->ops->start(transport, slot, &question, 1000, &err), 0);
}

/* Of answers that come together, each may take long: the server is not kept waiting by them. */
static void test_asked_anew_before_all_are_taken(void **state)
{
	struct transport *transport;
	struct err err = ERR_INIT;
	unsigned sends;
	uint32_t i;

	(void)state;
	fake_connection_init();
	assert_int_equal(transport_grpc_new(&transport, &remote, 64, &err), 0);
	for (i = 0; i < 64; i++)
		ask(transport, i);
	i = take_answer(transport);
	assert_int_equal(server.requests, 64);
	sends = server.sends;
	for (; server.requests == 64; i = take_answer(transport))
		ask(transport, i);
	assert_int_equal(server.requests, 64 + 16);
	assert_int_equal(server.sends, sends + 1);
	transport->ops->free(transport);
	fake_connection_release();
}

static void ask_blob(struct transport *transport, uint32_t slot, int64_t timeout_ms)
{
	struct lookup_request request = question;
	struct err err = ERR_INIT;

	request.method = LOOKUP_BLOB;
	assert_int_equal(transport->ops->start(transport, slot, &request, timeout_ms, &err), 0);
}

/* Of blobs that are read together none outlives its deadline, whichever comes first. */
static void test_a_batch_ends_with_its_first_deadline(void **state)
{
	struct transport *transport;
	struct transport_reply reply;
	struct err err = ERR_INIT;
	unsigned i;

	(void)state;
	fake_connection_init();
	server.silent = true;
	assert_int_equal(transport_grpc_new(&transport, &remote, 4, &err), 0);
	ask_blob(transport, 0, 30000);
	ask_blob(transport, 1, 500);
	ask_blob(transport, 2, 700);
	for (i = 0; i < 3; i++) {
		assert_int_equal(transport->ops->wait(transport, 1000, &reply, &err), 1);
		assert_int_equal(reply.code, CODE_DEADLINE_EXCEEDED);
		assert_string_equal(reply.message, "no answer in time");
		assert_int_equal(now_ms, 1000500);
	}
	assert_int_equal(server.requests, 1);
	transport->ops->free(transport);
	fake_connection_release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked_anew_before_all_are_taken),
		cmocka_unit_test(test_a_batch_ends_with_its_first_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
