#include "cluster_prometheus.h"

#include "cluster_answer.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define PIECE_NS (INT64_C(6) * 3600 * NS_PER_S)
#define PIECE_MIN_NS (INT64_C(60) * NS_PER_S)
#define SPAN_MAX_NS (INT64_C(3) * 366 * 86400 * NS_PER_S)

struct prometheus {
	struct http *http;
	prometheus_warning_fn *warning;
	void *context;
	struct prometheus_stats stats;
	bool get; /* POST was refused: what stands before the server lets only GET through */
};

/* What is asked of each piece of time. */
struct question {
	const char *selector;
	bool last; /* only the last value of each series */
	series_fn *fn;
	void *context;
};

int prometheus_new(const struct http_options *options, prometheus_warning_fn *warning,
		   void *context, struct prometheus **out_prometheus, struct err *err)
{
	struct prometheus *prometheus;
	struct http *http;

	if (http_new(options, &http, err) < 0)
		return -1;
	prometheus = xcalloc(1, sizeof(*prometheus));
	prometheus->http = http;
	prometheus->warning = warning;
	prometheus->context = context;
	prometheus->stats.newest_ns = INT64_MIN;
	if (http_secret_in_clear(http))
		warning(context, "Prometheus gets a password or token without TLS");
	*out_prometheus = prometheus;
	return 0;
}

void prometheus_free(struct prometheus *prometheus)
{
	if (!prometheus)
		return;
	http_free(prometheus->http);
	free(prometheus);
}

const struct prometheus_stats *prometheus_stats(const struct prometheus *prometheus)
{
	return &prometheus->stats;
}

const char *prometheus_name(const struct prometheus *prometheus)
{
	return http_name(prometheus->http);
}

/* ---- PromQL ---- */

/* A string literal: escapes as in Go. */
static void add_text(struct buf *out, const char *text)
{
	buf_addch(out, '"');
	for (; *text; text++) {
		if (*text == '\n') {
			buf_addstr(out, "\\n");
			continue;
		}
		if (*text == '"' || *text == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *text);
	}
	buf_addch(out, '"');
}

void prometheus_add_selector(struct buf *out, const char *metric, const char *namespace,
			     const char *container)
{
	buf_addf(out, "%s{", metric);
	if (*namespace) {
		buf_addstr(out, "namespace=");
		add_text(out, namespace);
	}
	if (container) {
		buf_addstr(out, *namespace ? ",container" : "container");
		buf_addstr(out, *container ? "=" : "!=");
		add_text(out, container);
	}
	buf_addch(out, '}');
}

static int64_t floor_ms(int64_t ns)
{
	return ns / NS_PER_MS - (ns % NS_PER_MS < 0);
}

/* The last `ms` milliseconds of the selector. */
static char *make_query(const struct question *question, int64_t ms)
{
	if (question->last)
		return xasprintf("last_over_time(%s[%" PRId64 "ms])", question->selector, ms);
	return xasprintf("%s[%" PRId64 "ms]", question->selector, ms);
}

/* ---- one request ---- */

struct exchange {
	struct prometheus *prometheus;
	struct answer answer;
};

static int on_body(void *context, const char *data, size_t len, struct err *err)
{
	struct exchange *exchange = context;

	if (answer_feed(&exchange->answer, data, len, err) == 0)
		return 0;
	if (!exchange->answer.stopped)
		err_prefix(err, "%s", http_name(exchange->prometheus->http));
	return -1;
}

static int send(struct prometheus *p, struct http_request *request, struct http_reply *reply,
		struct err *err)
{
	request->post = !p->get;
	p->stats.requests++;
	if (http_send(p->http, request, reply, err) < 0)
		return -1;
	/* The API server's proxy asks for the right to create where one POSTs. */
	if (p->get || (reply->status != 403 && reply->status != 405))
		return 0;
	p->get = true;
	return send(p, request, reply, err);
}

