#include "fake_server.h"

#include <string.h>

#define NEVER INT64_MAX

static struct fake_server *server_of(struct transport *transport)
{
	return (struct fake_server *)transport;
}

static struct fate find(struct fake_server *self, const struct lookup_request *request)
{
	(void)self;
	(void)request;
	return (struct fate){1, 0, "", "result"};
}

static bool within(int64_t ms, int64_t from, int64_t until)
{
	return ms >= from && ms < until;
}

/* The fate, bent by what happens to the server until it would come. */
static void schedule(struct fake_server *server, struct fake_call *call, int64_t timeout_ms)
{
	int64_t start = server->now_ms;

	call->due_ms = start + call->fate.latency_ms;
	if (within(start, server->away_from_ms, server->away_until_ms)) {
		server->starts_away++;
		call->fate = (struct fate){0, 14, "Connection refused", NULL};
		call->due_ms = start;
	} else if (start < server->away_from_ms && call->due_ms >= server->away_from_ms) {
		call->fate = (struct fate){0, 14, "Socket closed", NULL};
		call->due_ms = server->away_from_ms;
	}
	if (within(call->due_ms, server->mute_from_ms, server->mute_until_ms))
		call->due_ms = server->mute_until_ms;
	if (call->due_ms - start > timeout_ms) {
		call->fate = (struct fate){0, 4, "Deadline Exceeded", NULL};
		call->due_ms = start + timeout_ms;
	}
}

static int fake_start(struct transport *self, uint32_t slot, const struct lookup_request *request,
		      int64_t timeout_ms, struct err *err)
{
	struct fake_server *server = server_of(self);
	struct fake_call *call = &server->calls[slot];

	if (server->fail_start && !--server->fail_start)
		return err_set(err, ERR_NET, "cannot start");
	if (slot >= self->slots || call->used)
		return err_set(err, ERR_NET, "slot %u is not free", (unsigned)slot);
	call->used = true;
	call->fate = server->fate(server, request);
	schedule(server, call, timeout_ms);
	server->starts++;
	if (++server->flying > server->most_flying)
		server->most_flying = server->flying;
	return 0;
}

static struct fake_call *earliest(struct fake_server *server)
{
	struct fake_call *best = NULL;
	uint32_t i;

	for (i = 0; i < server->base.slots; i++)
		if (server->calls[i].used && (!best || server->calls[i].due_ms < best->due_ms))
			best = &server->calls[i];
	return best;
}

static int fake_wait(struct transport *self, int64_t timeout_ms, struct transport_reply *out_reply,
		     struct err *err)
{
	struct fake_server *server = server_of(self);
	struct fake_call *call = earliest(server);

	if (server->fail_wait && !--server->fail_wait)
		return err_set(err, ERR_IO, "cannot wait");
	if (!call || call->due_ms > server->now_ms + timeout_ms) {
		server->now_ms += timeout_ms;
		return 0;
	}
	if (call->due_ms > server->now_ms)
		server->now_ms = call->due_ms;
	out_reply->slot = (uint32_t)(call - server->calls);
	out_reply->code = call->fate.code;
	out_reply->message = call->fate.message;
	out_reply->data = (const uint8_t *)call->fate.data;
	out_reply->len = call->fate.data ? strlen(call->fate.data) : 0;
	call->used = false;
	server->flying--;
	return 1;
}

static int fake_refresh(struct transport *self)
{
	struct fake_server *server = server_of(self);
	int changed = server->token != server->fresh_token;

	server->refreshes++;
	server->token = server->fresh_token;
	return changed;
}

static void fake_explain(struct transport *self, int code, const char *message, struct buf *out)
{
	(void)self;
	buf_addf(out, "server: %s (%d)", message, code);
}

static int64_t fake_now_ms(struct transport *self)
{
	return server_of(self)->now_ms;
}

static void fake_free(struct transport *self)
{
	server_of(self)->freed = true;
}

static const struct transport_ops fake_ops = {
	.start = fake_start,
	.wait = fake_wait,
	.refresh = fake_refresh,
	.explain = fake_explain,
	.now_ms = fake_now_ms,
	.free = fake_free,
};

void fake_server_init(struct fake_server *server, uint32_t slots)
{
	memset(server, 0, sizeof(*server));
	server->base = (struct transport){&fake_ops, slots};
	server->now_ms = 1000000;
	server->fate = find;
	server->away_from_ms = server->away_until_ms = NEVER;
	server->mute_from_ms = server->mute_until_ms = NEVER;
}
