/*
 * Preloaded into br2-ingest, it makes one call of SQLite, of the network or of a file fail: the
 * same one each time. A place is a call with all callers of it within the program, so that each
 * way to an error's branch is one of its own.
 *
 *   BR2_FAIL_NOTE  file that gets a line for each place: the kind, the place, the callers'
 *                  addresses in the program; with BR2_FAIL_AT only for what failed
 *   BR2_FAIL_AT    "KIND PLACE TIME CODE": the call that fails. Place 0 is any one of that kind;
 *                  time 1 the first call there, 0 each
 *
 * The code is what the call reports: SQLite's, an errno, or getaddrinfo()'s. For what moves
 * bytes, 0 lets it pass with one byte, and -1 says that there are no more.
 *
 * What SQLite calls for itself never fails: only what the program calls.
 */
#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES_MAX 48
#define PLACES_MAX 16384 /* a power of 2 */
#define NO_FAULT INT32_MIN

static int (*real_socket)(int, int, int);
static int (*real_connect)(int, __CONST_SOCKADDR_ARG, socklen_t);
static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_getaddrinfo)(const char *, const char *, const struct addrinfo *,
			       struct addrinfo **);
static int (*real_open)(const char *, int, ...);
static FILE *(*real_fopen)(const char *, const char *);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);

static const char *note_path;
static char wanted_kind[16];
static uint64_t wanted_place;
static long wanted_time, came;
static int wanted_code = NO_FAULT;
static uintptr_t program, program_end;
static bool counting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t places[PLACES_MAX];
static _Thread_local int told; /* what SQLite is to say of its last call */

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

static void find_calls(void)
{
	*(void **)&real_socket = next("socket");
	*(void **)&real_connect = next("connect");
	*(void **)&real_poll = next("poll");
	*(void **)&real_getaddrinfo = next("getaddrinfo");
	*(void **)&real_open = next("open");
	*(void **)&real_fopen = next("fopen");
	*(void **)&real_send = next("send");
	*(void **)&real_recv = next("recv");
	*(void **)&real_read = next("read");
	*(void **)&real_write = next("write");
	*(void **)&real_pread = next("pread");
}

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	int i;

	(void)size;
	(void)context;
	program = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			program_end =
				program + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1; /* the first one is the program */
}

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("BR2_FAIL_AT");

	find_calls();
	note_path = getenv("BR2_FAIL_NOTE");
	dl_iterate_phdr(find_program, NULL);
	if (at && sscanf(at, "%15s %" SCNx64 " %ld %d", wanted_kind, &wanted_place, &wanted_time,
			 &wanted_code) != 4)
		abort();
}

/* ---- places ---- */

static bool in_program(const void *address)
{
	return (uintptr_t)address >= program && (uintptr_t)address < program_end;
}

/* Keeps the callers within the program, as offsets in it. */
static int callers(uintptr_t *frames)
{
	void *all[FRAMES_MAX];
	int count = backtrace(all, FRAMES_MAX), kept = 0, i;

	for (i = 0; i < count; i++)
		if (in_program(all[i]))
			frames[kept++] = (uintptr_t)all[i] - program;
	return kept;
}

static uint64_t place_of(const char *kind, const uintptr_t *frames, int count)
{
	uint64_t hash = 14695981039346656037u;
	int i;

	for (; *kind; kind++)
		hash = (hash ^ (unsigned char)*kind) * 1099511628211u;
	for (i = 0; i < count; i++)
		hash = (hash ^ frames[i]) * 1099511628211u;
	return hash ? hash : 1;
}

/* Is it seen for the first time? */
static bool is_new(uint64_t place)
{
	size_t i = place % PLACES_MAX;

	for (; places[i]; i = (i + 1) % PLACES_MAX)
		if (places[i] == place)
			return false;
	places[i] = place;
	return true;
}

static void note(const char *kind, uint64_t place, const uintptr_t *frames, int count)
{
	char line[1024];
	int len = snprintf(line, sizeof(line), "%s %" PRIx64, kind, place), fd, i;

	for (i = 0; i < count && len < (int)sizeof(line) - 24; i++)
		len += sprintf(line + len, " %" PRIxPTR, frames[i]);
	line[len++] = '\n';
	fd = real_open(note_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || real_write(fd, line, (size_t)len) != len)
		abort();
	close(fd);
}

/* Is it the one that fails? */
static bool is_wanted(const char *kind, uint64_t place)
{
	if (wanted_code == NO_FAULT || strcmp(kind, wanted_kind) != 0 ||
	    (wanted_place && place != wanted_place))
		return false;
	return !wanted_time || ++came == wanted_time;
}

