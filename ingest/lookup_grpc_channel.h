/*
 * Calls to one server over one connection, which is made when it is first
 * wanted, made again when it is lost, and watched while calls are in flight.
 * One thread: everything happens inside channel_turn(). A part of lookup_grpc,
 * no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_CHANNEL_H
#define BR2_LOOKUP_GRPC_CHANNEL_H

#include "lookup_grpc_call.h"
#include "remote.h"
#include "util/err.h"

#include <stdint.h>

struct channel;

/*
 * `remote` is borrowed until the channel is freed. -1 (ERR_USAGE): a header or
 * a token file that cannot be right, or no library for TLS.
 */
int channel_new(const struct remote *remote, struct channel **out_channel, struct err *err);
/* Calls in flight are forgotten, and free. */
void channel_free(struct channel *channel);

/*
 * Starts a call: rpc_ready() was said of it. It must not move until
 * channel_ended() gives it back, whatever comes of it; UNAVAILABLE is all that
 * a server ever is that cannot be reached.
 */
void channel_start(struct channel *channel, struct rpc *rpc);
/* A call that has ended; NULL: none. */
struct rpc *channel_ended(struct channel *channel);
/*
 * Sends and receives; waits until something moves, but not beyond end_ms (of
 * CLOCK_MONOTONIC) nor a signal. So it may return without anything done.
 */
void channel_turn(struct channel *channel, int64_t end_ms);
/* Sends what was started, as far as there is room; neither receives nor waits. */
void channel_send(struct channel *channel);
/* Reads the token file again. 1: the token has changed; 0. */
int channel_refresh(struct channel *channel);
/* Does the environment name a proxy, which is then asked for the connection? */
bool channel_is_proxied(const struct channel *channel);

#endif
