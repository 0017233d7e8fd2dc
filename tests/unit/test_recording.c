#include "lookup_recording.h"

#include "asking.h"
#include "digest.h"
#include "scratch.h"
#include "util/base64.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/mem.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <zlib.h>
#include <cmocka.h>

#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HEADER "{\"format\":\"br2-ingest recording\",\"version\":1}\n"

struct fixture {
	char *dir, *path;
	struct err err;
};

static int setup(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fixture.dir = scratch_new();
	fixture.path = scratch_path(fixture.dir, "recording");
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->path);
	scratch_remove(f->dir);
	return 0;
}

static struct lookup_request request_of(const char *instance, int64_t size)
{
	struct lookup_request request = {.method = LOOKUP_ACTION_RESULT, .instance = instance};

	assert_int_equal(digest_parse(str_of(HASH ":0"), &request.digest), 0);
	request.digest.function = DIGEST_SHA256;
	request.digest.size_bytes = size;
	return request;
}

/* What the transport answers; borrowed until the next call. */
static struct transport_reply ask(struct transport *transport, struct lookup_request request)
{
	struct transport_reply reply = {.code = -1};
	struct err err = ERR_INIT;

	assert_int_equal(transport->ops->start(transport, 0, &request, 1000, &err), 0);
	assert_int_equal(transport->ops->wait(transport, 1000, &reply, &err), 1);
	assert_int_equal(reply.slot, 0);
	return reply;
}

static struct transport *replay(struct fixture *f)
{
	struct transport *transport;

