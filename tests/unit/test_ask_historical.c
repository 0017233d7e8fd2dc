/* The pass that asks for linked blobs: a store, the engine, a server in virtual time. */
#include "ask.h"

#include "fake_server.h"
#include "store_fixture.h"
#include "util/buf.h"
#include "util/mem.h"

#include <string.h>

/* What the server was asked. */
struct question {
	char instance[32];
	enum lookup_method method;
	struct digest digest;
};

struct cas {
	struct fake_server server;
	struct question questions[64];
	size_t count;
	struct buf blobs[16]; /* by the first byte of their digest */
	const char *only;     /* the instance name that is not refused; NULL: all are */
	int code;	      /* of everything; 0: as it is */
	const char *words;    /* with that code; NULL: "as told" */
};

static struct fate answer(struct fake_server *server, const struct lookup_request *request)
{
	struct cas *cas = server->context;
	struct question *question = &cas->questions[cas->count++];
	uint8_t number = request->digest.hash[0];

	assert_true(cas->count < 64 && number < 16);
	snprintf(question->instance, sizeof(question->instance), "%s", request->instance);
	question->method = request->method;
	question->digest = request->digest;
	if (request->method != LOOKUP_BLOB)
		return (struct fate){1, 5, "Object not found", NULL};
	if (cas->code)
		return (struct fate){1, cas->code, cas->words ? cas->words : "as told", NULL};
	if (cas->only && strcmp(cas->only, request->instance) != 0)
		return (struct fate){1, 7, "not this name", NULL};
	if (!cas->blobs[number].len)
		return (struct fate){1, 5, "Object not found", NULL};
	return (struct fate){1, 0, "", cas->blobs[number].data};
}

/* ---- HistoricalExecuteResponses, without a NUL in them ---- */

static void add_part(struct buf *out, int number, const struct buf *data)
{
	assert_true(data->len < 128);
	buf_addch(out, (char)(number << 3 | 2));
	buf_addch(out, (char)data->len);
	buf_add(out, data->data, data->len);
}

/* About action digest_of(number), which ended with `exit_code`; `words`: its status's, or NULL. */
static void make_blob_saying(struct buf *out, uint8_t number, int exit_code, const char *words)
{
	struct buf hash = BUF_INIT, digest = BUF_INIT, result = BUF_INIT, response = BUF_INIT;
	struct buf status = BUF_INIT, text = BUF_INIT;
	int i;

	buf_addf(&hash, "%02x", number);
	for (i = 1; i < 32; i++)
		buf_addstr(&hash, "00");
	add_part(&digest, 1, &hash);
	buf_addf(&digest, "\x10\x8c\x01"); /* size 140 */
	buf_addf(&result, "\x20%c", exit_code);
	add_part(&response, 1, &result);
	if (words) {
		buf_addstr(&text, words);
		buf_addstr(&status, "\x08\x04");
		add_part(&status, 2, &text);
		add_part(&response, 3, &status);
	}
	add_part(out, 1, &digest);
	add_part(out, 3, &response);
	buf_release(&hash);
	buf_release(&digest);
	buf_release(&result);
	buf_release(&response);
	buf_release(&status);
	buf_release(&text);
}

static void make_blob(struct buf *out, uint8_t number, int exit_code)
{
	make_blob_saying(out, number, exit_code, NULL);
}

/* ---- the fixture ---- */

struct asked {
	struct fixture *f;
	struct cas cas;
	struct ask_tally tally;
};

static void begin(struct asked *asked, struct fixture *f)
{
	size_t i;

	memset(asked, 0, sizeof(*asked));
	asked->f = f;
	for (i = 0; i < 16; i++)
		buf_init(&asked->cas.blobs[i]);
}

static void ask_once(struct asked *asked)
{
	static const struct lookup_options options = {.in_flight = 4};
	struct fixture *f = asked->f;
	const struct ask_options how = {.cache = "", .now_ns = START};
	struct slice slice = SLICE_INIT(f->store);
	struct lookup *lookup;
	struct ask *ask;

	fake_server_init(&asked->cas.server, 5);
	asked->cas.server.fate = answer;
	asked->cas.server.context = &asked->cas;
	asked->cas.count = 0;
	assert_ok(store_commit(f->store, &f->err));
	lookup = lookup_new(&asked->cas.server.base, &options);
	ask = ask_new(&slice, lookup, &how, &asked->tally);
	assert_ok(ask_all(ask, &f->err));
	ask_free(ask);
	lookup_free(lookup);
	assert_ok(store_begin(f->store, &f->err));
}

