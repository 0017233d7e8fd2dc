#include "report_action.h"

#include "digest.h"
#include "report_sql.h"
#include "util/table.h"

#include <ctype.h>
#include <string.h>

#define PREFIX_MIN 4

struct search {
	struct digest found;
	size_t count;
	struct buf *candidates;
};

static void take_digest(struct digest *digest, const struct value *hash, int64_t size_bytes)
{
	*digest = (struct digest){.size_bytes = size_bytes};
	if (hash->text.len > DIGEST_HASH_MAX)
		return;
	memcpy(digest->hash, hash->text.data, hash->text.len);
	digest->hash_len = (uint8_t)hash->text.len;
}

static int take_match(void *context, const struct row *row, struct err *err)
{
	struct search *search = context;
	char text[DIGEST_TEXT_MAX];

	(void)err;
	take_digest(&search->found, &row->values[0], row->values[1].integer);
	if (search->count++ == REPORT_ACTION_CANDIDATES) {
		buf_addstr(search->candidates, "...\n");
		return 1;
	}
	digest_format(&search->found, text);
	buf_addf(search->candidates, "%s  ", text);
	table_add_safe(search->candidates, row->values[2].text);
	buf_addch(search->candidates, '\n');
	return 0;
}

/* Digests between two hashes (equal length not needed), of this size unless it is UNKNOWN. */
static int find_between(struct store *store, struct str low, struct str high, int64_t size,
			struct digest *out_digest, struct buf *candidates, struct err *err)
{
	struct param params[] = {
		{":low", {.type = VALUE_BLOB, .text = low}},
		{":high", {.type = VALUE_BLOB, .text = high}},
		{":size", {.type = size == UNKNOWN ? VALUE_NULL : VALUE_INTEGER, .integer = size}},
	};
	struct search search = {.candidates = candidates};

	if (store_query(store, report_sql("action_matches"), params, 3, take_match, &search, err) <
	    0)
		return -1;
	if (search.count != 1)
		return 0;
	buf_clear(candidates);
	*out_digest = search.found;
	return 1;
}

static int find_exact(struct store *store, const struct digest *digest, struct digest *out_digest,
		      struct buf *candidates, struct err *err)
{
	struct str hash = {(const char *)digest->hash, digest->hash_len};

	return find_between(store, hash, hash, digest->size_bytes, out_digest, candidates, err);
}

static unsigned digit_value(char c)
{
	return (unsigned)(isdigit((unsigned char)c) ? c - '0'
						    : tolower((unsigned char)c) - 'a' + 10);
}

/* Hex digits -> the least and the greatest hash that begin with them. */
static int find_prefix(struct store *store, struct str digits, struct digest *out_digest,
		       struct buf *candidates, struct err *err)
{
	char low[DIGEST_HASH_MAX];
	char high[DIGEST_HASH_MAX];
	size_t i;

	memset(low, 0, sizeof(low));
	memset(high, 0xff, sizeof(high));
	for (i = 0; i < digits.len; i++) {
		unsigned shift = i % 2 ? 0 : 4;
		unsigned nibble = digit_value(digits.data[i]) << shift;
		unsigned mask = 0xfu << shift;

		low[i / 2] = (char)((unsigned char)low[i / 2] | nibble);
		high[i / 2] = (char)(((unsigned char)high[i / 2] & ~mask) | nibble);
	}
	/* Only as long as the digits: a longer hash that begins with it is greater. */
	return find_between(store, (struct str){low, (digits.len + 1) / 2},
			    (struct str){high, sizeof(high)}, UNKNOWN, out_digest, candidates, err);
}

/* The action whose attempt was told this link to a historical result. */
static int take_linked(void *context, const struct row *row, struct err *err)
{
	struct search *search = context;

	(void)err;
	take_digest(&search->found, &row->values[0], row->values[1].integer);
	search->count++;
	return 1;
}

static int find_historical(struct store *store, const struct digest *link,
			   struct digest *out_digest, struct err *err)
{
	char text[DIGEST_TEXT_MAX];
	struct param param = {":link", {.type = VALUE_TEXT}};
	struct search search = {.count = 0};

	digest_format(link, text);
	*strchr(text, ':') = '-';
	param.value.text = str_of(text);
	if (store_query(
		    store,
		    "SELECT l.hash, l.size_bytes FROM attempt_text x"
		    " JOIN attempt t USING (run_id, span_id, idx) JOIN lookup l USING (lookup_id)"
		    " WHERE instr(x.message, :link)",
		    &param, 1, take_linked, &search, err) < 0)
		return -1;
	if (!search.count)
		return 0;
	*out_digest = search.found;
	return 1;
}

static bool is_prefix(struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (!isxdigit((unsigned char)text.data[i]))
			return false;
	return text.len >= PREFIX_MIN && text.len <= 2 * (size_t)DIGEST_HASH_MAX;
}

int report_action_find(struct store *store, const char *text, struct digest *out_digest,
		       struct buf *out_candidates, struct err *err)
{
	struct digest digest;
	struct link link;

	link_find(str_of(text), &link);
	if (link.kind == LINK_HISTORICAL)
		return find_historical(store, &link.digest, out_digest, err);
	if (link.kind == LINK_ACTION)
		return find_exact(store, &link.digest, out_digest, out_candidates, err);
	if (digest_parse(str_of(text), &digest) == 0)
		return find_exact(store, &digest, out_digest, out_candidates, err);
	if (is_prefix(str_of(text)))
		return find_prefix(store, str_of(text), out_digest, out_candidates, err);
	return err_set(err, ERR_USAGE,
		       "'%s' is no digest: HASH:SIZE, HASH-SIZE, HASH/SIZE, the first %d or more "
		       "digits of a hash, or a link to the portal",
		       text, PREFIX_MIN);
}
