#include "cmd.h"

#include "common.h"
#include "digest.h"
#include "flags_cluster.h"
#include "pipeline.h"
#include "pipeline_follow.h"
#include "report.h"
#include "util/buf.h"
#include "util/clock.h"
#include "util/core.h"
#include "util/msg.h"
#include "util/safe.h"
#include "util/timefmt.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct option_list logs;
	const char *project, *isolation_dir, *trace_id, *since;
	long long last;
	const char *endpoint, *instance, *pool, *cache;
	const char *ca, *cert, *key, *tls_name, *token_file;
	struct option_list headers;
	bool no_tls, no_remote, dry_run, retry_missing, no_stderr, no_report, watch;
	const char *record, *replay;
	long long in_flight; /* 0: not given */
	struct cluster_flags cluster;
} flags;

static const struct option table[] = {
	{"log", 0, "FILE", OPTION_LIST, &flags.logs, "a log file; may be repeated"},
	{"last", 0, "N", OPTION_NUMBER, &flags.last, "only the N newest logs"},
	{"since", 0, "WHEN", OPTION_TEXT, &flags.since,
	 "only logs since: 2d, 36h, or a date as in RFC 3339"},
	{"trace-id", 0, "ID", OPTION_TEXT, &flags.trace_id, "only this run (a prefix will do)"},
	{"isolation-dir", 0, "DIR", OPTION_TEXT, &flags.isolation_dir, "only this buck-out/DIR"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.project,
	 "the project's name (default: from project.json)"},
	{"endpoint", 0, "HOST:PORT", OPTION_TEXT, &flags.endpoint,
	 "the action cache: host:port, grpc://, grpcs://, unix: (default: $BR2_RE_ENDPOINT, "
	 ".buckconfig, localhost:8980)"},
	{"remote-cache", 0, "HOST:PORT", OPTION_TEXT, &flags.endpoint, NULL},
	{"instance", 0, "NAME", OPTION_TEXT, &flags.instance,
	 "the instance name (default: found out by asking)"},
	{"remote-instance-name", 0, "NAME", OPTION_TEXT, &flags.instance, NULL},
	{"pool", 0, "NAME", OPTION_TEXT, &flags.pool,
	 "the pool's prefix, tried before instance names"},
	{"cache", 0, "NAME", OPTION_TEXT, &flags.cache,
	 "your name for the cluster, if you have more than one"},
	{"tls-ca", 0, "FILE", OPTION_TEXT, &flags.ca, "trust this CA (PEM)"},
	{"tls-cert", 0, "FILE", OPTION_TEXT, &flags.cert, "client certificate (PEM)"},
	{"tls-key", 0, "FILE", OPTION_TEXT, &flags.key, "its key, if not in the same file"},
	{"tls-server-name", 0, "NAME", OPTION_TEXT, &flags.tls_name,
	 "the server's certificate is for this name, whatever the endpoint is called"},
	{"no-tls", 0, NULL, OPTION_FLAG, &flags.no_tls, "speak plaintext whatever is configured"},
	{"header", 0, "NAME=VALUE", OPTION_LIST, &flags.headers,
	 "send this header; $VAR in the value is expanded, so that a secret need not be here"},
	{"remote-header", 0, "NAME=VALUE", OPTION_LIST, &flags.headers, NULL},
	{"token-file", 0, "FILE", OPTION_TEXT, &flags.token_file,
	 "send the bearer token in this file"},
	{"in-flight", 0, "N", OPTION_NUMBER, &flags.in_flight, "questions at once (default: 128)"},
	{"retry-missing", 0, NULL, OPTION_FLAG, &flags.retry_missing,
	 "ask again for all missing results, however old"},
	{"no-stderr", 0, NULL, OPTION_FLAG, &flags.no_stderr,
	 "leave out what failed actions printed"},
	{"no-remote", 0, NULL, OPTION_FLAG, &flags.no_remote, "store the logs, ask nobody"},
	{"record", 0, "FILE", OPTION_TEXT, &flags.record, "keep the server's answers in FILE"},
	{"replay", 0, "FILE", OPTION_TEXT, &flags.replay, "take the answers from FILE, ask nobody"},
	{"pods", 0, "SOURCE", OPTION_LIST, &flags.cluster.pods,
	 "read pods: what kubectl get pods -o json wrote to a file or to - (standard input), or "
	 "the API's URL; may be repeated"},
	{"pods-user", 0, "NAME", OPTION_TEXT, &flags.cluster.pods_user,
	 "user for that URL (password: $BR2_PODS_PASSWORD)"},
	{"pods-password-file", 0, "FILE", OPTION_TEXT, &flags.cluster.pods_password_file,
	 "its password, from this file"},
	{"pods-token-file", 0, "FILE", OPTION_TEXT, &flags.cluster.pods_token_file,
	 "bearer token for that URL"},
	{"pods-ca", 0, "FILE", OPTION_TEXT, &flags.cluster.pods_ca, "CA of that URL (PEM)"},
	{"prometheus", 0, "URL", OPTION_TEXT, &flags.cluster.prometheus,
	 "ask this Prometheus how the runners' containers ended while the stored runs lasted"},
	{"namespace", 0, "NAME", OPTION_TEXT, &flags.cluster.namespace,
	 "namespace of the workers (default: buildbarn)"},
	{"container", 0, "NAME", OPTION_TEXT, &flags.cluster.container,
	 "container in which actions run (default: setting runner_container, runner)"},
	{"prom-user", 0, "NAME", OPTION_TEXT, &flags.cluster.prom_user,
	 "user for Prometheus (password: $BR2_PROM_PASSWORD)"},
	{"prom-password-file", 0, "FILE", OPTION_TEXT, &flags.cluster.prom_password_file,
	 "its password, from this file"},
	{"prom-token-file", 0, "FILE", OPTION_TEXT, &flags.cluster.prom_token_file,
	 "bearer token for Prometheus"},
	{"prom-ca", 0, "FILE", OPTION_TEXT, &flags.cluster.prom_ca, "CA of Prometheus (PEM)"},
	{"values", 0, "FILE", OPTION_LIST, &flags.cluster.values,
	 "values of the workers' chart: what its pools request; - is standard input; may be "
	 "repeated, a later file goes over an earlier one"},
	{"valid-from", 0, "WHEN", OPTION_TEXT, &flags.cluster.valid_from,
	 "since when that holds: a date as in RFC 3339, or 2d, 36h (default: now, if it is "
	 "news)"},
	{"shape", 0, "SHAPE", OPTION_LIST, &flags.cluster.shapes,
	 "keep a worker's size to think about: NAME=CPU,MEMORY[,LIMIT] such as "
	 "small=1.5,2GiB,4GiB; may be repeated"},
	{"watch", 0, NULL, OPTION_FLAG, &flags.watch,
	 "stay, and take in logs as they appear and grow, until a signal ends it"},
	{"dry-run", 0, NULL, OPTION_FLAG, &flags.dry_run, "read and count; write nothing"},
	{"no-report", 0, NULL, OPTION_FLAG, &flags.no_report, "do not print the report"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest [ingest] [PATH...] [options]\n"
	"\n"
	"Reads Buck2's logs, looks up what each remote action used, stores both in\n"
	"one SQLite file, and prints a report. PATH is a project, a buck-out, a log\n"
	"folder or a log file (default: the project around the current directory).";

static const char examples[] =
	"examples:\n"
	"  br2-ingest                          this project\n"
	"  br2-ingest experiments/             all projects below\n"
	"  br2-ingest --last 1 --quiet         the newest log, silently\n"
	"  br2-ingest --watch experiments/     all builds below, as they run\n"
	"  br2-ingest --no-remote              no server at hand: results come later\n"
	"  br2-ingest --endpoint grpcs://cache.example:443 --token-file ~/.token\n"
	"  kubectl -n buildbarn get pods -o json | br2-ingest --pods -\n"
	"  br2-ingest --prometheus http://localhost:9090\n"
	"  br2-ingest --values values.yaml --valid-from 2026-10-01\n";

/* The first signal ends the work in good order, the second at once. */
static volatile sig_atomic_t signal_number;

static void on_signal(int number)
{
	signal_number = number;
	/* Sets flags and no more. NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
	pipeline_interrupt();
	signal(number, SIG_DFL);
}

static void on_signal_watching(int number)
{
	/* A flag and write(). NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
	pipeline_follow_end();
	signal(number, SIG_DFL);
}

static bool is_empty(const char *value)
{
	return value && !*value;
}

/* What is asked once, at one time, is for an ingest of its own. */
static int check_watch(struct err *err)
{
	const struct cluster_flags *cluster = &flags.cluster;

	if (flags.dry_run || flags.record || flags.replay || flags.last > 0 || flags.retry_missing)
		return err_set(err, ERR_USAGE,
			       "--watch goes without --dry-run, --last, --record, --replay and "
			       "--retry-missing");
	if (cluster->pods.count || cluster->prometheus || cluster->values.count ||
	    cluster->valid_from || cluster->shapes.count)
		return err_set(err, ERR_USAGE,
			       "--watch takes logs and results only: give --pods, --prometheus, "
			       "--values and --shape to a br2-ingest beside it, now and then");
	return 0;
}

static int check_flags(struct err *err)
{
	if (flags.watch && check_watch(err) < 0)
		return -1;
	if (flags.record && flags.replay)
		return err_set(err, ERR_USAGE, "--record and --replay exclude each other");
	if (flags.record && flags.no_remote)
		return err_set(err, ERR_USAGE, "--record wants a server, --no-remote forbids one");
	if (flags.in_flight > IN_FLIGHT_MAX)
		return err_set(err, ERR_USAGE, "--in-flight wants 1 to %d", IN_FLIGHT_MAX);
	if (is_empty(flags.endpoint) || is_empty(flags.trace_id) || is_empty(flags.project) ||
	    is_empty(flags.isolation_dir) || is_empty(flags.record) || is_empty(flags.replay))
		return err_set(err, ERR_USAGE,
			       "an option's value is empty: a shell variable that is not set?");
	if (flags.instance && instance_name_check(flags.instance, err) < 0)
		return err_prefix(err, "--instance");
	if (flags.pool && instance_name_check(flags.pool, err) < 0)
		return err_prefix(err, "--pool");
	return cluster_flags_check(&flags.cluster, err);
}

static int fill_options(struct ingest_options *options, struct err *err)
{
	options->now_ns = clock_now_ns();
	options->discover.project = flags.project;
	options->discover.isolation_dir = flags.isolation_dir;
	options->discover.trace_id = flags.trace_id;
	options->discover.since_ns = UNKNOWN;
	options->discover.last = flags.last > 0 ? flags.last : UNKNOWN;
	if (flags.since &&
	    time_parse(flags.since, options->now_ns, &options->discover.since_ns, err) < 0)
		return err_prefix(err, "--since");
	options->remote = (struct remote_flags){
		.endpoint = flags.endpoint,
		.ca = flags.ca,
		.cert = flags.cert,
		.key = flags.key,
		.tls_name = flags.tls_name,
		.token_file = flags.token_file,
		.headers = flags.headers.values,
		.header_count = flags.headers.count,
		.no_tls = flags.no_tls,
	};
	options->lookup.in_flight = (uint32_t)flags.in_flight;
	options->cache = flags.cache ? flags.cache : "";
	options->instance = flags.instance;
	options->pool = flags.pool;
	options->record = flags.record;
	options->replay = flags.replay;
	options->no_remote = flags.no_remote;
	options->dry_run = flags.dry_run;
	options->retry_missing = flags.retry_missing;
	options->no_stderr = flags.no_stderr;
	return cluster_flags_fill(&flags.cluster, options->now_ns, &options->cluster, err);
}

static void print_counts(const struct ingest_tally *tally)
{
	printf("%" PRIu64 " logs, %.1f MB (%.1f MB decoded)\n"
	       "%" PRIu64 " runs, %" PRIu64 " actions, %" PRIu64 " tests, %" PRIu64
	       " attempts, %" PRIu64 " of them with a remote digest, %" PRIu64 " in flight\n",
	       tally->read, (double)tally->bytes_read / 1e6, (double)tally->bytes_decoded / 1e6,
	       tally->runs, tally->actions, tally->tests, tally->attempts, tally->digests,
	       tally->in_flight);
}

static void print_pass(void *context, size_t due, const char *path,
		       const struct ingest_tally *tally)
{
	struct buf line = BUF_INIT;

	(void)context;
	if (common_options.quiet)
		return;
	if (due > 1)
		buf_addf(&line, "%zu logs, such as ", due);
	if (due)
		safe_add(&line, str_of(path));
	else
		buf_addstr(&line, "asked again");
	buf_addf(&line,
		 ": %" PRIu64 " actions, %" PRIu64 " tests read, %" PRIu64 " results found\n",
		 tally->actions, tally->tests, tally->results);
	fwrite(line.data, 1, line.len, stdout);
	fflush(stdout);
	buf_release(&line);
}

static int watch(const char *db, const struct ingest_options *options, struct err *err)
{
	int left;

	signal(SIGINT, on_signal_watching);
	signal(SIGTERM, on_signal_watching);
	left = pipeline_follow(db, options, print_pass, NULL, err);
	return left > 0 ? EXIT_TROUBLE : left;
}

static int ingest_once(const char *db, const struct ingest_options *options, struct err *err)
{
	struct ingest_tally tally;
	struct log_list list = LOG_LIST_INIT;
	int failed = pipeline_run(db, options, &list, &tally, err);

	if (!failed && flags.dry_run)
		print_counts(&tally);
	else if (!failed && list.root_count + list.count && !flags.no_report &&
		 !common_options.quiet)
		failed = report_after_ingest(db, &list, stdout, err);
	log_list_release(&list);
	if (failed)
		return -1;
	return tally.trouble ? EXIT_TROUBLE : EXIT_DONE;
}

static int ingest(const char *db, int operands, char **argv, struct err *err)
{
	struct ingest_options options = {.path_count = 0};
	int i, code = -1;

	/* PATH… and --log FILE… are one list. */
	for (i = 0; i < operands; i++)
		option_list_add(&flags.logs, argv[i]);
	options.paths = flags.logs.values;
	options.path_count = flags.logs.count;
	if (fill_options(&options, err) == 0)
		code = flags.watch ? watch(db, &options, err) : ingest_once(db, &options, err);
	cluster_flags_release(&flags.cluster, &options.cluster);
	return code;
}

int cmd_ingest(int argc, char **argv, struct err *err)
{
	char *db = NULL;
	int operands = common_parse(table, argc, argv, err);
	int code;

	core_disable();
	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (check_flags(err) < 0 || common_db_path(common_options.db, &db, err) < 0)
		return -1;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	code = ingest(db, operands, argv, err);
	if (signal_number) {
		msg_note("interrupted; what was read is stored, the next ingest completes it");
		code = 128 + signal_number;
	}
	option_list_release(&flags.headers);
	option_list_release(&flags.logs);
	free(db);
	return code;
}
