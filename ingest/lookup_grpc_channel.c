#include "lookup_grpc_channel.h"

#include "lookup_grpc_metadata.h"
#include "lookup_reply.h"
#include "util/clock.h"
#include "util/connection.h"
#include "util/mem.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * From nothing to the server's SETTINGS. Below the preflight's five seconds, so
 * that its failure still names a cause.
 */
#define CONNECT_MS 4000
/* Pauses between attempts to connect; the engine has longer ones of its own. */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 1000
/* Without a sign of life a connection that a NAT forgot would stay dead for ever. */
#define KEEPALIVE_MS 20000
#define KEEPALIVE_TIMEOUT_MS 10000
/*
 * So long a server's PING may wait for its answer. One in Go sends a PING with each
 * answer but the one it waits for, to measure the path (grpc-go's bdpEstimator): answered
 * at once, each would cost both sides a packet, and a server that has little else to
 * do is woken up by it.
 */
#define PONG_MS 10
/* So long a server that said GOAWAY has to answer what it took; the rest waits meanwhile. */
#define DRAIN_MS 2000
/* A connection that was idle so long may have been closed: looked at before it is used. */
#define IDLE_MS 1000
#define ROOM ((size_t)128 << 10)
/* Of a server that never stops: so often, then deadlines and signals have their turn. */
#define READS_MAX 16

struct rpc_list {
	struct rpc *first, *last;
};

struct channel {
	const struct remote *remote;
	struct metadata metadata;
	struct connection_options options;
	struct connection *connection; /* NULL: none, and no http2 */
	struct http2 *http2;	       /* NULL: the connection is not established */
	struct rpc_list waiting, open, ended;
	struct buf out; /* to be sent */
	size_t sent;	/* of it */
	uint8_t *in;
	bool more; /* came than was taken in one turn */

	int64_t now_ms;	    /* as it was when something was last done */
	int64_t end_ms;	    /* no call's deadline comes before */
	int64_t connect_ms; /* until then SETTINGS are waited for */
	int64_t heard_ms;   /* when the server last said something */
	int64_t ping_ms;    /* until then it has to; 0: it was not asked */
	int64_t pong_ms;    /* when the server's own PING is answered; 0: none came */
	int64_t drain_ms;   /* until then a closing connection is used; 0: it is not closing */
	bool answered;	    /* on this connection */

	int64_t backoff_ms; /* the last pause; 0: none */
	int64_t retry_ms;   /* not to be connected before */
	char *why;	    /* it could not be connected */
};

/* ---- lists ---- */

static void add(struct rpc_list *list, struct rpc *rpc)
{
	rpc->before = list->last;
	rpc->after = NULL;
	*(list->last ? &list->last->after : &list->first) = rpc;
	list->last = rpc;
}

static void take_out(struct rpc_list *list, struct rpc *rpc)
{
	*(rpc->before ? &rpc->before->after : &list->first) = rpc->after;
	*(rpc->after ? &rpc->after->before : &list->last) = rpc->before;
}

static void move(struct rpc_list *from, struct rpc_list *to, struct rpc *rpc)
{
	take_out(from, rpc);
	add(to, rpc);
}

/* ---- life ---- */

/*
 * grpc_proxy, https_proxy, http_proxy in lower case, and no_grpc_proxy, no_proxy:
 * as every client of gRPC has it, grpc doc/environment_variables.md.
 */
static const char *first_set(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && *value)
			return value;
	}
	return NULL;
}

static void set_options(struct channel *channel)
{
	static const char *const proxies[] = {"grpc_proxy", "https_proxy", "http_proxy", NULL};
	static const char *const exceptions[] = {"no_grpc_proxy", "no_proxy", NULL};
	const struct remote *remote = channel->remote;

	channel->options = (struct connection_options){
		.server = remote->endpoint,
		.tls = remote->tls,
		.protocol = "h2",
		.ca_path = remote->ca_path,
		.cert_path = remote->cert_path,
		.key_path = remote->key_path,
		.tls_name = remote->tls_name,
		.proxy = remote->loopback ? NULL : first_set(proxies),
		.no_proxy = first_set(exceptions),
		.connect_ms = CONNECT_MS,
	};
}

