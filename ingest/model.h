/*
 * The structs that flow between the stages: plain values, no functions that do
 * work, no library's types. Words as in README.md's glossary.
 *
 *   stream -> decode -> [run, action, attempt] -> store -> lookup -> [result] -> store
 *
 * Unknown is never 0: an int64_t that is not known is UNKNOWN (SQL NULL), a
 * struct str that is not known has data == NULL. Text is borrowed: who filled
 * the struct says how long it lives. Times are nanoseconds since the Unix
 * epoch, UTC; durations carry their unit in their name.
 */
#ifndef BR2_MODEL_H
#define BR2_MODEL_H

#include "util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNKNOWN INT64_MIN

/* build.bazel.remote.execution.v2.DigestFunction.Value; remote-apis becdd8f. */
enum digest_function {
	DIGEST_UNKNOWN = 0,
	DIGEST_SHA256 = 1,
	DIGEST_SHA1 = 2,
	DIGEST_MD5 = 3,
	DIGEST_SHA384 = 5,
	DIGEST_SHA512 = 6,
	DIGEST_SHA256TREE = 8,
	DIGEST_BLAKE3 = 9,
	DIGEST_GITSHA1 = 10,
};

#define DIGEST_HASH_MAX 64

/* hash_len == 0: no digest. */
struct digest {
	uint8_t hash[DIGEST_HASH_MAX];
	uint8_t hash_len;
	uint8_t function; /* enum digest_function; a log does not say it: set by the pipeline */
	int64_t size_bytes;
};

/* ---- what a log says ---- */

enum event_kind {
	EVENT_NONE = 0,	      /* a record that says nothing we keep */
	EVENT_INVOCATION,     /* the log's first record: event.invocation */
	EVENT_COMMAND_START,  /* event.command_start */
	EVENT_COMMAND_END,    /* event.duration_us */
	EVENT_CONFIG,	      /* BuckconfigInputValues: event.config */
	EVENT_REVISION,	      /* event.revision */
	EVENT_ACTION_START,   /* event.action: names, span, kind; no attempts; see event.record */
	EVENT_STAGE,	      /* an executor stage that names a digest: event.stage; likewise */
	EVENT_ACTION_END,     /* event.action */
	EVENT_SPAN_CANCELLED, /* the span will have no end of its own */
	EVENT_COMMAND_RESULT, /* the log's last record: event.command_result */
	EVENT_BUILD_GRAPH,    /* BuildGraphExecutionInfo, once a build: event.graph */
};

struct config_value {
	struct str cell; /* NULL where none is named */
	struct str section;
	struct str key;
	struct str value; /* raw; may be a secret: see redact.h */
	bool is_cli;	  /* given by -c/--config on the command line */
};

struct invocation {
	struct str trace_id;
	struct str working_dir;
	struct str *argv; /* as typed (Buck2 has already dropped what it calls sensitive) */
	size_t argc;
	int64_t start_ns; /* UNKNOWN before 2025-09-24 */
};

struct command_start {
	struct str command; /* build, test, … : the oneof's name */
	struct str host, os, os_version, arch, buck2_revision, daemon_uuid, user;
};

struct command_result {
	int64_t succeeded; /* 0, 1, UNKNOWN */
	int64_t exit_code; /* of the test executor; UNKNOWN elsewhere */
	struct str error;  /* first error's text; NULL: none */
	int64_t error_count;
};

struct stage {
	struct digest digest;
	struct str name; /* queue, execute, cache_query, cache_hit, … */
};

/* What an action is, apart from the run: the key on which runs are compared. */
struct action_name {
	struct str buck_package; /* cell//path */
	struct str target;	 /* what follows the colon */
	struct str category;	 /* NULL for tests and listings */
	struct str identifier;	 /* NULL for tests and listings; often empty */
	struct str configuration;
};

enum action_type { ACTION_RUN = 1, ACTION_TEST = 2, ACTION_LISTING = 3 };

/* buck.data.CommandExecution.command's oneof */
enum attempt_kind {
	ATTEMPT_UNKNOWN = 0,
	ATTEMPT_LOCAL = 1,
	ATTEMPT_REMOTE = 2,
	ATTEMPT_OMITTED_LOCAL = 3,
	ATTEMPT_WORKER_INIT = 4,
	ATTEMPT_WORKER = 5,
};

