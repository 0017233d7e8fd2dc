#include "store_sql.h"

#include <string.h>

/* What a comment or quoted text that begins at `at` ends behind; `at` if none does. */
static const char *skip_quoted(const char *at)
{
	char close = *at == '[' ? ']' : *at;

	if (at[0] == '-' && at[1] == '-') {
		at = strchr(at, '\n');
	} else if (at[0] == '/' && at[1] == '*') {
		at = strstr(at + 2, "*/");
		return at ? at + 2 : NULL;
	} else if (*at == '\'' || *at == '"' || *at == '`' || *at == '[') {
		at = strchr(at + 1, close); /* a doubled quote is two quoted texts */
		return at ? at + 1 : NULL;
	}
	return at;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the statement at `at`: its semicolon, or the end of the text. */
static const char *statement_end(const char *at)
{
	/* Each start goes through the text of all views: strcspn() takes many bytes at a time. */
	while (*(at += strcspn(at, ";-/'\"`[")) && *at != ';') {
		const char *behind = skip_quoted(at);

		if (!behind)
			return at + strlen(at);
		at = behind == at ? at + 1 : behind;
	}
	return at;
}

/* Steps over spaces and comments, which SQLite would not keep here. */
static const char *statement_begin(const char *at)
{
	while (is_space(*at) || (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*')) {
		const char *behind = skip_quoted(at);

		if (!behind)
			return at + strlen(at);
		at = behind == at ? at + 1 : behind;
	}
	return at;
}

struct str sql_next(const char **at)
{
	const char *begin = statement_begin(*at), *end = statement_end(begin);

	*at = *end ? end + 1 : end;
	while (end > begin && is_space(end[-1]))
		end--;
	return (struct str){begin, (size_t)(end - begin)};
}

struct str sql_word(struct str *rest)
{
	size_t begin = 0, end;

	while (begin < rest->len && is_space(rest->data[begin]))
		begin++;
	for (end = begin; end < rest->len && !is_space(rest->data[end]); end++)
		if (rest->data[end] == '(' || rest->data[end] == ')')
			break;
	rest->data += end;
	rest->len -= end;
	return (struct str){rest->data - (end - begin), end - begin};
}