int channel_new(const struct remote *remote, struct channel **out_channel, struct err *err)
{
	struct channel *channel = xcalloc(1, sizeof(*channel));

	channel->remote = remote;
	channel->in = xreallocarray(NULL, ROOM, 1);
	channel->end_ms = INT64_MAX;
	buf_init(&channel->out);
	set_options(channel);
	if (metadata_make(remote, &channel->metadata, err) < 0 ||
	    (remote->tls && connection_check_tls(err) < 0)) {
		channel_free(channel);
		return -1;
	}
	*out_channel = channel;
	return 0;
}

static void disconnect(struct channel *channel)
{
	http2_free(channel->http2);
	connection_free(channel->connection);
	channel->http2 = NULL;
	channel->connection = NULL;
	buf_clear(&channel->out);
	channel->sent = 0;
}

void channel_free(struct channel *channel)
{
	if (!channel)
		return;
	disconnect(channel);
	metadata_release(&channel->metadata);
	buf_release(&channel->out);
	free(channel->in);
	free(channel->why);
	free(channel);
}

int channel_refresh(struct channel *channel)
{
	return metadata_refresh(&channel->metadata);
}

bool channel_is_proxied(const struct channel *channel)
{
	return channel->options.proxy != NULL;
}

/* ---- ends ---- */

static void end(struct channel *channel, struct rpc_list *list, struct rpc *rpc, int code,
		const char *message)
{
	rpc_fail(rpc, code, message);
	move(list, &channel->ended, rpc);
}

static void end_all(struct channel *channel, struct rpc_list *list, const char *message)
{
	while (list->first)
		end(channel, list, list->first, CODE_UNAVAILABLE, message);
}

static struct rpc *rpc_of(struct http2_stream *stream)
{
	return (struct rpc *)stream; /* its first member */
}

static void on_field(struct http2_stream *stream, struct str name, struct str value)
{
	rpc_field(rpc_of(stream), name, value);
}

static bool on_body(struct http2_stream *stream, const uint8_t *data, size_t len)
{
	return rpc_body(rpc_of(stream), data, len);
}

/*
 * A stream above the last one of a GOAWAY was never looked at, which is no failure
 * of its call: it waits for the next connection. grpc doc/PROTOCOL-HTTP2.md.
 */
static bool is_left_over(const struct channel *channel, uint32_t error)
{
	return error == HTTP2_REFUSED_STREAM && http2_is_closing(channel->http2);
}

/* Whoever cancels a call when its time is up: it is up. */
static void on_end(struct http2_stream *stream, uint32_t error)
{
	struct rpc *rpc = rpc_of(stream);
	struct channel *channel = rpc->channel;

	if (is_left_over(channel, error)) {
		rpc_again(rpc);
		move(&channel->open, &channel->waiting, rpc);
		return;
	}
	rpc_end(rpc, error);
	if (rpc->code == CODE_CANCELLED && channel->now_ms >= rpc->end_ms)
		rpc->code = CODE_DEADLINE_EXCEEDED;
	move(&channel->open, &channel->ended, rpc);
	channel->answered = true;
}

static const struct http2_events events = {on_field, on_body, on_end};

struct rpc *channel_ended(struct channel *channel)
{
	struct rpc *rpc = channel->ended.first;

	if (rpc)
		take_out(&channel->ended, rpc);
	return rpc;
}

/* ---- the connection comes and goes ---- */

static void pause_connecting(struct channel *channel, const char *why)
{
	int64_t pause = 2 * channel->backoff_ms;

	if (pause < BACKOFF_MIN_MS)
		pause = BACKOFF_MIN_MS;
	channel->backoff_ms = pause < BACKOFF_MAX_MS ? pause : BACKOFF_MAX_MS;
	channel->retry_ms = channel->now_ms + channel->backoff_ms;
	free(channel->why);
	channel->why = xstrdup(why);
	end_all(channel, &channel->waiting, why);
}

/*
 * What was in flight has its answer by that. What waits for a connection waits
 * for the next one, unless this one brought nothing at all: then it is as if it
 * had not been made.
 */
static void lose(struct channel *channel, const char *why)
{
	end_all(channel, &channel->open, why);
	disconnect(channel);
	if (channel->answered)
		channel->backoff_ms = channel->retry_ms = 0;
	else
		pause_connecting(channel, why);
}

