/*
 * What the program says to a person: one line each on stderr, never on stdout.
 * Arguments are shown as safe_add() has it, so that a name taken from a log, or a text of
 * SQLite's, cannot move the cursor. Only verbs and the pipeline call this; stages
 * report through struct err and their tallies.
 */
#ifndef BR2_MSG_H
#define BR2_MSG_H

#include <stdbool.h>
#include <stdint.h>

/* --quiet: notes are dropped, warnings and errors stay. */
void msg_set_quiet(bool quiet);

/*
 * For who tries again and again: warnings and errors whose hash is in the table are not
 * said again (their digits apart: counts go up), and others are put into it, over the
 * oldest ones. The table is the caller's; zeros are free places. NULL: all is said.
 */
struct msg_memory {
	uint64_t hashes[32];
	uint32_t next;
};
void msg_set_memory(struct msg_memory *memory);

/* "br2-ingest: …", "br2-ingest: warning: …", "br2-ingest: error: …" */
void msg_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A line that overwrites itself while long work runs: shown only if stderr is a
 * terminal and not quiet, at most ten times a second. msg_progress_end() wipes
 * it; every other msg_*() does so by itself.
 */
void msg_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_progress_end(void);

#endif