enum attempt_status {
	STATUS_UNKNOWN = 0,
	STATUS_SUCCESS = 2,
	STATUS_FAILURE = 3,
	STATUS_TIMEOUT = 4,
	STATUS_ERROR = 5,
	STATUS_CANCELLED = 7,
	STATUS_WORKER_FAILURE = 8,
};

enum cache_hit_type { HIT_ACTION_CACHE = 0, HIT_REMOTE_DEP_FILE = 1, HIT_EXECUTED = 2 };

struct property {
	struct str name, value;
};

/* One CommandExecution of an action. */
struct attempt {
	enum attempt_kind kind;
	enum attempt_status status;
	struct digest digest;
	bool cache_hit;
	int64_t cache_hit_type; /* enum cache_hit_type, as it came; UNKNOWN if not remote */
	int64_t exit_code;
	int64_t queue_us;	   /* RemoteCommand.queue_time: seen by the client */
	int64_t wall_us;	   /* metadata.wall_time */
	int64_t execution_us;	   /* metadata.execution_time */
	int64_t start_ns;	   /* metadata.start_time; of the original execution for a hit */
	int64_t input_us;	   /* metadata.input_materialization_duration */
	int64_t server_queue_us;   /* metadata.queue_duration */
	int64_t memory_peak_bytes; /* UNKNOWN for 0: Buck2 writes 0 for remote commands */
	struct str use_case;
	struct property *properties; /* of the platform, in the log's order */
	size_t property_count;
	struct str platform; /* the properties as table platform has them; NULL: see above */
	bool persistent_worker;
	struct str error_stage, error_text; /* of STATUS_ERROR */
	struct str stderr_text;		    /* as the log has it */
	int64_t stderr_bytes; /* of the whole, where stderr_text is only its end; 0: it is whole */
	struct str stderr_clean; /* without secrets; NULL: not different; set by the pipeline */
	bool no_stderr;		 /* keep its length only; set by the pipeline */
	struct str additional_message;
	struct digest historical; /* the blob that additional_message links; set by the pipeline */
};

/* An action, test run or test listing: its start (no attempts) or its end. */
struct action {
	enum action_type type;
	struct action_name name;
	int64_t kind;		/* buck.data.ActionKind; UNKNOWN for tests */
	int64_t execution_kind; /* buck.data.ActionExecutionKind; UNKNOWN for tests */
	bool failed;
	struct str error_text; /* of the oneof `error`; NULL: none */
	int64_t wall_us;
	int64_t duration_us; /* of the span, waiting included */
	int64_t output_bytes, input_bytes;
	int64_t upload_result; /* cache_upload_result; UNKNOWN if absent */
	int64_t dep_file_upload_result;
	int64_t scheduling_mode;
	struct str rule_type, host, dep_file_key;
	struct str suite; /* of tests */
	struct attempt *attempts;
	size_t attempt_count;
};

/* CriticalPathEntry2.entry's members, by their field numbers. */
enum step_kind {
	STEP_ANALYSIS = 100,
	STEP_ACTION = 101,
	STEP_MATERIALIZATION = 102,
	STEP_COMPUTE = 103, /* of the path itself */
	STEP_LOAD = 104,
	STEP_LISTING = 105,
	STEP_GENERIC = 106,
	STEP_TEST = 107,
	STEP_TEST_LISTING = 108,
	STEP_WAITING = 109,
	STEP_DYNAMIC_ANALYSIS = 110,
	STEP_SET_PROJECTION = 111,
	STEP_ANON_ANALYSIS = 112,
	STEP_PAGE_IN = 113,
};

/* One entry of a path through the build's graph. */
struct path_step {
	int64_t kind;		 /* enum step_kind; UNKNOWN: one that this version does not know */
	struct action_name name; /* whose step; all NULL for steps of no target */
	struct str detail; /* a load's or listing's package, a materialization's path, a test's
			      suite, a generic entry's kind, a waiting's category; NULL */
	struct str rule_type;
	int64_t execution_kind; /* buck.data.ActionExecutionKind; UNKNOWN but for actions */
	struct digest digest;	/* of an action */
	uint64_t span_id;	/* 0: none; the first where a load has two */
	int64_t start_ns;	/* since the build's start */
	int64_t duration_us;	/* what the path was computed with */
	int64_t user_us;	/* of it, what the user can change */
	int64_t total_us, potential_us, queue_us;
	int64_t off_path_us; /* non_critical_path_duration */
	bool reused;	     /* computed by an earlier command */
};

