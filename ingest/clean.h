/*
 * An action's texts without secrets: its error, and of each attempt the error,
 * the message, the properties and, where it failed, stderr. Texts that hold none stay
 * borrowed.
 */
#ifndef BR2_CLEAN_H
#define BR2_CLEAN_H

#include "model.h"

#include <stddef.h>

/* The texts that had to be replaced; one lives as long as the action it cleaned. */
struct clean_texts {
	char **items;
	size_t count;
};

#define CLEAN_TEXTS_INIT ((struct clean_texts){NULL, 0})

/* What is enough of an action's texts: more is not cleaned. */
struct clean_limits {
	size_t text;	   /* first bytes of each */
	size_t stderr_end; /* last bytes of stderr, at least */
	size_t all;	   /* of all of them together; what comes after is empty */
};

/* Points the action's texts to clean ones; stderr_text stays, stderr_clean is set. */
void clean_action(struct clean_texts *texts, struct action *action,
		  const struct clean_limits *limits);

/* `text` itself, or its clean copy, which `texts` owns. */
struct str clean_text(struct clean_texts *texts, struct str text);

void clean_texts_release(struct clean_texts *texts);

#endif
