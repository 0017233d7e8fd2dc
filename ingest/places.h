/*
 * The projects that an ingest touches, each with its configuration, read once:
 * what a log's place says of its digests, and where to ask.
 */
#ifndef BR2_PLACES_H
#define BR2_PLACES_H

#include "config.h"
#include "discover.h"
#include "util/err.h"

struct place {
	char *root;
	char *project_json_name; /* or the base name of root: a candidate for the instance name */
	struct buckconfig *config;
	enum digest_function digest_function; /* DIGEST_UNKNOWN: not configured */
	const char *instance;		      /* buck2_re_client.instance_name; NULL */
};

struct places {
	struct place *items; /* in the order in which their first log was found */
	size_t count;
};

#define PLACES_INIT     \
	{               \
		NULL, 0 \
	}

/*
 * Reads the configuration of every root in the list; where the list has none,
 * of the project around the current directory. -1 (ERR_USAGE): a .buckconfig that
 * cannot be read whole, includes too, or does not parse: it would tell the wrong
 * server or instance.
 */
int places_load(struct places *places, const struct log_list *list, struct err *err);
void places_release(struct places *places);
/* The place of a root; NULL for NULL or an unknown one. */
const struct place *places_find(const struct places *places, const char *root);
/*
 * The one server to ask: flags, environment, the configuration of the projects
 * that name it; one that names no server goes with the others. 0; 1: they name
 * different ones, or want them asked differently (*out_remote is the first one's,
 * out_roots are two that disagree); -1.
 */
int places_remote(const struct places *places, const struct remote_flags *flags,
		  struct remote *out_remote, const char *out_roots[2], struct err *err);

#endif
