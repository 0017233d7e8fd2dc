#include "util/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void number_add_real(struct buf *buf, double number)
{
	char text[32];
	int digits;

	if (!isfinite(number))
		return;
	/* 15 digits suffice for what people typed, 17 for every double. */
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	buf_addstr(buf, text);
}

void number_add_short(struct buf *buf, double number)
{
	if (isfinite(number))
		buf_addf(buf, fabs(number) >= 1e6 ? "%.0f" : "%.6g", number);
}
