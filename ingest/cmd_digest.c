/* `br2-ingest digest`: one action in full, by a digest in any form that people paste. */
#include "cmd.h"
#include "common.h"
#include "database.h"
#include "report_action.h"
#include "util/safe.h"

#include <stdio.h>

static bool json;

static const struct option table[] = {
	{"json", 0, NULL, OPTION_FLAG, &json, "one JSON array, an object an action"},
	{NULL, 0, NULL, OPTION_FLAG, NULL, NULL},
};

static const char usage[] =
	"br2-ingest digest DIGEST... [options]\n"
	"\n"
	"Shows all that is stored of an action. DIGEST is HASH:SIZE, HASH-SIZE or\n"
	"HASH/SIZE, the beginning of a hash, or a link to the portal's page of it.";

static const char examples[] =
	"Examples:\n"
	"  br2-ingest digest b5840338\n"
	"  br2-ingest digest \"$(xclip -o)\"      a pasted link, or HASH:SIZE\n"
	"  br2-ingest digest --json b5840338 | jq '.[0].results[0].worker'\n";

/* Finds and adds one; -1 also where `text` names none or several. */
static int add_action(struct store *store, const char *text, struct buf *buf, struct err *err)
{
	struct buf candidates = BUF_INIT;
	struct buf digest = BUF_INIT;
	int rc = report_action_find(store, text, &digest, &candidates, err);

	if (rc == 1) {
		rc = json ? report_action_json(store, digest.data, buf, err)
			  : report_action_text(store, digest.data, buf, err);
	} else if (rc == 0 && candidates.len) {
		safe_print(stderr, (struct str){candidates.data, candidates.len});
		rc = err_set(err, ERR_USAGE, "'%s' begins more than one digest", text);
	} else if (rc == 0) {
		rc = err_set(err, ERR_USAGE, "no stored log names '%s'", text);
	}
	buf_release(&candidates);
	buf_release(&digest);
	return rc;
}

static int add_all(struct store *store, int count, char **texts, struct buf *buf, struct err *err)
{
	int i;

	if (json)
		buf_addch(buf, '[');
	for (i = 0; i < count; i++) {
		if (i)
			buf_addstr(buf, json ? ",\n " : "\n");
		if (add_action(store, texts[i], buf, err) < 0)
			return -1;
	}
	if (json)
		buf_addstr(buf, "]\n");
	return 0;
}

int cmd_digest(int argc, char **argv, struct err *err)
{
	int operands = common_parse(table, argc, argv, err);
	struct store *store = NULL;
	struct buf buf = BUF_INIT;
	int code = -1;

	if (operands < 0)
		return -1;
	if (common_options.help) {
		common_help(usage, table, examples);
		return EXIT_DONE;
	}
	if (!operands)
		return err_set(err, ERR_USAGE,
			       "digest wants a HASH:SIZE, the beginning of a hash, "
			       "or a link");
	if (database_open(&store, err) < 0)
		return -1;
	if (add_all(store, operands, argv, &buf, err) == 0) {
		safe_print(stdout, (struct str){buf.data, buf.len});
		code = EXIT_DONE;
	}
	buf_release(&buf);
	store_close(store);
	return code;
}
