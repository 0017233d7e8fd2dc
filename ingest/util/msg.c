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

void msg_set_quiet(bool value)
{
	quiet = value;
}

static void say(const char *prefix, const char *end, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void say(const char *prefix, const char *end, const char *format, va_list args)
{
	struct buf line = BUF_INIT;
	char text[2048];

	if (vsnprintf(text, sizeof(text), format, args) < 0)
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
