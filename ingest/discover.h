/*
 * Stage 1: paths -> a sorted list of log files with the project that each
 * belongs to. Only looks at names and stat(); opens nothing but project.json.
 * Layout: buck2 app/buck2_common/src/invocation_paths.rs and
 * app/buck2_event_log/src/{file_names,utils}.rs at e26331d4a2.
 */
#ifndef BR2_DISCOVER_H
#define BR2_DISCOVER_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How sure a file's place makes its project: greater wins (README, "project"). */
enum project_rank {
	RANK_WORKING_DIR = 0, /* a file without any root: named by the log's working_dir */
	RANK_LONE_FILE = 1,   /* a file somewhere below a root */
	RANK_IN_BUCK_OUT = 2, /* inside <root>/buck-out/<isolation>/log */
	RANK_FLAG = 3,	      /* --project */
};

struct log_file {
	char *path;	     /* absolute where that could be found out */
	char *held;	     /* a path that opens it even if it is gone from `path`; NULL: none */
	char *root;	     /* project root, NULL if none was found */
	char *project;	     /* NULL if the log's working_dir must name it */
	char *isolation_dir; /* NULL outside of a buck-out */
	enum project_rank rank;
	int64_t bytes;
	int64_t mtime_ns;
	uint64_t device, inode;
	int64_t start_ns;  /* from the file's name; UNKNOWN: mtime orders it */
	char trace_id[37]; /* from the file's name; "": not in it */
};

/* A file that does not say what an option asks for, is not wanted. */
struct discover_options {
	const char *project;	   /* --project, or NULL */
	const char *isolation_dir; /* --isolation-dir, or NULL for all */
	const char *trace_id;	   /* --trace-id: a whole one or a prefix; NULL */
	int64_t since_ns;	   /* --since; UNKNOWN */
	int64_t last;		   /* --last N: the newest N of all that is left; UNKNOWN */
};

/* A folder whose entries made the list what it is. */
struct log_folder {
	char *path;
	bool of_logs; /* else of folders */
};

struct log_list {
	struct log_file *files; /* sorted by start, then path; each file once */
	size_t count;
	char **roots; /* project roots that were walked or that files belong to, sorted */
	size_t root_count;
	uint64_t unwanted;   /* logs that the options leave out */
	uint64_t vanished;   /* entries that were gone when looked at */
	uint64_t unreadable; /* folders or files that could not be looked at; see `note` */
	uint64_t not_regular;
	char note[256];		    /* the first of those, in words */
	struct log_folder *folders; /* that were looked into; one may stand there twice */
	size_t folder_count;
};

#define LOG_LIST_INIT                                     \
	{                                                 \
		NULL, 0, NULL, 0, 0, 0, 0, 0, "", NULL, 0 \
	}

/*
 * Walks `paths`: project roots, buck-outs, isolation dirs, log folders
 * (wherever they were copied to), log files (whatever their name), or a folder
 * above projects: then every buck-out of its own, its children's and its
 * grandchildren's. With none: the project around the current directory, or what
 * is below it. Symbolic links are followed to folders of a buck-out and for
 * what was named, not for files in a log folder.
 *
 * A project without a log is no fault: its root is in the list. -1
 * (ERR_USAGE): a path that does not exist or holds no logs, naming it and what
 * would do; or no project was found. *out_list is then untouched.
 */
int discover(const struct discover_options *options, const char *const *paths, size_t path_count,
	     struct log_list *out_list, struct err *err);
/* Adds a copy of the file and of its root; the order is the caller's. */
void log_list_add(struct log_list *list, const struct log_file *file);
/* Into the order of discover(). */
void log_list_sort(struct log_list *list);
void log_list_release(struct log_list *list);

#endif
