#include "report_action.h"

#include "digest.h"
#include "output.h"
#include "util/json.h"
#include "util/table.h"

#include <string.h>

/*
 * A section of the page: a query by :digest (its text), :hash and :size. Its
 * rows are shown as records, "name  value" a line, or as one table.
 */
struct section {
	const char *name;  /* member of the JSON object */
	const char *title; /* of the page; NULL: none */
	bool is_table;
	const char *sql;
};

#define UTC(ns) "strftime('%Y-%m-%d %H:%M:%f', (" ns ") / 1e9, 'unixepoch')"
/* A difference of two clocks that is negative says nothing but that they differ. */
#define SPAN(to, from) "CASE WHEN (" to ") >= (" from ") THEN ((" to ") - (" from ")) / 1e9 END"
#define LOOKUPS "(SELECT lookup_id FROM lookup WHERE hash = :hash AND size_bytes = :size)"
#define FUNCTION(column)                                                            \
	"CASE " column " WHEN 1 THEN 'sha256' WHEN 2 THEN 'sha1' WHEN 3 THEN 'md5'" \
	" WHEN 5 THEN 'sha384' WHEN 6 THEN 'sha512' WHEN 8 THEN 'sha256tree'"       \
	" WHEN 9 THEN 'blake3' WHEN 10 THEN 'gitsha1' END"

