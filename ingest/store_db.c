#include "store_db.h"
#include "store_journal.h"
#include "store_vfs.h"

#include "util/mem.h"
#include "util/utf8.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

#define LOCKED "another program has it locked, and did not let go within a minute"
#define NO_LOCKS                                                        \
	"its file system lets no file be locked (NFS without locks?): " \
	"have it on a local disk, by --db FILE"

static enum err_kind kind_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		return ERR_IO;
	default:
		return ERR_DB;
	}
}

/* What the system said to SQLite; of a COMMIT only the file itself or its journal still know it. */
static const char *system_why(struct store *store, const char *else_why)
{
	int number = sqlite3_system_errno(store->db);

	if (!number)
		sqlite3_file_control(store->db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
	if (!number)
		number = store_journal_errno();
	return number ? strerror(number) : else_why;
}

static int note_fault(struct store *store, const struct err *err)
{
	if (!store->fault.kind)
		store->fault = *err;
	return -1;
}

int db_error(struct store *store, const char *what, struct err *err)
{
	int code = sqlite3_extended_errcode(store->db);
	const char *why = sqlite3_errmsg(store->db);

	switch (code & 0xff) {
	case SQLITE_BUSY:
		why = store_vfs_has_no_locks() ? NO_LOCKS : LOCKED;
		break;
	case SQLITE_NOTADB:
		why = "not an SQLite database";
		break;
	case SQLITE_FULL:
		why = "no space left for it";
		break;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN: /* the file, or the journal beside it */
		why = system_why(store, why);
		break;
	case SQLITE_INTERRUPT: /* store_guard.c */
		why = "it holds far more tables and views than br2-ingest makes";
		break;
	case SQLITE_AUTH: /* store_vfs.c */
		why = "its journal wanted another file deleted, which was not done";
		break;
	default:
		break;
	}
	if (code == SQLITE_IOERR_LOCK || code == SQLITE_IOERR_RDLOCK)
		why = NO_LOCKS;
	if (code == SQLITE_READONLY_DIRECTORY)
		why = "its folder cannot be written, and a journal has to stand beside it "
		      "meanwhile";
	if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
		why = "an ingest was killed while it wrote; one with write access repairs it";
	err_set(err, kind_of(code), "%s: %s: %s", store->path, what, why);
	return note_fault(store, err);
}

int db_exec(struct store *store, const char *sql, struct err *err)
{
	if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(store, "cannot use the database", err);
	return 0;
}

/* ---- statements ---- */

/*
 * SQLite's own names move when it prepares a statement anew (the schema changed),
 * so they are copied.
 */
static void copy_names(struct statement *s)
{
	struct buf text = BUF_INIT;
	int i;

	s->count = sqlite3_bind_parameter_count(s->handle);
	if (s->count > STATEMENT_PARAMS_MAX)
		abort();
	for (i = 0; i < s->count; i++) {
		buf_addstr(&text, sqlite3_bind_parameter_name(s->handle, i + 1));
		buf_addch(&text, '\0');
	}
	s->name_text = buf_detach(&text);
	for (i = 0; i < s->count; i++)
		s->names[i] = i ? s->names[i - 1] + strlen(s->names[i - 1]) + 1 : s->name_text;
}

struct statement *db_use(struct store *store, enum statement_id id, const char *sql)
{
	struct statement *s = &store->statements[id];

	if (s->handle) {
		sqlite3_reset(s->handle);
		sqlite3_clear_bindings(s->handle);
		s->fault = SQLITE_OK;
	} else {
		s->store = store;
		s->fault = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
					      &s->handle, NULL);
		if (s->handle)
			copy_names(s);
	}
	s->next = 0;
	return s;
}

void db_finalize(struct store *store)
{
	size_t i;

	for (i = 0; i < ST_COUNT; i++) {
		sqlite3_finalize(store->statements[i].handle);
		free(store->statements[i].name_text);
	}
	memset(store->statements, 0, sizeof(store->statements));
}

