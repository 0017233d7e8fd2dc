/*
 * Answers from a file, and answers into a file: how the demo, the golden tests
 * and a user's bug report carry a cluster along. The format is JSON lines:
 *   {"format":"br2-ingest recording","version":1}
 *   {"method":"GetActionResult","instance":"…","function":"sha256",
 *    "digest":"<hash>:<size>","code":0,"message":"","reply":"<base64>"}
 *   {"method":"ReadBlob", the same for a blob of the CAS, however it was read:
 *    "reply" holds its bytes}
 * each but the first on one line; of several lines with the same method,
 * instance, function and digest the last one counts. It holds no header, token
 * or address.
 */
#ifndef BR2_LOOKUP_RECORDING_H
#define BR2_LOOKUP_RECORDING_H

#include "lookup.h"

#define RECORDING_FORMAT "br2-ingest recording"
#define RECORDING_VERSION 1

/* "GetActionResult", "ReadBlob"; NULL for an unknown number. */
const char *lookup_method_name(enum lookup_method method);
/* The reverse; 0 for another name. */
enum lookup_method lookup_method_parse(struct str name);

/*
 * Answers from the file alone, read plain, gzip or zstd; what is not in it is
 * NOT_FOUND (5). The replies wait in a nameless temporary file, so memory holds
 * only what finds them. `in_flight`: calls at once,
 * besides the engine's own; 0: 64. -1: it cannot be read, or is no such
 * recording (PATH:LINE: what).
 */
int transport_replay_new(struct transport **out_transport, const char *path, uint32_t in_flight,
			 struct err *err);
/*
 * Passes calls on to `inner` (taken over, also on failure) and writes each
 * answer to PATH.tmp, made anew with mode 0600; finish() renames it to `path`.
 * Freed before that, it leaves `path` as it was. Codes that only waiting cures
 * (UNAVAILABLE, DEADLINE_EXCEEDED, a quota's RESOURCE_EXHAUSTED) are not written.
 */
int transport_record_new(struct transport **out_transport, struct transport *inner,
			 const char *path, struct err *err);

#endif
