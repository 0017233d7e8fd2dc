/*
 * The command table, and the map from an error's kind to the exit code. Nothing
 * else: each verb is a file of its own.
 */
#include "cmd.h"
#include "util/msg.h"
#include "util/standard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef BR2_VERSION
#define BR2_VERSION "0"
#endif

static const struct command commands[] = {
	{"ingest", "read logs, ask the action cache, store both (the default)", cmd_ingest},
	{"report", "what the stored runs used, as a page", cmd_report},
	{"check", "hold stored runs to limits, for continuous integration", cmd_check},
	{"plan", "what builds would have cost on workers of other shapes", cmd_plan},
	{"compare", "two runs side by side: what changed beyond noise", cmd_compare},
	{"digest", "one action in full", cmd_digest},
	{"merge", "bring the rows of other databases into this one", cmd_merge},
	{"prune", "drop runs from before some time", cmd_prune},
	{"views", "list the canned SQL views, or show one", cmd_views},
	{"sql", "open the sqlite3 shell on the database", cmd_sql},
	{"export", "write views as CSV files", cmd_export},
	{"path", "print the database's place", cmd_path},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(void)
{
	size_t i;

	puts("br2-ingest: what Buck2 actions really used, from logs and the action cache\n"
	     "\n"
	     "usage: br2-ingest [ingest] [PATH...] [options]\n"
	     "       br2-ingest COMMAND [options]\n");
	for (i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].summary);
	puts("\n"
	     "In a project, no option is needed:\n"
	     "  cd experiments/qemu-x86_64 && br2-ingest\n"
	     "\n"
	     "br2-ingest COMMAND --help tells a command's options; br2-ingest(1) tells all.");
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int exit_code_of(enum err_kind kind)
{
	switch (kind) {
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_BREACH:
		return EXIT_BREACH;
	case ERR_IO:
	case ERR_FORMAT:
	case ERR_NET:
	case ERR_DB:
	case ERR_LIMIT:
		return EXIT_TROUBLE;
	case ERR_NONE:
		break;
	}
	return EXIT_BUG;
}

static bool is_word(const char *word, const char *name)
{
	return word && strcmp(word, name) == 0;
}

/* The command's exit code, or -1. */
static int run(int argc, char **argv, struct err *err)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command = word ? find_command(word) : NULL;

	if (is_word(word, "--help") || is_word(word, "-h") || is_word(word, "help")) {
		print_help();
		return EXIT_DONE;
	}
	if (is_word(word, "--version")) {
		puts("br2-ingest " BR2_VERSION);
		return EXIT_DONE;
	}
	if (command)
		return command->run(argc - 2, argv + 2, err);
	if (word && word[0] != '-' && !strchr(word, '/') && access(word, F_OK) != 0)
		return err_set(err, ERR_USAGE, "no command or path '%s'; see br2-ingest --help",
			       word);
	return cmd_ingest(argc - 1, argv + (argc > 0), err);
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	int code;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
	if (standard_hold() < 0)
		return EXIT_TROUBLE;
	code = run(argc, argv, &err);
	if (code < 0) {
		msg_error("%s", err.text);
		code = exit_code_of(err.kind);
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		if (code == EXIT_DONE)
			msg_error("cannot write to standard output");
		code = EXIT_TROUBLE;
	}
	return code;
}
