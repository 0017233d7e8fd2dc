#include "util/msg.h"

#include "util/buf.h"
#include "util/clock.h"
#include "util/safe.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static bool quiet;
static bool progress_shown;
static struct msg_memory *memory;

void msg_set_quiet(bool value)
{
	quiet = value;
}

void msg_set_memory(struct msg_memory *value)
{
	memory = value;
}

/* FNV-1a, and never 0. */
static uint64_t hash_words(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		if (*text < '0' || *text > '9')
			hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

static bool was_said(const char *text)
{
	const size_t count = sizeof(memory->hashes) / sizeof(memory->hashes[0]);
	uint64_t hash = hash_words(text);
	size_t i;

	for (i = 0; i < count; i++)
		if (memory->hashes[i] == hash)
			return true;
	memory->hashes[memory->next++ % count] = hash;
	return false;
}

static void say(const char *prefix, const char *end, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void say(const char *prefix, const char *end, const char *format, va_list args)
{
	struct buf line = BUF_INIT;
	char text[2048];

	if (vsnprintf(text, sizeof(text), format, args) < 0)
		return;
	if (memory && *end && was_said(text))
		return;
	buf_addstr(&line, prefix);
	safe_add(&line, str_of(text));
	buf_addstr(&line, end);
	fwrite(line.data, 1, line.len, stderr);
	fflush(stderr);
	buf_release(&line);
}

#define SAY(prefix)                              \
	do {                                     \
		va_list args;                    \
                                                 \
		msg_progress_end();              \
		va_start(args, format);          \
		say(prefix, "\n", format, args); \
		va_end(args);                    \
	} while (0)

void msg_note(const char *format, ...)
{
	if (!quiet)
		SAY("br2-ingest: ");
}

void msg_warn(const char *format, ...)
{
	SAY("br2-ingest: warning: ");
}

void msg_error(const char *format, ...)
{
	SAY("br2-ingest: error: ");
}

void msg_progress(const char *format, ...)
{
	static int64_t last = -1000;
	static int terminal = -1;
	va_list args;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (quiet || !terminal || clock_monotonic_ms() - last < 100)
		return;
	last = clock_monotonic_ms();
	va_start(args, format);
	say("\r\x1b[K", "", format, args);
	va_end(args);
	progress_shown = true;
}

void msg_progress_end(void)
{
	if (!progress_shown)
		return;
	progress_shown = false;
	fputs("\r\x1b[K", stderr);
	fflush(stderr);
}
