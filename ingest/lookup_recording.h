/*
 * Answers from a file, and answers into a file: how the demo, the golden tests
 * and a user's bug report carry a cluster along. The format is in
 * tests/data/README.md and br2-ingest(1): JSON lines, the first names the
 * format and its version, each other line is one answer:
 *   {"method":"GetActionResult","instance":"…","function":"sha256",
 *    "digest":"<hash>:<size>","code":0,"message":"","reply":"<base64>"}
 * Reading takes it plain, gzip or zstd. It holds no header, token or address.
 */
#ifndef BR2_LOOKUP_RECORDING_H
#define BR2_LOOKUP_RECORDING_H

#include "lookup.h"

/* Answers from the file alone; what is not in it is NOT_FOUND (5). */
int transport_replay_new(struct transport **out_transport, const char *path, uint32_t slots,
			 struct err *err);
/*
 * Passes calls on to `inner` (taken over, also on failure) and writes each
 * final answer to `path`: created anew as PATH.tmp with mode 0600, renamed when
 * freed. Codes that a retry may cure (UNAVAILABLE, DEADLINE_EXCEEDED) are not
 * written.
 */
int transport_record_new(struct transport **out_transport, struct transport *inner,
			 const char *path, struct err *err);

#endif
