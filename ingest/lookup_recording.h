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
 * May answers be recorded into `path`? 0: yes, it is not there (*out_old NULL), or
 * holds a recording, which is to be completed: *out_old replays it. -1: it is
 * something else, or a recording that cannot be added to (ERR_USAGE).
 */
int recording_open(struct transport **out_old, const char *path, struct err *err);
/*
 * Passes calls on to `inner` and writes each answer to a new file beside `path`
 * (PATH.XXXXXX, mode 0600), behind what the recording there holds already: `old`,
 * from recording_open(), NULL if there is none. What `old` answers in the same
 * words is not written again. finish() renames it to `path`, if there was any
 * answer to add; freed before that, it leaves `path` as it was. Takes over
 * `inner` and `old`, also on failure. Codes that only waiting cures (UNAVAILABLE,
 * DEADLINE_EXCEEDED, a quota's RESOURCE_EXHAUSTED) are not written. -1: a file
 * cannot be made there (ERR_IO), or has come to be there since (ERR_USAGE).
 */
int transport_record_new(struct transport **out_transport, struct transport *inner,
			 struct transport *old, const char *path, struct err *err);

#endif
