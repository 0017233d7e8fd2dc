#include "cluster_found.h"

#include "util/mem.h"

#include <stdlib.h>

void found_init(struct found *found)
{
	found->items = NULL;
	found->count = found->room = 0;
	arena_init(&found->texts, FOUND_TEXT_MAX);
}

void found_release(struct found *found)
{
	free(found->items);
	arena_release(&found->texts);
}

static struct found_item *add(struct found *found, enum found_kind kind)
{
	if (found->count == found->room) {
		found->room = found->room ? found->room * 2 : 64;
		found->items = xreallocarray(found->items, found->room, sizeof(*found->items));
	}
	found->items[found->count].kind = kind;
	return &found->items[found->count++];
}

/* Makes *text the list's own; NULL where the list is full, which arena.exhausted says. */
static void keep(struct found *found, struct str *text)
{
	char *copy;

	if (!text->data)
		return;
	copy = arena_alloc(&found->texts, text->len ? text->len : 1);
	if (copy)
		memcpy(copy, text->data, text->len);
	text->data = copy;
}

/* An item whose texts did not fit is none. */
static int finish(struct found *found, struct err *err)
{
	if (!found->texts.exhausted)
		return 0;
	found->count--;
	return err_set(err, ERR_LIMIT, "names more than %zu MB of containers",
		       FOUND_TEXT_MAX >> 20);
}

static int on_container(void *context, const struct container_spec *spec, struct err *err)
{
	struct found *found = context;
	struct container_spec *own = &add(found, FOUND_CONTAINER)->is.container;

	*own = *spec;
	keep(found, &own->namespace);
	keep(found, &own->pod);
	keep(found, &own->uid);
	keep(found, &own->node);
	keep(found, &own->container);
	return finish(found, err);
}

static int on_termination(void *context, const struct termination *end, struct err *err)
{
	struct found *found = context;
	struct termination *own = &add(found, FOUND_TERMINATION)->is.termination;

	*own = *end;
	keep(found, &own->namespace);
	keep(found, &own->pod);
	keep(found, &own->uid);
	keep(found, &own->container);
	keep(found, &own->container_id);
	keep(found, &own->reason);
	return finish(found, err);
}

static int on_oom(void *context, const struct oom_count *oom, struct err *err)
{
	struct found *found = context;
	struct oom_count *own = &add(found, FOUND_OOM)->is.oom;

	*own = *oom;
	keep(found, &own->namespace);
	keep(found, &own->pod);
	keep(found, &own->container);
	keep(found, &own->container_id);
	return finish(found, err);
}

struct cluster_sink found_sink(struct found *found,
			       void (*warning)(void *context, const char *text))
{
	return (struct cluster_sink){found, on_container, on_termination, on_oom, warning};
}
