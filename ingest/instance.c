#include "instance.h"

#include "digest.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_listed(const struct instance_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return true;
	return false;
}

/* Takes the name over. */
static void add_take(struct instance_list *list, char *name, const char *source)
{
	struct err ignored = ERR_INIT;

	if (instance_name_check(name, &ignored) < 0 || is_listed(list, name)) {
		free(name);
		return;
	}
	list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = (struct instance_candidate){name, source};
}

static bool has_pool(const char *name, const char *pool)
{
	size_t len = strlen(pool);

	return strncmp(name, pool, len) == 0 && (!name[len] || name[len] == '/');
}

static void add(struct instance_list *list, const char *pool, const char *name, const char *source)
{
	if (!name)
		return;
	if (pool && *pool && !has_pool(name, pool))
		add_take(list, xasprintf("%s%s%s", pool, *name ? "/" : "", name), source);
	add_take(list, xstrdup(name), source);
}

void instance_candidates(const struct instance_sources *sources, struct instance_list *out_list)
{
	size_t i;

	if (sources->flag) {
		add(out_list, NULL, sources->flag, "flag");
		return;
	}
	for (i = 0; i < sources->link_count; i++)
		add(out_list, sources->pool, sources->links[i], "link");
	add(out_list, sources->pool, sources->buckconfig, ".buckconfig");
	add(out_list, sources->pool, sources->project_json, "project.json");
	add(out_list, sources->pool, sources->log, "log");
	add(out_list, sources->pool, "", "default");
}

void instance_list_release(struct instance_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct instance_list)INSTANCE_LIST_INIT;
}