static void end(struct asked *asked)
{
	size_t i;

	for (i = 0; i < 16; i++)
		buf_release(&asked->cas.blobs[i]);
}

/* An attempt of action `number` that links blob `blob`, as large as the blob is or 100 bytes. */
static void put_failed(struct asked *asked, int64_t run_id, uint64_t span, uint8_t number,
		       uint8_t blob, const char *prefix)
{
	struct fixture *f = asked->f;
	struct attempt attempt = attempt_of(number, STATUS_FAILURE);
	struct action action = action_of("x", &attempt, 1);
	size_t len = asked->cas.blobs[blob].len;
	char *message = xasprintf("Action details (uncached result): %sblobs/sha256/"
				  "historical_execute_response/%064d-%zu/",
				  prefix, blob, len);

	attempt.historical = digest_of(blob);
	attempt.historical.size_bytes = len ? (int64_t)len : 100;
	attempt.additional_message = str_of(message);
	assert_ok(store_put_action(f->store, run_id, span, span, START, &action, &f->err));
	free(message);
}

static void assert_states(struct fixture *f, const char *wanted)
{
	assert_text(f,
		    "SELECT group_concat(state) FROM (SELECT state FROM historical"
		    " ORDER BY run_id, span_id)",
		    wanted);
}

/* ---- tests ---- */

/* What a server says may repeat what it was sent. */
static void test_words_lose_secrets(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	begin(&asked, f);
	make_blob_saying(&asked.cas.blobs[1], 1, 77, "no https://u:S3CRET@host/ today");
	put_failed(&asked, run_id, 1, 1, 1, "p/");
	asked.cas.code = 15;
	asked.cas.words = "A_TOKEN=S3CRET is unknown";
	ask_once(&asked);
	assert_text(f, "SELECT message FROM historical", "A_TOKEN=[redacted] is unknown");
	asked.cas.code = 0;
	ask_once(&asked);
	assert_text(f, "SELECT status_message FROM result", "no https://[redacted]@host/ today");
	end(&asked);
}

static void test_each_kind_of_answer(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	begin(&asked, f);
	make_blob(&asked.cas.blobs[1], 1, 77);
	make_blob(&asked.cas.blobs[2], 9, 1);
	buf_addstr(&asked.cas.blobs[3], "no protobuf at all");
	buf_addstr(&asked.cas.blobs[4], "\x1a\x02\x0a");	     /* cut short */
	buf_addstr(&asked.cas.blobs[5], "\x1a\x04\x0a\x02\x20\x01"); /* names no action */
	put_failed(&asked, run_id, 1, 1, 1, "p/");
	put_failed(&asked, run_id, 2, 2, 2, "p/");
	put_failed(&asked, run_id, 3, 3, 3, "p/");
	put_failed(&asked, run_id, 4, 4, 4, "p/");
	put_failed(&asked, run_id, 5, 5, 5, "p/");
	put_failed(&asked, run_id, 6, 6, 6, "p/");
	ask_once(&asked);
	assert_states(f, "1,10,9,9,9,2");
	assert_number(f, "SELECT exit_code FROM result", 77);
	assert_text(f, "SELECT substr(message, 1, 29) FROM historical WHERE span_id = 2",
		    "the blob is about action 0900");
	assert_text(f, "SELECT message FROM historical WHERE span_id = 3",
		    "the bytes are not a HistoricalExecuteResponse");
	assert_text(f, "SELECT message FROM historical WHERE span_id = 5",
		    "the blob names no action");
	assert_text(f, "SELECT message FROM historical WHERE span_id = 6", NULL);
	assert_int_equal(asked.tally.blobs.stored, 1);
	assert_int_equal(asked.tally.blobs.gone, 1);
	assert_int_equal(asked.tally.blobs.useless, 4);
	assert_int_equal(blob_tally_sum(&asked.tally.blobs), 6);
	/* Failed actions are in no action cache: only blobs were asked for. */
	assert_int_equal(asked.cas.count, 6);
	assert_int_equal(asked.tally.results.asked, 0);
	assert_int_equal(asked.tally.wanted, 6);

	/* Only what was gone is worth a second question. */
	ask_once(&asked);
	assert_int_equal(asked.cas.count, 1);
	assert_int_equal(asked.cas.questions[0].digest.hash[0], 6);
	end(&asked);
}

