/*
 * Arbitrary .buckconfig texts: parsed, and some values asked for. Law: a value
 * that is there has an origin, and is the same when asked for again.
 */
#include "buckconfig.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_key(struct buckconfig *config, const char *section, const char *key)
{
	struct err err = ERR_INIT;
	const char *value, *again;
	int rc = buckconfig_get(config, section, key, &value, &err);

	assert(buckconfig_get(config, section, key, &again, &err) == rc);
	assert((rc != 0) == (buckconfig_origin(config, section, key) != NULL));
	if (rc < 0)
		assert(*err.text);
	if (rc > 0)
		assert(value == again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buckconfig *config;
	struct err err = ERR_INIT;

	if (buckconfig_parse(&config, (const char *)data, size, "f", &err) < 0) {
		assert(err.kind == ERR_USAGE && strncmp(err.text, "f:", 2) == 0);
		return 0;
	}
	check_key(config, "a", "b");
	check_key(config, "buck2_re_client", "address");
	check_key(config, "__unspecified__", "a");
	config_digest_function(config);
	buckconfig_free(config);
	return 0;
}
