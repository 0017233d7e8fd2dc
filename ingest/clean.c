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

/* Texts of an action, while some of it is `left`: then they are empty. */
static void clean_begin(struct clean_texts *texts, struct str *text,
			const struct clean_limits *limits, size_t *left)
{
	size_t max = *left < limits->text ? *left : limits->text;

	if (max)
		*text = clean(texts, *text, max, redact_begin);
	else
		text->len = 0;
	*left -= *left < text->len ? *left : text->len;
}

static void clean_stderr(struct clean_texts *texts, struct attempt *attempt,
			 const struct clean_limits *limits, size_t *left)
{
	struct str *end = &attempt->stderr_clean;

	if (attempt->status == STATUS_SUCCESS || attempt->no_stderr)
		return;
	if (*left)
		*end = clean(texts, attempt->stderr_text, limits->stderr_end, redact_tail);
	else
		*end = attempt->stderr_text.len ? STR("") : attempt->stderr_text;
	*left -= *left < end->len ? *left : end->len;
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

void clean_action(struct clean_texts *texts, struct action *action,
		  const struct clean_limits *limits)
{
	size_t left = limits->all, i;

	clean_begin(texts, &action->error_text, limits, &left);
	for (i = 0; i < action->attempt_count; i++) {
		struct attempt *attempt = &action->attempts[i];

		clean_begin(texts, &attempt->error_text, limits, &left);
		clean_begin(texts, &attempt->additional_message, limits, &left);
		clean_properties(attempt);
		clean_stderr(texts, attempt, limits, &left);
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
