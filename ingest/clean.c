#include "clean.h"

#include "redact.h"
#include "util/buf.h"
#include "util/mem.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct str cut_redact(struct str text, size_t max, struct buf *out);

static struct str clean(struct clean_texts *texts, struct str text, size_t max, cut_redact *redact)
{
	struct buf buf = BUF_INIT;
	struct str clean = redact(text, max, &buf);

	if (clean.data == text.data)
		return text;
	texts->items = xreallocarray(texts->items, texts->count + 1, sizeof(*texts->items));
	texts->items[texts->count++] = buf_detach(&buf);
	return clean;
}

struct str clean_text(struct clean_texts *texts, struct str text)
{
	return clean(texts, text, SIZE_MAX, redact_begin);
}

static void clean_stderr(struct clean_texts *texts, struct attempt *attempt, size_t max)
{
	if (attempt->status != STATUS_SUCCESS && !attempt->no_stderr)
		attempt->stderr_clean = clean(texts, attempt->stderr_text, max, redact_tail);
}

/* What a rule sends its commands with is its own affair: here names tell, as in -c values. */
static void clean_properties(struct attempt *attempt)
{
	size_t i;

	for (i = 0; i < attempt->property_count; i++) {
		struct property *property = &attempt->properties[i];

		if (redact_is_secret(STR_NULL, property->name, property->value))
			property->value = STR(REDACTED);
	}
}

void clean_action(struct clean_texts *texts, struct action *action, size_t text_max,
		  size_t stderr_max)
{
	size_t i;

	action->error_text = clean(texts, action->error_text, text_max, redact_begin);
	for (i = 0; i < action->attempt_count; i++) {
		struct attempt *attempt = &action->attempts[i];

		attempt->error_text = clean(texts, attempt->error_text, text_max, redact_begin);
		attempt->additional_message =
			clean(texts, attempt->additional_message, text_max, redact_begin);
		clean_properties(attempt);
		clean_stderr(texts, attempt, stderr_max);
	}
}

void clean_texts_release(struct clean_texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = CLEAN_TEXTS_INIT;
}
