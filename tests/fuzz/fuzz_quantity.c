/* Any text as a quantity. Law: thousandths and ones agree on where the number lies. */
#include "util/quantity.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct err err = ERR_INIT;
	int64_t thousandths, ones;

	if (quantity_millicores(text, &thousandths, &err) < 0)
		return 0;
	/* What fits a thousand times fits once. */
	assert(quantity_bytes(text, &ones, &err) == 0);
	assert(ones >= thousandths / 1000);
	assert(ones == 0 ? thousandths == 0 : thousandths > 1000 * (ones - 1));
	return 0;
}
