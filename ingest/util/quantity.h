/*
 * Kubernetes quantities ("4500m", "9Gi", "0.5", "1e9") as integers. Grammar and
 * rounding: k8s.io/apimachinery pkg/api/resource/quantity.go and suffix.go; the
 * values.yaml of a chart holds the same texts.
 *
 *   sign? digits ('.' digits)? (n u m k M G T P E | Ki Mi Gi Ti Pi Ei | e|E sign? digits)?
 *
 * A result is exact or rounded up, as Kubernetes does it: who asks for a little
 * gets something. Digits past the 18th decimal place count only as "a little
 * more".
 */
#ifndef BR2_QUANTITY_H
#define BR2_QUANTITY_H

#include "util/err.h"
#include "util/str.h"

#include <stdint.h>

/*
 * Thousandths of a core; bytes. -1 (ERR_FORMAT): no quantity, below zero, or
 * more than int64_t holds (Kubernetes would cap it there, which says nothing);
 * *out is as it was then, and the text quotes what was given.
 */
int quantity_millicores(struct str text, int64_t *out_millicores, struct err *err);
int quantity_bytes(struct str text, int64_t *out_bytes, struct err *err);
/* Bytes of an option: the same with or without the B that people write (8GiB, 512MB). */
int quantity_size(struct str text, int64_t *out_bytes, struct err *err);

#endif
