#include "remote_address.h"

#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void check_address(const char *text, bool tls, const char *endpoint, bool loopback)
{
	struct address address;
	struct err err = ERR_INIT;
	char *got;

	if (address_parse(text, &address, &err) < 0)
		fail_msg("%s", err.text);
	got = address_endpoint(&address, tls);
	assert_string_equal(got, endpoint);
	free(got);
	assert_int_equal(address.loopback, loopback);
	address_release(&address);
}

static void test_addresses(void **state)
{
	(void)state;
	check_address("localhost:8980", false, "localhost:8980", true);
	check_address("Cache.Example:1", false, "cache.example:1", false);
	check_address("a.localhost:1", false, "a.localhost:1", true);
	check_address("notlocalhost:1", false, "notlocalhost:1", false);
	check_address("grpc://h_1:65535/", false, "h_1:65535", false);
	check_address("GRPCS://h:7", true, "h:7", false);
	check_address("dns:///h:7", false, "h:7", false);
	check_address("dns://h:7", false, "h:7", false);
	check_address("dns:h:7", false, "h:7", false);
	check_address("storage.ns.svc.cluster.local:8981", false,
		      "storage.ns.svc.cluster.local:8981", false);
}

static void test_ip_addresses(void **state)
{
	(void)state;
	check_address("127.0.0.1:8980", false, "127.0.0.1:8980", true);
	check_address("127.9.9.9:1", false, "127.9.9.9:1", true);
	check_address("10.0.0.1:1", false, "10.0.0.1:1", false);
	check_address("ipv4:10.0.0.1:1", false, "10.0.0.1:1", false);
	check_address("ipv4://10.0.0.1:1", false, "10.0.0.1:1", false);
	check_address("[::1]:8980", false, "[::1]:8980", true);
	check_address("grpc://[2001:DB8::1]:1", false, "[2001:db8::1]:1", false);
	check_address("ipv6:[::1]:1", false, "[::1]:1", true);
	check_address("ipv6://[::2]:1", false, "[::2]:1", false);
	check_address("[fe80::1%eth0]:1", false, "[fe80::1%eth0]:1", false);
}

static void test_sockets(void **state)
{
	(void)state;
	check_address("unix:/tmp/s.sock", false, "unix:/tmp/s.sock", true);
	check_address("unix:///tmp/s.sock", false, "unix:/tmp/s.sock", true);
	check_address("unix:s.sock", false, "unix:s.sock", true);
	/* Two slashes would name a host; the rest would be a query, a fragment, an escape. */
	check_address("unix:////tmp/s", false, "unix:/tmp/s", true);
	check_address("unix:A b?c#d%41", false, "unix:A b?c#d%41", true);
}

static void test_a_missing_port_depends_on_tls(void **state)
{
	(void)state;
	check_address("h", true, "h:443", false);
	check_address("h", false, "h:80", false);
	check_address("[::1]", true, "[::1]:443", true);
	check_address("10.0.0.1", false, "10.0.0.1:80", false);
}

static void refuse_address(const char *text, const char *words)
{
	struct address address;
	struct err err = ERR_INIT;

	if (address_parse(text, &address, &err) == 0)
		fail_msg("'%s' was taken", text);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void test_refused_addresses(void **state)
{
	char *longest = xasprintf("unix:/%0200d", 0);

	(void)state;
	refuse_address("http://cache:8980", "write grpc://cache:8980");
	refuse_address("https://cache", "write grpcs://cache");
	refuse_address("tcp://cache:1", "its scheme");
	refuse_address("", "HOST:PORT");
	refuse_address(":8980", "HOST:PORT");
	refuse_address("a b:1", "HOST:PORT");
	refuse_address("h\n:1", "HOST:PORT");
	refuse_address("h:", "port");
	refuse_address("h:0", "port");
	refuse_address("h:65536", "port");
	refuse_address("h:99999999999", "port");
	refuse_address("h:+1", "port");
	refuse_address("h:1x", "port");
	refuse_address("::1:8980", "[::1]:8980");
	refuse_address("[::1:8980", "']'");
	refuse_address("[::g]:1", "IPv6");
	refuse_address("[127.0.0.1]:1", "IPv6");
	refuse_address("[::1]8980", "']'");
	refuse_address("[::1]:", "port");
	refuse_address("grpc://h:1/path", "path");
	refuse_address("dns://8.8.8.8/h:1", "path");
	refuse_address("ipv4:h:1", "kind");
	refuse_address("ipv6:127.0.0.1:1", "kind");
	refuse_address("unix:", "path");
	refuse_address("unix://s.sock", "unix:///absolute");
	refuse_address(longest, "too long");
	free(longest);
}

static void test_a_password_is_not_shown(void **state)
{
	struct address address;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(address_parse("grpcs://me:secret@h:1", &address, &err), -1);
	assert_null(strstr(err.text, "secret"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_ip_addresses),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_a_missing_port_depends_on_tls),
		cmocka_unit_test(test_refused_addresses),
		cmocka_unit_test(test_a_password_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
