#include "buckconfig_table.h"

#include "buckconfig.h"
#include "util/buf.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

void table_add(struct table *table, const char *section, struct str key, struct str value,
	       const char *path, size_t line)
{
	if (table->count == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->settings =
			xreallocarray(table->settings, table->cap, sizeof(*table->settings));
	}
	table->settings[table->count++] = (struct setting){
		.section = xstrdup(section),
		.key = xmemdup0(key.data, key.len),
		.raw = xmemdup0(value.data, value.len),
		.origin = xasprintf("%s:%zu", path, line),
	};
}

void table_release(struct table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		free(table->settings[i].section);
		free(table->settings[i].key);
		free(table->settings[i].raw);
		free(table->settings[i].resolved);
		free(table->settings[i].origin);
	}
	free(table->settings);
}

struct setting *table_find(const struct table *table, struct str section, struct str key)
{
	size_t i;

	for (i = table->count; i-- > 0;)
		if (str_is(section, table->settings[i].section) &&
		    str_is(key, table->settings[i].key))
			return &table->settings[i];
	return NULL;
}

/* ---- values ---- */

#define REFERENCE "$(config "

static int resolve(const struct table *table, struct setting *setting, int depth, struct err *err);

/* Adds the value that "section.key" names; nothing where it is not set. */
static int add_reference(const struct table *table, struct str name, int depth, struct buf *out,
			 struct err *err)
{
	const char *dot = memchr(name.data, '.', name.len);
	struct setting *setting;
	struct str section, key;

	if (!dot)
		return err_set(err, ERR_USAGE, "$(config …) does not name section.key");
	section = (struct str){name.data, (size_t)(dot - name.data)};
	key = (struct str){dot + 1, name.len - section.len - 1};
	while (section.len && strchr(" \t\n\v\f\r", section.data[0]))
		section = (struct str){section.data + 1, section.len - 1};
	setting = table_find(table, section, key);
	if (!setting)
		return 0;
	if (resolve(table, setting, depth, err) < 0)
		return -1;
	buf_addstr(out, setting->resolved);
	return 0;
}

/* "$(config section.key)"; there is no way to escape it. */
static int interpolate(const struct table *table, const char *raw, int depth, struct buf *out,
		       struct err *err)
{
	const char *start, *name, *close;

	while ((start = strstr(raw, REFERENCE)) != NULL) {
		name = start + strlen(REFERENCE);
		close = strchr(name, ')');
		if (!close)
			break;
		buf_add(out, raw, (size_t)(start - raw));
		if (add_reference(table, (struct str){name, (size_t)(close - name)}, depth, out,
				  err) < 0)
			return -1;
		if (out->len > BUCKCONFIG_VALUE_MAX)
			return err_set(err, ERR_LIMIT, "grows over %zu bytes",
				       BUCKCONFIG_VALUE_MAX);
		raw = close + 1;
	}
	buf_addstr(out, raw);
	return 0;
}

static int resolve(const struct table *table, struct setting *setting, int depth, struct err *err)
{
	struct buf value = BUF_INIT;
	int rc;

	if (setting->resolved)
		return 0;
	if (setting->resolving)
		return err_set(err, ERR_USAGE, "refers to itself through $(config …)");
	if (depth >= BUCKCONFIG_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "over %d references deep", BUCKCONFIG_DEPTH_MAX);
	setting->resolving = true;
	rc = interpolate(table, setting->raw, depth + 1, &value, err);
	setting->resolving = false;
	if (rc == 0)
		setting->resolved = buf_detach(&value);
	buf_release(&value);
	return rc;
}

int table_get(const struct table *table, const char *section, const char *key,
	      const char **out_value, struct err *err)
{
	struct setting *setting = table_find(table, str_of(section), str_of(key));

	if (!setting)
		return 0;
	if (resolve(table, setting, 0, err) < 0)
		return err_prefix(err, "%s: %s.%s", setting->origin, section, key);
	*out_value = setting->resolved;
	return 1;
}
