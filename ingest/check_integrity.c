#include "check_integrity.h"

#include "report_sql.h"
#include "util/safe.h"

#include <errno.h>

/* Lines that are printed of a kind; SQLite, too, leaves its look at the pages after so many. */
#define SHOWN_MAX 100

struct faults {
	FILE *out;
	struct integrity *found;
	int64_t of_kind;
};

static int print_fault(struct faults *faults, struct str what, struct str fault, struct err *err)
{
	struct buf line = BUF_INIT;
	int rc = 0;

	faults->found->faults++;
	if (faults->of_kind++ >= SHOWN_MAX)
		return 0;
	faults->found->shown++;
	safe_add(&line, what);
	buf_addstr(&line, ": ");
	safe_add(&line, fault);
	buf_addch(&line, '\n');
	if (safe_print(faults->out, (struct str){line.data, line.len}) < 0)
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

int check_integrity(struct store *store, FILE *out, struct integrity *out_found, struct err *err)
{
	const struct {
		const char *sql;
		store_row_fn *take;
	} looks[] = {
		{"PRAGMA quick_check(100)", take_page},
		{"SELECT 'table ' || \"table\", 'row ' || ifnull(rowid, '?') || ' refers to a row "
		 "of '"
		 " || parent || ' that is not there' FROM pragma_foreign_key_check",
		 take_pair},
		{report_sql("check_sums"), take_pair},
		{report_sql("check_package_sums"), take_pair},
		{report_sql("check_invocation_sums"), take_pair},
		{report_sql("check_allotments"), take_pair},
	};
	struct faults faults = {out, out_found, 0};
	size_t i;

	*out_found = (struct integrity){0, 0, false};
	for (i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		faults.of_kind = 0;
		if (store_query(store, looks[i].sql, NULL, 0, looks[i].take, &faults, err) < 0)
			return -1;
		out_found->more |= i == 0 && faults.of_kind >= SHOWN_MAX;
	}
	return 0;
}
