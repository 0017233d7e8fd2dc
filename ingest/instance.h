/*
 * Under which instance names a run's digests may be kept, best first. Pure:
 * nothing here proves a name, an answer of the cache does.
 */
#ifndef BR2_INSTANCE_H
#define BR2_INSTANCE_H

#include <stddef.h>

/* What is known; NULL: nothing. All borrowed. */
struct instance_sources {
	const char *flag;	  /* --instance: final, no other name is tried */
	const char *pool;	  /* --pool, without slashes at its ends */
	const char *const *links; /* from historical links in the log: link_instances() */
	size_t link_count;
	const char *buckconfig;	  /* [buck2_re_client] instance_name; Buck2 expands no $VAR in it */
	const char *project_json; /* `name` */
	const char *log; /* the log's --config buck2_re_client.instance_name, which Buck2 ignores
			    or not, depending on its version */
};

struct instance_candidate {
	char *name;
	const char *source; /* "flag", "link", ".buckconfig", "project.json", "log", "default" */
};

struct instance_list {
	struct instance_candidate *items;
	size_t count;
};

#define INSTANCE_LIST_INIT \
	{                  \
		NULL, 0    \
	}

/*
 * Fills an empty list in the order of the members above; each name once, with
 * the source that proposed it first, names that no server takes left out. With
 * a pool, each name stands with the pool's prefix first (the user said so),
 * then alone. The last one is "" (source "default"), Buck2's own default, so
 * the list is never empty; a flag stands alone.
 */
void instance_candidates(const struct instance_sources *sources, struct instance_list *out_list);
void instance_list_release(struct instance_list *list);

#endif