static void begin_connecting(struct channel *channel)
{
	channel->answered = channel->more = false;
	channel->ping_ms = channel->pong_ms = channel->drain_ms = 0;
	channel->connect_ms = channel->now_ms + CONNECT_MS;
	channel->connection = connection_new(&channel->options);
}

/* ---- bytes ---- */

static bool has_unsent(const struct channel *channel)
{
	return channel->out.len > channel->sent;
}

/* Everything that is ready goes out in one piece. False: the connection is lost. */
static bool flush(struct channel *channel)
{
	struct err err = ERR_INIT;
	int taken = http2_take(channel->http2, &channel->out, &err);
	size_t sent;

	if (has_unsent(channel)) {
		if (connection_send(channel->connection, channel->out.data + channel->sent,
				    channel->out.len - channel->sent, &sent, &err) < 0) {
			lose(channel, err.text);
			return false;
		}
		channel->sent += sent;
	}
	if (!has_unsent(channel)) {
		buf_clear(&channel->out);
		channel->sent = 0;
	}
	if (taken < 0)
		lose(channel, err.text);
	return taken == 0;
}

static void lose_receiving(struct channel *channel, const struct err *err)
{
	const char *words = http2_first_words(channel->http2);

	lose(channel, words ? words : err->text);
}

/* 1: something came, and *out_more if there may be more; 0: nothing is there; -1: lost. */
static int receive_once(struct channel *channel, bool *out_more, struct err *err)
{
	size_t len;
	int got = connection_receive(channel->connection, channel->in, ROOM, &len, err);

	if (got <= 0)
		return got;
	channel->heard_ms = channel->now_ms = clock_monotonic_ms();
	channel->ping_ms = 0;
	*out_more = connection_may_have_more(channel->connection, len, ROOM);
	return http2_feed(channel->http2, channel->in, len, err) < 0 ? -1 : 1;
}

/* Takes what is there. False: the connection is lost. */
static bool receive(struct channel *channel)
{
	struct err err = ERR_INIT;
	int got = 1, reads = 0;

	channel->more = true;
	while (got > 0 && channel->more && reads++ < READS_MAX)
		got = receive_once(channel, &channel->more, &err);
	if (got == 0)
		channel->more = false;
	if (got < 0)
		lose_receiving(channel, &err);
	return got >= 0;
}

/* ---- requests ---- */

static void request(struct channel *channel, struct rpc *rpc)
{
	struct metadata *metadata = &channel->metadata;

	metadata_aim(metadata, rpc->method->name);
	if (http2_request(channel->http2, metadata->fields, metadata->count, &rpc->stream) == 0)
		move(&channel->waiting, &channel->open, rpc);
}

static void request_waiting(struct channel *channel)
{
	while (channel->waiting.first && http2_has_room(channel->http2))
		request(channel, channel->waiting.first);
}

/* Closed meanwhile? Then a call would be lost on it for nothing. */
static void look_at_idle(struct channel *channel)
{
	if (channel->http2 && !channel->open.first &&
	    channel->now_ms - channel->heard_ms >= IDLE_MS)
		receive(channel);
}

void channel_start(struct channel *channel, struct rpc *rpc)
{
	channel->now_ms = clock_monotonic_ms();
	look_at_idle(channel);
	if (rpc->end_ms < channel->end_ms)
		channel->end_ms = rpc->end_ms;
	rpc->channel = channel;
	add(&channel->waiting, rpc);
	if (channel->http2)
		request_waiting(channel);
	else if (!channel->connection && channel->now_ms < channel->retry_ms)
		end(channel, &channel->waiting, rpc, CODE_UNAVAILABLE, channel->why);
}

/* ---- time ---- */

static void expire_list(struct channel *channel, struct rpc_list *list)
{
	struct rpc *rpc, *after;

	for (rpc = list->first; rpc; rpc = after) {
		after = rpc->after;
		if (rpc->end_ms <= channel->now_ms) {
			if (channel->http2)
				http2_drop(channel->http2, &rpc->stream);
			end(channel, list, rpc, CODE_DEADLINE_EXCEEDED, "no answer in time");
		} else if (rpc->end_ms < channel->end_ms) {
			channel->end_ms = rpc->end_ms;
		}
	}
}

