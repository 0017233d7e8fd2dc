/* `br2-ingest views`: what the canned views are, from the binary; their rows, from the database. */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "output.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

static struct {
	bool sql;
	const char *format;
} flags;

static const struct option table[] = {
	{"sql", 0, NULL, OPTION_FLAG, &flags.sql, "print the statement that makes the view"},
	{"format", 0, "FORMAT", OPTION_TEXT, &flags.format,
	 "print the view's rows as table, csv or jsonl"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] = "br2-ingest views [VIEW] [options]\n"
			    "\n"
			    "Lists the canned views, or tells what VIEW and its columns are.";

static const char examples[] = "Examples:\n"
			       "  br2-ingest views\n"
			       "  br2-ingest views top_actions\n"
			       "  br2-ingest views top_actions --sql\n"
			       "  br2-ingest views packages --format csv\n";

#define WIDTH 80

/* Prints words from column `at` on, wrapped, and indented by `indent`. */
static void print_wrapped(const char *text, int at, int indent)
{
	bool first = true;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		int len = (int)strcspn(text, " ");

		if (first) {
			at += len;
		} else if (at + 1 + len > WIDTH) {
			printf("\n%*s", indent, "");
			at = indent + len;
		} else {
			putchar(' ');
			at += 1 + len;
		}
		printf("%.*s", len, text);
		text += len;
		first = false;
	}
	putchar('\n');
}

static void keep_first_sentence(struct buf *text)
{
	char *end = strstr(text->data, ". ");

	if (end) {
		end[1] = '\0';
		text->len = (size_t)(end + 1 - text->data);
	}
}

static void list_views(void)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;
	struct buf about = BUF_INIT;
	struct view view;

	while (views_next(&cursor, &view)) {
		if (view_is_private(&view) || view_is_form(&view))
			continue;
		buf_clear(&about);
		view_add_about(&view, &about);
		keep_first_sentence(&about);
		printf("%-18.*s ", (int)view.name.len, view.name.data);
		print_wrapped(about.data, 19, 19);
	}
	buf_release(&about);
	puts("\nMost stand for the whole file and have the forms NAME_by_project and\n"
	     "NAME_by_run, whose first column is the project or the run's trace id:\n"
	     "  SELECT * FROM summary_by_run WHERE run GLOB '83f0*'\n"
	     "br2-ingest views NAME tells a view's columns.");
}

static void print_column(void *context, const struct view_column *column)
{
	(void)context;
	printf("  %-22.*s ", (int)column->name.len, column->name.data);
	print_wrapped(column->about.data, 25, 25);
}

static void describe(const struct view *view)
{
	struct buf about = BUF_INIT;

	view_add_about(view, &about);
	printf("%.*s\n\n", (int)view->name.len, view->name.data);
	print_wrapped(about.data, 0, 0);
	putchar('\n');
	view_columns(view, print_column, NULL);
	buf_release(&about);
}

static int print_rows(const struct view *view, struct err *err)
{
	struct output_options options = {.format = OUTPUT_TABLE};
	struct store *store = NULL;
	struct buf sql = BUF_INIT;
	int rc = -1;

	if (output_format_parse(flags.format, &options.format, err) < 0 ||
	    database_open(&store, err) < 0)
		return -1;
	buf_addf(&sql, "SELECT * FROM %.*s", (int)view->name.len, view->name.data);
	rc = output_query(store, sql.data, NULL, 0, &options, stdout, err);
	buf_release(&sql);
	store_close(store);
	return rc < 0 ? -1 : EXIT_DONE;
}

static int show_view(const char *name, struct err *err)
{
	struct view view;

	if (!views_find(name, &view))
		return err_set(err, ERR_USAGE, "no canned view '%s': br2-ingest views lists them",
			       name);
	if (flags.format)
		return print_rows(&view, err);
	if (flags.sql)
		printf("%.*s;\n", (int)view.statement.len, view.statement.data);
	else
		describe(&view);
	return EXIT_DONE;
}

int cmd_views(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (operands > 1)
		return err_set(err, ERR_USAGE, "views takes one name, not '%s' as well", argv[1]);
	if (flags.sql && flags.format)
		return err_set(err, ERR_USAGE, "--sql and --format exclude each other");
	if (operands)
		return show_view(argv[0], err);
	if (flags.sql || flags.format)
		return err_set(err, ERR_USAGE, "which view? br2-ingest views lists them");
	list_views();
	return EXIT_DONE;
}