enum path_kind { PATH_CRITICAL = 1, PATH_SLOWEST = 2, PATH_KINDS };

struct path {
	struct path_step *steps;
	size_t count;
};

struct build_graph {
	int64_t nodes, edges;
	struct path paths[PATH_KINDS]; /* by enum path_kind; in chronological order */
};

/*
 * One record of a log. Everything that it points to is borrowed from the
 * decoder until its next call.
 */
struct event {
	enum event_kind kind;
	bool is_json;	   /* how the record is written */
	struct str record; /* its bytes. A reader leaves starts and stages to them: decode.h */
	uint64_t seq;	   /* number of the record in its log, from 1 */
	uint64_t span_id;  /* 0: none */
	uint64_t parent_id;
	int64_t time_ns;     /* UNKNOWN for records that carry none */
	struct str trace_id; /* NULL for records that carry none */
	int64_t duration_us; /* span ends; UNKNOWN elsewhere */
	struct invocation invocation;
	struct command_start command_start;
	struct command_result command_result;
	struct config_value *config;
	size_t config_count;
	struct str revision;
	struct stage stage;
	struct action action;
	struct build_graph graph;
};

/* ---- what the action cache says ---- */

enum result_source { SOURCE_ACTION_CACHE = 1, SOURCE_HISTORICAL = 2 };

/* Index into result.time_ns: ExecutedActionMetadata's timestamps, in its order. */
enum result_time {
	TIME_QUEUED,
	TIME_WORKER_START,
	TIME_WORKER_COMPLETED,
	TIME_FETCH_START,
	TIME_FETCH_COMPLETED,
	TIME_EXECUTION_START,
	TIME_EXECUTION_COMPLETED,
	TIME_UPLOAD_START,
	TIME_UPLOAD_COMPLETED,
	TIME_COUNT
};

/* buildbarn.resourceusage.POSIXResourceUsage; all UNKNOWN where the message is missing. */
struct rusage {
	int64_t user_ns, system_ns;
	int64_t max_rss_bytes; /* largest single process; UNKNOWN for 0 */
	int64_t minor_faults, major_faults, swaps;
	int64_t block_in, block_out; /* units of 512 bytes on Linux */
	int64_t messages_sent, messages_received, signals_received;
	int64_t voluntary_ctx, involuntary_ctx;
	struct str termination_signal; /* without SIG; NULL for empty */
};

/* buildbarn.resourceusage.FilePoolResourceUsage; UNKNOWN where the message is missing. */
struct file_pool_usage {
	int64_t files_created, files_count_peak, files_bytes_peak;
	int64_t reads, read_bytes, writes, write_bytes, truncates;
};

struct input_root_usage {
	int64_t directories_resolved, directories_read, files_read;
};

struct expense {
	struct str name, currency;
	double cost;
};

/* build.bazel.remote.execution.v2.RequestMetadata: empty fields are NULL. */
struct request_metadata {
	struct str tool_name, tool_version, action_id, tool_invocation_id;
	struct str correlated_invocations_id, action_mnemonic, target_id, configuration_id;
};

/* An auxiliary message that this version does not know: type name and bytes. */
struct aux_message {
	struct str type; /* what follows the last '/' of the type URL */
	struct str bytes;
};

struct result {
	enum result_source source;
	int64_t status_code; /* google.rpc.Code; 0 for the action cache; historical: as sent */
	struct str status_message;
	int64_t exit_code;	     /* UNKNOWN if the status is not OK */
	struct str worker;	     /* NULL for empty */
	int64_t time_ns[TIME_COUNT]; /* UNKNOWN for absent and for 0 s 0 ns */
	int64_t virtual_ns;	     /* virtual_execution_duration */
	bool has_rusage, has_file_pool, has_input_root, has_request;
	struct rusage rusage;
	struct file_pool_usage file_pool;
	struct input_root_usage input_root;
	struct request_metadata request;
	struct expense *expenses; /* sorted by name */
	size_t expense_count;
	struct aux_message *aux; /* unknown ones, in the order received */
	size_t aux_count;
	struct digest action_digest; /* historical: the action it is about; function not set */
	int64_t output_files, output_directories;
	struct digest stdout_digest, stderr_digest; /* hash_len 0: none; function not set */
};

#endif
