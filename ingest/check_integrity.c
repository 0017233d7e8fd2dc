#include "check_integrity.h"

#include "report_sql.h"
#include "util/grid.h"

#include <errno.h>

struct faults {
	FILE *out;
	int64_t count;
};

static int print_fault(struct faults *faults, struct str what, struct str fault, struct err *err)
{
	struct buf line = BUF_INIT;
	int rc = 0;

	faults->count++;
	grid_add_safe(&line, what);
	buf_addstr(&line, ": ");
	grid_add_safe(&line, fault);
	buf_addch(&line, '\n');
	if (fwrite(line.data, 1, line.len, faults->out) != line.len)
		rc = err_errno(err, ERR_IO, errno, "cannot write");
	buf_release(&line);
	return rc;
}

/* One row 'ok', or a row a fault. */
static int take_page(void *context, const struct row *row, struct err *err)
{
	struct str text = row->values[0].text;

	return str_is(text, "ok") ? 0 : print_fault(context, STR("SQLite"), text, err);
}

static int take_pair(void *context, const struct row *row, struct err *err)
{
	return print_fault(context, row->values[0].text, row->values[1].text, err);
}

int check_integrity(struct store *store, FILE *out, int64_t *out_faults, struct err *err)
{
	struct faults faults = {out, 0};
	int rc;

	rc = store_query(store, "PRAGMA quick_check", NULL, 0, take_page, &faults, err);
	if (rc == 0)
		rc = store_query(store,
				 "SELECT 'table ' || \"table\", 'row ' || ifnull(rowid, '?') ||"
				 " ' refers to a row of ' || parent || ' that is not there'"
				 " FROM pragma_foreign_key_check LIMIT 100",
				 NULL, 0, take_pair, &faults, err);
	if (rc == 0)
		rc = store_query(store, report_sql("check_sums"), NULL, 0, take_pair, &faults, err);
	if (rc == 0)
		rc = store_query(store, report_sql("check_allotments"), NULL, 0, take_pair, &faults,
				 err);
	*out_faults = faults.count;
	return rc;
}
