#include "digest.h"

#include "util/buf.h"
#include "util/mem.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name; /* as in Buildbarn's URLs and, in capitals, in Buck2's configuration */
	enum digest_function function;
	size_t length;
} functions[] = {
	{"md5", DIGEST_MD5, 16},
	{"sha1", DIGEST_SHA1, 20},
	{"gitsha1", DIGEST_GITSHA1, 20},
	{"sha256", DIGEST_SHA256, 32},
	{"sha256tree", DIGEST_SHA256TREE, 32},
	{"blake3", DIGEST_BLAKE3, 32},
	/* Keyed with a key that is fixed in the client: servers cannot tell. */
	{"blake3-keyed", DIGEST_BLAKE3, 32},
	{"sha384", DIGEST_SHA384, 48},
	{"sha512", DIGEST_SHA512, 64},
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

/* ---- digests ---- */

/*
 * Without comparisons on the digits: those of a hash are random, so each would be
 * mispredicted half the time.
 */
#define IS_HEX 0x10
static const unsigned char hex_values[256] = {
	['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15,
	['6'] = 0x16, ['7'] = 0x17, ['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1a, ['b'] = 0x1b,
	['c'] = 0x1c, ['d'] = 0x1d, ['e'] = 0x1e, ['f'] = 0x1f,
};

static int hex_value(char c)
{
	unsigned char value = hex_values[(unsigned char)c];

	return value ? value & 15 : -1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct str str_from(struct str text, size_t at)
{
	return (struct str){text.data + at, text.len - at};
}

/* gcc and clang make these of whatever vectors the machine has. */
typedef uint8_t digits __attribute__((vector_size(16)));
typedef uint16_t digit_pairs __attribute__((vector_size(16)));
typedef uint8_t hash_part __attribute__((vector_size(8)));

/* Of each lower-case hex digit its value. false: one of them is none. */
static bool values_of(digits chars, digits *out_values)
{
	digits letters = (digits)(chars >= 'a');
	digits values = chars - ('0' & ~letters) - (('a' - 10) & letters);
	digits limits = (10 & ~letters) | (16 & letters);
	uint64_t wrong[2];

	*out_values = values;
	values = (digits)(values >= limits);
	memcpy(wrong, &values, sizeof(wrong));
	return !(wrong[0] | wrong[1]);
}

static hash_part join(digits values)
{
	digit_pairs both = (digit_pairs)values;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	both = both << 4 | both >> 8; /* the first digit is the low byte */
#else
	both = both >> 4 | both;
#endif
	return __builtin_convertvector(both & 0xff, hash_part);
}

/*
 * Bytes from as many whole vectors of digits as there are: a log names a digest in
 * every fifth record.
 */
static size_t take_vectors(struct str text, uint8_t *hash)
{
	size_t done = 0;

	while (text.len - 2 * done >= sizeof(digits) &&
	       done + sizeof(hash_part) <= DIGEST_HASH_MAX) {
		digits chars, values;
		hash_part bytes;

		memcpy(&chars, text.data + 2 * done, sizeof(chars));
		if (!values_of(chars, &values))
			break;
		bytes = join(values);
		memcpy(hash + done, &bytes, sizeof(bytes));
		done += sizeof(bytes);
	}
	return done;
}

/* Takes all pairs of lower-case hex digits at the start of text; one too many is left. */
static bool take_hash(struct str *text, struct digest *digest)
{
	const unsigned char *at = (const unsigned char *)text->data;
	size_t pairs = text->len / 2 < DIGEST_HASH_MAX ? text->len / 2 : DIGEST_HASH_MAX, i;

	for (i = take_vectors(*text, digest->hash); i < pairs; i++) {
		unsigned int high = hex_values[at[2 * i]], low = hex_values[at[2 * i + 1]];

		if (!(high & low & IS_HEX))
			break;
		digest->hash[i] = (uint8_t)(high << 4 | (low & 15));
	}
	digest->hash_len = (uint8_t)i;
	*text = str_from(*text, 2 * i);
	return digest_function_for(DIGEST_UNKNOWN, i) != DIGEST_UNKNOWN;
}

/* Digits only and as a number is written: no sign, no leading zero. */
static bool parse_size(struct str text, int64_t *out_size)
{
	int64_t size = 0;
	size_t i;

	if (!text.len || (text.len > 1 && text.data[0] == '0'))
		return false;
	for (i = 0; i < text.len; i++) {
		if (!is_digit(text.data[i]) || size > (INT64_MAX - (text.data[i] - '0')) / 10)
			return false;
		size = size * 10 + (text.data[i] - '0');
	}
	*out_size = size;
	return true;
}

static bool is_separator(char c)
{
	return c == ':' || c == '-' || c == '/';
}

int digest_parse(struct str text, struct digest *out_digest)
{
	struct digest digest = {.function = DIGEST_UNKNOWN};

	if (!take_hash(&text, &digest) || !text.len || !is_separator(text.data[0]) ||
	    !parse_size(str_from(text, 1), &digest.size_bytes))
		return -1;
	*out_digest = digest;
	return 0;
}

void digest_format(const struct digest *digest, char out[DIGEST_TEXT_MAX])
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < digest->hash_len; i++) {
		out[2 * i] = hex[digest->hash[i] >> 4];
		out[2 * i + 1] = hex[digest->hash[i] & 15];
	}
	snprintf(out + 2 * i, DIGEST_TEXT_MAX - 2 * i, ":%" PRId64, digest->size_bytes);
}

/* ---- digest functions ---- */

const char *digest_function_name(int function)
{
	size_t i;

	for (i = 0; i < FUNCTION_COUNT; i++)
		if ((int)functions[i].function == function)
			return functions[i].name;
	return NULL;
}

enum digest_function digest_function_parse(struct str name)
{
	size_t i;

	for (i = 0; i < FUNCTION_COUNT; i++)
		if (name.len == strlen(functions[i].name) &&
		    strncasecmp(name.data, functions[i].name, name.len) == 0)
			return functions[i].function;
	return DIGEST_UNKNOWN;
}

size_t digest_function_length(int function)
{
	size_t i;

	for (i = 0; i < FUNCTION_COUNT; i++)
		if ((int)functions[i].function == function)
			return functions[i].length;
	return 0;
}

enum digest_function digest_function_for(enum digest_function configured, size_t hash_len)
{
	/* without a look at all names: asked twice for each digest of a log */
	static const uint8_t usual[DIGEST_HASH_MAX + 1] = {
		[16] = DIGEST_MD5,    [20] = DIGEST_SHA1,   [32] = DIGEST_SHA256,
		[48] = DIGEST_SHA384, [64] = DIGEST_SHA512,
	};

	if (configured != DIGEST_UNKNOWN && hash_len &&
	    digest_function_length((int)configured) == hash_len)
		return configured;
	return hash_len <= DIGEST_HASH_MAX ? (enum digest_function)usual[hash_len] : DIGEST_UNKNOWN;
}

/* ---- instance names ---- */

/* They would make the resource names of the ByteStream service ambiguous. */
static const char *const reserved[] = {
	"blobs",      "uploads",      "actions",	  "actionResults",
	"operations", "capabilities", "compressed-blobs",
};

static const char *find_reserved(struct str component)
{
	size_t i;

	for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (str_is(component, reserved[i]))
			return reserved[i];
	return NULL;
}

static int check_component(struct str component, const char *name, struct err *err)
{
	const char *keyword = find_reserved(component);

	if (!component.len)
		return err_set(err, ERR_USAGE,
			       "instance name '%s' has a leading, trailing or doubled slash", name);
	if (keyword)
		return err_set(err, ERR_USAGE,
			       "instance name '%s' has the reserved word '%s' as a component", name,
			       keyword);
	return 0;
}

static bool is_utf8(struct str text)
{
	size_t at = 0, size;
	uint32_t code;

	for (; at < text.len; at += size) {
		size = utf8_read(text.data + at, text.len - at, &code);
		if (!size)
			return false;
	}
	return true;
}

/* A proto3 string must be UTF-8: servers refuse the whole request otherwise. */
int instance_name_check(const char *name, struct err *err)
{
	const char *at = name;

	if (!is_utf8(str_of(name)))
		return err_set(err, ERR_USAGE, "the instance name is not valid UTF-8");
	if (!*name)
		return 0;
	for (;;) {
		size_t len = strcspn(at, "/");

		if (check_component((struct str){at, len}, name, err) < 0)
			return -1;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* ---- links ---- */

#define BLOBS "blobs/"

/* What cannot stand inside a URL, so ends it where it is embedded in text. */
static bool ends_url(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f || c == '"' || c == '<' || c == '>';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Cuts the component before the next '/' off *rest; an empty one if there is no '/'. */
static struct str take_component(struct str *rest)
{
	const char *slash = rest->len ? memchr(rest->data, '/', rest->len) : NULL;
	struct str component = {rest->data, slash ? (size_t)(slash - rest->data) : 0};

	if (slash)
		*rest = str_from(*rest, component.len + 1);
	return component;
}

static enum link_kind link_kind_parse(struct str word)
{
	if (str_is(word, "action"))
		return LINK_ACTION;
	if (str_is(word, "historical_execute_response"))
		return LINK_HISTORICAL;
	return LINK_NONE;
}

/* The longest run of lower-case hex digits at the start of text. */
static size_t hex_run(struct str text)
{
	size_t len = 0;

	while (len < text.len && hex_value(text.data[len]) >= 0)
		len++;
	return len;
}

/* "<hash>-<size>" at the start of `rest`, whatever follows that is not part of a word. */
static bool take_digest(struct str rest, struct digest *digest)
{
	size_t len = hex_run(rest);

	if (len == rest.len || rest.data[len] != '-')
		return false;
	do
		len++;
	while (len < rest.len && is_digit(rest.data[len]));
	if (len < rest.len && is_word(rest.data[len]))
		return false;
	return digest_parse((struct str){rest.data, len}, digest) == 0;
}

/* "<fn>/<kind>/<hash>-<size>", what follows "blobs/". */
static bool parse_tail(struct str rest, struct link *link)
{
	enum digest_function function = digest_function_parse(take_component(&rest));

	link->kind = link_kind_parse(take_component(&rest));
	if (link->kind == LINK_NONE || !take_digest(rest, &link->digest))
		return false;
	link->digest.function = (uint8_t)function;
	return digest_function_length((int)function) == link->digest.hash_len;
}

/* What stands before "blobs/" at `at`, back to where the URL begins. */
static struct str prefix_before(struct str text, size_t at)
{
	size_t start = at;

	while (start && !ends_url(text.data[start - 1]))
		start--;
	return (struct str){text.data + start, at > start ? at - start - 1 : 0};
}

void link_find(struct str text, struct link *out_link)
{
	static const size_t blobs = sizeof(BLOBS) - 1;
	size_t at;

	for (at = text.len < blobs ? 0 : text.len - blobs + 1; at-- > 0;) {
		struct link link = {.kind = LINK_NONE};

		if (memcmp(text.data + at, BLOBS, blobs) != 0)
			continue;
		if (at && text.data[at - 1] != '/' && !ends_url(text.data[at - 1]))
			continue;
		if (!parse_tail(str_from(text, at + blobs), &link))
			continue;
		link.prefix = prefix_before(text, at);
		*out_link = link;
		return;
	}
	*out_link = (struct link){.kind = LINK_NONE};
}

/* The path of a prefix: without scheme and host, where it has them. */
static struct str prefix_path(struct str prefix)
{
	size_t at;

	for (at = 0; at + 3 <= prefix.len; at++)
		if (memcmp(prefix.data + at, "://", 3) == 0)
			break;
	if (at + 3 <= prefix.len) {
		prefix = str_from(prefix, at + 3);
		while (prefix.len && prefix.data[0] != '/')
			prefix = str_from(prefix, 1);
	}
	return prefix.len && prefix.data[0] == '/' ? str_from(prefix, 1) : prefix;
}

static int any_hex_value(char c)
{
	return hex_value(c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c);
}

/* A '%' that no two hex digits follow stays as it is. */
static void percent_decode(struct str text, struct buf *out)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		int high = i + 2 < text.len ? any_hex_value(text.data[i + 1]) : -1;
		int low = i + 2 < text.len ? any_hex_value(text.data[i + 2]) : -1;

		if (text.data[i] == '%' && high >= 0 && low >= 0) {
			buf_addch(out, (char)(high << 4 | low));
			i += 2;
		} else {
			buf_addch(out, text.data[i]);
		}
	}
}

/* A newly allocated name, or NULL if it is none. */
static char *decode_instance(struct str path)
{
	struct buf name = BUF_INIT;
	struct err ignored = ERR_INIT;

	percent_decode(path, &name);
	if (strlen(name.data) == name.len && instance_name_check(name.data, &ignored) == 0)
		return buf_detach(&name);
	buf_release(&name);
	return NULL;
}

/*
 * The last candidate is the empty name: with it, all of the path belongs to the
 * portal.
 */
size_t link_instances(const struct link *link, char **out_names, size_t max)
{
	struct str path = link->kind == LINK_NONE ? STR_NULL : prefix_path(link->prefix);
	size_t count = 0;

	if (!path.data)
		return 0;
	while (count < max) {
		bool last = path.len == 0;
		char *name = decode_instance(path);

		if (name)
			out_names[count++] = name;
		if (last)
			break;
		if (memchr(path.data, '/', path.len))
			take_component(&path);
		else
			path.len = 0;
	}
	return count;
}
