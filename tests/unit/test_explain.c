#include "lookup_explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct {
	bool tls, proxied;
	int code;
	const char *message, *line;
} cases[] = {
	{false, false, 14, "Connection refused", "H:1 refuses"},
	{true, false, 14, "Connection refused", "H:1 refuses"},
	{false, true, 14, "Connection refused",
	 "H:1 refuses (asked through the proxy of the environment; no_proxy=HOST goes around it)"},
	{false, false, 14, "the server closed the connection",
	 "H:1 closed the connection: if it wants TLS, ask grpcs://HOST:PORT"},
	{true, false, 14, "the server closed the connection",
	 "H:1 closed the connection: if it wants a certificate, --tls-cert FILE shows one"},
	{true, false, 14, "error:0A00010B:SSL routines::wrong version number",
	 "H:1 does not speak TLS: --no-tls, or tls = false in .buckconfig"},
	{true, false, 14, "the certificate is for another name",
	 "H:1 shows a certificate for another name: --tls-server-name NAME says which one is "
	 "meant"},
	{true, false, 14, "the certificate is not trusted: self-signed certificate",
	 "H:1 shows a certificate that no trusted CA signed: --tls-ca FILE names one"},
	{true, false, 14, "the certificate is not valid today",
	 "H:1 shows a certificate that has run out, or is not valid yet"},
	{true, false, 14, "OpenSSL SSL_read: tlsv13 alert certificate required, errno 0",
	 "H:1 wants to see a certificate: --tls-cert FILE, --tls-key FILE"},
	{true, false, 14, "TLS without h2: the server does not choose it",
	 "H:1 speaks TLS, but not gRPC: another port?"},
	{false, false, 14, "the name does not resolve",
	 "H:1 is not found: its name does not resolve"},
	{false, false, 14, "the name's address was not told in time",
	 "H:1 is not found: no name server answers"},
	{false, false, 14, "the server speaks TLS", "H:1 wants TLS: ask grpcs://HOST:PORT"},
	/* Said of a socket only. */
	{false, false, 14, "No such file or directory",
	 "H:1 cannot be asked: No such file or directory"},
	{false, false, 14, "something new", "H:1 cannot be asked: something new"},
	{false, false, 4, "no answer in time", "H:1 does not answer in time"},
	{false, true, 16, "no token", "H:1 does not accept who is asking: no token"},
	{false, false, 12, "unknown service", "H:1 has no action cache: unknown service"},
	{false, false, 8, "quota", "H:1 answers with an error: quota (code 8)"},
};

static void explain(const struct remote *remote, const char *message, struct buf *line)
{
	buf_clear(line);
	explain_failure(remote, false, 14, message, line);
}

static void test_another_name_than_the_given_one(void **state)
{
	char endpoint[] = "H:1", name[] = "n";
	const struct remote remote = {.endpoint = endpoint, .tls = true, .tls_name = name};
	struct buf line = BUF_INIT;

	(void)state;
	explain(&remote, "the certificate is for another name", &line);
	assert_string_equal(line.data,
			    "H:1 shows a certificate for another name than --tls-server-name says");
	buf_release(&line);
}

static void test_lines(void **state)
{
	char endpoint[] = "H:1";
	struct buf line = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct remote remote = {.endpoint = endpoint, .tls = cases[i].tls};

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
		cmocka_unit_test(test_another_name_than_the_given_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