static const struct section
	sections[] =
		{
			{"action", NULL, false,
			 "SELECT :digest AS digest, t.label, p.name AS package, t.buck_package, "
			 "c.name AS category,"
			 " n.identifier, f.name AS configuration"
			 " FROM action_name n JOIN target t USING (target_id) JOIN package p USING "
			 "(package_id)"
			 " JOIN category c USING (category_id) JOIN configuration f USING "
			 "(configuration_id)"
			 " WHERE n.name_id = (SELECT name_id FROM (SELECT 1 AS rank, name_id FROM "
			 "lookup"
			 "   WHERE hash = :hash AND size_bytes = :size"
			 "  UNION ALL SELECT 2, a.name_id FROM attempt_digest d JOIN action a "
			 "USING (run_id, span_id)"
			 "   WHERE d.hash = :hash AND d.size_bytes = :size"
			 "  UNION ALL SELECT 3, name_id FROM in_flight WHERE hash = :hash AND "
			 "size_bytes = :size)"
			 "  ORDER BY rank LIMIT 1)"},
			{"lookups", "asked for", false,
			 "SELECT i.name AS instance, nullif(i.cache, '') AS cache, " FUNCTION(
				 "l.function") " AS function,"
					       " CASE l.state WHEN 0 THEN 'not asked' WHEN 1 THEN "
					       "'found' WHEN 2 THEN 'not found'"
					       "  WHEN 3 THEN 'outputs evicted' WHEN 4 THEN "
					       "'refused' WHEN 5 THEN 'invalid'"
					       "  WHEN 6 THEN 'too large' WHEN 7 THEN 'error' WHEN "
					       "8 THEN 'unreachable'"
					       "  WHEN 9 THEN 'malformed' END AS answer, l.message,"
					       " (SELECT m.reason FROM missing_results m WHERE "
					       "m.digest = :digest) AS missing_because,"
					       " (SELECT u.portal_url FROM usage u WHERE u.digest "
					       "= :digest AND u.instance = i.name)"
					       "  AS portal_url"
					       " FROM lookup l JOIN instance i USING (instance_id) "
					       "WHERE l.lookup_id IN " LOOKUPS
					       " ORDER BY i.cache, i.name"},
			{"attempts", "referred to by", true,
			 "SELECT r.trace_id AS run, p.name AS project, " UTC(
				 "r.start_ns") " AS started_utc, r.command,"
					       " t.idx AS attempt, CASE t.kind WHEN 1 THEN 'local' "
					       "WHEN 2 THEN 'remote'"
					       "  WHEN 3 THEN 'omitted local' WHEN 4 THEN 'worker "
					       "init' WHEN 5 THEN 'worker' END AS kind,"
					       " CASE t.status WHEN 2 THEN 'success' WHEN 3 THEN "
					       "'failure' WHEN 4 THEN 'timeout'"
					       "  WHEN 5 THEN 'error' WHEN 7 THEN 'cancelled' WHEN "
					       "8 THEN 'worker failure' END AS status,"
					       " CASE t.cache_hit WHEN 0 THEN 'no' WHEN 1 THEN "
					       "'yes' WHEN 2 THEN 'dep file' END AS cache_hit,"
					       " t.exit_code, t.wall_us / 1e6 AS log_wall_s, "
					       "t.queue_us / 1e6 AS log_queued_s"
					       " FROM attempt t JOIN run r USING (run_id) JOIN "
					       "project p USING (project_id)"
					       " WHERE t.lookup_id IN " LOOKUPS
					       " OR (t.run_id, t.span_id, t.idx) IN (SELECT "
					       "run_id, span_id, idx FROM attempt_digest"
					       "  WHERE hash = :hash AND size_bytes = :size)"
					       " ORDER BY r.start_ns, r.trace_id, t.span_id, "
					       "t.idx"},
			{"in_flight", "in flight", true,
			 "SELECT r.trace_id AS run, p.name AS project, " UTC(
				 "f.start_ns") " AS started_utc, f.stage"
					       " FROM in_flight f JOIN run r USING (run_id) JOIN "
					       "project p USING (project_id)"
					       " WHERE f.hash = :hash AND f.size_bytes = :size "
					       "ORDER BY f.start_ns"},
			{"texts", "what the log says of it", false,
			 "SELECT r.trace_id AS run, t.idx AS attempt, a.error AS action_error, "
			 "x.error_stage, x.error,"
			 " x.message, x.stderr_bytes, x.stderr FROM attempt t JOIN run r USING "
			 "(run_id)"
			 " LEFT JOIN attempt_text x USING (run_id, span_id, idx)"
			 " LEFT JOIN action_text a USING (run_id, span_id)"
			 " WHERE t.lookup_id IN " LOOKUPS
			 " AND (x.run_id IS NOT NULL OR a.error IS NOT NULL)"
			 " ORDER BY r.start_ns, r.trace_id, t.span_id, t.idx"},
			{"results", "stored result", false,
			 "SELECT CASE r.source WHEN 1 THEN 'action_cache' ELSE 'historical' END AS "
			 "source,"
			 " (SELECT trace_id FROM run WHERE run_id = r.attempt_run_id) AS run,"
			 " r.attempt_idx AS attempt, r.status_code, r.status_message, r.exit_code,"
			 " r.termination_signal,"
			 " r.wall_ns / 1e9 AS wall_s, r.cpu_ns / 1e9 AS cpu_s, r.cores, g.user_ns "
			 "/ 1e9 AS user_s,"
			 " g.system_ns / 1e9 AS system_s, r.max_rss_bytes, r.max_rss_bytes / "
			 "1073741824.0 AS max_rss_gib,"
			 " w.name AS worker,"
			 " q.invocation AS executed_by, q.tool_name, q.tool_version, "
			 "q.correlated_invocations_id,"
			 " q.action_mnemonic, q.target_id, q.configuration_id,"
			 " " UTC("k.base_ns + k.queued_off_ns") " AS queued_utc,"
								" " UTC("k.base_ns + "
									"k.worker_start_off_ns") " "
												 "A"
												 "S"
												 " "
												 "w"
												 "o"
												 "r"
												 "k"
												 "e"
												 "r"
												 "_"
												 "s"
												 "t"
												 "a"
												 "r"
												 "t"
												 "_"
												 "u"
												 "t"
												 "c"
												 ","
												 " " UTC("k.base_ns + k.fetch_start_off_ns") " AS fetch_start_utc,"
																	     " " UTC("k.base_ns + k.fetch_completed_off_ns") " AS fetch_completed_utc,"
																							     " " UTC("k.base_ns + k.execution_start_off_ns") " AS execution_start_utc,"
																													     " " UTC("k.base_ns + k.execution_completed_off_ns") " AS execution_completed_utc,"
																																				 " " UTC("k.base_ns + k.upload_start_off_ns") " AS upload_start_utc,"
																																									      " " UTC("k.base_ns + k.upload_completed_off_ns") " AS upload_completed_utc,"
																																															       " " UTC("k.base_ns + k.worker_completed_off_ns") " AS worker_completed_utc,"
																																																						" " SPAN(
																																																							"k.worker_start_off_ns", "k.queued_off_ns") " AS queued_s,"
																																																												    " " SPAN(
																																																													    "k.fetch_completed_off_ns", "k.fetch_start_off_ns") " AS fetch_s,"
																																																																				" " SPAN(
																																																																					"k.execution_completed_off_ns", "k.execution_start_off_ns") " AS ran_s,"
																																																																												    " " SPAN(
																																																																													    "k.upload_completed_off_ns",
																																																																													    "k.upload_start_off_ns") " AS upload_s,"
																																																																																     " k.virtual_ns / 1e9 AS virtual_s,"
																																																																																     " g.minor_faults, g.major_faults, g.swaps, g.block_in, g.block_out, g.messages_sent,"
																																																																																     " g.messages_received, g.signals_received, g.voluntary_ctx, g.involuntary_ctx,"
																																																																																     " o.files_created, o.files_count_peak, o.files_bytes_peak, o.reads, o.read_bytes, o.writes,"
																																																																																     " o.write_bytes, o.truncates,"
																																																																																     " d.directories_resolved, d.directories_read, d.files_read,"
																																																																																     " (SELECT group_concat(name || ' ' || cost || ' ' || currency, ', ') FROM expense"
																																																																																     "  WHERE result_id = r.result_id) AS expenses,"
																																																																																     " (SELECT group_concat(type || ' (' || length(bytes) || ' bytes)', ', ') FROM aux_message"
																																																																																     "  WHERE result_id = r.result_id) AS unknown_messages"
																																																																																     " FROM result r LEFT JOIN worker w USING (worker_id) LEFT JOIN request q USING (request_id)"
																																																																																     " LEFT JOIN result_time k ON k.result_id = r.result_id"
																																																																																     " LEFT JOIN rusage g ON g.result_id = r.result_id"
																																																																																     " LEFT JOIN file_pool_usage o ON o.result_id = r.result_id"
																																																																																     " LEFT JOIN input_root_usage d ON d.result_id = r.result_id"
																																																																																     " WHERE r.lookup_id IN " LOOKUPS
																																																																																     " ORDER BY r.source, k.base_ns, r.result_id"},
};

