#include "cluster_pods.h"

#include "cluster_text.h"
#include "http_server.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#define PODS TEST_DATA "/pods/"

struct fixture {
	char *dir, *path;
	struct buf out;
	struct cluster_sink sink;
	struct cluster_tally tally;
	struct err err;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.out = BUF_INIT, .tally = CLUSTER_TALLY_INIT};
	fixture.dir = scratch_new();
	fixture.path = scratch_path(fixture.dir, "pods.json");
	fixture.sink = cluster_text_sink(&fixture.out);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	buf_release(&f->out);
	free(f->path);
	scratch_remove(f->dir);
	return 0;
}

static int read_source(struct fixture *f, const char *source)
{
	struct http_options options = {.option_prefix = "--pods-"};

	buf_clear(&f->out);
	return cluster_pods_read(source, &options, &f->sink, &f->tally, &f->err);
}

static void check(struct fixture *f, const char *json, const char *lines)
{
	scratch_write(f->dir, "pods.json", json);
	if (read_source(f, f->path) < 0)
		fail_msg("%s", f->err.text);
	assert_string_equal(f->out.data, lines);
}

/* The error, behind the path. */
static void check_error(struct fixture *f, const char *json, const char *text)
{
	size_t len = strlen(f->path);

	scratch_write(f->dir, "pods.json", json);
	assert_int_equal(read_source(f, f->path), -1);
	assert_int_equal(f->err.kind, ERR_FORMAT);
	assert_memory_equal(f->err.text, f->path, len);
	assert_string_equal(f->err.text + len, text);
}

/* A pod "p" whose one container "runner" has this status. */
#define POD(status)                                                                           \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"status\":{\"containerStatuses\":[" \
	"{\"name\":\"runner\"," status "}]}}"
#define ENDED(fields) POD("\"lastState\":{\"terminated\":{" fields "}}")

/* ---- files as they are found ---- */

static void test_recorded(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_source(f, PODS "recorded.json"), 0);
	assert_string_equal(
		f->out.data,
		"container worker-shared-5b6dd8dff9-2bv88/worker uid-1 nodes-1 cpu 250 - memory "
		"536870912 - restarts 0\n"
		"container worker-shared-5b6dd8dff9-2bv88/runner uid-1 nodes-1 cpu 4500 - memory "
		"1073741824 1073741824 restarts 1\n"
		"termination worker-shared-5b6dd8dff9-2bv88/runner uid-1 containerd://runner0 "
		"OOMKilled exit 137 signal - 1796003402 1796003841 restarts 1\n"
		"container worker-shared-5b6dd8dff9-x7k4q/worker uid-2 nodes-1 cpu 250 - memory "
		"536870912 - restarts 0\n"
		"container worker-shared-5b6dd8dff9-x7k4q/runner uid-2 nodes-1 cpu 4500 - memory "
		"1073741824 1073741824 restarts 0\n");
	assert_int_equal(f->tally.pods, 2);
	assert_int_equal(f->tally.containers, 4);
	assert_int_equal(f->tally.terminations, 1);
	assert_int_equal(f->tally.malformed + f->tally.passed_over, 0);
	assert_int_equal(f->tally.newest_ns, INT64_C(1796003841000000000));
	assert_int_equal(f->tally.oldest_ns, INT64_C(1796003402000000000));
}

/* The API's own answer: its items have no kind; one pod is pending. */
static void test_pod_list(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_source(f, PODS "podlist.json"), 0);
	assert_int_equal(f->tally.pods, 3);
	assert_int_equal(f->tally.containers, 5);
	assert_int_equal(f->tally.terminations, 1);
	assert_non_null(strstr(f->out.data,
			       "container worker-shared-5b6dd8dff9-pending/runner uid-9 - cpu - - "
			       "memory - - restarts -\n"));
}

static void test_one_pod(void **state)
{
	struct fixture *f = *state;

	check(f, ENDED("\"exitCode\":1"),
	      "termination p/runner - - - exit 1 signal - - - restarts -\n");
	/* As `kubectl get --raw` may give it. */
	check(f, "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
	      "container q/c - - cpu - - memory - - restarts -\n");
}

