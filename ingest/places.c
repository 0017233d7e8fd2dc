#include "places.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct place *places_find(const struct places *places, const char *root)
{
	size_t i;

	for (i = 0; root && i < places->count; i++)
		if (strcmp(places->items[i].root, root) == 0)
			return &places->items[i];
	return NULL;
}

static int load_config(struct place *place, struct err *err)
{
	if (buckconfig_load(&place->config, place->root, getenv("HOME"), "/etc", err) < 0)
		return -1;
	place->digest_function = config_digest_function(place->config);
	if (buckconfig_get(place->config, "buck2_re_client", "instance_name", &place->instance,
			   err) < 0)
		return -1;
	return 0;
}

static int load_place(struct places *places, const char *root, struct err *err)
{
	struct place *place;

	places->items = xreallocarray(places->items, places->count + 1, sizeof(*places->items));
	place = &places->items[places->count++];
	memset(place, 0, sizeof(*place));
	place->root = xstrdup(root);
	place->project_json_name = project_name(root, err);
	if (place->project_json_name && load_config(place, err) == 0)
		return 0;
	/* Whatever is wrong with a configuration: it is for the user to put right. */
	err->kind = ERR_USAGE;
	return -1;
}

/* Lone files: the project that the user stands in says where to ask. */
static int load_current(struct places *places, struct err *err)
{
	char *here = getcwd(NULL, 0);
	char *root = here ? project_find_root(here, getenv("HOME")) : NULL;
	int failed = root ? load_place(places, root, err) : 0;

	free(root);
	free(here);
	return failed;
}

int places_load(struct places *places, const struct log_list *list, struct err *err)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const char *root = list->files[i].root;

		if (root && !places_find(places, root) && load_place(places, root, err) < 0)
			return -1;
	}
	return places->count ? 0 : load_current(places, err);
}

void places_release(struct places *places)
{
	size_t i;

	for (i = 0; i < places->count; i++) {
		free(places->items[i].root);
		free(places->items[i].project_json_name);
		buckconfig_free(places->items[i].config);
	}
	free(places->items);
	*places = (struct places)PLACES_INIT;
}

/*
 * The first one stands until one comes whose configuration names the server
 * (*root NULL until then). 1: that one and another do not agree.
 */
static int weigh(struct remote *chosen, const char **root, struct remote *other,
		 const char *other_root)
{
	struct remote former = *chosen;

	if (!other->named || (*root && remote_same(chosen, other))) {
		remote_release(other);
		return 0;
	}
	if (*root) {
		remote_release(other);
		return 1;
	}
	*chosen = *other;
	*root = other_root;
	remote_release(&former);
	return 0;
}

int places_remote(const struct places *places, const struct remote_flags *flags,
		  struct remote *out_remote, const char *out_roots[2], struct err *err)
{
	struct remote chosen, other;
	size_t i;
	int differs = 0;

	if (remote_resolve(flags, places->count ? places->items[0].config : NULL, &chosen, err) < 0)
		return -1;
	out_roots[0] = chosen.named ? places->items[0].root : NULL;
	for (i = 1; i < places->count && !differs; i++) {
		if (remote_resolve(flags, places->items[i].config, &other, err) < 0) {
			remote_release(&chosen);
			return -1;
		}
		out_roots[1] = places->items[i].root;
		differs = weigh(&chosen, &out_roots[0], &other, out_roots[1]);
	}
	*out_remote = chosen;
	return differs;
}