static void expire_calls(struct channel *channel)
{
	if (channel->now_ms < channel->end_ms)
		return;
	channel->end_ms = INT64_MAX;
	expire_list(channel, &channel->waiting);
	expire_list(channel, &channel->open);
}

static void keep_alive(struct channel *channel)
{
	if (!channel->open.first || channel->ping_ms ||
	    channel->now_ms - channel->heard_ms < KEEPALIVE_MS)
		return;
	http2_ping(channel->http2);
	channel->ping_ms = channel->now_ms + KEEPALIVE_TIMEOUT_MS;
}

/* Why the connection is of no use any more; NULL: it is. */
static const char *find_end(struct channel *channel)
{
	if (!http2_is_ready(channel->http2))
		return channel->now_ms >= channel->connect_ms ? "the server sent no SETTINGS"
							      : NULL;
	if (channel->ping_ms && channel->now_ms >= channel->ping_ms)
		return "the server does not answer a PING";
	if (!http2_is_closing(channel->http2))
		return NULL;
	if (!channel->drain_ms)
		channel->drain_ms = channel->now_ms + DRAIN_MS;
	return channel->now_ms >= channel->drain_ms || !channel->open.first
		       ? "the server ends the connection"
		       : NULL;
}

/* Before calls are sent, so that it goes with them. */
static void answer_ping(struct channel *channel)
{
	if (!http2_owes_pong(channel->http2))
		return;
	if (!channel->pong_ms)
		channel->pong_ms = channel->now_ms + PONG_MS;
	if (channel->now_ms < channel->pong_ms)
		return;
	http2_pong(channel->http2);
	channel->pong_ms = 0;
}

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

/* When something is to be done though nothing moves. */
static int64_t next_ms(const struct channel *channel, int64_t end_ms)
{
	int64_t next = sooner(end_ms, channel->end_ms);

	if (!http2_is_ready(channel->http2))
		return sooner(next, channel->connect_ms);
	if (channel->drain_ms)
		next = sooner(next, channel->drain_ms);
	if (channel->pong_ms)
		next = sooner(next, channel->pong_ms);
	if (channel->ping_ms)
		return sooner(next, channel->ping_ms);
	return channel->open.first ? sooner(next, channel->heard_ms + KEEPALIVE_MS) : next;
}

static int64_t left_ms(const struct channel *channel, int64_t until_ms)
{
	return until_ms > channel->now_ms ? until_ms - channel->now_ms : 0;
}

/* ---- turns ---- */

static void turn_idle(const struct channel *channel, int64_t end_ms)
{
	poll(NULL, 0, (int)left_ms(channel, sooner(end_ms, channel->end_ms)));
}

static void turn_connecting(struct channel *channel, int64_t end_ms)
{
	struct err err = ERR_INIT;
	int done = connection_establish(channel->connection,
					left_ms(channel, sooner(end_ms, channel->end_ms)), &err);

	channel->now_ms = clock_monotonic_ms();
	if (done < 0)
		lose(channel, err.text);
	if (done <= 0)
		return;
	channel->heard_ms = channel->now_ms;
	channel->http2 = http2_new(&events);
	flush(channel);
}

/* A connection that ended has its answers by the next turn. */
static void turn_connected(struct channel *channel, int64_t end_ms)
{
	const char *why = find_end(channel);

	if (why) {
		lose(channel, why);
		return;
	}
	keep_alive(channel);
	answer_ping(channel);
	if (!flush(channel))
		return;
	if (!channel->more)
		connection_wait(channel->connection, has_unsent(channel),
				left_ms(channel, next_ms(channel, end_ms)));
	channel->now_ms = clock_monotonic_ms();
	if (!receive(channel))
		return;
	request_waiting(channel);
	flush(channel);
}

void channel_send(struct channel *channel)
{
	if (channel->http2)
		flush(channel);
}

void channel_turn(struct channel *channel, int64_t end_ms)
{
	channel->now_ms = clock_monotonic_ms();
	expire_calls(channel);
	if (channel->ended.first)
		return;
	if (!channel->connection && channel->waiting.first)
		begin_connecting(channel);
	if (channel->http2)
		turn_connected(channel, end_ms);
	else if (channel->connection)
		turn_connecting(channel, end_ms);
	else
		turn_idle(channel, end_ms);
}
