#include "discover_name.h"

#include "model.h"
#include "util/str.h"
#include "util/timefmt.h"

#include <string.h>

#define TRACE_LENGTH 36
#define START_LENGTH 15

/* buck2_event_log/src/utils.rs KNOWN_ENCODINGS */
static const char *const suffixes[] = {
	".json-lines", ".json-lines.gz", ".json-lines.zst", ".pb",
	".pb.gz",      ".pb.zst",	 ".proto",	    ".proto.gz",
};

static bool ends_with(struct str text, const char *suffix)
{
	size_t len = strlen(suffix);

	return text.len >= len && memcmp(text.data + text.len - len, suffix, len) == 0;
}

/* The name without its encoding's suffix; NULL: it has none. */
static struct str cut_suffix(struct str name)
{
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (ends_with(name, suffixes[i]))
			return (struct str){name.data, name.len - strlen(suffixes[i])};
	return STR_NULL;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A UUID in its usual form: 8-4-4-4-12 hex digits. */
static bool is_trace(const char *text)
{
	size_t i;

	for (i = 0; i < TRACE_LENGTH; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !is_hex(text[i]))
			return false;
	}
	return true;
}

static void take_trace(struct str stem, struct log_name *out_name)
{
	size_t start = stem.len - TRACE_LENGTH;

	if (stem.len < TRACE_LENGTH || !is_trace(stem.data + start))
		return;
	memcpy(out_name->trace_id, stem.data + start, TRACE_LENGTH);
	out_name->trace_id[TRACE_LENGTH] = '\0';
}

void log_name_parse(const char *name, struct log_name *out_name)
{
	static const char events[] = "_events";
	struct str stem = cut_suffix(str_of(name));
	struct str start = {name, START_LENGTH};

	*out_name = (struct log_name){.start_ns = UNKNOWN};
	if (!stem.data)
		return;
	if (ends_with(stem, events)) {
		stem.len -= sizeof(events) - 1;
		out_name->is_log = true;
		if (stem.len > START_LENGTH && stem.data[START_LENGTH] == '_')
			time_parse_log_name(start, &out_name->start_ns);
	} else {
		out_name->is_log = str_starts(stem, "dl-");
	}
	if (out_name->is_log)
		take_trace(stem, out_name);
}
