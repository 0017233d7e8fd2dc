#include "lookup_reply.h"

#include <string.h>

static bool says(const struct transport_reply *reply, const char *words)
{
	return strstr(reply->message, words) != NULL;
}

/*
 * Not the server's quota but a size, which no retry cures: ours
 * (LOOKUP_REPLY_MAX), or what the server takes or sends ("received message
 * larger than max", grpc-go rpc_util.go).
 */
static bool is_size_limit(const struct transport_reply *reply)
{
	return reply->code == CODE_RESOURCE_EXHAUSTED && says(reply, "larger than max");
}

bool reply_is_outage(const struct transport_reply *reply)
{
	return reply->code == CODE_UNAVAILABLE || reply->code == CODE_DEADLINE_EXCEEDED ||
	       (reply->code == CODE_RESOURCE_EXHAUSTED && !is_size_limit(reply));
}

bool reply_is_misconfigured(const struct transport_reply *reply)
{
	return reply_is_outage(reply) || reply->code == CODE_UNAUTHENTICATED ||
	       reply->code == CODE_UNIMPLEMENTED;
}

uint32_t reply_attempts(const struct transport_reply *reply, uint32_t max)
{
	switch (reply->code) {
	case CODE_ABORTED:
		return max;
	case CODE_CANCELLED:
	case CODE_UNKNOWN:
	case CODE_INTERNAL:
		return max < 2 ? 1 : 2;
	default:
		return 1;
	}
}

/* Texts: bb-storage bdd785e pkg/blobstore/completenesschecking. */
static enum lookup_outcome missing_outcome(const struct transport_reply *reply)
{
	if (says(reply, "referenced by the action result is not present"))
		return LOOKUP_OUTPUTS_EVICTED;
	if (says(reply, "exceeds maximum limit"))
		return LOOKUP_TOO_LARGE;
	return LOOKUP_NOT_FOUND;
}

enum lookup_outcome reply_outcome(const struct transport_reply *reply)
{
	switch (reply->code) {
	case CODE_OK:
		return LOOKUP_FOUND;
	case CODE_NOT_FOUND:
		return missing_outcome(reply);
	case CODE_PERMISSION_DENIED:
	case CODE_UNAUTHENTICATED:
		return LOOKUP_REFUSED;
	case CODE_INVALID_ARGUMENT:
		/* bb-storage pkg/buffer: "Buffer is N bytes in size, while a maximum of …" */
		return says(reply, "while a maximum of") ? LOOKUP_TOO_LARGE : LOOKUP_INVALID;
	case CODE_RESOURCE_EXHAUSTED:
		return is_size_limit(reply) ? LOOKUP_TOO_LARGE : LOOKUP_ERROR;
	default:
		return LOOKUP_ERROR;
	}
}

void tally_add(struct lookup_tally *tally, const struct lookup_answer *answer)
{
	switch (answer->outcome) {
	case LOOKUP_FOUND:
		tally->found++;
		tally->bytes += answer->len;
		break;
	case LOOKUP_NOT_FOUND:
		tally->not_found++;
		break;
	case LOOKUP_OUTPUTS_EVICTED:
		tally->outputs_evicted++;
		break;
	case LOOKUP_REFUSED:
		tally->refused++;
		break;
	case LOOKUP_INVALID:
		tally->invalid++;
		break;
	case LOOKUP_TOO_LARGE:
		tally->too_large++;
		break;
	case LOOKUP_ERROR:
		tally->errors++;
		break;
	case LOOKUP_UNREACHABLE:
		tally->unreachable++;
		break;
	}
}
