/*
 * Memory for what zstd looks back into, in huge pages. zstd copies from anywhere in a window of
 * some MiB, and with pages of 4 KiB the processor's table of them is too short for that.
 *
 * For unpack.c only.
 */
#ifndef BR2_UNPACK_WINDOW_H
#define BR2_UNPACK_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory aligned for any type, or NULL. `huge`: where it holds a whole huge page, the system is
 * asked for such pages, which it makes at the first touch, 2 MiB at once.
 */
void *unpack_window_take(size_t size, bool huge);
/* NULL is fine. */
void unpack_window_give(void *window);

#endif
