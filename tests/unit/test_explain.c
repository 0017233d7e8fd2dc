#include "lookup_explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Texts as core 29 (gRPC 1.51) gave them. */
static const struct {
	bool tls, proxied;
	int code;
	const char *message, *line;
} cases[] = {
	{false, false, 14,
	 "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
	 "connect to remote host: Connection refused",
	 "H:1 refuses"},
	{true, false, 14,
	 "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
	 "connect to remote host: Connection refused",
	 "H:1 refuses"},
	{false, true, 14, "Connection refused",
	 "H:1 refuses (asked through the proxy of the environment; no_proxy=HOST goes around it)"},
	{false, false, 14, "Socket closed",
	 "H:1 closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
	{true, false, 14, "Socket closed", "H:1 cannot be asked: Socket closed"},
	{true, false, 14, "SSL_ERROR_SSL: WRONG_VERSION_NUMBER, wrong version number",
	 "H:1 does not speak TLS: --no-tls, or tls = false in .buckconfig"},
	{true, false, 14, "Peer name H is not in peer certificate",
	 "H:1 shows a certificate for another name"},
	{false, false, 14, "DNS resolution failed for H:1: UNAVAILABLE",
	 "H:1 is not found: its name does not resolve"},
	/* Said of a socket only. */
	{false, false, 14, "a; last error: No such file or directory",
	 "H:1 cannot be asked: No such file or directory"},
	{false, false, 14, "a; last error: b; last error: something new",
	 "H:1 cannot be asked: something new"},
	{false, false, 4, "Deadline Exceeded", "H:1 does not answer in time"},
	{false, true, 16, "no token", "H:1 does not accept who is asking: no token"},
	{false, false, 12, "unknown service", "H:1 has no action cache: unknown service"},
	{false, false, 8, "quota", "H:1 answers with an error: quota (code 8)"},
};

static void test_lines(void **state)
{
	char endpoint[] = "H:1", target[] = "dns:///H:1";
	struct buf line = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct remote remote = {
			.endpoint = endpoint, .target = target, .tls = cases[i].tls};

		buf_clear(&line);
		explain_failure(&remote, cases[i].proxied, cases[i].code, cases[i].message, &line);
		assert_string_equal(line.data, cases[i].line);
	}
	buf_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
