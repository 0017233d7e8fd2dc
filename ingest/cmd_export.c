/* `br2-ingest export`: views as CSV files; export.h does the work. */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "export.h"
#include "scope.h"
#include "util/buf.h"
#include "util/mem.h"
#include "util/msg.h"

#include <stdlib.h>
#include <string.h>

static struct export_options options;
static bool spreadsheet, decimal_comma;

static const struct option table[] = {
	{"csv", 0, "DIR", OPTION_TEXT, &options.dir, "write DIR/VIEW.csv; DIR is made if missing"},
	{"project", 0, "NAME", OPTION_TEXT, &options.project, "rows of this project only"},
	{"spreadsheet", 0, NULL, OPTION_FLAG, &spreadsheet,
	 "for Excel and LibreOffice: no text taken for a number, date or formula"},
	{"decimal-comma", 0, NULL, OPTION_FLAG, &decimal_comma,
	 "the same, for a language that writes 0,5: fields divided by semicolons"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest export --csv DIR [VIEW...] [options]\n"
	"\n"
	"Writes one RFC 4180 file a view. Without VIEW: all canned views but the\n"
	"_by_project, _by_run and _by_invocation forms, and those of two runs\n"
	"(run_compare). Tables and your own views can be named too. With --project\n"
	"views whose rows are of all projects together, such as workers, are left out.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest export --csv sheets --spreadsheet\n"
	"  br2-ingest export --csv sheets --project qemu-x86_64 packages usage\n"
	"  br2-ingest export --csv raw action attempt result\n";

struct names {
	char **items;
	size_t count;
};

static int add_name(void *context, const char *name)
{
	struct names *names = context;

	names->items = xreallocarray(names->items, names->count + 1, sizeof(*names->items));
	names->items[names->count++] = xstrdup(name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_release(struct names *names)
{
	while (names->count)
		free(names->items[--names->count]);
	free(names->items);
}

/* How many views were written, and how many could not be: each of these was said. */
struct written {
	size_t done, failed;
	enum err_kind worst; /* of the failed ones: ERR_USAGE only where all are */
};

/* One that fails is one file less: the others are written. */
static void export_one(struct store *store, const char *name, struct written *written)
{
	struct err err = ERR_INIT;

	if (export_view(store, name, &options, &err) == 0) {
		written->done++;
		return;
	}
	msg_error("%s is not written: %s", name, err.text);
	if (!written->failed++ || err.kind != ERR_USAGE)
		written->worst = err.kind;
}

static void add_left_out(struct buf *left_out, const char *name)
{
	if (left_out->len)
		buf_addstr(left_out, ", ");
	buf_addstr(left_out, name);
}

/* By default, what cannot be limited to the project is left out, and said. */
static int export_defaults(struct store *store, struct written *written, struct err *err)
{
	struct names names = {NULL, 0};
	struct buf left_out = BUF_INIT;
	int rc = export_default_views(add_name, &names);
	size_t i;

	qsort(names.items, names.count, sizeof(*names.items), by_name);
	for (i = 0; i < names.count && rc == 0; i++) {
		int known = options.project ? export_knows_project(store, names.items[i], err) : 1;

		if (known == 0)
			add_left_out(&left_out, names.items[i]);
		else if (known > 0)
			export_one(store, names.items[i], written);
		rc = known < 0 ? -1 : 0;
	}
	if (rc == 0)
		msg_note("%zu views written to %s", written->done, options.dir);
	if (rc == 0 && left_out.len)
		msg_note("left out, as their rows are of all projects together: %s", left_out.data);
	buf_release(&left_out);
	names_release(&names);
	return rc;
}

static int export_wanted(struct store *store, int count, char **views, struct written *written,
			 struct err *err)
{
	int i;

	if (options.project && scope_check_project(store, options.project, err) < 0)
		return -1;
	if (export_folder(&options, err) < 0)
		return -1;
	if (!count)
		return export_defaults(store, written, err);
	for (i = 0; i < count; i++)
		export_one(store, views[i], written);
	return 0;
}

/*
 * All files are of one moment, else what an ingest commits between two of them would make
 * them disagree. What ends this by force, such as a disk that is full for SQLite, is a view
 * that failed, and told by the exit code.
 */
static int export_all(struct store *store, int count, char **views, struct written *written,
		      struct err *err)
{
	int rc;

	if (store_hold(store, err) < 0)
		return -1;
	rc = export_wanted(store, count, views, written, err);
	store_release(store);
	return rc;
}

static int code_of(const struct written *written)
{
	if (!written->failed)
		return EXIT_DONE;
	return written->worst == ERR_USAGE ? EXIT_USAGE : EXIT_TROUBLE;
}

int cmd_export(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	struct written written = {0, 0, ERR_NONE};
	struct store *store = NULL;
	int rc;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (decimal_comma)
		options.dialect = CSV_SPREADSHEET_COMMA;
	else if (spreadsheet)
		options.dialect = CSV_SPREADSHEET;
	if (!options.dir)
		return err_set(err, ERR_USAGE, "export wants --csv DIR");
	if (database_open(&store, err) < 0)
		return -1;
	rc = export_all(store, operands, argv, &written, err);
	store_close(store);
	return rc < 0 ? -1 : code_of(&written);
}
