#include "remote_header.h"

#include "util/mem.h"
#include "util/str.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct str trim(struct str text)
{
	while (text.len && strchr(" \t\r\n", text.data[0]))
		text = (struct str){text.data + 1, text.len - 1};
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.len--;
	return text;
}

bool header_value_is_legal(const char *value)
{
	for (; *value; value++)
		if (*value < ' ' || *value > '~')
			return false;
	return true;
}

static bool name_is_legal(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(name);
}

static bool name_is_binary(const char *name)
{
	size_t len = strlen(name);

	return len >= 4 && strcmp(name + len - 4, "-bin") == 0;
}

static void to_lower(char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
}

static int check(const struct header *header, struct err *err)
{
	if (!name_is_legal(header->name))
		return err_set(err, ERR_USAGE, "a name of letters, digits and -_. is wanted");
	if (name_is_binary(header->name))
		return err_set(err, ERR_USAGE, "'%s': names in -bin are for bytes, not for text",
			       header->name);
	if (!header_value_is_legal(header->value))
		return err_set(err, ERR_USAGE,
			       "the value of '%s' holds a line break or another character that no "
			       "header may hold",
			       header->name);
	return 0;
}

static void header_release(struct header *header)
{
	free(header->name);
	free(header->value);
}

static struct header *find(const struct remote *remote, const char *name)
{
	size_t i;

	for (i = 0; i < remote->header_count; i++)
		if (strcmp(remote->headers[i].name, name) == 0)
			return &remote->headers[i];
	return NULL;
}

/* Takes the header over. */
static void set(struct remote *remote, struct header header)
{
	struct header *old = find(remote, header.name);

	if (old) {
		header_release(old);
		*old = header;
		return;
	}
	remote->headers = xreallocarray(remote->headers, remote->header_count + 1, sizeof(header));
	remote->headers[remote->header_count++] = header;
}

/* Expands a part of the text; the split comes first, so a variable may hold separators. */
static int expand(struct str text, char **out_text, struct err *err)
{
	struct str part = trim(text);
	char *raw = xmemdup0(part.data, part.len);
	int rc = buckconfig_expand_env(raw, out_text, err);

	free(raw);
	return rc;
}

/* "NAME<separator>VALUE"; the first of `separators` counts. */
static int parse(struct str text, const char *separators, struct header *out_header,
		 struct err *err)
{
	struct header header = {NULL, NULL};
	size_t len = 0;

	while (len < text.len && !strchr(separators, text.data[len]))
		len++;
	if (len == text.len)
		return err_set(err, ERR_USAGE, "a name and a value are wanted");
	if (expand((struct str){text.data, len}, &header.name, err) < 0 ||
	    expand((struct str){text.data + len + 1, text.len - len - 1}, &header.value, err) < 0)
		goto out;
	to_lower(header.name);
	if (check(&header, err) < 0)
		goto out;
	*out_header = header;
	return 0;
out:
	header_release(&header);
	return -1;
}

int headers_add_config(struct remote *remote, const char *list, struct err *err)
{
	const char *at = list;
	struct header header = {0};
	size_t number, len;

	/* An empty item is a fault in Buck2 too: a comma at the end, or no value at all. */
	for (number = 1;; number++, at += len + 1) {
		len = strcspn(at, ",");
		if (parse((struct str){at, len}, ":", &header, err) < 0)
			return err_prefix(err, "http_headers, item %zu", number);
		set(remote, header);
		if (!at[len])
			return 0;
	}
}

/* Is the value written out, and not just the name of a variable? */
static bool is_written_out(const char *text, const struct header *header)
{
	assert(header->value);
	return *header->value && strstr(text, header->value) != NULL;
}

int headers_add_flag(struct remote *remote, const char *text, size_t number, struct err *err)
{
	struct header header = {0};

	if (parse(str_of(text), "=:", &header, err) < 0)
		return err_prefix(err, "--header %zu (NAME=VALUE)", number);
	if (is_written_out(text, &header))
		remote->header_on_argv = true;
	set(remote, header);
	return 0;
}

bool headers_have(const struct remote *remote, const char *name)
{
	return find(remote, name) != NULL;
}

void headers_drop(struct remote *remote, const char *name)
{
	struct header *header = find(remote, name);

	if (!header)
		return;
	header_release(header);
	*header = remote->headers[--remote->header_count];
}