/* An error of the API comes as JSON; what stands before it answers as it likes. */
static int status_fault(struct prometheus *p, struct answer *answer, const struct http_reply *reply,
			struct err *err)
{
	if (reply->is_json && answer_feed(answer, reply->text.data, reply->text.len, err) == 0 &&
	    answer_end(answer, p->warning, p->context, err) < 0 && err->kind == ERR_NET)
		return err_prefix(err, "%s", http_name(p->http));
	return http_fault(p->http, reply, err);
}

static int take_answer(struct prometheus *p, struct answer *answer, const struct http_reply *reply,
		       struct err *err)
{
	if (reply->status != 200)
		return status_fault(p, answer, reply, err);
	if (answer_end(answer, p->warning, p->context, err) < 0)
		return err_prefix(err, "%s", http_name(p->http));
	return 0;
}

static void count(struct prometheus *p, const struct answer *answer, bool last)
{
	struct prometheus_stats *stats = &p->stats;

	stats->series += answer->series;
	stats->samples += answer->sample_count;
	stats->not_finite += answer->not_finite;
	stats->malformed += answer->malformed;
	stats->bytes = http_bytes(p->http);
	if (!last && answer->newest_ns > stats->newest_ns)
		stats->newest_ns = answer->newest_ns;
}

/* 1: the piece is too much for the server, and nothing of it was given. */
static int ask_piece(struct prometheus *p, const struct question *question, int64_t from_ns,
		     int64_t to_ns, struct err *err)
{
	int64_t from_ms = floor_ms(from_ns), to_ms = floor_ms(to_ns - 1) + 1;
	char *query = make_query(question, to_ms - from_ms);
	char *time = xasprintf("%" PRId64 ".%03d", to_ms / 1000, (int)(to_ms % 1000));
	struct http_field fields[] = {{"query", query}, {"time", time}};
	struct http_request request = {.path = "/api/v1/query", .fields = fields, .field_count = 2};
	struct http_reply reply = HTTP_REPLY_INIT;
	struct exchange exchange = {.prometheus = p};
	struct answer *answer = &exchange.answer;
	int rc;

	/* Samples of last_over_time() bear the time that was asked. */
	answer_init(answer, question->last ? INT64_MIN : from_ns,
		    question->last ? INT64_MAX : to_ns, question->fn, question->context);
	request.body = on_body;
	request.context = &exchange;
	rc = send(p, &request, &reply, err);
	if (rc == 0)
		rc = take_answer(p, answer, &reply, err);
	count(p, answer, question->last);
	if (rc < 0 && answer->too_much)
		rc = 1;
	answer_release(answer);
	http_reply_release(&reply);
	free(query);
	free(time);
	return rc;
}

/* ---- pieces of time ---- */

static int ask(struct prometheus *p, const struct question *question, int64_t from_ns,
	       int64_t to_ns, struct err *err)
{
	int64_t piece = PIECE_NS, at = from_ns, end;
	int rc;

	if (to_ns - SPAN_MAX_NS > from_ns)
		return err_set(err, ERR_LIMIT, "%s: over three years are asked for",
			       http_name(p->http));
	while (at < to_ns) {
		end = to_ns - at > piece ? at + piece : to_ns;
		rc = ask_piece(p, question, at, end, err);
		if (rc < 0 || (rc > 0 && piece / 2 < PIECE_MIN_NS))
			return -1;
		if (rc > 0)
			piece /= 2;
		else
			at = end;
	}
	return 0;
}

int prometheus_range(struct prometheus *prometheus, const char *selector, int64_t from_ns,
		     int64_t to_ns, series_fn *fn, void *context, struct err *err)
{
	struct question question = {selector, false, fn, context};

	return ask(prometheus, &question, from_ns, to_ns, err);
}

int prometheus_last(struct prometheus *prometheus, const char *selector, int64_t from_ns,
		    int64_t to_ns, series_fn *fn, void *context, struct err *err)
{
	struct question question = {selector, true, fn, context};

	return ask(prometheus, &question, from_ns, to_ns, err);
}