static void test_empty_lists(void **state)
{
	struct fixture *f = *state;

	check(f, "{\"kind\":\"List\",\"items\":[]}", "");
	check(f, "{\"kind\":\"PodList\",\"items\":null}", "");
	check(f, "{\"items\":[]}", "");
	assert_int_equal(f->tally.pods, 0);
	assert_true(f->tally.newest_ns == UNKNOWN);
	assert_true(f->tally.oldest_ns == UNKNOWN);
}

/* ---- traps of terminations ---- */

/* The runtime's flag outlives the child's kill: a normal stop bears it too. */
static void test_oom_flag_with_143(void **state)
{
	check(*state,
	      ENDED("\"exitCode\":143,\"reason\":\"OOMKilled\","
		    "\"finishedAt\":\"2026-11-30T02:00:00Z\""),
	      "termination p/runner - - OOMKilled exit 143 signal - - 1796004000 restarts -\n");
}

/* The runtime lost the event. */
static void test_error_with_137(void **state)
{
	check(*state, ENDED("\"exitCode\":137,\"reason\":\"Error\",\"signal\":9"),
	      "termination p/runner - - Error exit 137 signal 9 - - restarts -\n");
}

static void test_both_states(void **state)
{
	check(*state,
	      POD("\"restartCount\":3,"
		  "\"state\":{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\","
		  "\"containerID\":\"c2\",\"finishedAt\":\"2026-11-30T02:00:01Z\"}},"
		  "\"lastState\":{\"terminated\":{\"exitCode\":1,\"reason\":\"Error\","
		  "\"containerID\":\"c1\",\"finishedAt\":\"2026-11-30T02:00:00Z\"}}"),
	      "termination p/runner - c1 Error exit 1 signal - - 1796004000 restarts 3\n"
	      "termination p/runner - c2 OOMKilled exit 137 signal - - 1796004001 restarts 3\n");
}

static void test_no_times(void **state)
{
	struct fixture *f = *state;

	check(f, ENDED("\"exitCode\":137,\"startedAt\":null,\"finishedAt\":null"),
	      "termination p/runner - - - exit 137 signal - - - restarts -\n");
	check(f,
	      ENDED("\"exitCode\":137,\"startedAt\":\"1970-01-01T00:00:00Z\","
		    "\"finishedAt\":\"0001-01-01T00:00:00Z\""),
	      "termination p/runner - - - exit 137 signal - - - restarts -\n");
	assert_int_equal(f->tally.malformed, 0);
	check(f,
	      ENDED("\"exitCode\":137,\"finishedAt\":\"5m\",\"startedAt\":\"2026-13-01T00:00Z\""),
	      "warning pod p: startedAt '2026-13-01T00:00Z' is no time\n"
	      "warning pod p: finishedAt '5m' is no time\n"
	      "termination p/runner - - - exit 137 signal - - - restarts -\n");
	assert_int_equal(f->tally.malformed, 2);
}

/* A restartable init container is what Kubernetes calls a sidecar. */
static void test_sidecar(void **state)
{
	check(*state,
	      "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"initContainers\":"
	      "[{\"name\":\"runner\",\"resources\":{\"limits\":{\"memory\":\"1Gi\"}}}]},"
	      "\"status\":{\"initContainerStatuses\":[{\"name\":\"runner\",\"restartCount\":2,"
	      "\"lastState\":{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\"}}}]}}",
	      "container p/runner - - cpu - - memory - 1073741824 restarts 2\n"
	      "termination p/runner - - OOMKilled exit 137 signal - - - restarts 2\n");
}

/* ---- traps of resources ---- */

#define RESOURCES(spec, status)                                                                \
	"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":" \
	"\"c\",\"resources\":{" spec                                                           \
	"}}]},\"status\":{\"containerStatuses\":[{\"name\":\"c\"" status "}]}}"

static void test_quantities(void **state)
{
	struct fixture *f = *state;

	check(f,
	      RESOURCES("\"requests\":{\"cpu\":2,\"memory\":\"1e9\"},"
			"\"limits\":{\"cpu\":\"0.5\",\"memory\":\"9663676416\"}",
			""),
	      "container p/c - - cpu 2000 500 memory 1000000000 9663676416 restarts -\n");
	check(f,
	      RESOURCES("\"requests\":{\"cpu\":\"lots\",\"memory\":true},"
			"\"limits\":{\"cpu\":null,\"memory\":\"1Gi\"}",
			""),
	      "warning pod p: cpu: 'lots' is no Kubernetes quantity (such as 4500m or 9Gi)\n"
	      "warning pod p: memory: neither a text nor a whole number\n"
	      "container p/c - - cpu - - memory - 1073741824 restarts -\n");
	assert_int_equal(f->tally.malformed, 2);
}