	if (transport_replay_new(&transport, f->path, 4, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return transport;
}

/* ---- replaying ---- */

static void add_line(struct buf *out, const char *instance, const char *function, int64_t size,
		     int code, const char *message, const char *reply)
{
	buf_addf(out,
		 "{\"method\":\"GetActionResult\",\"instance\":\"%s\",\"function\":\"%s\","
		 "\"digest\":\"" HASH ":%d\",\"code\":%d,\"message\":\"%s\",\"reply\":\"",
		 instance, function, (int)size, code, message);
	base64_encode(reply, strlen(reply), out);
	buf_addstr(out, "\"}\n");
}

static void test_replay(void **state)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT;
	struct transport *transport;
	struct transport_reply reply;

	buf_addstr(&text, HEADER);
	add_line(&text, "a", "sha256", 1, 0, "", "one");
	add_line(&text, "a", "sha256", 2, 5, "Object not found", "");
	add_line(&text, "b", "sha256", 1, 0, "", "other instance");
	add_line(&text, "a", "blake3", 1, 0, "", "other function");
	add_line(&text, "a", "sha256", 3, 13, "first", "");
	add_line(&text, "a", "sha256", 3, 0, "", "then");
	buf_addstr(&text, "{\"method\":\"Tomorrow\"}\n");
	scratch_write(f->dir, "recording", text.data);
	transport = replay(f);

	reply = ask(transport, request_of("a", 1));
	assert_int_equal(reply.code, 0);
	assert_int_equal(reply.len, 3);
	assert_memory_equal(reply.data, "one", 3);
	reply = ask(transport, request_of("a", 2));
	assert_int_equal(reply.code, 5);
	assert_string_equal(reply.message, "Object not found");
	assert_int_equal(reply.len, 0);
	assert_memory_equal(ask(transport, request_of("b", 1)).data, "other instance", 14);
	assert_memory_equal(ask(transport, request_of("a", 3)).data, "then", 4);
	reply = ask(transport, request_of("a", 4));
	assert_int_equal(reply.code, 5);
	assert_string_equal(reply.message, "not in the recording");
	assert_int_equal(ask(transport, request_of("c", 1)).code, 5);
	transport->ops->free(transport);
	buf_release(&text);
}

static void test_replay_empty(void **state)
{
	struct fixture *f = *state;
	struct transport *transport;
	struct transport_reply reply;
	struct err err;

	scratch_write(f->dir, "recording", HEADER);
	transport = replay(f);
	assert_int_equal(ask(transport, request_of("a", 1)).code, 5);
	assert_int_equal(transport->ops->wait(transport, 1, &reply, &err), 0);
	transport->ops->free(transport);
}

static void test_replay_packed(void **state)
{
	struct fixture *f = *state;
	struct buf text = BUF_INIT;
	struct transport *transport;
	gzFile file = gzopen(f->path, "wb");

	buf_addstr(&text, HEADER);
	add_line(&text, "a", "sha256", 1, 0, "", "one");
	assert_int_equal(gzwrite(file, text.data, (unsigned int)text.len), text.len);
	assert_int_equal(gzclose(file), Z_OK);
	transport = replay(f);
	assert_int_equal(ask(transport, request_of("a", 1)).code, 0);
	transport->ops->free(transport);
	buf_release(&text);
}

/* Bigger than one chunk of the file, among small ones. */
static void test_replay_large(void **state)
{
	const size_t size = (size_t)3 << 20;
	struct fixture *f = *state;
	struct buf text = BUF_INIT;
	char *large = xmalloc(size + 1);
	struct transport *transport;
	struct transport_reply reply;

	memset(large, 'x', size);
	large[size] = '\0';
	buf_addstr(&text, HEADER);
	add_line(&text, "a", "sha256", 1, 0, "", "before");
	add_line(&text, "a", "sha256", 2, 0, "", large);
	add_line(&text, "a", "sha256", 3, 0, "", "behind");
	scratch_write(f->dir, "recording", text.data);
	transport = replay(f);
	reply = ask(transport, request_of("a", 2));
	assert_int_equal(reply.len, size);
	assert_memory_equal(reply.data, large, size);
	assert_memory_equal(ask(transport, request_of("a", 3)).data, "behind", 6);
	transport->ops->free(transport);
	free(large);
	buf_release(&text);
}

static void test_not_a_recording(void **state)
{
	static const struct {
		const char *text, *error; /* behind the path */
	} cases[] = {
		{"", ": not a recording of br2-ingest"},
		{"{\"a\":1}\n", ":1: not a recording of br2-ingest"},
		{"plain text\n", ":1: not a JSON object"},
		{"[]\n", ":1: not a JSON object"},
		{"{\"format\":\"br2-ingest recording\",\"version\":2}\n",
		 ":1: a recording of another version; this program reads version 1"},
		{"{\"format\":\"br2-ingest recording\"}\n",
		 ":1: a recording of another version; this program reads version 1"},
		{HEADER "{\"method\":\"GetActionResult\"}\n",
		 ":2: 'instance', 'code', 'message' or 'reply' is missing or malformed"},
		{HEADER "{\"method\":\"GetActionResult\",\"instance\":\"\",\"function\":\"sha1\","
			"\"digest\":\"" HASH ":1\",\"code\":0,\"message\":\"\",\"reply\":\"\"}\n",
		 ":2: 'function' does not fit the digest"},
		{HEADER "{\"method\":\"GetActionResult\",\"instance\":\"\",\"function\":\"sha1\","
			"\"digest\":\"x\",\"code\":0,\"message\":\"\",\"reply\":\"\"}\n",
		 ":2: 'digest' or 'function' is missing or malformed"},
		{HEADER "{\"method\":\"GetActionResult\",\"instance\":\"\",\"function\":\"sha256\","
			"\"digest\":\"" HASH
			":1\",\"code\":0,\"message\":\"\",\"reply\":\"???\"}\n",
		 ":2: 'reply' is not base64"},
		{HEADER "{\"method\":\"GetActionResult\",\"instance\":\"\",\"function\":\"sha256\","
			"\"digest\":\"" HASH ":1\",\"code\":17,\"message\":\"\",\"reply\":\"\"}\n",
		 ":2: 'instance', 'code', 'message' or 'reply' is missing or malformed"},
		{HEADER "{\"method\":\"Get", ":2: the recording is cut short"},
	};
	struct fixture *f = *state;
	struct transport *transport;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write(f->dir, "recording", cases[i].text);
		assert_int_equal(transport_replay_new(&transport, f->path, 4, &f->err), -1);
		assert_int_equal(f->err.kind, ERR_FORMAT);
		assert_memory_equal(f->err.text, f->path, strlen(f->path));
		assert_string_equal(f->err.text + strlen(f->path), cases[i].error);
	}
}

