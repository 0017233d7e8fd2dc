#include "report_action.h"

#include "digest.h"
#include "report_sql.h"
#include "util/safe.h"

#include <ctype.h>
#include <string.h>

#define PREFIX_MIN 4

struct search {
	struct buf *digest;
	struct buf *candidates;
	size_t count;
};

static int take_match(void *context, const struct row *row, struct err *err)
{
	struct search *search = context;
	struct str digest = row->values[0].text;

	(void)err;
	if (search->count++ == REPORT_ACTION_CANDIDATES) {
		buf_addstr(search->candidates, "...\n");
		return 1;
	}
	buf_clear(search->digest);
	buf_add(search->digest, digest.data, digest.len);
	buf_addf(search->candidates, "%s  ", search->digest->data);
	safe_add(search->candidates, row->values[1].text);
	buf_addch(search->candidates, '\n');
	return 0;
}

/* Digests whose text is not before `low` nor after `high`. */
static int find_between(struct store *store, const char *low, const char *high,
			struct search *search, struct err *err)
{
	struct param params[] = {
		{":low", {.type = VALUE_TEXT, .text = str_of(low)}},
		{":high", {.type = VALUE_TEXT, .text = str_of(high)}},
	};

	if (store_query(store, report_sql("action_matches"), params, 2, take_match, search, err) <
	    0)
		return -1;
	if (search->count != 1)
		return 0;
	buf_clear(search->candidates);
	return 1;
}

static int find_exact(struct store *store, const struct digest *digest, struct search *search,
		      struct err *err)
{
	char text[DIGEST_TEXT_MAX];

	digest_format(digest, text);
	return find_between(store, text, text, search, err);
}

/* All hex digits, and the colon that ends them, come before 'g'. */
static int find_prefix(struct store *store, const char *digits, struct search *search,
		       struct err *err)
{
	char low[2 * DIGEST_HASH_MAX + 1];
	char high[2 * DIGEST_HASH_MAX + 2];
	size_t i;

	for (i = 0; digits[i]; i++)
		low[i] = high[i] = (char)tolower((unsigned char)digits[i]);
	low[i] = high[i + 1] = '\0';
	high[i] = 'g';
	return find_between(store, low, high, search, err);
}

static int take_linked(void *context, const struct row *row, struct err *err)
{
	struct search *search = context;
	struct str digest = row->values[0].text;

	(void)err;
	buf_add(search->digest, digest.data, digest.len);
	search->count++;
	return 1;
}

/* The link names the result; which action it is of, the attempt knows that was told it. */
static int find_historical(struct store *store, const struct digest *link, struct search *search,
			   struct err *err)
{
	char text[DIGEST_TEXT_MAX];
	struct param param = {":link", {.type = VALUE_TEXT}};

	digest_format(link, text);
	text[(size_t)2 * link->hash_len] = '-';
	param.value.text = str_of(text);
	if (store_query(store, report_sql("action_linked"), &param, 1, take_linked, search, err) <
	    0)
		return -1;
	return search->count == 1;
}

static bool is_prefix(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	return !text[len] && len >= PREFIX_MIN && len <= 2 * (size_t)DIGEST_HASH_MAX;
}

int report_action_find(struct store *store, const char *text, struct buf *out_digest,
		       struct buf *out_candidates, struct err *err)
{
	struct search search = {out_digest, out_candidates, 0};
	struct digest digest;
	struct link link;

	link_find(str_of(text), &link);
	if (link.kind == LINK_HISTORICAL)
		return find_historical(store, &link.digest, &search, err);
	if (link.kind == LINK_ACTION)
		return find_exact(store, &link.digest, &search, err);
	if (digest_parse(str_of(text), &digest) == 0)
		return find_exact(store, &digest, &search, err);
	if (is_prefix(text))
		return find_prefix(store, text, &search, err);
	return err_set(err, ERR_USAGE,
		       "'%s' is no digest: HASH:SIZE, HASH-SIZE, HASH/SIZE, the first %d or more "
		       "digits of a hash, or a link to the portal",
		       text, PREFIX_MIN);
}
