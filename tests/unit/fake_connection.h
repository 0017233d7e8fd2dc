/*
 * A connection to a server of HTTP/2 that answers as it is told, and a clock that only
 * waiting moves, in place of the true ones: no test waits for real. The test links
 * with --wrap=clock_monotonic_ms.
 */
#ifndef BR2_TEST_FAKE_CONNECTION_H
#define BR2_TEST_FAKE_CONNECTION_H

#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS "\0\0\0\4\0\0\0\0\0"
#define ONE_STREAM "\0\0\6\4\0\0\0\0\0\0\3\0\0\0\1"

enum { FRAME_DATA = 0, FRAME_HEADERS = 1, FRAME_RESET = 3, FRAME_PING = 6, FRAME_GOAWAY = 7 };

/* How it behaves, and what it saw. */
struct fake_connection {
	const char *refusal; /* why nobody connects */
	bool mute;	     /* says not even SETTINGS */
	bool silent;	     /* takes requests, and answers none */
	bool answers_pings;
	bool cancels_late; /* its first stream, once nothing else moved in time */
	const char *settings;
	size_t settings_len;
	size_t send_room; /* bytes that one send takes */
	unsigned connections, requests, pings, resets, sends, most_open;
	struct buf pongs; /* what they repeat */

	/* of the connection as it is */
	struct buf sent, said;
	size_t read; /* of what was sent */
	unsigned open;
	bool closed;
};

extern struct fake_connection server;
extern int64_t now_ms;

/* It answers all at once, and says SETTINGS alone. */
void fake_connection_init(void);
void fake_connection_release(void);
/* What the server says next. */
void frame(unsigned type, unsigned flags, unsigned stream, const char *data, size_t len);

#endif