static void test_no_file(void **state)
{
	struct fixture *f = *state;
	struct transport *transport;

	assert_int_equal(transport_replay_new(&transport, f->path, 4, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_IO);
}

/* ---- recording ---- */

static struct fate by_size(struct fake_server *self, const struct lookup_request *request)
{
	static const int codes[] = {0, 5, 14, 13, 4, 8, 7};
	int64_t size = request->digest.size_bytes;

	(void)self;
	if (size >= (int64_t)(sizeof(codes) / sizeof(codes[0])))
		return (struct fate){1, 0, "", ""};
	return (struct fate){1, codes[size], "\"quoted\" \xff \x01", codes[size] ? NULL : "result"};
}

static struct transport *record(struct fixture *f, struct fake_server *server)
{
	struct transport *transport = NULL, *old = NULL;

	fake_server_init(server, 4);
	server->fate = by_size;
	if (recording_open(&old, f->path, &f->err) < 0 ||
	    transport_record_new(&transport, &server->base, old, f->path, &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(transport->slots, 4);
	return transport;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int has_part_name(const struct dirent *entry)
{
	return strncmp(entry->d_name, "recording.", strlen("recording.")) == 0;
}

/* The file that is written to; NULL: there is none. Caller frees. */
static char *part_of(const struct fixture *f)
{
	struct dirent **entries;
	int count = scandir(f->dir, &entries, has_part_name, NULL);
	char *path = NULL;

	assert_in_range(count, 0, 1);
	if (count) {
		path = scratch_path(f->dir, entries[0]->d_name);
		free(entries[0]);
	}
	free(entries);
	return path;
}

static void check_no_part(const struct fixture *f)
{
	char *part = part_of(f);

	assert_null(part);
}

static void check_holds(const struct fixture *f, const char *text)
{
	struct buf got = BUF_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_read(f->path, 1 << 20, &got, &err), 0);
	assert_string_equal(got.data, text);
	buf_release(&got);
}

static void test_record_and_replay(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport = record(f, &server);
	char *part = part_of(f);
	struct transport_reply reply;
	struct stat stat_of;
	int64_t size;

	assert_int_equal(stat(part, &stat_of), 0);
	assert_int_equal(stat_of.st_mode & 0777, 0600);
	for (size = 0; size < 8; size++)
		ask(transport, request_of("in/\"st", size));
	assert_false(exists(f->path));
	assert_int_equal(transport->ops->finish(transport, &f->err), 0);
	assert_true(exists(f->path));
	check_no_part(f);
	transport->ops->free(transport);
	assert_true(server.freed && exists(f->path));

	transport = replay(f);
	reply = ask(transport, request_of("in/\"st", 0));
	assert_int_equal(reply.code, 0);
	assert_memory_equal(reply.data, "result", 6);
	reply = ask(transport, request_of("in/\"st", 1));
	assert_int_equal(reply.code, 5);
	assert_string_equal(reply.message, "\"quoted\" \xef\xbf\xbd \x01");
	assert_int_equal(ask(transport, request_of("in/\"st", 3)).code, 13);
	assert_int_equal(ask(transport, request_of("in/\"st", 6)).code, 7);
	reply = ask(transport, request_of("in/\"st", 7)); /* an empty ActionResult is one */
	assert_int_equal(reply.code, 0);
	assert_int_equal(reply.len, 0);
	/* What only waiting cures is no answer. */
	assert_string_equal(ask(transport, request_of("in/\"st", 2)).message,
			    "not in the recording");
	assert_string_equal(ask(transport, request_of("in/\"st", 4)).message,
			    "not in the recording");
	assert_string_equal(ask(transport, request_of("in/\"st", 5)).message,
			    "not in the recording");
	transport->ops->free(transport);
	free(part);
}

static struct fate by_method(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	return (struct fate){1, 0, "", request->method == LOOKUP_BLOB ? "blob" : "result"};
}

/* A result and a blob of one digest are two questions. */
static void test_blobs(void **state)
{
	struct fixture *f = *state;
	struct lookup_request blob = request_of("a", 4), result = request_of("a", 4);
	struct fake_server server;
	struct transport *transport = record(f, &server);
	struct buf text = BUF_INIT;

	blob.method = LOOKUP_BLOB;
	server.fate = by_method;
	ask(transport, result);
	ask(transport, blob);
	assert_int_equal(transport->ops->finish(transport, &f->err), 0);
	transport->ops->free(transport);
	assert_int_equal(file_read(f->path, 4096, &text, &f->err), 0);
	assert_non_null(strstr(text.data, "\n{\"method\":\"ReadBlob\",\"instance\":\"a\","
					  "\"function\":\"sha256\",\"digest\":\"" HASH ":4\","
					  "\"code\":0,\"message\":\"\",\"reply\":\"YmxvYg==\"}\n"));
	buf_release(&text);
	transport = replay(f);
	assert_memory_equal(ask(transport, blob).data, "blob", 4);
	assert_memory_equal(ask(transport, result).data, "result", 6);
	blob.digest.size_bytes = 5;
	assert_int_equal(ask(transport, blob).code, 5);
	transport->ops->free(transport);
	assert_null(lookup_method_name((enum lookup_method)0));
	assert_null(lookup_method_name((enum lookup_method)3));
	assert_int_equal(lookup_method_parse(STR("ReadBlob")), LOOKUP_BLOB);
	assert_int_equal(lookup_method_parse(STR("Tomorrow")), 0);
	assert_int_equal(lookup_method_parse(STR_NULL), 0);
}

static void test_record_abandoned(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport;

	scratch_write(f->dir, "recording", HEADER);
	transport = record(f, &server);
	ask(transport, request_of("a", 0));
	transport->ops->free(transport);
	check_no_part(f);
	check_holds(f, HEADER);
}

/* What was recorded stays, what is new comes behind it, what is known is not said twice. */
static void test_record_completes(void **state)
{
	struct fixture *f = *state;
	struct buf before = BUF_INIT;
	struct fake_server server;
	struct transport *transport;
	struct stat stat_of;
	struct transport_reply reply;

	buf_addstr(&before, HEADER);
	add_line(&before, "old", "sha256", 9, 0, "", "kept");
	add_line(&before, "a", "sha256", 7, 0, "", "");
	add_line(&before, "a", "sha256", 0, 5, "not yet", "");
	buf_addstr(&before, "{\"method\":\"Tomorrow\"}\n");
	scratch_write(f->dir, "elsewhere", before.data);
	assert_int_equal(symlink("elsewhere", f->path), 0); /* a link stays one */
	transport = record(f, &server);
	ask(transport, request_of("a", 7)); /* as it was */
	ask(transport, request_of("a", 0)); /* another answer than then */
	assert_int_equal(transport->ops->finish(transport, &f->err), 0);
	transport->ops->free(transport);
	buf_addstr(&before, "{\"method\":\"GetActionResult\",\"instance\":\"a\",\"function\":"
			    "\"sha256\",\"digest\":\"" HASH ":0\",\"code\":0,\"message\":"
			    "\"\\\"quoted\\\" \xef\xbf\xbd \\u0001\",\"reply\":\"cmVzdWx0\"}\n");
	check_holds(f, before.data);
	check_no_part(f);
	assert_int_equal(lstat(f->path, &stat_of), 0);
	assert_true(S_ISLNK(stat_of.st_mode));

	transport = replay(f);
	assert_memory_equal(ask(transport, request_of("old", 9)).data, "kept", 4);
	reply = ask(transport, request_of("a", 0));
	assert_int_equal(reply.code, 0);
	transport->ops->free(transport);
	buf_release(&before);
}

/* No answer: no file, and one that is there stays as it is. */
static void test_record_of_nothing(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport = record(f, &server);

	ask(transport, request_of("a", 2)); /* an outage is no answer */
	assert_int_equal(transport->ops->finish(transport, &f->err), 0);
	transport->ops->free(transport);
	assert_false(exists(f->path));
	check_no_part(f);
}

static void check_refused(struct fixture *f, const char *path, const char *what)
{
	struct transport *old;

	assert_int_equal(recording_open(&old, path, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_non_null(strstr(f->err.text, path));
	if (!strstr(f->err.text, what))
		fail_msg("%s: not: %s", f->err.text, what);
}

static void test_record_refuses_what_is_no_recording(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
		{"", "no recording of this version"},
		{"a thesis\n", "no recording of this version"},
		{"{\"format\":\"br2-ingest recording\",\"version\":2}\n",
		 "no recording of this version"},
		{"\x1f\x8b\x08", "unpack it first"},
		{"\x28\xb5\x2f\xfd", "unpack it first"},
		{HEADER "{\"method\":\"Get", "cut short"},
		{HEADER "a thesis\n", ":2: not a JSON object"},
	};
	struct fixture *f = *state;
	char *pipe = scratch_path(f->dir, "pipe");
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_write(f->dir, "recording", cases[i].text);
		check_refused(f, f->path, cases[i].what);
		check_holds(f, cases[i].text);
	}
	assert_int_equal(mkfifo(pipe, 0600), 0);
	check_refused(f, pipe, "not a regular file");
	check_refused(f, f->dir, "not a regular file");
	check_refused(f, "/dev/full", "not a regular file");
	free(pipe);
}

/* The check was made before the logs were read: what came since is not written over. */
static void test_record_refuses_what_came_since(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport, *old;

	assert_int_equal(recording_open(&old, f->path, &f->err), 0);
	assert_null(old);
	scratch_write(f->dir, "recording", "a database");
	fake_server_init(&server, 4);
	assert_int_equal(transport_record_new(&transport, &server.base, old, f->path, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_true(server.freed);
	check_holds(f, "a database");
	check_no_part(f);
}

static void test_record_without_folder(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport;

	fake_server_init(&server, 4);
	assert_int_equal(transport_record_new(&transport, &server.base, NULL,
					      "/nonexistent/recording", &f->err),
			 -1);
	assert_int_equal(f->err.kind, ERR_IO);
	assert_true(server.freed);
}

static void test_record_that_cannot_be_kept(void **state)
{
	struct fixture *f = *state;
	struct fake_server server;
	struct transport *transport;
	char *part;

	transport = record(f, &server);
	part = part_of(f);
	ask(transport, request_of("a", 0));
	assert_int_equal(unlink(part), 0); /* nothing to rename */
	assert_int_equal(transport->ops->finish(transport, &f->err), -1);
	assert_int_equal(f->err.kind, ERR_IO);
	assert_non_null(strstr(f->err.text, part));
	transport->ops->free(transport);
	assert_false(exists(f->path));
	free(part);
}

/* The whole engine: what a run had from a server, the next has from its recording. */
static void test_engine(void **state)
{
	const struct lookup_options options = {.in_flight = 3};
	struct fixture *f = *state;
	struct asking live, again;
	struct transport *transport;

	asking_init(&live, 8, 500);
	assert_int_equal(
		transport_record_new(&transport, &live.server.base, NULL, f->path, &f->err), 0);
	live.lookup = lookup_new(transport, &options);
	assert_int_equal(asking_run(&live, NULL), 0);
	assert_int_equal(lookup_finish(live.lookup, &f->err), 0);
	assert_all_found(&live);

	asking_init(&again, 8, 500);
	assert_int_equal(transport_replay_new(&transport, f->path, 8, &f->err), 0);
	again.lookup = lookup_new(transport, &options);
	assert_int_equal(asking_run(&again, NULL), 0);
	assert_all_found(&again);
	assert_int_equal(lookup_tally(again.lookup)->bytes, lookup_tally(live.lookup)->bytes);
	asking_release(&live);
	lookup_free(again.lookup);
	free(again.ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_packed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replay_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_recording, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_and_replay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_blobs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_abandoned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_completes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_of_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_refuses_what_is_no_recording, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_record_refuses_what_came_since, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_record_without_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_that_cannot_be_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_engine, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