/* The parameter's number; 0 if the statement could not be prepared. */
static int place_of(struct statement *s, const char *name)
{
	int i;

	if (s->next < s->count && strcmp(s->names[s->next], name) == 0)
		return ++s->next;
	for (i = 0; i < s->count; i++)
		if (strcmp(s->names[i], name) == 0)
			return s->next = i + 1;
	if (s->handle)
		abort(); /* a name that the SQL does not have */
	return 0;
}

static void note_binding(struct statement *s, int code)
{
	if (s->fault == SQLITE_OK)
		s->fault = code;
}

void bind_int(struct statement *s, const char *name, int64_t value)
{
	int place = place_of(s, name);

	if (place && value != UNKNOWN)
		note_binding(s, sqlite3_bind_int64(s->handle, place, value));
}

void bind_real(struct statement *s, const char *name, double value)
{
	int place = place_of(s, name);

	if (place)
		note_binding(s, sqlite3_bind_double(s->handle, place, value));
}

void bind_text(struct statement *s, const char *name, struct str text)
{
	int place = place_of(s, name);
	struct str clean;

	if (!place || !text.data)
		return;
	clean = text_clean(text, &s->store->text);
	note_binding(s,
		     sqlite3_bind_text64(s->handle, place, clean.data, clean.len,
					 clean.data == text.data ? SQLITE_STATIC : SQLITE_TRANSIENT,
					 SQLITE_UTF8));
}

void bind_blob(struct statement *s, const char *name, const void *data, size_t len)
{
	int place = place_of(s, name);

	if (place)
		note_binding(s, sqlite3_bind_blob64(s->handle, place, len ? data : "", len,
						    SQLITE_STATIC));
}

int db_step(struct statement *s, struct err *err)
{
	int code = s->fault;

	if (code == SQLITE_OK)
		code = sqlite3_step(s->handle);
	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		db_error(s->store, "cannot use the database", err);
	sqlite3_reset(s->handle);
	return code == SQLITE_DONE ? 0 : -1;
}

int db_row(struct statement *s, struct err *err)
{
	int found = db_step(s, err);

	if (found)
		return found < 0 ? -1 : 0;
	err_set(err, ERR_DB, "%s: a row that was stored is not there: is it damaged?",
		s->store->path);
	return note_fault(s->store, err);
}

int db_find(struct statement *s, int64_t *out_number, struct err *err)
{
	int found = db_step(s, err);

	if (found > 0)
		*out_number = column_int(s, 0);
	db_reset(s);
	return found;
}

int db_done(struct statement *s, struct err *err)
{
	return db_step(s, err);
}

void db_reset(struct statement *s)
{
	sqlite3_reset(s->handle);
}

int64_t db_changes(const struct store *store)
{
	return sqlite3_changes(store->db);
}

int64_t db_last_id(const struct store *store)
{
	return sqlite3_last_insert_rowid(store->db);
}

int64_t column_int(struct statement *s, int column)
{
	if (sqlite3_column_type(s->handle, column) == SQLITE_NULL)
		return UNKNOWN;
	return sqlite3_column_int64(s->handle, column);
}

struct str column_text(struct statement *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s->handle, column);

	return (struct str){(const char *)text, (size_t)sqlite3_column_bytes(s->handle, column)};
}

struct str column_blob(struct statement *s, int column)
{
	const void *data = sqlite3_column_blob(s->handle, column);

	return (struct str){data, (size_t)sqlite3_column_bytes(s->handle, column)};
}

void bind_digest(struct statement *s, const struct digest *digest)
{
	bind_int(s, ":function", digest->function);
	bind_blob(s, ":hash", digest->hash, digest->hash_len);
	bind_int(s, ":size", digest->size_bytes);
}

