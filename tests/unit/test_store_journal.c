/* A journal that is written in large pieces is to SQLite as one that is not. */
#include "store_vfs.h"

#include "util/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define ROOM (1 << 20) /* of a journal whose bytes are known */
#define ROWS "500"     /* of a page each: a journal of 2 MB */

static uint32_t random_number(uint32_t *state, uint32_t bound)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % bound;
}

static void remove_files(const char *db)
{
	char journal[64];

	snprintf(journal, sizeof(journal), "%s-journal", db);
	unlink(db);
	unlink(journal);
}

/* ---- the file itself ---- */

/* SQLite gives a journal the mode of its database: "one-journal" of "one", which is made. */
static void make_database(const char *db)
{
	FILE *file;

	remove_files(db);
	file = fopen(db, "wb");
	assert_non_null(file);
	fclose(file);
}

static sqlite3_file *open_journal(const char *name)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(store_vfs());
	sqlite3_file *file = xcalloc(1, (size_t)vfs->szOsFile);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_JOURNAL;

	assert_int_equal(vfs->xOpen(vfs, name, file, flags, NULL), SQLITE_OK);
	return file;
}

static void close_journal(sqlite3_file *file)
{
	assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
	free(file);
}

struct known {
	char bytes[ROOM];
	int64_t size;
};

static void write_known(sqlite3_file *file, struct known *known, int64_t at, int len, char fill)
{
	char *data = known->bytes + at;

	memset(data, fill, (size_t)len);
	if (known->size < at + len)
		known->size = at + len;
	assert_int_equal(file->pMethods->xWrite(file, data, len, at), SQLITE_OK);
}

static void read_known(sqlite3_file *file, const struct known *known, int64_t at, int len)
{
	char *found = xmalloc((size_t)len);
	int rc = file->pMethods->xRead(file, found, len, at);

	assert_int_equal(rc, at + len <= known->size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ);
	assert_memory_equal(found, known->bytes + at, (size_t)len);
	free(found);
}

static void truncate_known(sqlite3_file *file, struct known *known, int64_t size)
{
	memset(known->bytes + size, 0, (size_t)(ROOM - size));
	known->size = size;
	assert_int_equal(file->pMethods->xTruncate(file, size), SQLITE_OK);
}

/* Mostly at the end and small, as SQLite writes it; sometimes anywhere, and of any length. */
static void step(sqlite3_file *file, struct known *known, uint32_t *state)
{
	int len = 1 + (int)random_number(state, random_number(state, 8) ? 5000 : 100000);
	int64_t anywhere = random_number(state, (uint32_t)(ROOM - len));
	int64_t end = known->size + len <= ROOM ? known->size : 0;
	sqlite3_int64 size;

	switch (random_number(state, 40)) {
	case 0:
		assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
		break;
	case 1:
		truncate_known(file, known, random_number(state, (uint32_t)known->size + 1));
		break;
	case 2:
		write_known(file, known, random_number(state, (uint32_t)end + 1), len, 'x');
		break;
	case 3:
	case 4:
		read_known(file, known, anywhere, len);
		break;
	default:
		write_known(file, known, end, len, (char)('a' + random_number(state, 20)));
	}
	assert_int_equal(file->pMethods->xFileSize(file, &size), SQLITE_OK);
	assert_int_equal(size, known->size);
}

static void test_any_order_of_calls(void **unused)
{
	struct known *known = xcalloc(1, sizeof(*known));
	sqlite3_file *file;
	uint32_t state = 7;
	int i;

	(void)unused;
	make_database("any");
	file = open_journal("any-journal");
	for (i = 0; i < 5000; i++)
		step(file, known, &state);
	close_journal(file);
	file = open_journal("any-journal");
	for (i = 0; i < ROOM; i += 1000)
		read_known(file, known, i, 1000 < ROOM - i ? 1000 : ROOM - i);
	close_journal(file);
	remove_files("any");
	free(known);
}

static int64_t bytes_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static void test_small_writes_go_out_together(void **unused)
{
	struct known *known = xcalloc(1, sizeof(*known));
	sqlite3_file *file;
	int i;

	(void)unused;
	make_database("small");
	file = open_journal("small-journal");
	for (i = 0; i < 60; i++)
		write_known(file, known, known->size, 1024, 'a');
	assert_int_equal(bytes_of("small-journal"), 0);
	for (i = 0; i < 10; i++)
		write_known(file, known, known->size, 1024, 'b');
	assert_int_equal(bytes_of("small-journal"), 64 << 10);
	assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
	assert_int_equal(bytes_of("small-journal"), 70 << 10);
	close_journal(file);
	remove_files("small");
	free(known);
}

