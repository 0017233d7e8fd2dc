/*
 * What-if, its data: what the store knows of executions of builds, of the workers
 * that ran them and of the packages. Knows the store alone.
 */
#ifndef BR2_PLAN_DATA_H
#define BR2_PLAN_DATA_H

#include "plan_replay.h"
#include "plan_rule.h"
#include "report_scope.h"
#include "shape.h"
#include "store.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_settings {
	int64_t start_ns; /* worker_start_s */
	int64_t overhead_cpu_milli,
		overhead_bytes; /* of a pod, besides the container that runs actions */
	double margin_pct;
	struct plan_jobs jobs;
};

struct plan_package {
	int64_t package_id;
	struct str name;
	struct plan_need need;
};

struct plan_worker {
	int64_t worker_id;
	struct str pool; /* NULL: not known */
};

struct plan_allotment {
	int64_t allotment_id;
	int64_t cpu_milli, memory_bytes, limit_bytes; /* requested, and the limit; UNKNOWN */
};

/* A row of pool_spec; what the file does not say is UNKNOWN. */
struct plan_spec {
	struct str cache, pool;
	int64_t valid_from_ns;
	int64_t workers_min, workers_max, cooldown_s, concurrency;
	int64_t cpu_milli, memory_bytes, limit_bytes; /* requested, and the limit */
	bool retired;				      /* enabled: false */
};

/* Texts of rows, kept until all go. */
struct plan_texts {
	char **list;
	size_t count;
};

/* Read once; owns all texts. Rows sorted by id; specs by name and validity. */
struct plan_known {
	struct plan_settings settings;
	struct plan_package *packages;
	struct plan_worker *workers;
	struct plan_allotment *allotments;
	struct plan_spec *specs;
	struct shape *shapes; /* of table shape */
	size_t package_count, worker_count, allotment_count, spec_count, shape_count;
	struct plan_texts texts;
	int64_t nameless; /* executions that name no invocation: in no plan */
};

int plan_known_load(struct store *store, struct plan_known *out, struct err *err);
void plan_known_release(struct plan_known *known);

/* NULL: no such row. */
const struct plan_package *plan_find_package(const struct plan_known *known, int64_t package_id);
const struct plan_worker *plan_find_worker(const struct plan_known *known, int64_t worker_id);
const struct plan_allotment *plan_find_allotment(const struct plan_known *known, int64_t id);
/* What held for the pool at that moment; NULL: nothing known then. */
const struct plan_spec *plan_find_spec(const struct plan_known *known, struct str cache,
				       struct str pool, int64_t at_ns);

/* An invocation that executed something; the list owns the texts. */
struct plan_execution {
	struct str invocation, project, salt, cache; /* salt may be NULL */
	bool logged;				     /* its log was read */
};

struct plan_executions {
	struct plan_execution *list; /* latest first */
	size_t count;
	struct plan_texts texts;
};

/*
 * Those of the scope, or of these only those whose trace ids begin with one of `ids`
 * (count > 0). -1 (ERR_USAGE): an id that none, or more than one, begins with; or
 * none at all.
 */
int plan_executions_load(struct store *store, const struct report_scope *scope,
			 const char *const *ids, size_t count, struct plan_executions *out,
			 struct err *err);
void plan_executions_release(struct plan_executions *executions);

/* What one invocation executed. */
struct plan_rows {
	struct plan_row *list; /* sorted by arrival */
	size_t count;
	int64_t no_times; /* left out: when a worker had them is not known, or ends before it begins
			   */
	int64_t no_queued; /* queued at an unknown time, or by a clock ahead: arrived when begun */
	int64_t no_cpu;	   /* run or CPU time not known: as long on every shape */
};

/* Empties and fills *out. One execution that answered several commands is one row. */
int plan_rows_load(struct store *store, const struct plan_execution *execution,
		   struct plan_rows *out, struct err *err);
void plan_rows_release(struct plan_rows *rows);

#endif
