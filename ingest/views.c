#include "views.h"

#include <ctype.h>
#include <string.h>

/* ---- statements ---- */

/* The end of the string, name or comment that begins at `text`; `text` if none does. */
static const char *skip_quoted(const char *text)
{
	const char *end;

	if (text[0] == '-' && text[1] == '-')
		return text + strcspn(text, "\n");
	if (text[0] == '/' && text[1] == '*') {
		end = strstr(text + 2, "*/");
		return end ? end + 2 : text + strlen(text);
	}
	if (text[0] == '\'' || text[0] == '"') {
		end = strchr(text + 1, text[0]);
		return end ? end + 1 : text + strlen(text);
	}
	return text;
}

/* The first of `stops` outside of strings and comments, or the end. */
static const char *find_code(const char *text, const char *stops)
{
	while (*text && !strchr(stops, *text)) {
		const char *end = skip_quoted(text);

		text = end > text ? end : text + 1;
	}
	return text;
}

/* Past white space and comments. */
static const char *skip_blank(const char *text)
{
	for (;;) {
		text += strspn(text, " \t\r\n");
		if (!(text[0] == '-' && text[1] == '-') && !(text[0] == '/' && text[1] == '*'))
			return text;
		text = skip_quoted(text);
	}
}

static struct str between(const char *start, const char *end)
{
	return (struct str){start, (size_t)(end - start)};
}

/* The statement at `text` if it makes a view with a list of columns. */
static bool read_view(const char *text, const char *end, struct view *out_view)
{
	static const char create[] = "CREATE VIEW ";
	const char *name = text + sizeof(create) - 1;
	const char *open, *close;

	if (strncmp(text, create, sizeof(create) - 1) != 0)
		return false;
	open = find_code(name, "(;");
	close = find_code(open + (*open == '('), ");");
	if (*open != '(' || *close != ')')
		return false;
	out_view->name = between(name, name + strcspn(name, " (\n"));
	out_view->statement = between(text, end);
	out_view->columns = between(open + 1, close);
	return true;
}

bool views_next(struct views_cursor *cursor, struct view *out_view)
{
	while (cursor->file->name) {
		const char *text = skip_blank(cursor->file->text + cursor->at);
		const char *end = find_code(text, ";");

		cursor->at = (size_t)(end - cursor->file->text) + (*end == ';');
		if (!*text) {
			cursor->file++;
			cursor->at = 0;
		} else if (read_view(text, end, out_view)) {
			return true;
		}
	}
	return false;
}

bool views_find(const char *name, struct view *out_view)
{
	struct views_cursor cursor = VIEWS_CURSOR_INIT;

	while (views_next(&cursor, out_view))
		if (str_is(out_view->name, name))
			return true;
	return false;
}

bool view_is_private(const struct view *view)
{
	return str_starts(view->name, "_");
}

static bool ends_with(struct str text, const char *end)
{
	size_t len = strlen(end);

	return text.len > len && memcmp(text.data + text.len - len, end, len) == 0;
}

bool view_is_form(const struct view *view)
{
	return ends_with(view->name, "_by_project") || ends_with(view->name, "_by_run") ||
	       ends_with(view->name, "_by_invocation");
}

/* ---- documentation ---- */

static struct str trim(struct str text)
{
	while (text.len && isspace((unsigned char)text.data[0])) {
		text.data++;
		text.len--;
	}
	while (text.len && isspace((unsigned char)text.data[text.len - 1]))
		text.len--;
	return text;
}

struct line {
	struct str code, comment; /* trimmed */
	bool goes_on;		  /* its comment, where it has no code, with the name above it */
};

/* Where the names of columns begin. */
#define INDENT "    "

/* Takes the next line off `text`. */
static bool next_line(struct str *text, struct line *out)
{
	const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
	size_t len = end ? (size_t)(end - text->data) : text->len;
	size_t dash = 0;

	if (!text->len)
		return false;
	while (dash < len &&
	       !(text->data[dash] == '-' && dash + 1 < len && text->data[dash + 1] == '-'))
		dash++;
	out->code = trim((struct str){text->data, dash});
	out->comment =
		dash < len ? trim((struct str){text->data + dash + 2, len - dash - 2}) : STR_NULL;
	out->goes_on = str_starts(*text, INDENT " ");
	text->data += len + (end != NULL);
	text->len -= len + (end != NULL);
	return true;
}

static void add_words(struct buf *buf, struct str words)
{
	if (!words.len)
		return;
	if (buf->len)
		buf_addch(buf, ' ');
	buf_add(buf, words.data, words.len);
}

void view_add_about(const struct view *view, struct buf *buf)
{
	struct str rest = view->columns;
	struct buf about = BUF_INIT;
	struct line line;

	while (next_line(&rest, &line) && !line.code.len)
		add_words(&about, line.comment);
	buf_add(buf, about.data, about.len);
	buf_release(&about);
}

/* Takes the next name off a line "a, b,". */
static bool next_name(struct str *code, struct str *out_name)
{
	const char *comma;
	size_t len;

	*code = trim(*code);
	if (!code->len)
		return false;
	comma = memchr(code->data, ',', code->len);
	len = comma ? (size_t)(comma - code->data) : code->len;
	*out_name = trim((struct str){code->data, len});
	code->data += len + (comma != NULL);
	code->len -= len + (comma != NULL);
	return true;
}

struct giving {
	struct view_column column; /* which the words that follow are about; no name: none yet */
	struct buf ahead;	   /* words that stand above the next name */
	view_column_fn *each;
	void *context;
};

static void give(struct giving *giving)
{
	if (giving->column.name.len)
		giving->each(giving->context, &giving->column);
	giving->column.name = STR_NULL;
	buf_clear(&giving->column.about);
}

/* What stands above a line is about its first name, what stands behind it about its last. */
static void take_line(struct giving *giving, struct line line)
{
	struct str name;

	while (next_name(&line.code, &name)) {
		give(giving);
		giving->column.name = name;
		add_words(&giving->column.about,
			  (struct str){giving->ahead.data, giving->ahead.len});
		buf_clear(&giving->ahead);
	}
}

void view_columns(const struct view *view, view_column_fn *each, void *context)
{
	struct giving giving = {{STR_NULL, BUF_INIT}, BUF_INIT, each, context};
	struct str rest = view->columns;
	struct line line;

	while (next_line(&rest, &line)) {
		bool is_alone = !line.code.len && !line.goes_on;

		take_line(&giving, line);
		if (giving.column.name.len)
			add_words(is_alone ? &giving.ahead : &giving.column.about, line.comment);
	}
	give(&giving);
	buf_release(&giving.column.about);
	buf_release(&giving.ahead);
}