#define SECTIONS (sizeof(sections) / sizeof(*sections))

static int ask(struct store *store, const struct section *section, const struct digest *digest,
	       store_row_fn *row, void *context, struct err *err)
{
	char text[DIGEST_TEXT_MAX];
	struct param params[] = {
		{":digest", {.type = VALUE_TEXT}},
		{":hash",
		 {.type = VALUE_BLOB, .text = {(const char *)digest->hash, digest->hash_len}}},
		{":size", {.type = VALUE_INTEGER, .integer = digest->size_bytes}},
	};

	digest_format(digest, text);
	params[0].value.text = str_of(text);
	return store_query(store, section->sql, params, 3, row, context, err);
}

/* ---- for people ------------------------------------------------------------------ */

struct page {
	const struct section *section;
	struct buf *buf;
	struct table *table;
	size_t rows;
};

#define NAME_WIDTH 26

/* A text of several lines stands below its name, each line indented. */
static void add_lines(struct buf *buf, struct str text)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;

		buf_addstr(buf, "\n    ");
		table_add_safe(buf, (struct str){text.data, len});
		text.data += len + (end != NULL);
		text.len -= len + (end != NULL);
	}
}

static void add_value(struct buf *buf, const struct value *value)
{
	if (value->type == VALUE_INTEGER)
		json_add_integer(buf, value->integer);
	else if (value->type == VALUE_REAL)
		json_add_real(buf, value->real);
	else if (memchr(value->text.data, '\n', value->text.len))
		add_lines(buf, value->text);
	else
		table_add_safe(buf, value->text);
}

static void add_record(struct page *page, const struct row *row)
{
	size_t i;

	if (page->rows > 1)
		buf_addch(page->buf, '\n');
	for (i = 0; i < row->count; i++) {
		if (row->values[i].type == VALUE_NULL)
			continue;
		buf_addf(page->buf, "  %-*s ", NAME_WIDTH, row->names[i]);
		add_value(page->buf, &row->values[i]);
		buf_addch(page->buf, '\n');
	}
}

static int show_row(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;

	(void)err;
	if (!page->rows++ && page->section->title)
		buf_addf(page->buf, "\n%s:\n", page->section->title);
	if (!page->section->is_table) {
		add_record(page, row);
		return 0;
	}
	if (!page->table)
		page->table = table_new(row->names, row->count);
	output_add_cells(row, page->table);
	return 0;
}

static int show_section(struct store *store, const struct section *section,
			const struct digest *digest, struct buf *buf, struct err *err)
{
	struct page page = {.section = section, .buf = buf};
	int rc = ask(store, section, digest, show_row, &page, err);

	if (page.table)
		table_add(page.table, 2, buf);
	table_free(page.table);
	return rc;
}

int report_action_text(struct store *store, const struct digest *digest, struct buf *buf,
		       struct err *err)
{
	size_t i;

	for (i = 0; i < SECTIONS; i++)
		if (show_section(store, &sections[i], digest, buf, err) < 0)
			return -1;
	return 0;
}

/* ---- for programs ------------------------------------------------------------------ */

static int add_object(void *context, const struct row *row, struct err *err)
{
	struct page *page = context;

	(void)err;
	buf_addstr(page->buf, page->rows++ ? ", " : "");
	output_add_object(row, page->buf);
	return 0;
}

int report_action_json(struct store *store, const struct digest *digest, struct buf *buf,
		       struct err *err)
{
	size_t i;

	for (i = 0; i < SECTIONS; i++) {
		struct page page = {.section = &sections[i], .buf = buf};

		buf_addf(buf, "%s\"%s\": [", i ? ", " : "{", sections[i].name);
		if (ask(store, &sections[i], digest, add_object, &page, err) < 0)
			return -1;
		buf_addch(buf, ']');
	}
	buf_addch(buf, '}');
	return 0;
}
