/*
 * What is probably wrong, and the next command: the words for a person whose
 * report has holes. Pure: counts in, lines out. The reasons are those of the
 * view missing_results.
 */
#ifndef BR2_SYMPTOM_H
#define BR2_SYMPTOM_H

#include "util/buf.h"
#include "util/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a digest has no usage; in the order in which the first that fits counts. */
enum reason {
	REASON_REFUSED_UPLOAD,
	REASON_LOCAL_ONLY,
	REASON_FAILED,
	REASON_EVICTED,
	REASON_NEVER_STORED,
	REASON_OUTPUTS_EVICTED,
	REASON_NO_USAGE,
	REASON_UPLOADED_BY_CLIENT,
	REASON_REFUSED,
	REASON_UNREACHABLE,
	REASON_MALFORMED,
	REASON_NOT_ASKED,
	REASON_COUNT,
};

/* "failed", "evicted", … as in the column `reason`. */
const char *reason_name(enum reason reason);
/* REASON_COUNT for another word. */
enum reason reason_parse(struct str name);

struct symptom_facts {
	int64_t digests;	       /* distinct remote digests of the runs in question */
	int64_t with_usage;	       /* of these */
	int64_t missing[REASON_COUNT]; /* the others, by reason */
	int64_t runs;		       /* with digests */
	int64_t gone_runs;	       /* of these: all of whose digests were evicted */
	int64_t bad_logs;      /* files that broke off in a fault or held malformed records */
	int64_t bad_records;   /* of these files */
	const char *endpoint;  /* that was asked; NULL: not known */
	const char *instances; /* names that were tried, "a, b"; NULL: not known */
};

/*
 * Adds a line for each symptom that the facts show, each ended by a newline;
 * nothing if all is well.
 */
void symptom_add(const struct symptom_facts *facts, struct buf *buf);

#endif
