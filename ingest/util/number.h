/* Numbers as text, the same in every output format. */
#ifndef BR2_NUMBER_H
#define BR2_NUMBER_H

#include "util/buf.h"

/*
 * Adds the shortest decimal that reads back as the same double ("0.1", "4.08",
 * "1e+300"). Adds nothing for NaN and infinities.
 */
void number_add_real(struct buf *buf, double number);
/* For people: six significant digits, whole numbers from a million on. The same for NaN. */
void number_add_short(struct buf *buf, double number);

#endif