/* Resized in place: the status says what is in force. */
static void test_resized(void **state)
{
	check(*state,
	      RESOURCES("\"requests\":{\"cpu\":\"1\"},\"limits\":{\"memory\":\"4Gi\"}",
			",\"resources\":{\"limits\":{\"memory\":\"2Gi\"}}"),
	      "container p/c - - cpu 1000 - memory - 2147483648 restarts -\n");
}

/* ---- bad input spoils nothing else ---- */

static void test_other_items(void **state)
{
	struct fixture *f = *state;

	check(f,
	      "{\"items\":[{\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"}},[],{\"spec\":{}},"
	      "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\"}},{broken},"
	      "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{},{\"name\":\"c\"}]},"
	      "\"status\":{\"containerStatuses\":[{},7,{\"name\":\"c\",\"state\":7}],\"x\":"
	      "\"\\u0000\"}}],\"kind\":\"List\"}",
	      "warning item 2 of the list is no object: another value\n"
	      "warning item 3 is a pod without a name\n"
	      "warning item 4 is a pod without a name\n"
	      "warning item 5 of the list is no object: string or '}' expected near 'broken'\n"
	      "warning pod p: a container without a name\n"
	      "container p/c - - cpu - - memory - - restarts -\n"
	      "warning pod p: the status of a container without a name\n"
	      "warning pod p: the status of a container without a name\n");
	assert_int_equal(f->tally.passed_over, 1);
	assert_int_equal(f->tally.malformed, 7);
	assert_int_equal(f->tally.pods, 1);
}

/* After ten, faults are only counted. */
static void test_warnings_end(void **state)
{
	struct fixture *f = *state;
	struct buf json = BUF_INIT;
	size_t i, lines = 0;

	buf_addstr(&json, "{\"items\":[0");
	for (i = 1; i < 1000; i++)
		buf_addstr(&json, ",0");
	buf_addstr(&json, "]}");
	scratch_write(f->dir, "pods.json", json.data);
	assert_int_equal(read_source(f, f->path), 0);
	for (i = 0; i < f->out.len; i++)
		lines += f->out.data[i] == '\n';
	assert_int_equal(lines, 10);
	assert_int_equal(f->tally.malformed, 1000);
	buf_release(&json);
}

static void test_not_pods(void **state)
{
	struct fixture *f = *state;

	check_error(f, "", ": not JSON, or cut short: '[' or '{' expected near end of file");
	check_error(f, "No resources found\n",
		    ": not JSON, or cut short: '[' or '{' expected near 'No'");
	check_error(f, "[]", ": holds neither a list of pods nor a pod");
	check_error(f, "{}", ": holds neither a list of pods nor a pod");
	check_error(f, "{\"kind\":\"List\"}", ": holds a List, no pods");
	check_error(f, "{\"items\":[],\"kind\":\"NodeList\"}", ": holds a NodeList, no pods");
	check_error(f, "{\"kind\":\"Deployment\",\"spec\":{}}", ": holds a Deployment, no pods");
	check_error(f,
		    "{\"kind\":\"Status\",\"message\":\"pods is forbidden: User "
		    "\\\"x\\\"\",\"code\":403}",
		    ": an error of the API, no pods: pods is forbidden: User \"x\"");
}

static void test_cut_short(void **state)
{
	struct fixture *f = *state;

	check_error(f,
		    "{\"items\":[{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":"
		    "[{\"name\":\"c\"}]}},{\"metadata\":{\"na",
		    ": not JSON, or cut short: ']' expected near end of file");
	assert_string_equal(f->out.data, "container p/c - - cpu - - memory - - restarts -\n");
}

static void test_no_file(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_source(f, f->path), -1);
	assert_int_equal(f->err.kind, ERR_IO);
	assert_int_equal(read_source(f, f->dir), -1);
	assert_int_equal(f->err.kind, ERR_IO);
}

static void test_sink_stops(void **state)
{
	struct fixture *f = *state;

	scratch_write(f->dir, "pods.json", ENDED("\"exitCode\":1,\"reason\":\"stop\""));
	assert_int_equal(read_source(f, f->path), -1);
	assert_int_equal(f->err.kind, ERR_DB);
}

