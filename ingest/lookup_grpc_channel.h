/*
 * How a server is reached: credentials and channel settings. A part of
 * lookup_grpc, no use to others.
 */
#ifndef BR2_LOOKUP_GRPC_CHANNEL_H
#define BR2_LOOKUP_GRPC_CHANNEL_H

#include "remote.h"
#include "util/err.h"

#include <grpc/grpc.h>

/*
 * A channel that connects when it is first used; the caller destroys it. -1: a
 * file that cannot be read or holds no PEM.
 */
int channel_open(const struct remote *remote, grpc_channel **out_channel, struct err *err);

#endif