static void test_two_journals_at_once_are_not_mixed_up(void **unused)
{
	struct known *one = xcalloc(1, sizeof(*one)), *other = xcalloc(1, sizeof(*other));
	sqlite3_file *first, *second;
	int i;

	(void)unused;
	make_database("one");
	make_database("other");
	first = open_journal("one-journal");
	second = open_journal("other-journal");
	for (i = 0; i < 100; i++) {
		write_known(first, one, one->size, 3000, 'a');
		write_known(second, other, other->size, 3000, 'b');
	}
	read_known(first, one, 0, 300000);
	read_known(second, other, 0, 300000);
	close_journal(second);
	read_known(first, one, 0, 300000);
	close_journal(first);
	assert_int_equal(bytes_of("one-journal"), 300000);
	remove_files("one");
	remove_files("other");
	free(one);
	free(other);
}

/* ---- what SQLite makes of it ---- */

static sqlite3 *open_db(const char *path)
{
	sqlite3 *db;

	assert_int_equal(
		sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, store_vfs()),
		SQLITE_OK);
	return db;
}

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	int64_t number;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	number = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return number;
}

/* All rows are as they were made, and in order. */
static void check_untouched(sqlite3 *db)
{
	assert_int_equal(ask(db, "SELECT count(*) FROM t WHERE n = 0 AND length(b) = 3000"), 500);
	assert_int_equal(ask(db, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

#define CHANGE_ALL "UPDATE t SET n = 1, b = zeroblob(2999)"

static sqlite3 *make_db(const char *path)
{
	sqlite3 *db;

	remove_files(path);
	db = open_db(path);
	assert_int_equal(run(db, "CREATE TABLE t (i INTEGER PRIMARY KEY, n INTEGER, b BLOB);"
				 "WITH c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT " ROWS
				 ") INSERT INTO t SELECT i, 0, randomblob(3000) FROM c"),
			 SQLITE_OK);
	return db;
}

static void test_rollback_reads_what_is_not_in_the_file_yet(void **unused)
{
	sqlite3 *db = make_db("rolled.db");

	(void)unused;
	assert_int_equal(run(db, "BEGIN; UPDATE t SET n = 1 WHERE i < 10"), SQLITE_OK);
	assert_int_equal(bytes_of("rolled.db-journal"), 0);
	assert_int_equal(run(db, "ROLLBACK"), SQLITE_OK);
	check_untouched(db);
	assert_int_equal(run(db, "BEGIN; SAVEPOINT s; " CHANGE_ALL "; ROLLBACK TO s; COMMIT"),
			 SQLITE_OK);
	check_untouched(db);
	assert_int_equal(run(db, "BEGIN; " CHANGE_ALL "; ROLLBACK"), SQLITE_OK);
	check_untouched(db);
	assert_int_equal(run(db, CHANGE_ALL), SQLITE_OK);
	assert_int_equal(ask(db, "SELECT count(*) FROM t WHERE n = 1"), 500);
	sqlite3_close(db);
	remove_files("rolled.db");
}

/* Its files stop there; those that are larger already stay as they are. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_journal_without_room_is_rolled_back_whole(void **unused)
{
	sqlite3 *db = make_db("full.db");
	rlim_t at;

	(void)unused;
	signal(SIGXFSZ, SIG_IGN);
	for (at = 0; at < 300000; at += 9973) {
		limit_files(at);
		assert_int_not_equal(run(db, CHANGE_ALL), SQLITE_OK);
		limit_files(RLIM_INFINITY);
		assert_int_equal(sqlite3_get_autocommit(db), 1);
		check_untouched(db);
		assert_int_equal(run(db, "UPDATE t SET n = 0 WHERE i = 1"), SQLITE_OK);
	}
	limit_files(RLIM_INFINITY);
	sqlite3_close(db);
	db = open_db("full.db");
	check_untouched(db);
	sqlite3_close(db);
	remove_files("full.db");
}

static void copy(const char *from, const char *to)
{
	char bytes[4096];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t len;

	assert_non_null(in);
	assert_non_null(out);
	while ((len = fread(bytes, 1, sizeof(bytes), in)) > 0)
		assert_int_equal(fwrite(bytes, 1, len, out), len);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* Also where SQLite is told not to wait for the disk: then it asks for nothing before it writes. */
static void test_kill_finds_the_journal_of_all_that_was_changed(void **unused)
{
	sqlite3 *db = make_db("killed.db"), *left;

	(void)unused;
	assert_int_equal(run(db, "PRAGMA synchronous = OFF; PRAGMA cache_size = 1; BEGIN;"
				 "UPDATE t SET n = 1 WHERE i <= 12"),
			 SQLITE_OK);
	copy("killed.db", "left.db");
	copy("killed.db-journal", "left.db-journal");
	assert_int_equal(run(db, "ROLLBACK"), SQLITE_OK);
	sqlite3_close(db);
	left = open_db("left.db");
	check_untouched(left);
	sqlite3_close(left);
	remove_files("killed.db");
	remove_files("left.db");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order_of_calls),
		cmocka_unit_test(test_small_writes_go_out_together),
		cmocka_unit_test(test_two_journals_at_once_are_not_mixed_up),
		cmocka_unit_test(test_rollback_reads_what_is_not_in_the_file_yet),
		cmocka_unit_test(test_journal_without_room_is_rolled_back_whole),
		cmocka_unit_test(test_kill_finds_the_journal_of_all_that_was_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
