#include "discover.h"

#include "discover_list.h"
#include "discover_name.h"
#include "project.h"
#include "util/mem.h"
#include "util/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN_DEPTH 2 /* folders below the one given: experiments/<project>/buck-out */

/* Whose logs are: those in a folder's buck-out, or lone ones in the folder itself. */
struct owner {
	char *holder; /* the folder; NULL: none was looked at yet */
	bool in_buck_out;
	char *root, *project;
	enum project_rank rank;
};

struct walk {
	const struct discover_options *options;
	struct log_list *list;
	const char *home;
	struct owner owner; /* of the last log folder */
	struct err fault;   /* a project's name that cannot be read: there is no list then */
};

static void owner_release(struct owner *owner)
{
	free(owner->holder);
	free(owner->root);
	free(owner->project);
	*owner = (struct owner){.holder = NULL};
}

/* ---- whose a log is ---- */

/* Is this a project, and not just a folder into which somebody copied a buck-out? */
static bool is_root(const char *dir)
{
	return path_has(dir, ".buckconfig") || path_has(dir, ".buckroot") ||
	       path_has(dir, "project.json");
}

/* A link counts: a buck-out may lie on another disk. */
static bool has_buck_out(const char *dir)
{
	char *path = path_join(dir, "buck-out");
	bool found = path_is_dir(path);

	free(path);
	return found;
}

/* "ROOT/buck-out/ISOLATION/log": the root; NULL: it is none. */
static char *split_log_dir(const char *dir, char **out_isolation)
{
	char *isolation = path_dir(dir), *buck_out = path_dir(isolation), *root = NULL;
	bool fits =
		strcmp(path_base(dir), "log") == 0 && strcmp(path_base(buck_out), "buck-out") == 0;

	if (fits) {
		root = path_dir(buck_out);
		*out_isolation = xstrdup(path_base(isolation));
	}
	free(isolation);
	free(buck_out);
	return root;
}

static void find_owner(struct walk *walk, const char *holder, bool in_buck_out)
{
	struct owner *owner = &walk->owner;

	owner_release(owner);
	owner->holder = xstrdup(holder);
	owner->in_buck_out = in_buck_out;
	owner->rank = RANK_IN_BUCK_OUT;
	if (in_buck_out && is_root(holder))
		owner->root = xstrdup(holder);
	if (!owner->root) {
		owner->root = project_find_root(holder, walk->home);
		owner->rank = owner->root ? RANK_LONE_FILE : RANK_WORKING_DIR;
	}
	if (walk->options->project) {
		owner->project = xstrdup(walk->options->project);
		owner->rank = RANK_FLAG;
	} else if (owner->root) {
		owner->project = project_name(owner->root, &walk->fault);
	}
	if (owner->root)
		list_add_root(walk->list, owner->root);
}

/* What it gives is borrowed until the next call, but for its isolation dir. */
static void locate(struct walk *walk, const char *dir, struct where *where)
{
	char *holder;
	bool in_buck_out;

	*where = (struct where){.root = NULL};
	holder = split_log_dir(dir, &where->isolation_dir);
	in_buck_out = holder != NULL;
	if (!holder)
		holder = xstrdup(dir);
	/* As a rule it is the isolation dir beside the last one. */
	if (!walk->owner.holder || walk->owner.in_buck_out != in_buck_out ||
	    strcmp(walk->owner.holder, holder) != 0)
		find_owner(walk, holder, in_buck_out);
	free(holder);
	where->root = walk->owner.root;
	where->project = walk->owner.project;
	where->rank = walk->owner.rank;
}

/* ---- walking ---- */

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int has_log_name(const struct dirent *entry)
{
	struct log_name name;

	log_name_parse(entry->d_name, &name);
	return name.is_log;
}

static void free_entries(struct dirent **entries, int count)
{
	while (count > 0)
		free(entries[--count]);
	free(entries);
}

/* One entry of a log folder that has a log's name. */
static void walk_log(struct walk *walk, const char *path, const struct where *where)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		list_note_failure(walk->list, path, errno);
	else if (!S_ISREG(st.st_mode))
		walk->list->not_regular++;
	else
		list_add_file(walk->list, walk->options, path, &st, where);
}

/* Returns how many entries have a log's name, wanted ones or not. */
static size_t walk_log_dir(struct walk *walk, const char *dir)
{
	struct dirent **entries;
	struct where where;
	int count = scandir(dir, &entries, has_log_name, NULL), i;

	list_add_folder(walk->list, dir, true);
	if (count < 0) {
		list_note_failure(walk->list, dir, errno);
		return 0;
	}
	if (count)
		locate(walk, dir, &where);
	for (i = 0; i < count; i++) {
		char *path = path_join(dir, entries[i]->d_name);

		walk_log(walk, path, &where);
		free(path);
	}
	if (count)
		free(where.isolation_dir);
	free_entries(entries, count);
	return (size_t)count;
}

/* false: it is none, is not there, or cannot be looked at, which is noted. */
static bool is_folder(struct walk *walk, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISDIR(st.st_mode);
	if (errno != ENOENT && errno != ENOTDIR)
		list_note_failure(walk->list, path, errno);
	return false;
}

/* The log folder of an isolation dir, if it has one. Returns as walk_log_dir(). */
static size_t walk_isolation_dir(struct walk *walk, const char *dir)
{
	char *path = path_join(dir, "log");
	size_t logs = is_folder(walk, path) ? walk_log_dir(walk, path) : 0;

	list_add_folder(walk->list, dir, false);
	free(path);
	return logs;
}

