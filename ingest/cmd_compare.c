/* `br2-ingest compare`: finds the two runs that are meant, then compare.h prints. */
#include "cmd.h"
#include "common.h"
#include "compare.h"
#include "compare_find.h"
#include "database.h"
#include "scope.h"
#include "util/safe.h"

#include <stdio.h>

static struct {
	struct scope_flags scope;
	bool json;
	long long top;
} flags = {.top = 10};

static const struct option table[] = {
	{"all", 0, NULL, OPTION_FLAG, &flags.scope.all, "last is that of the whole file"},
	{"project", 0, "NAME", OPTION_TEXT, &flags.scope.project, "last is that of this project"},
	{"top", 0, "N", OPTION_NUMBER, &flags.top, "length of each list (default: 10)"},
	{"json", 0, NULL, OPTION_FLAG, &flags.json, "one JSON object, with all rows"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest compare A B [options]\n"
	"\n"
	"Two runs of a project side by side: what changed from A to B beyond noise.\n"
	"A and B are each the beginning of a trace id, also of a run whose log is gone\n"
	"if its results are known; a cell's salt (its cold run, if known); last, the\n"
	"newest run of the project around the current directory; or last-1, the one\n"
	"before it.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest compare last-1 last\n"
	"  br2-ingest compare 83f0c2aa 0a4afb48\n"
	"  br2-ingest compare wrapped-remote-cache-30022034 native-remote-cache-30022046\n"
	"  br2-ingest compare last-1 last --json | jq '.packages[0].status'\n";

struct chosen {
	struct buf run, how;
};

static int find(struct store *store, const struct report_scope *scope, const char *word,
		struct chosen *chosen, struct err *err)
{
	struct buf candidates = BUF_INIT;
	int rc = compare_find(store, scope, word, &chosen->run, &chosen->how, &candidates, err);

	safe_print(stderr, (struct str){candidates.data, candidates.len});
	buf_release(&candidates);
	return rc;
}

static int print_pair(struct store *store, const struct chosen *a, const struct chosen *b,
		      struct err *err)
{
	struct compare compare = {.a = a->run.data,
				  .b = b->run.data,
				  .how_a = a->how.data,
				  .how_b = b->how.data,
				  .top = flags.top};
	struct buf buf = BUF_INIT;
	int rc = compare_check(store, &compare, err);

	if (rc == 0)
		rc = flags.json ? compare_json(store, &compare, &buf, err)
				: compare_text(store, &compare, &buf, err);
	if (rc == 0)
		safe_print(stdout, (struct str){buf.data, buf.len});
	buf_release(&buf);
	return rc;
}

static int compare_words(struct store *store, char **words, struct err *err)
{
	struct report_scope scope = REPORT_SCOPE_INIT;
	struct chosen a = {BUF_INIT, BUF_INIT};
	struct chosen b = {BUF_INIT, BUF_INIT};
	int code = -1;

	if (flags.scope.project && scope_check_project(store, flags.scope.project, err) < 0)
		return -1;
	if (scope_choose(store, &flags.scope, 0, NULL, &scope, err) == 0 &&
	    find(store, &scope, words[0], &a, err) == 0 &&
	    find(store, &scope, words[1], &b, err) == 0 && print_pair(store, &a, &b, err) == 0)
		code = EXIT_DONE;
	buf_release(&a.run);
	buf_release(&a.how);
	buf_release(&b.run);
	buf_release(&b.how);
	report_scope_release(&scope);
	return code;
}

int cmd_compare(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	struct store *store = NULL;
	int code;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (operands != 2)
		return err_set(err, ERR_USAGE,
			       "compare wants two runs: A and B, such as last-1 last");
	if (scope_check(&flags.scope, 0, err) < 0 || database_open(&store, err) < 0)
		return -1;
	code = compare_words(store, argv, err);
	store_close(store);
	return code;
}
