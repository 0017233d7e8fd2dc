/*
 * ActionResult and HistoricalExecuteResponse bytes -> struct result. Pure.
 * Sources: remote-apis becdd8f and bb-remote-execution 13313e6 (buildbarn.cas,
 * buildbarn.resourceusage).
 *
 * What is unknown: an absent message; an empty worker, signal or text of the
 * request; a timestamp of 0 s 0 ns; a maximum RSS of 0 or less; a time that
 * int64 nanoseconds do not hold; a negative duration; the exit code where the
 * status is not OK or there is no ActionResult. A plain number that is absent
 * inside a present message is 0.
 *
 * Auxiliary messages are told by what follows the last '/' of their type URL.
 * Of several with the same known type the first counts. Later ones, and known
 * types whose bytes do not parse, are kept among the unknown ones, in the order
 * received, so that nothing is lost and a custom runner's oddity never costs a
 * result.
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
