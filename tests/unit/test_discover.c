#include "discover.h"

#include "model.h"
#include "scratch.h"
#include "util/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define T1 "83f0a1b2-0000-4000-8000-000000000001"
#define T2 "83f0a1b2-0000-4000-8000-000000000002"
#define T3 "deadbeef-0000-4000-8000-000000000003"
#define L1 "20261130-010000_build_" T1 "_events.pb.zst"
#define L2 "20261130-020000_test_" T2 "_events.json-lines.gz"
#define L3 "20261130-030000_build_" T3 "_events.pb.zst"
#define HOUR_NS (INT64_C(3600) * 1000000000)
#define FIRST_NS (INT64_C(1796000400) * 1000000000) /* 2026-11-30 01:00:00 UTC */

/* ---- help ---- */

/*
 * Stands before the C library's: a file may go, or be closed to us, between the
 * listing of its folder and the look at it.
 */
int lstat(const char *path, struct stat *st)
{
	if (strstr(path, "_vanishing_"))
		unlink(path);
	if (strstr(path, "_locked_")) {
		errno = EACCES;
		return -1;
	}
	return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

#define OPTIONS(...) \
	(&(const struct discover_options){.since_ns = UNKNOWN, .last = UNKNOWN, __VA_ARGS__})
#define SINCE(ns) (&(const struct discover_options){.since_ns = (ns), .last = UNKNOWN})
#define LAST(n, ...) \
	(&(const struct discover_options){.since_ns = UNKNOWN, .last = (n), __VA_ARGS__})
#define ALL OPTIONS(.project = NULL)

/* `operand` below dir; NULL: none is given. */
static void walk(const struct discover_options *options, const char *dir, const char *operand,
		 struct log_list *list)
{
	char *path = operand ? xasprintf("%s/%s", dir, operand) : NULL;
	const char *const paths[] = {path};
	struct err err = ERR_INIT;

	if (discover(options, paths, path ? 1 : 0, list, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
}

/* The files' paths below dir in order, each followed by a space. */
static void check_files(const struct log_list *list, const char *dir, const char *expected)
{
	struct buf text = BUF_INIT;
	size_t i, len = strlen(dir);

	for (i = 0; i < list->count; i++) {
		assert_int_equal(strncmp(list->files[i].path, dir, len), 0);
		buf_addf(&text, "%s ", list->files[i].path + len + 1);
	}
	assert_string_equal(text.data, expected);
	buf_release(&text);
}

static void check(const struct discover_options *options, const char *dir, const char *operand,
		  const char *expected)
{
	struct log_list list;

	walk(options, dir, operand, &list);
	check_files(&list, dir, expected);
	log_list_release(&list);
	assert_int_equal(list.count, 0);
}

static void refuse(const char *path, const char *words)
{
	const char *const paths[] = {path};
	struct log_list list = {.not_regular = 77};
	struct err err = ERR_INIT;

	assert_int_equal(discover(ALL, paths, path ? 1 : 0, &list, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(list.not_regular, 77);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

/* project, root below dir and isolation dir of the only file; NULL: unknown */
static void check_whose(const struct discover_options *options, const char *dir,
			const char *operand, enum project_rank rank, const char *project,
			const char *root, const char *isolation_dir)
{
	struct log_list list;
	struct log_file *file;

	walk(options, dir, operand, &list);
	assert_int_equal(list.count, 1);
	file = &list.files[0];
	assert_int_equal(file->rank, rank);
	assert_true(!file->project == !project && !file->root == !root &&
		    !file->isolation_dir == !isolation_dir);
	if (project)
		assert_string_equal(file->project, project);
	if (root)
		assert_string_equal(file->root + strlen(dir) + (*root != '\0'), root);
	if (isolation_dir)
		assert_string_equal(file->isolation_dir, isolation_dir);
	log_list_release(&list);
}

/* A folder in which no walk upward finds anything. */
static char *new_top(void)
{
	char *dir = scratch_new();

	scratch_write(dir, ".buckroot", "");
	return dir;
}

static void write_project(const char *dir, const char *root)
{
	char *name = xasprintf("%s/.buckconfig", root);

	scratch_write(dir, name, "");
	free(name);
	name = xasprintf("%s/.buckroot", root);
	scratch_write(dir, name, "");
	free(name);
}

/* ---- places ---- */

#define V2 "p/buck-out/v2/log/"
#define W "p/buck-out/wrapped/log/"

static char *new_project(void)
{
	char *dir = new_top();

	write_project(dir, "p");
	scratch_write(dir, V2 L2, "");
	scratch_write(dir, W L1, "");
	scratch_write(dir, W L3, "");
	scratch_write(dir, W "dl-" T1 ".pb.zst.tmp", "");
	scratch_write(dir, W T1 "/command_report.json", "{}");
	scratch_write(dir, W T1 "/" L1, "in a subfolder");
	scratch_write(dir, "p/buck-out/v2/tmp/" L1, "not in log/");
	scratch_mkdir(dir, "p/src");
	return dir;
}

static void test_every_way_to_name_a_project(void **state)
{
	char *dir = new_project();

	(void)state;
	check(ALL, dir, "p", W L1 " " V2 L2 " " W L3 " ");
	check(ALL, dir, "p/buck-out", W L1 " " V2 L2 " " W L3 " ");
	check(ALL, dir, "p/buck-out/wrapped", W L1 " " W L3 " ");
	check(ALL, dir, "p/buck-out/wrapped/", W L1 " " W L3 " ");
	check(ALL, dir, "p/./buck-out//v2/log", V2 L2 " ");
	check(ALL, dir, "p/src/../buck-out/v2/log", V2 L2 " ");
	check(ALL, dir, V2 L2, V2 L2 " ");
	scratch_remove(dir);
}

static void test_each_file_once(void **state)
{
	char *dir = new_project();
	char *root = scratch_path(dir, "p"), *log = scratch_path(dir, V2);
	const char *const paths[] = {log, root, log, root};
	struct err err = ERR_INIT;
	struct log_list list;

	(void)state;
	assert_int_equal(discover(ALL, paths, 4, &list, &err), 0);
	check_files(&list, dir, W L1 " " V2 L2 " " W L3 " ");
	assert_int_equal(list.root_count, 1);
	assert_string_equal(list.roots[0], root);
	log_list_release(&list);
	free(root);
	free(log);
	scratch_remove(dir);
}

static void test_what_is_known_of_a_file(void **state)
{
	char *dir = new_project(), *path = scratch_path(dir, W L1);
	struct log_list list;
	struct stat st;

	(void)state;
	scratch_write(dir, W L1, "12345");
	assert_int_equal(stat(path, &st), 0);
	walk(ALL, dir, W L1, &list);
	assert_string_equal(list.files[0].path, path);
	assert_int_equal(list.files[0].bytes, 5);
	assert_true(list.files[0].start_ns == FIRST_NS);
	assert_string_equal(list.files[0].trace_id, T1);
	assert_true(list.files[0].mtime_ns ==
		    (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	log_list_release(&list);
	free(path);
	scratch_remove(dir);
}

static void test_all_projects_below(void **state)
{
	char *dir = new_top();
	struct log_list list;

	(void)state;
	scratch_write(dir, "buck-out/v2/log/" L1, "");
	scratch_write(dir, "a/buck-out/v2/log/" L2, "");
	scratch_write(dir, "exp/b/buck-out/v2/log/" L3, "");
	scratch_write(dir, "exp/b/c/buck-out/v2/log/" L1, "three down");
	scratch_write(dir, ".hidden/buck-out/v2/log/" L1, "");
	walk(ALL, dir, "exp", &list);
	check_files(&list, dir, "exp/b/c/buck-out/v2/log/" L1 " exp/b/buck-out/v2/log/" L3 " ");
	assert_int_equal(list.root_count, 2);
	log_list_release(&list);
	assert_int_equal(chdir(dir), 0);
	walk(ALL, dir, NULL, &list);
	check_files(&list, dir,
		    "buck-out/v2/log/" L1 " a/buck-out/v2/log/" L2 " exp/b/buck-out/v2/log/" L3
		    " ");
	assert_int_equal(list.root_count, 3);
	assert_string_equal(list.roots[0], dir);
	log_list_release(&list);
	assert_int_equal(chdir("/"), 0);
	scratch_remove(dir);
}

static void check_from(const char *dir, const char *from, const char *expected)
{
	char *path = scratch_path(dir, from);

	assert_int_equal(chdir(path), 0);
	check(ALL, dir, NULL, expected);
	assert_int_equal(chdir("/"), 0);
	free(path);
}

static void test_the_project_around_the_current_directory(void **state)
{
	char *dir = new_project();

	(void)state;
	scratch_write(dir, "other/buck-out/v2/log/" L1, "");
	check_from(dir, "p", W L1 " " V2 L2 " " W L3 " ");
	check_from(dir, "p/src", W L1 " " V2 L2 " " W L3 " ");
	check_from(dir, "p/buck-out/v2/log", W L1 " " V2 L2 " " W L3 " ");
	scratch_remove(dir);
}

/* A .buckconfig above all projects, but no buck-out beside it. */
static void test_a_root_without_buck_out_hides_nothing(void **state)
{
	char *dir = new_top();

	(void)state;
	scratch_write(dir, ".buckconfig", "");
	scratch_write(dir, "exp/p/.buckconfig", "");
	scratch_write(dir, "exp/p/buck-out/v2/log/" L1, "");
	check_from(dir, "exp", "exp/p/buck-out/v2/log/" L1 " ");
	check(ALL, dir, "", "exp/p/buck-out/v2/log/" L1 " ");
	scratch_remove(dir);
}

static void test_a_project_without_logs(void **state)
{
	char *dir = new_top();
	struct log_list list;

	(void)state;
	write_project(dir, "p");
	walk(ALL, dir, "p", &list);
	assert_int_equal(list.count, 0);
	assert_int_equal(list.root_count, 1);
	log_list_release(&list);
	check_from(dir, "p", "");
	scratch_mkdir(dir, "p/buck-out");
	check(ALL, dir, "p", "");
	scratch_mkdir(dir, "p/buck-out/v2");
	check(ALL, dir, "p/buck-out/v2", "");
	scratch_remove(dir);
}

static void test_paths_that_will_not_do(void **state)
{
	char *dir = new_project(), *path = scratch_path(dir, "p/no-such");

	(void)state;
	refuse(path, "p/no-such: No such file");
	free(path);
	path = scratch_path(dir, "p/src");
	refuse(path, "holds no logs of Buck2");
	free(path);
	refuse("/dev/null", "neither a folder nor a regular file");
	path = scratch_path(dir, "empty/x");
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(chdir(path), 0);
	refuse(NULL, "no project here");
	assert_int_equal(chdir("/"), 0);
	free(path);
	scratch_remove(dir);
}

/* ---- what is no log, and what goes ---- */

static void link_to(const char *target, const char *dir, const char *name)
{
	char *path = scratch_path(dir, name);

	assert_int_equal(symlink(target, path), 0);
	free(path);
}

static void test_files_that_are_not_regular(void **state)
{
	char *dir = new_top(), *fifo;
	struct log_list list;

	(void)state;
	write_project(dir, "p");
	scratch_write(dir, W L1, "");
	link_to(L1, dir, W "dl-" T1 ".pb.zst");
	scratch_mkdir(dir, W "x_events.pb");
	fifo = scratch_path(dir, W "y_events.pb");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	walk(ALL, dir, "p", &list);
	check_files(&list, dir, W L1 " ");
	assert_int_equal(list.not_regular, 3);
	assert_int_equal(list.unreadable, 0);
	log_list_release(&list);
	free(fifo);
	/* Named by the user, a link is what it leads to. */
	check(ALL, dir, W "dl-" T1 ".pb.zst", W "dl-" T1 ".pb.zst ");
	scratch_remove(dir);
}

static void test_a_linked_buck_out(void **state)
{
	char *dir = new_top();

	(void)state;
	write_project(dir, "p");
	scratch_write(dir, "disk/v2/log/" L1, "");
	link_to("../disk", dir, "p/buck-out");
	check_whose(ALL, dir, "p", RANK_IN_BUCK_OUT, "p", "p", "v2");
	check_whose(ALL, dir, V2, RANK_IN_BUCK_OUT, "p", "p", "v2");
	scratch_remove(dir);
}

static void test_files_that_vanish_are_counted(void **state)
{
	char *dir = new_top();
	struct log_list list;

	(void)state;
	scratch_write(dir, V2 L1, "");
	scratch_write(dir, V2 "20261130-020000_vanishing_" T2 "_events.pb", "");
	walk(ALL, dir, "p", &list);
	check_files(&list, dir, V2 L1 " ");
	assert_int_equal(list.vanished, 1);
	assert_int_equal(list.unreadable, 0);
	log_list_release(&list);
	scratch_remove(dir);
}

static void test_files_that_cannot_be_looked_at(void **state)
{
	char *dir = new_top();
	struct log_list list;

	(void)state;
	scratch_write(dir, V2 L1, "");
	scratch_write(dir, V2 "20261130-020000_locked_" T2 "_events.pb", "");
	/* A folder of logs that is a link to itself: neither "not there" nor "no folder". */
	scratch_mkdir(dir, "p/buck-out/z");
	link_to("log", dir, "p/buck-out/z/log");
	walk(ALL, dir, "p", &list);
	check_files(&list, dir, V2 L1 " ");
	assert_int_equal(list.unreadable, 2);
	assert_int_equal(list.vanished, 0);
	assert_non_null(strstr(list.note, "_locked_" T2 "_events.pb: Permission denied"));
	log_list_release(&list);
	scratch_remove(dir);
}

/* ---- whose a log is ---- */

static void test_inside_of_a_buck_out(void **state)
{
	char *dir = new_top();

	(void)state;
	write_project(dir, "p");
	scratch_write(dir, V2 L1, "");
	check_whose(ALL, dir, "p", RANK_IN_BUCK_OUT, "p", "p", "v2");
	check_whose(ALL, dir, V2 L1, RANK_IN_BUCK_OUT, "p", "p", "v2");
	scratch_write(dir, "p/project.json", "{\"name\": \"qemu\"}");
	check_whose(ALL, dir, "p", RANK_IN_BUCK_OUT, "qemu", "p", "v2");
	check_whose(OPTIONS(.project = "mine"), dir, "p", RANK_FLAG, "mine", "p", "v2");
	scratch_remove(dir);
}

static void test_lone_files(void **state)
{
	char *dir = new_top();

	(void)state;
	write_project(dir, "p");
	scratch_write(dir, "p/saved/" L1, "");
	check_whose(ALL, dir, "p/saved", RANK_LONE_FILE, "p", "p", NULL);
	check_whose(ALL, dir, "p/saved/" L1, RANK_LONE_FILE, "p", "p", NULL);
	scratch_write(dir, "away/" L2, "");
	check_whose(ALL, dir, "away", RANK_WORKING_DIR, NULL, NULL, NULL);
	check_whose(OPTIONS(.project = "mine"), dir, "away", RANK_FLAG, "mine", NULL, NULL);
	/* Whatever its name, if it is named. */
	scratch_write(dir, "away/copy of a log", "");
	check_whose(ALL, dir, "away/copy of a log", RANK_WORKING_DIR, NULL, NULL, NULL);
	scratch_remove(dir);
}

/* A copied buck-out with nothing of a project beside it is not the project "copies". */
static void test_copied_folders(void **state)
{
	char *dir = new_top();

	(void)state;
	scratch_write(dir, "copies/buck-out/v2/log/" L1, "");
	check_whose(ALL, dir, "copies", RANK_WORKING_DIR, NULL, NULL, "v2");
	scratch_write(dir, "iso/log/" L1, "");
	check_whose(ALL, dir, "iso", RANK_WORKING_DIR, NULL, NULL, NULL);
	write_project(dir, "p");
	scratch_write(dir, "p/saved/buck-out/v3/log/" L1, "");
	check_whose(ALL, dir, "p/saved", RANK_LONE_FILE, "p", "p", "v3");
	/* A fresh clone has no .buckconfig, but its project.json. */
	scratch_write(dir, "clone/project.json", "{}");
	scratch_write(dir, "clone/buck-out/v2/log/" L1, "");
	check_whose(ALL, dir, "clone", RANK_IN_BUCK_OUT, "clone", "clone", "v2");
	scratch_remove(dir);
}

/* What was found out of a folder holds for the next one only where it is the same. */
static void test_whose_of_several(void **state)
{
	static const char *const below[] = {"p", "p/" L2, "q", "p/buck-out/v2/log/" L1};
	static const struct {
		const char *project;
		enum project_rank rank;
	} whose[] = {{"p", RANK_IN_BUCK_OUT}, {"q", RANK_IN_BUCK_OUT}, {"p", RANK_LONE_FILE}};
	char *dir = new_top(), *paths[4];
	struct log_list list;
	struct err err = ERR_INIT;
	size_t i;

	(void)state;
	write_project(dir, "p");
	write_project(dir, "q");
	scratch_write(dir, "p/buck-out/v2/log/" L1, "");
	scratch_write(dir, "p/" L2, "");
	scratch_write(dir, "q/buck-out/v2/log/" L1, "");
	for (i = 0; i < 4; i++)
		paths[i] = xasprintf("%s/%s", dir, below[i]);
	assert_int_equal(discover(ALL, (const char *const *)paths, 4, &list, &err), 0);
	assert_int_equal(list.count, 3);
	check_files(&list, dir, "p/buck-out/v2/log/" L1 " q/buck-out/v2/log/" L1 " p/" L2 " ");
	for (i = 0; i < 3; i++) {
		assert_string_equal(list.files[i].project, whose[i].project);
		assert_int_equal(list.files[i].rank, whose[i].rank);
	}
	for (i = 0; i < 4; i++)
		free(paths[i]);
	log_list_release(&list);
	scratch_remove(dir);
}

static void test_recorded_samples(void **state)
{
	struct log_list list;

	(void)state;
	walk(ALL, TEST_DATA, "logs/cut", &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.files[0].trace_id, "3cb9a2fa-8830-495f-aa73-0784b7507dec");
	assert_string_equal(list.files[1].project, "cut");
	assert_int_equal(list.files[1].rank, RANK_LONE_FILE);
	log_list_release(&list);
	walk(ALL, TEST_DATA, "logs/encodings", &list);
	assert_int_equal(list.count, 4);
	log_list_release(&list);
	walk(ALL, TEST_DATA, "logs/cells", &list);
	assert_int_equal(list.count, 7);
	assert_string_equal(list.files[0].project, "qemu-mini");
	assert_string_equal(list.files[0].isolation_dir, "wrapped-remote-cache");
	log_list_release(&list);
}

/* ---- which are wanted ---- */

static void set_mtime(const char *dir, const char *name, int64_t ns)
{
	const struct timespec times[2] = {{ns / 1000000000, 0}, {ns / 1000000000, 0}};
	char *path = scratch_path(dir, name);

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	free(path);
}

static void test_selections(void **state)
{
	char *dir = new_project();

	(void)state;
	check(OPTIONS(.isolation_dir = "wrapped"), dir, "p", W L1 " " W L3 " ");
	check(OPTIONS(.isolation_dir = "wrap"), dir, "p", "");
	check(OPTIONS(.trace_id = T2), dir, "p", V2 L2 " ");
	check(OPTIONS(.trace_id = "83F0"), dir, "p", W L1 " " V2 L2 " ");
	check(OPTIONS(.trace_id = "f0a1"), dir, "p", "");
	check(SINCE(FIRST_NS + HOUR_NS), dir, "p", V2 L2 " " W L3 " ");
	check(SINCE(FIRST_NS + HOUR_NS + 1), dir, "p", W L3 " ");
	check(LAST(1, .project = NULL), dir, "p", W L3 " ");
	check(LAST(2, .project = NULL), dir, "p", V2 L2 " " W L3 " ");
	check(LAST(9, .project = NULL), dir, "p", W L1 " " V2 L2 " " W L3 " ");
	check(LAST(0, .project = NULL), dir, "p", "");
	/* The newest of what is left. */
	check(LAST(1, .trace_id = "83f0"), dir, "p", V2 L2 " ");
	scratch_remove(dir);
}

static void test_files_without_a_time_are_ordered_by_their_own(void **state)
{
	char *dir = new_project();

	(void)state;
	scratch_write(dir, V2 "dl-" T3 ".pb.zst", "");
	set_mtime(dir, V2 "dl-" T3 ".pb.zst", FIRST_NS + HOUR_NS / 2);
	set_mtime(dir, W L1, FIRST_NS + 9 * HOUR_NS); /* its name counts */
	check(ALL, dir, "p", W L1 " " V2 "dl-" T3 ".pb.zst " V2 L2 " " W L3 " ");
	check(SINCE(FIRST_NS + 1), dir, "p", V2 "dl-" T3 ".pb.zst " V2 L2 " " W L3 " ");
	/* The same moment: by path. */
	set_mtime(dir, V2 "dl-" T3 ".pb.zst", FIRST_NS);
	check(SINCE(FIRST_NS), dir, "p", V2 "dl-" T3 ".pb.zst " W L1 " " V2 L2 " " W L3 " ");
	scratch_remove(dir);
}

static void test_what_is_not_known_is_not_selected(void **state)
{
	char *dir = new_top();

	(void)state;
	scratch_write(dir, "away/x_events.pb", "");
	check(ALL, dir, "away", "away/x_events.pb ");
	check(OPTIONS(.trace_id = "8"), dir, "away", "");
	check(OPTIONS(.isolation_dir = "v2"), dir, "away", "");
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_way_to_name_a_project),
		cmocka_unit_test(test_each_file_once),
		cmocka_unit_test(test_what_is_known_of_a_file),
		cmocka_unit_test(test_all_projects_below),
		cmocka_unit_test(test_the_project_around_the_current_directory),
		cmocka_unit_test(test_a_root_without_buck_out_hides_nothing),
		cmocka_unit_test(test_a_project_without_logs),
		cmocka_unit_test(test_paths_that_will_not_do),
		cmocka_unit_test(test_files_that_are_not_regular),
		cmocka_unit_test(test_a_linked_buck_out),
		cmocka_unit_test(test_files_that_vanish_are_counted),
		cmocka_unit_test(test_files_that_cannot_be_looked_at),
		cmocka_unit_test(test_inside_of_a_buck_out),
		cmocka_unit_test(test_lone_files),
		cmocka_unit_test(test_whose_of_several),
		cmocka_unit_test(test_copied_folders),
		cmocka_unit_test(test_recorded_samples),
		cmocka_unit_test(test_selections),
		cmocka_unit_test(test_files_without_a_time_are_ordered_by_their_own),
		cmocka_unit_test(test_what_is_not_known_is_not_selected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