void column_digest(struct statement *s, int column, struct digest *out)
{
	struct str hash = column_blob(s, column + 1);

	memset(out, 0, sizeof(*out));
	out->function = (uint8_t)column_int(s, column);
	out->hash_len = (uint8_t)(hash.len > DIGEST_HASH_MAX ? DIGEST_HASH_MAX : hash.len);
	if (out->hash_len)
		memcpy(out->hash, hash.data, out->hash_len);
	out->size_bytes = column_int(s, column + 2);
}

/* ---- text ---- */

/* Length of the longest beginning that is plain: ASCII without NUL. */
static size_t plain_length(struct str text)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	size_t at = 0;
	uint64_t word;

	for (; at + sizeof(word) <= text.len; at += sizeof(word)) {
		memcpy(&word, text.data + at, sizeof(word));
		if (((word - ones) | word) & highs)
			break; /* a byte over 127, or a zero (or a false alarm beside one) */
	}
	while (at < text.len && text.data[at] && (unsigned char)text.data[at] < 0x80)
		at++;
	return at;
}

/* The next character that is as it should be, or 0. */
static size_t good_length(struct str text, size_t at)
{
	uint32_t code;

	return text.data[at] ? utf8_read(text.data + at, text.len - at, &code) : 0;
}

struct str text_clean(struct str text, struct buf *scratch)
{
	size_t at = plain_length(text), size;

	while (at < text.len && (size = good_length(text, at)) > 0)
		at += size;
	if (at == text.len)
		return text;
	buf_clear(scratch);
	buf_add(scratch, text.data, at);
	while (at < text.len) {
		size = good_length(text, at);
		if (size)
			buf_add(scratch, text.data + at, size);
		else
			buf_addstr(scratch, "\xef\xbf\xbd");
		at += size ? size : 1;
	}
	return (struct str){scratch->data, scratch->len};
}

/* ---- transactions ---- */

int store_begin(struct store *store, struct err *err)
{
	struct statement *s = db_use(store, ST_BEGIN, "BEGIN IMMEDIATE");

	/* Another process may have chosen another instance since. */
	store->run_id = store->landed_run_id = 0;
	store->keyed.known = false;
	if (db_done(s, err) < 0)
		return -1;
	store->fault = (struct err)ERR_INIT;
	if (droppings_check(store, err) < 0 || allot_begin(store, err) < 0) {
		store_rollback(store);
		return -1;
	}
	return 0;
}

/*
 * Where a statement failed, a result may lack a part, or SQLite has ended the transaction
 * and what came after stands for itself: nothing more of it is to stay.
 */
static int check_faultless(const struct store *store, struct err *err)
{
	if (!store->fault.kind)
		return 0;
	*err = store->fault;
	return -1;
}

int store_commit(struct store *store, struct err *err)
{
	if (check_faultless(store, err) == 0 && totals_put(store, err) == 0 &&
	    invocation_sums_put(store, err) == 0 && package_sums_put(store, err) == 0 &&
	    db_done(db_use(store, ST_COMMIT, "COMMIT"), err) == 0)
		return 0;
	store_rollback(store);
	return -1;
}

void store_rollback(struct store *store)
{
	struct err ignored = ERR_INIT;

	name_forget(store);
	allot_forget(store);
	store->run_id = store->landed_run_id = 0;
	totals_forget(store);
	package_sums_forget(store);
	/* A full disk may have ended the transaction already; what fails here is not news. */
	if (!sqlite3_get_autocommit(store->db))
		db_done(db_use(store, ST_ROLLBACK, "ROLLBACK"), &ignored);
}

/* Where no transaction is open, the outermost savepoint is one, deferred. */
int store_hold(struct store *store, struct err *err)
{
	return db_done(db_use(store, ST_HOLD, "SAVEPOINT held"), err);
}

void store_release(struct store *store)
{
	struct err ignored = ERR_INIT;

	/* Nothing was written, so nothing can be lost. */
	db_done(db_use(store, ST_RELEASE, "RELEASE held"), &ignored);
}

const char *store_path(const struct store *store)
{
	return store->path;
}