static void walk_buck_out(struct walk *walk, const char *dir)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, not_dots, NULL), i;
	char *root = path_dir(dir);

	list_add_root(walk->list, root);
	list_add_folder(walk->list, root, false);
	list_add_folder(walk->list, dir, false);
	free(root);
	if (count < 0) {
		list_note_failure(walk->list, dir, errno);
		return;
	}
	for (i = 0; i < count; i++) {
		char *path = path_join(dir, entries[i]->d_name);

		walk_isolation_dir(walk, path);
		free(path);
	}
	free_entries(entries, count);
}

static void walk_root(struct walk *walk, const char *root)
{
	char *path = path_join(root, "buck-out");

	walk_buck_out(walk, path);
	free(path);
}

static bool is_scanned(const char *dir, const char *name, char **out_path)
{
	struct stat st;
	char *path;

	if (*name == '.' || strcmp(name, "buck-out") == 0)
		return false;
	path = path_join(dir, name);
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		*out_path = path;
		return true;
	}
	free(path);
	return false;
}

/*
 * Every buck-out of this folder and of those down to `depth` below it; returns
 * how many. Folders that cannot be read are no fault: nobody said that they hold
 * logs.
 */
static size_t scan(struct walk *walk, const char *dir, int depth)
{
	struct dirent **entries;
	size_t found = 0;
	int count, i;

	list_add_folder(walk->list, dir, false);
	if (has_buck_out(dir)) {
		walk_root(walk, dir);
		found++;
	}
	if (!depth)
		return found;
	count = scandir(dir, &entries, not_dots, NULL);
	for (i = 0; i < count; i++) {
		char *path;

		if (is_scanned(dir, entries[i]->d_name, &path)) {
			found += scan(walk, path, depth - 1);
			free(path);
		}
	}
	if (count >= 0)
		free_entries(entries, count);
	return found;
}

/* ---- what the user named ---- */

static int no_logs(const char *path, struct err *err)
{
	return err_set(
		err, ERR_USAGE,
		"%s: holds no logs of Buck2: give a project, its buck-out, an isolation dir, "
		"a log folder or log files",
		path);
}

/* A folder is what its contents say, whatever its name. */
static int walk_dir(struct walk *walk, const char *dir, struct err *err)
{
	if (has_buck_out(dir))
		walk_root(walk, dir);
	else if (strcmp(path_base(dir), "buck-out") == 0)
		walk_buck_out(walk, dir);
	else if (walk_log_dir(walk, dir) || walk_isolation_dir(walk, dir))
		return 0;
	else if (strstr(dir, "/buck-out/")) /* right, though it holds no log yet */
		return 0;
	else if (scan(walk, dir, SCAN_DEPTH))
		return 0;
	else if (is_root(dir))
		list_add_root(walk->list, dir);
	else
		return no_logs(dir, err);
	return 0;
}

static void walk_file(struct walk *walk, const char *path, const struct stat *st)
{
	char *dir = path_dir(path);
	struct where where;

	locate(walk, dir, &where);
	list_add_folder(walk->list, dir, true);
	list_add_file(walk->list, walk->options, path, st, &where);
	free(where.isolation_dir);
	free(dir);
}

static int walk_operand(struct walk *walk, const char *operand, struct err *err)
{
	struct stat st;
	char *path;
	int rc = 0;

	if (stat(operand, &st) < 0)
		return err_errno(err, ERR_USAGE, errno, "%s", operand);
	path = path_absolute(operand);
	if (!path)
		return err_errno(err, ERR_USAGE, errno, "%s", operand);
	if (S_ISDIR(st.st_mode))
		rc = walk_dir(walk, path, err);
	else if (S_ISREG(st.st_mode))
		walk_file(walk, path, &st);
	else
		rc = err_set(err, ERR_USAGE, "%s: neither a folder nor a regular file", operand);
	free(path);
	return rc;
}

/* No path given: the project around the current directory, else those below it. */
static int walk_here(struct walk *walk, struct err *err)
{
	char *here = getcwd(NULL, 0);
	char *root = here ? project_find_root(here, walk->home) : NULL;
	int rc = 0;

	if (!here)
		return err_errno(err, ERR_USAGE, errno, "the current directory");
	if (root && has_buck_out(root))
		walk_root(walk, root);
	else
		scan(walk, here, SCAN_DEPTH);
	if (root && !walk->list->root_count)
		list_add_root(walk->list, root);
	if (!walk->list->root_count)
		rc = err_set(err, ERR_USAGE,
			     "no project here: no .buckconfig in or above %s, no buck-out up to %d "
			     "folders below: go to a project, or name one, or log files",
			     here, SCAN_DEPTH);
	free(here);
	free(root);
	return rc;
}

int discover(const struct discover_options *options, const char *const *paths, size_t path_count,
	     struct log_list *out_list, struct err *err)
{
	struct log_list list = LOG_LIST_INIT;
	struct walk walk = {.options = options, .list = &list, .home = getenv("HOME")};
	size_t i;
	int rc = path_count ? 0 : walk_here(&walk, err);

	for (i = 0; rc == 0 && i < path_count; i++)
		rc = walk_operand(&walk, paths[i], err);
	owner_release(&walk.owner);
	if (rc == 0 && walk.fault.kind) {
		*err = walk.fault;
		rc = -1;
	}
	if (rc < 0) {
		log_list_release(&list);
		return -1;
	}
	list_put_in_order(&list, options->last);
	*out_list = list;
	return 0;
}
