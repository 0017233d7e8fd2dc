#include "symptom.h"

#include <inttypes.h>

static const char *const names[REASON_COUNT] = {
	[REASON_REFUSED_UPLOAD] = "refused_upload",
	[REASON_LOCAL_ONLY] = "local_only",
	[REASON_FAILED] = "failed",
	[REASON_EVICTED] = "evicted",
	[REASON_NEVER_STORED] = "never_stored",
	[REASON_OUTPUTS_EVICTED] = "outputs_evicted",
	[REASON_NO_USAGE] = "no_usage",
	[REASON_UPLOADED_BY_CLIENT] = "uploaded_by_client",
	[REASON_REFUSED] = "refused",
	[REASON_UNREACHABLE] = "unreachable",
	[REASON_MALFORMED] = "malformed",
	[REASON_NOT_ASKED] = "not_asked",
};

const char *reason_name(enum reason reason)
{
	return names[reason];
}

enum reason reason_parse(struct str name)
{
	int reason;

	for (reason = 0; reason < REASON_COUNT; reason++)
		if (str_is(name, names[reason]))
			break;
	return (enum reason)reason;
}

static const char *or_word(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static int64_t gone(const struct symptom_facts *facts)
{
	return facts->missing[REASON_EVICTED] + facts->missing[REASON_OUTPUTS_EVICTED];
}

/* "1 result", "3 results" */
static void add_count(struct buf *buf, int64_t count, const char *noun)
{
	buf_addf(buf, "%" PRId64 " %s%s", count, noun, count == 1 ? "" : "s");
}

static void say_bad_logs(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->bad_logs)
		return;
	buf_addstr(buf, "not read in full: ");
	add_count(buf, facts->bad_logs, "log");
	buf_addstr(buf, " (");
	add_count(buf, facts->bad_records, "record");
	buf_addstr(buf, " skipped). Damaged, or made by another Buck2; what was readable is "
			"stored. br2-ingest sql 'SELECT path, ending, note FROM log_file'\n");
}

static void say_unreachable(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_UNREACHABLE])
		return;
	buf_addf(buf, "%s cannot be reached: ", or_word(facts->endpoint, "the cache's frontend"));
	add_count(buf, facts->missing[REASON_UNREACHABLE], "result");
	buf_addstr(buf, " wanted. kubectl -n buildbarn port-forward svc/frontend 8980:8980 &, "
			"then br2-ingest\n");
}

static void say_refused(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_REFUSED])
		return;
	buf_addf(buf, "%s refuses: ", or_word(facts->endpoint, "the cache"));
	add_count(buf, facts->missing[REASON_REFUSED], "result");
	buf_addstr(buf, " wanted. Check --instance, --token-file, --header and the TLS files, "
			"then br2-ingest\n");
}

static void say_not_asked(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_NOT_ASKED])
		return;
	buf_addstr(buf, "not asked for yet: ");
	add_count(buf, facts->missing[REASON_NOT_ASKED], "result");
	buf_addstr(buf, ". br2-ingest asks\n");
}

/* Whether a server that answers gave nothing at all, so that the name is the first suspect. */
static bool wrong_name(const struct symptom_facts *facts)
{
	return !facts->with_usage && facts->missing[REASON_NEVER_STORED];
}

static void say_wrong_name(const struct symptom_facts *facts, struct buf *buf)
{
	if (wrong_name(facts))
		buf_addf(buf,
			 "no stored result for any action: likely the wrong instance name (tried: "
			 "%s). br2-ingest --instance NAME; the name is instance_name of "
			 "[buck2_re_client] in .buckconfig\n",
			 or_word(facts->instances, "none"));
}

/* The name was right, so the cache has forgotten. */
static void say_gone_runs(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->gone_runs)
		return;
	buf_addf(buf, "every result is gone of %" PRId64 " of ", facts->gone_runs);
	add_count(buf, facts->runs, "run");
	buf_addstr(buf, ": likely the cache is newer than their logs (cluster rebuilt, other "
			"storage). Only logs of its lifetime have results: run br2-ingest soon "
			"after each build\n");
}

static void say_few_gone(const struct symptom_facts *facts, struct buf *buf)
{
	int64_t few = gone(facts) + facts->missing[REASON_NEVER_STORED];

	if (!few || wrong_name(facts) || facts->gone_runs)
		return;
	buf_addstr(buf, "gone from the cache: ");
	add_count(buf, few, "result");
	buf_addstr(buf, ". Ignore it, or build that cell again, then br2-ingest\n");
}

static void say_failed(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_FAILED])
		return;
	buf_addstr(buf, "failed: ");
	add_count(buf, facts->missing[REASON_FAILED], "action");
	buf_addstr(buf,
		   ", which left no numbers of their own. br2-ingest views failures --format table "
		   "says why\n");
}

static void say_uploads_refused(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_REFUSED_UPLOAD])
		return;
	buf_addstr(buf, "never ran remotely: ");
	add_count(buf, facts->missing[REASON_REFUSED_UPLOAD], "action");
	buf_addstr(buf, ", whose upload the cache refused. Likely [buck2] digest_algorithms in "
			".buckconfig is not what the server takes\n");
}

static void say_no_usage(const struct symptom_facts *facts, struct buf *buf)
{
	if (!facts->missing[REASON_NO_USAGE])
		return;
	buf_addstr(buf, "stored without usage: ");
	add_count(buf, facts->missing[REASON_NO_USAGE], "result");
	buf_addstr(buf, "; their worker sends no POSIXResourceUsage, or an implausible one\n");
}

void symptom_add(const struct symptom_facts *facts, struct buf *buf)
{
	say_bad_logs(facts, buf);
	say_unreachable(facts, buf);
	say_refused(facts, buf);
	say_not_asked(facts, buf);
	say_wrong_name(facts, buf);
	say_gone_runs(facts, buf);
	say_few_gone(facts, buf);
	say_failed(facts, buf);
	say_uploads_refused(facts, buf);
	say_no_usage(facts, buf);
}
