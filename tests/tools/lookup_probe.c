/*
 * Asks an action cache for the digests on standard input, one "HASH:SIZE" a
 * line (with --blobs the CAS for the blobs of these digests), with the program's own lookup engine
 * and nothing else of it: for tests against real servers, and as a client for benches.
 *
 * Standard output: one line an answer, "HASH:SIZE OUTCOME CODE BYTES MESSAGE",
 * then the tally as one JSON object. Exit code: 0 all answered; 1 unreachable
 * ones among them; 2 the preflight or the run failed; 3 usage.
 */
#include "digest.h"
#include "lookup.h"
#include "lookup_grpc.h"
#include "lookup_recording.h"
#include "remote.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct remote_flags remote;
	struct option_list headers;
	const char *instance, *function, *record, *replay;
	long long in_flight, deadline_ms, outage_ms, repeat;
	bool blobs, no_preflight, quiet;
};

struct probe {
	const struct arguments *arguments;
	struct digest *digests;
	size_t count;
	size_t next; /* over all repetitions */
};

static const char *const outcomes[] = {
	[LOOKUP_FOUND] = "found",
	[LOOKUP_NOT_FOUND] = "not_found",
	[LOOKUP_OUTPUTS_EVICTED] = "outputs_evicted",
	[LOOKUP_REFUSED] = "refused",
	[LOOKUP_INVALID] = "invalid",
	[LOOKUP_TOO_LARGE] = "too_large",
	[LOOKUP_ERROR] = "error",
	[LOOKUP_UNREACHABLE] = "unreachable",
};

static int parse_arguments(struct arguments *a, int argc, char **argv, struct err *err)
{
	const struct option table[] = {
		{"endpoint", 0, "HOST:PORT", OPTION_TEXT, &a->remote.endpoint, "whom to ask"},
		{"instance", 0, "NAME", OPTION_TEXT, &a->instance, "instance name"},
		{"function", 0, "NAME", OPTION_TEXT, &a->function, "digest function"},
		{"tls-ca", 0, "FILE", OPTION_TEXT, &a->remote.ca, "trusted CA"},
		{"tls-cert", 0, "FILE", OPTION_TEXT, &a->remote.cert, "client certificate"},
		{"tls-key", 0, "FILE", OPTION_TEXT, &a->remote.key, "its private key"},
		{"tls-server-name", 0, "NAME", OPTION_TEXT, &a->remote.tls_name, "its name"},
		{"no-tls", 0, NULL, OPTION_FLAG, &a->remote.no_tls, "ask without TLS"},
		{"token-file", 0, "FILE", OPTION_TEXT, &a->remote.token_file, "bearer token"},
		{"header", 0, "NAME=VALUE", OPTION_LIST, &a->headers, "header to send"},
		{"in-flight", 0, "N", OPTION_NUMBER, &a->in_flight, "calls at once"},
		{"deadline-ms", 0, "N", OPTION_NUMBER, &a->deadline_ms, "of one call"},
		{"outage-ms", 0, "N", OPTION_NUMBER, &a->outage_ms, "before giving up"},
		{"record", 0, "FILE", OPTION_TEXT, &a->record, "keep the answers"},
		{"replay", 0, "FILE", OPTION_TEXT, &a->replay, "answer from a recording"},
		{"repeat", 0, "N", OPTION_NUMBER, &a->repeat, "ask the whole list so often"},
		{"blobs", 0, NULL, OPTION_FLAG, &a->blobs, "read blobs"},
		{"no-preflight", 0, NULL, OPTION_FLAG, &a->no_preflight, "begin at once"},
		{"quiet", 0, NULL, OPTION_FLAG, &a->quiet, "print the tally only"},
		{0},
	};
	const struct option *groups[] = {table, NULL};
	int operands = options_parse(groups, argc - 1, argv + 1, err);

	if (operands > 0)
		return err_set(err, ERR_USAGE, "no operands are taken");
	a->remote.headers = a->headers.values;
	a->remote.header_count = a->headers.count;
	return operands;
}

static void read_digests(struct probe *probe)
{
	const char *name = probe->arguments->function ? probe->arguments->function : "sha256";
	enum digest_function function = digest_function_parse(str_of(name));
	char line[DIGEST_TEXT_MAX + 2];
	size_t room = 0;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (probe->count == room) {
			room = room ? 2 * room : 1024;
			probe->digests =
				xreallocarray(probe->digests, room, sizeof(*probe->digests));
		}
		if (digest_parse(str_of(line), &probe->digests[probe->count]) < 0) {
			fprintf(stderr, "lookup_probe: no digest: %s\n", line);
			exit(3);
		}
		probe->digests[probe->count++].function = (uint8_t)function;
	}
}