static void test_huge_pod(void **state)
{
	struct fixture *f = *state;
	struct buf json = BUF_INIT;
	char *blank = xmalloc(CLUSTER_POD_MAX + 1);

	memset(blank, ' ', CLUSTER_POD_MAX);
	blank[CLUSTER_POD_MAX] = '\0';
	buf_addf(&json, "{\"items\":[%s{}]}", blank);
	scratch_write(f->dir, "pods.json", json.data);
	assert_int_equal(read_source(f, f->path), -1);
	assert_int_equal(f->err.kind, ERR_LIMIT);
	buf_release(&json);
	free(blank);
}

/* ---- over HTTP ---- */

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define PAGE(name, next)                                                                  \
	HEAD "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"" next "\"},\"items\":[" \
	     "{\"metadata\":{\"name\":\"" name                                            \
	     "\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}]}"
#define LINE(name) "container " name "/c - - cpu - - memory - - restarts -\n"

static void serve(struct fixture *f, struct http_server *server, const char *const *answers,
		  int expected)
{
	char *url;
	int rc;

	http_server_start(server, answers);
	url = xasprintf("%s/api/v1/namespaces/buildbarn/pods?labelSelector=app%%3Dworker",
			server->url);
	rc = read_source(f, url);
	http_server_stop(server);
	if (rc != expected)
		fail_msg("%s", f->err.text);
	free(url);
}

static void test_pages(void **state)
{
	static const char *const answers[] = {PAGE("a", "x+1=="), PAGE("b", "y"), PAGE("c", ""),
					      NULL};
	struct fixture *f = *state;
	struct http_server server;

	serve(f, &server, answers, 0);
	assert_string_equal(f->out.data, LINE("a") LINE("b") LINE("c"));
	assert_int_equal(server.count, 3);
	assert_int_equal(f->tally.pods, 3);
	assert_null(strstr(server.requests[0].data, "continue"));
	assert_non_null(strstr(server.requests[1].data,
			       "pods?labelSelector=app%3Dworker&continue=x%2B1%3D%3D HTTP"));
	assert_non_null(
		strstr(server.requests[2].data, "pods?labelSelector=app%3Dworker&continue=y HTTP"));
	http_server_release(&server);
}

/* What the API says counts more than the status. */
static void test_api_errors(void **state)
{
	static const char *const gone[] = {
		PAGE("a", "x"),
		"HTTP/1.1 410 Gone\r\nContent-Type: application/json\r\n\r\n"
		"{\"kind\":\"Status\",\"message\":\"The provided continue parameter is too old\"}",
		NULL};
	static const char *const plain[] = {
		"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n404 page not found\n",
		NULL};
	static const char *const page[] = {
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Sign in</html>", NULL};
	struct fixture *f = *state;
	struct http_server server;

	serve(f, &server, gone, -1);
	assert_int_equal(f->err.kind, ERR_NET);
	assert_non_null(strstr(f->err.text,
			       "/api/v1/namespaces/buildbarn/pods: the API says: The provided "
			       "continue parameter is too old (410)"));
	assert_string_equal(f->out.data, LINE("a"));
	http_server_release(&server);
	serve(f, &server, plain, -1);
	assert_non_null(strstr(f->err.text, ": answers with status 404"));
	http_server_release(&server);
	serve(f, &server, page, -1);
	assert_int_equal(f->err.kind, ERR_FORMAT);
	assert_non_null(strstr(f->err.text, "/pods: not JSON, or cut short: "));
	http_server_release(&server);
}

/* A page that was saved. */
static void test_page_in_a_file(void **state)
{
	check(*state, "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"x\"},\"items\":[]}",
	      "warning the list of pods is one page of several; the others are not in it\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_recorded),	 TEST(test_pod_list),	       TEST(test_one_pod),
		TEST(test_empty_lists),	 TEST(test_oom_flag_with_143), TEST(test_error_with_137),
		TEST(test_both_states),	 TEST(test_no_times),	       TEST(test_sidecar),
		TEST(test_quantities),	 TEST(test_resized),	       TEST(test_other_items),
		TEST(test_warnings_end), TEST(test_not_pods),	       TEST(test_cut_short),
		TEST(test_no_file),	 TEST(test_sink_stops),	       TEST(test_huge_pod),
		TEST(test_pages),	 TEST(test_api_errors),	       TEST(test_page_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
