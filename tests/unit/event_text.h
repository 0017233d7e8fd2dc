/*
 * An event as text, every member of it, for tests that compare whole sequences.
 */
#ifndef BR2_EVENT_TEXT_H
#define BR2_EVENT_TEXT_H

#include "model.h"
#include "util/buf.h"

/* Adds one line for each fact; what is unknown is left out. */
void event_text(struct buf *out, const struct event *event);

#endif
