/*
 * ActionResult and HistoricalExecuteResponse bytes -> struct result. Pure.
 * Sources: remote-apis becdd8f, bb-storage bdd785e (buildbarn.cas), and
 * bb-remote-execution 13313e6 (buildbarn.resourceusage).
 */
#ifndef BR2_RESULT_H
#define BR2_RESULT_H

#include "model.h"
#include "util/arena.h"
#include "util/err.h"

/* Bytes that a reply may unpack to: about ten times the largest reply. */
#define RESULT_ARENA_MAX ((size_t)160 << 20)

/*
 * Decodes a GetActionResult reply. Texts and arrays live in `arena` or in
 * `data`, until either is reset. -1: not an ActionResult (ERR_FORMAT), or too
 * large when unpacked (ERR_LIMIT).
 */
int result_parse_action(const uint8_t *data, size_t len, struct arena *arena,
			struct result *out_result, struct err *err);
/* The same for a buildbarn.cas.HistoricalExecuteResponse blob. */
int result_parse_historical(const uint8_t *data, size_t len, struct arena *arena,
			    struct result *out_result, struct err *err);

#endif
