/*
 * Arbitrary server addresses, in the first line. Law: what an address is shown as, means the same
 * address (behind a scheme: a host may have the name of one).
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
	char *endpoint = address_endpoint(address, tls), *endpoint_again;
	char *shown = xasprintf("%s%s", address->kind == HOST_UNIX ? "" : "grpc://", endpoint);
	struct err err = ERR_INIT;
	struct address again;

	assert(address_parse(shown, &again, &err) == 0);
	endpoint_again = address_endpoint(&again, tls);
	assert(strcmp(endpoint, endpoint_again) == 0);
	assert(again.loopback == address->loopback);
	address_release(&again);
	free(endpoint);
	free(shown);
	free(endpoint_again);
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
