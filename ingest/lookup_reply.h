/*
 * What a reply means, whatever transport it came by: pure functions of code and
 * text. Buildbarn tells several outcomes apart by their texts only.
 */
#ifndef BR2_LOOKUP_REPLY_H
#define BR2_LOOKUP_REPLY_H

#include "lookup.h"

/* google.rpc.Code; googleapis google/rpc/code.proto. */
enum code {
	CODE_OK = 0,
	CODE_CANCELLED = 1,
	CODE_UNKNOWN = 2,
	CODE_INVALID_ARGUMENT = 3,
	CODE_DEADLINE_EXCEEDED = 4,
	CODE_NOT_FOUND = 5,
	CODE_PERMISSION_DENIED = 7,
	CODE_RESOURCE_EXHAUSTED = 8,
	CODE_ABORTED = 10,
	CODE_UNIMPLEMENTED = 12,
	CODE_INTERNAL = 13,
	CODE_UNAVAILABLE = 14,
	CODE_UNAUTHENTICATED = 16,
};

/* No answer but an outage, or a server that asks for a pause: only waiting cures it. */
bool reply_is_outage(const struct transport_reply *reply);
/* The same would be said of every call: nobody there, no credentials, no action cache. */
bool reply_is_misconfigured(const struct transport_reply *reply);
/* So many attempts, of at most `max`, this error of one call is worth. */
uint32_t reply_attempts(const struct transport_reply *reply, uint32_t max);
/* LOOKUP_UNREACHABLE is none of these: only the engine knows when to give up. */
enum lookup_outcome reply_outcome(const struct transport_reply *reply);
/* Counts an answer, but not as asked. */
void tally_add(struct lookup_tally *tally, const struct lookup_answer *answer);

#endif