/* What the call reports if it fails, else NO_FAULT. */
static int fault(const char *kind)
{
	uintptr_t frames[FRAMES_MAX];
	bool fails, is_told;
	uint64_t place;
	int count;

	if (!note_path || counting)
		return NO_FAULT;
	count = callers(frames);
	place = place_of(kind, frames, count);
	pthread_mutex_lock(&lock);
	fails = is_wanted(kind, place);
	is_told = is_new(place);
	if (fails || (wanted_code == NO_FAULT && is_told))
		note(kind, place, frames, count);
	pthread_mutex_unlock(&lock);
	return fails ? wanted_code : NO_FAULT;
}

/* ---- SQLite ---- */

/* Where a disk is full SQLite has ended the transaction, as well. */
static void end_transaction(sqlite3 *db)
{
	if ((told & 0xff) == SQLITE_FULL && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* 0, or the fault of a call by the program itself. */
static int sqlite_fault(const char *kind, const void *caller)
{
	int code;

	if (!in_program(caller))
		return SQLITE_OK;
	code = fault(kind);
	return told = code == NO_FAULT ? SQLITE_OK : code;
}

/* A call that is passed on: NAME(ARGUMENTS) of KIND, else its fault, after LAST. */
#define SQLITE_CALL(kind, name, parameters, arguments, last)          \
	int name parameters                                           \
	{                                                             \
		static int(*real) parameters;                         \
                                                                      \
		if (!real)                                            \
			*(void **)&real = next(#name);                \
		if (!sqlite_fault(kind, __builtin_return_address(0))) \
			return real arguments;                        \
		last;                                                 \
		return told;                                          \
	}

SQLITE_CALL("step", sqlite3_step, (sqlite3_stmt * s), (s), end_transaction(sqlite3_db_handle(s)))
SQLITE_CALL("exec", sqlite3_exec,
	    (sqlite3 * db, const char *sql, int (*each)(void *, int, char **, char **),
	     void *context, char **message),
	    (db, sql, each, context, message), end_transaction(db))
SQLITE_CALL("prepare", sqlite3_prepare_v2,
	    (sqlite3 * db, const char *sql, int size, sqlite3_stmt **out, const char **tail),
	    (db, sql, size, out, tail), *out = NULL)
SQLITE_CALL("prepare", sqlite3_prepare_v3,
	    (sqlite3 * db, const char *sql, int size, unsigned flags, sqlite3_stmt **out,
	     const char **tail),
	    (db, sql, size, flags, out, tail), *out = NULL)
SQLITE_CALL("bind", sqlite3_bind_int64, (sqlite3_stmt * s, int place, sqlite3_int64 value),
	    (s, place, value), (void)0)
SQLITE_CALL("bind", sqlite3_bind_double, (sqlite3_stmt * s, int place, double value),
	    (s, place, value), (void)0)
SQLITE_CALL("bind", sqlite3_bind_text64,
	    (sqlite3_stmt * s, int place, const char *text, sqlite3_uint64 size,
	     void (*end)(void *), unsigned char encoding),
	    (s, place, text, size, end, encoding), (void)0)
SQLITE_CALL("bind", sqlite3_bind_blob64,
	    (sqlite3_stmt * s, int place, const void *data, sqlite3_uint64 size,
	     void (*end)(void *)),
	    (s, place, data, size, end), (void)0)
SQLITE_CALL("bind", sqlite3_bind_value, (sqlite3_stmt * s, int place, const sqlite3_value *value),
	    (s, place, value), (void)0)

SQLITE_CALL("db", sqlite3_busy_timeout, (sqlite3 * db, int ms), (db, ms), (void)0)
SQLITE_CALL("db", sqlite3_db_readonly, (sqlite3 * db, const char *name), (db, name), (void)0)

/* The handle is made all the same, and must be closed. */
SQLITE_CALL("db", sqlite3_open, (const char *path, sqlite3 **out), (path, out),
	    (void)real(path, out))

/* Of the program's options each takes a value and where to say it. */
int sqlite3_db_config(sqlite3 *db, int option, ...)
{
	static int (*real)(sqlite3 *, int, ...);
	va_list more;
	int value, *out;

	if (!real)
		*(void **)&real = next("sqlite3_db_config");
	va_start(more, option);
	value = va_arg(more, int);
	out = va_arg(more, int *);
	va_end(more);
	return sqlite_fault("db", __builtin_return_address(0)) ? told
							       : real(db, option, value, out);
}

int sqlite3_open_v2(const char *path, sqlite3 **out, int flags, const char *vfs)
{
	static int (*real)(const char *, sqlite3 **, int, const char *);
	int code;

	if (!real)
		*(void **)&real = next("sqlite3_open_v2");
	code = real(path, out, flags, vfs);
	return sqlite_fault("db", __builtin_return_address(0)) ? told : code;
}

int sqlite3_extended_errcode(sqlite3 *db)
{
	static int (*real)(sqlite3 *);

	if (!real)
		*(void **)&real = next("sqlite3_extended_errcode");
	return told ? told : real(db);
}

const char *sqlite3_errmsg(sqlite3 *db)
{
	static const char *(*real)(sqlite3 *);

	if (!real)
		*(void **)&real = next("sqlite3_errmsg");
	return told ? sqlite3_errstr(told) : real(db);
}

/* ---- the network and files ---- */

/* -1 with an errno where it fails. */
static int fails(const char *kind)
{
	int code = fault(kind);

	if (code == NO_FAULT)
		return 0;
	errno = code;
	return -1;
}

int socket(int domain, int type, int protocol)
{
	return fails("socket") ? -1 : real_socket(domain, type, protocol);
}

int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
	return fails("connect") ? -1 : real_connect(fd, address, size);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	return fails("poll") ? -1 : real_poll(fds, count, timeout_ms);
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **out)
{
	int code = fault("getaddrinfo");

	return code == NO_FAULT ? real_getaddrinfo(name, service, hints, out) : code;
}

/*
 * A program built for coverage ends with writing down how often each line was run. A fault
 * there is none of ours, and spoils what other tests counted.
 */
static bool is_count(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && strcmp(end, ".gcda") == 0;
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	va_start(more, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(more, mode_t);
	va_end(more);
	counting = counting || is_count(path);
	return fails("open") ? -1 : real_open(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fails("fopen") ? NULL : real_fopen(path, mode);
}

/* Of these SQLite has many of its own. A call that is passed on, else its fault. */
#define FILE_CALL(type, name, parameters, arguments, failed)                                     \
	type name parameters                                                                     \
	{                                                                                        \
		static type(*real) parameters;                                                   \
                                                                                                 \
		if (!real)                                                                       \
			*(void **)&real = next(#name);                                           \
		return in_program(__builtin_return_address(0)) && fails(#name) ? failed          \
									       : real arguments; \
	}

FILE_CALL(int, stat, (const char *path, struct stat *out), (path, out), -1)
FILE_CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
FILE_CALL(int, mkstemp, (char *path), (path), -1)
FILE_CALL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
FILE_CALL(int, fflush, (FILE * file), (file), EOF)
FILE_CALL(int, close, (int fd), (fd), -1)
FILE_CALL(int, fsync, (int fd), (fd), -1)
FILE_CALL(int, rename, (const char *from, const char *to), (from, to), -1)

/* What people are told is never lost. */
size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	static size_t (*real)(const void *, size_t, size_t, FILE *);

	if (!real)
		*(void **)&real = next("fwrite");
	if (file != stderr && in_program(__builtin_return_address(0)) && fails("fwrite"))
		return 0;
	return real(data, size, count, file);
}

/* A connection that is gone before its socket was asked for. */
CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	static CURLcode (*real)(CURL *, CURLINFO, ...);
	va_list more;
	void *out;

	if (!real)
		*(void **)&real = next("curl_easy_getinfo");
	va_start(more, info);
	out = va_arg(more, void *);
	va_end(more);
	if (info == CURLINFO_ACTIVESOCKET && fault("getinfo") != NO_FAULT)
		return CURLE_UNSUPPORTED_PROTOCOL;
	return real(curl, info, out);
}

/* How many bytes may pass; -1: none, and the call's result is in *out_result. */
static ssize_t room(const char *kind, size_t size, ssize_t *out_result)
{
	int code = fault(kind);

	*out_result = code < 0 ? 0 : -1;
	if (code == NO_FAULT)
		return (ssize_t)size;
	if (code == 0)
		return size ? 1 : 0;
	errno = code;
	return -1;
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	ssize_t result, may = room("send", size, &result);

	return may < 0 ? result : real_send(fd, data, (size_t)may, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	ssize_t result, may = room("recv", size, &result);

	return may < 0 ? result : real_recv(fd, data, (size_t)may, flags);
}

ssize_t read(int fd, void *data, size_t size)
{
	ssize_t result, may = room("read", size, &result);

	return may < 0 ? result : real_read(fd, data, (size_t)may);
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t result, may = room("write", size, &result);

	return may < 0 ? result : real_write(fd, data, (size_t)may);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	ssize_t result, may = (ssize_t)size;

	if (in_program(__builtin_return_address(0)))
		may = room("pread", size, &result);
	return may < 0 ? result : real_pread(fd, data, (size_t)may, at);
}
