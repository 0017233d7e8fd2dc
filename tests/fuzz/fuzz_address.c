/*
 * Arbitrary server addresses, in the first line. Law: what an address is shown as, parses to the
 * same target (behind a scheme: a host may have the name of one).
 */
#include "remote_address.h"

#include "util/mem.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct address *address, bool tls)
{
	char *endpoint = address_endpoint(address, tls), *target = address_target(address, tls);
	char *shown = xasprintf("%s%s", address->kind == HOST_UNIX ? "" : "grpc://", endpoint);
	struct err err = ERR_INIT;
	struct address again;
	char *target_again;

	assert(address_parse(shown, &again, &err) == 0);
	target_again = address_target(&again, tls);
	assert(strcmp(target, target_again) == 0);
	assert(again.loopback == address->loopback);
	address_release(&again);
	free(endpoint);
	free(shown);
	free(target);
	free(target_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmemdup0(data, size);
	struct err err = ERR_INIT;
	struct address address;

	text[strcspn(text, "\n")] = '\0';
	if (address_parse(text, &address, &err) == 0) {
		check(&address, false);
		check(&address, true);
		address_release(&address);
	}
	free(text);
	return 0;
}