static int next_request(void *context, struct lookup_request *out_request, struct err *err)
{
	struct probe *probe = context;
	long long repeat = probe->arguments->repeat;

	(void)err;
	if (!probe->count || probe->next >= probe->count * (size_t)(repeat ? repeat : 1))
		return 0;
	out_request->id = (int64_t)(probe->next++ % probe->count);
	out_request->method = probe->arguments->blobs ? LOOKUP_BLOB : LOOKUP_ACTION_RESULT;
	out_request->instance = probe->arguments->instance ? probe->arguments->instance : "";
	out_request->digest = probe->digests[out_request->id];
	return 1;
}

static int print_answer(void *context, const struct lookup_answer *answer, struct err *err)
{
	struct probe *probe = context;
	char digest[DIGEST_TEXT_MAX];

	(void)err;
	if (probe->arguments->quiet)
		return 0;
	digest_format(&probe->digests[answer->id], digest);
	printf("%s %s %d %zu %s\n", digest, outcomes[answer->outcome], answer->code, answer->len,
	       answer->message);
	fflush(stdout);
	return 0;
}

static void print_tally(const struct lookup_tally *tally, int64_t ms)
{
	printf("{\"asked\":%" PRIu64 ",\"found\":%" PRIu64 ",\"not_found\":%" PRIu64
	       ",\"outputs_evicted\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"invalid\":%" PRIu64
	       ",\"too_large\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"unreachable\":%" PRIu64
	       ",\"retries\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.3f}\n",
	       tally->asked, tally->found, tally->not_found, tally->outputs_evicted, tally->refused,
	       tally->invalid, tally->too_large, tally->errors, tally->unreachable, tally->retries,
	       tally->bytes, (double)ms / 1000);
}

static int open_transport(const struct arguments *a, const struct remote *remote,
			  struct transport **out_transport, struct err *err)
{
	struct transport *inner, *old = NULL;
	uint32_t slots = (uint32_t)a->in_flight;

	if (a->replay)
		return transport_replay_new(out_transport, a->replay, slots, err);
	if (a->record && recording_open(&old, a->record, err) < 0)
		return -1;
	if (transport_grpc_new(&inner, remote, slots, err) < 0) {
		if (old)
			old->ops->free(old);
		return -1;
	}
	if (a->record)
		return transport_record_new(out_transport, inner, old, a->record, err);
	*out_transport = inner;
	return 0;
}

static int ask(struct probe *probe, struct lookup *lookup, struct err *err)
{
	struct lookup_request first;

	if (!probe->arguments->no_preflight && next_request(probe, &first, err) > 0 &&
	    lookup_preflight(lookup, &first, print_answer, probe, err) < 0)
		return -1;
	if (lookup_run(lookup, next_request, print_answer, probe, err) < 0)
		return -1;
	return lookup_finish(lookup, err);
}

static int run(struct probe *probe, const struct remote *remote, struct err *err)
{
	const struct arguments *a = probe->arguments;
	struct lookup_options options = {
		.deadline_ms = a->deadline_ms,
		.outage_ms = a->outage_ms,
	};
	struct transport *transport;
	struct lookup *lookup;
	int64_t begun = clock_monotonic_ms();
	int result;

	if (open_transport(a, remote, &transport, err) < 0)
		return -1;
	lookup = lookup_new(transport, &options);
	result = ask(probe, lookup, err);
	print_tally(lookup_tally(lookup), clock_monotonic_ms() - begun);
	if (result == 0)
		result = lookup_tally(lookup)->unreachable > 0;
	lookup_free(lookup);
	return result;
}

static void on_signal(int number)
{
	(void)number;
	lookup_interrupt();
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.in_flight = 0};
	struct probe probe = {.arguments = &arguments};
	struct remote remote = {.endpoint = NULL};
	struct err err = ERR_INIT;
	int result;

	signal(SIGINT, on_signal);
	if (parse_arguments(&arguments, argc, argv, &err) < 0 ||
	    (!arguments.replay && remote_resolve(&arguments.remote, NULL, &remote, &err) < 0)) {
		fprintf(stderr, "lookup_probe: %s\n", err.text);
		return 3;
	}
	read_digests(&probe);
	result = run(&probe, &remote, &err);
	if (result < 0)
		fprintf(stderr, "lookup_probe: %s\n", err.text);
	remote_release(&remote);
	option_list_release(&arguments.headers);
	free(probe.digests);
	if (result < 0)
		return err.kind == ERR_USAGE ? 3 : 2;
	return result;
}