/* A blob of another length than its digest says is an error of the way, not of the blob. */
static void test_wrong_length(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	begin(&asked, f);
	put_failed(&asked, run_id, 1, 1, 1, "");
	make_blob(&asked.cas.blobs[1], 1, 77);
	ask_once(&asked);
	assert_states(f, "7");
	assert_number(f, "SELECT message GLOB '* bytes came of the blob''s 100' FROM historical",
		      1);
	assert_int_equal(asked.tally.blobs.failed, 1);
	end(&asked);
}

static void test_twins_are_asked_once(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t first = put_run(f, "a", START), second = put_run(f, "b", START);

	begin(&asked, f);
	make_blob(&asked.cas.blobs[1], 1, 77);
	put_failed(&asked, first, 1, 1, 1, "p/");
	put_failed(&asked, second, 1, 1, 1, "p/");
	put_failed(&asked, second, 2, 2, 1, "p/");
	put_failed(&asked, first, 2, 3, 2, "p/");
	put_failed(&asked, second, 3, 3, 2, "p/");
	ask_once(&asked);
	assert_int_equal(asked.cas.count, 2);
	assert_states(f, "1,2,1,10,2");
	assert_int_equal(asked.tally.blobs.stored, 2);
	assert_int_equal(asked.tally.blobs.gone, 2);
	assert_int_equal(asked.tally.blobs.useless, 1);
	assert_number(f, "SELECT count(*) FROM result", 2);
	end(&asked);
}

static size_t questions_under(const struct cas *cas, const char *instance)
{
	size_t i, count = 0;

	for (i = 0; i < cas->count; i++)
		count += strcmp(cas->questions[i].instance, instance) == 0;
	return count;
}

/* Refused under the run's name: one blob tries the link's, then all are asked under it. */
static void test_the_links_own_name(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);
	uint8_t i;

	begin(&asked, f);
	asked.cas.only = "pool/in st";
	for (i = 1; i <= 6; i++) {
		make_blob(&asked.cas.blobs[i], i, i);
		put_failed(&asked, run_id, i, i, i, "http://h:1/portal/pool/in%20st/");
	}
	ask_once(&asked);
	assert_states(f, "1,1,1,1,1,1");
	assert_int_equal(questions_under(&asked.cas, "p"), 6);
	assert_int_equal(questions_under(&asked.cas, "portal/pool/in st"), 1);
	assert_int_equal(questions_under(&asked.cas, "pool/in st"), 6);
	assert_int_equal(asked.cas.count, 13);
	assert_int_equal(asked.tally.blobs.stored, 6);
	assert_int_equal(asked.tally.blobs.refused, 0);
	assert_int_equal(blob_tally_sum(&asked.tally.blobs), 6);
	/* Found means found: the name of the run is not changed by it. */
	assert_text(f, "SELECT i.name FROM run JOIN instance i USING (instance_id)", "p");
	end(&asked);
}

static void test_refused_under_all_names(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START);

	begin(&asked, f);
	asked.cas.only = "nobody's";
	put_failed(&asked, run_id, 1, 1, 1, "a/p/");
	put_failed(&asked, run_id, 2, 2, 2, "a/p/");
	ask_once(&asked);
	assert_states(f, "4,4");
	/* Two under p; one blob under a/p and the empty name, and not under p again. */
	assert_int_equal(asked.cas.count, 4);
	assert_int_equal(asked.tally.blobs.refused, 2);
	assert_string_equal(asked.tally.refusal, "not this name");
	assert_text(f, "SELECT message FROM historical WHERE span_id = 1", "not this name");
	end(&asked);
}

static void test_errors_are_asked_again(void **state)
{
	struct asked asked;
	struct fixture *f = *state;
	int64_t run_id = put_run(f, "t", START - 30 * DAY);

	begin(&asked, f);
	make_blob(&asked.cas.blobs[1], 1, 1);
	put_failed(&asked, run_id, 1, 1, 1, "");
	asked.cas.code = 15;
	ask_once(&asked);
	assert_states(f, "7");
	assert_int_equal(asked.tally.blobs.failed, 1);
	asked.cas.code = 0;
	ask_once(&asked);
	assert_states(f, "1");
	ask_once(&asked);
	assert_int_equal(asked.cas.count, 0);
	end(&asked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_words_lose_secrets),	   TEST(test_each_kind_of_answer),
		TEST(test_wrong_length),	   TEST(test_twins_are_asked_once),
		TEST(test_the_links_own_name),	   TEST(test_refused_under_all_names),
		TEST(test_errors_are_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
