#include "buckconfig.h"

#include "buckconfig_table.h"
#include "digest.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct buckconfig {
	char *root;
	struct table all;	/* includes followed */
	struct table immediate; /* includes passed over */
};

/* ---- lines ---- */

struct lines {
	const char *at, *end;
	size_t number; /* of the last physical line taken, from 1 */
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trim(struct str text)
{
	while (text.len && is_space(text.data[0]))
		text = (struct str){text.data + 1, text.len - 1};
	while (text.len && is_space(text.data[text.len - 1]))
		text.len--;
	return text;
}

static struct str take_physical(struct lines *in)
{
	const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
	const char *stop = newline ? newline : in->end;
	struct str line = {in->at, (size_t)(stop - in->at)};

	in->at = newline ? newline + 1 : in->end;
	in->number++;
	return trim(line);
}

static bool is_continued(const struct buf *line)
{
	return line->len && line->data[line->len - 1] == '\\';
}

/*
 * A logical line: trimmed physical ones, joined where a backslash ends them,
 * the backslash dropped. Comments are looked for only afterwards, so a comment
 * that ends in a backslash swallows the next line. At the end of the file the
 * backslash stays.
 */
static bool next_line(struct lines *in, struct buf *line, size_t *out_number)
{
	struct str part;

	if (in->at == in->end)
		return false;
	buf_clear(line);
	part = take_physical(in);
	buf_add(line, part.data, part.len);
	*out_number = in->number;
	while (is_continued(line) && in->at < in->end) {
		line->data[--line->len] = '\0';
		part = take_physical(in);
		buf_add(line, part.data, part.len);
	}
	return true;
}

/* ---- parsing ---- */

struct parser {
	struct table *table;
	bool follow;   /* includes */
	char *section; /* goes into included files and comes back as they left it */
	size_t files;  /* read so far */
};

struct place {
	const char *path;
	size_t line;
};

static int parse_file(struct parser *parser, const char *path, struct err *err);

static int fault(struct place place, struct err *err, const char *what)
{
	return err_set(err, ERR_USAGE, "%s:%zu: %s", place.path, place.line, what);
}

static void set_section(struct parser *parser, struct str name)
{
	free(parser->section);
	parser->section = xmemdup0(name.data, name.len);
}

/* "[name]", perhaps with a comment after " #"; the name is taken verbatim. */
static int parse_section(struct parser *parser, struct str line, struct place place,
			 struct err *err)
{
	struct str name = {line.data + 1, line.len - 1};
	const char *comment = strstr(name.data, " #");

	if (comment)
		name.len = (size_t)(comment - name.data);
	if (!name.len || name.data[name.len - 1] != ']')
		return fault(place, err, "a section that no ']' ends");
	name.len--;
	set_section(parser, name);
	return 0;
}

/* There are no comments behind values. */
static int parse_setting(struct parser *parser, struct str line, const char *equals,
			 struct place place, struct err *err)
{
	struct str key = trim((struct str){line.data, (size_t)(equals - line.data)});
	size_t after = (size_t)(equals - line.data) + 1;
	struct str value = trim((struct str){line.data + after, line.len - after});

	if (!key.len)
		return fault(place, err, "no key before '='");
	table_add(parser->table, parser->section, key, value, place.path, place.line);
	return 0;
}

/*
 * Finds the path in the first "<file:PATH>" or "<?file:PATH>"; what stands
 * around it does not matter, and PATH goes to the last '>'.
 */
static bool find_include(struct str line, struct str *out_path, bool *out_optional)
{
	const char *close = strrchr(line.data, '>');
	const char *at;

	for (at = strchr(line.data, '<'); at && at < close; at = strchr(at + 1, '<')) {
		bool optional = at[1] == '?';
		const char *word = at + 1 + optional;
		const char *path = word + strlen("file:");

		if (strncmp(word, "file:", strlen("file:")) != 0 || path >= close)
			continue;
		*out_path = (struct str){path, (size_t)(close - path)};
		*out_optional = optional;
		return true;
	}
	return false;
}

/* Relative to the folder of the including file. Caller frees. */
static char *include_path(const char *from, struct str include)
{
	const char *slash = strrchr(from, '/');
	int dir = slash ? (int)(slash - from) + 1 : 0;

	if (include.data[0] == '/')
		return xmemdup0(include.data, include.len);
	return xasprintf("%.*s%.*s", dir, from, (int)include.len, include.data);
}

static int parse_include(struct parser *parser, struct str include, bool optional,
			 struct place place, struct err *err)
{
	char *path = include_path(place.path, include);
	int rc = 0;

	if (access(path, F_OK) == 0)
		rc = parse_file(parser, path, err);
	else if (!optional)
		rc = err_set(err, ERR_USAGE, "%s:%zu: the included file %s is missing", place.path,
			     place.line, path);
	free(path);
	return rc;
}

static int parse_line(struct parser *parser, struct str line, struct place place, struct err *err)
{
	const char *equals = strchr(line.data, '=');
	struct str include;
	bool optional;

	if (!line.len || line.data[0] == '#' || line.data[0] == ';')
		return 0;
	if (line.data[0] == '[')
		return parse_section(parser, line, place, err);
	if (equals) /* even inside of an include */
		return parse_setting(parser, line, equals, place, err);
	if (!find_include(line, &include, &optional))
		return fault(place, err, "neither section, key = value nor include");
	return parser->follow ? parse_include(parser, include, optional, place, err) : 0;
}

static int parse_text(struct parser *parser, struct str text, const char *path, struct err *err)
{
	struct lines lines = {text.data, text.data + text.len, 0};
	struct place place = {path, 0};
	struct buf line = BUF_INIT;
	int rc = 0;

	if (text.len && memchr(text.data, '\0', text.len))
		return err_set(err, ERR_USAGE, "%s: holds a NUL byte", path);
	while (rc == 0 && next_line(&lines, &line, &place.line))
		rc = parse_line(parser, (struct str){line.data, line.len}, place, err);
	buf_release(&line);
	return rc;
}

static int parse_file(struct parser *parser, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int rc;

	if (++parser->files > BUCKCONFIG_FILES_MAX)
		return err_set(err, ERR_LIMIT,
			       "%s: file %d of one configuration: does an include "
			       "lead back to itself?",
			       path, BUCKCONFIG_FILES_MAX + 1);
	rc = file_read(path, BUCKCONFIG_FILE_MAX, &text, err);
	if (rc == 0)
		rc = parse_text(parser, (struct str){text.data, text.len}, path, err);
	buf_release(&text);
	return rc;
}

/* ---- which files ---- */

/* A file that nothing includes: sections begin anew. Missing is no fault. */
static int parse_top(struct parser *parser, const char *path, struct err *err)
{
	if (access(path, F_OK) != 0)
		return 0;
	set_section(parser, STR("__unspecified__"));
	return parse_file(parser, path, err);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int parse_dir(struct parser *parser, const char *dir, struct err *err);

/* Symbolic links are skipped, as Buck2 does, and whatever else is no file. */
static int parse_entry(struct parser *parser, const char *dir, const char *name, struct err *err)
{
	struct stat st;
	char *path;
	int rc = 0;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	path = xasprintf("%s/%s", dir, name);
	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		rc = parse_top(parser, path, err);
	else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		rc = parse_dir(parser, path, err);
	free(path);
	return rc;
}

/* All files below it in byte order of their names, whatever their suffix. */
static int parse_dir(struct parser *parser, const char *dir, struct err *err)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, NULL, by_name), i, rc = 0;

	if (count < 0)
		return 0;
	for (i = 0; i < count; i++) {
		if (rc == 0)
			rc = parse_entry(parser, dir, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int parse_joined(struct parser *parser, const char *dir, const char *name, bool folder,
			struct err *err)
{
	char *path;
	int rc;

	if (!dir)
		return 0;
	path = xasprintf("%s/%s", dir, name);
	rc = folder ? parse_dir(parser, path, err) : parse_top(parser, path, err);
	free(path);
	return rc;
}

static int parse_all(struct table *table, bool follow, const char *root, const char *home,
		     const char *etc, struct err *err)
{
	const struct {
		const char *dir, *name;
		bool folder;
	} sources[] = {
		{etc, "buckconfig.d", true},	    {etc, "buckconfig", false},
		{home, ".buckconfig.d", true},	    {home, ".buckconfig.local", false},
		{root, ".buckconfig.d", true},	    {root, ".buckconfig", false},
		{root, ".buckconfig.local", false},
	};
	struct parser parser = {.table = table, .follow = follow};
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++)
		rc = parse_joined(&parser, sources[i].dir, sources[i].name, sources[i].folder, err);
	free(parser.section);
	return rc;
}

int buckconfig_load(struct buckconfig **out_config, const char *root, const char *home,
		    const char *etc, struct err *err)
{
	struct buckconfig *config = xcalloc(1, sizeof(*config));

	config->root = xstrdup(root);
	if (parse_all(&config->all, true, root, home, etc, err) < 0 ||
	    parse_all(&config->immediate, false, root, home, etc, err) < 0) {
		buckconfig_free(config);
		return -1;
	}
	*out_config = config;
	return 0;
}

static int parse_one(struct table *table, struct str text, const char *name, struct err *err)
{
	struct parser parser = {.table = table};
	int rc;

	set_section(&parser, STR("__unspecified__"));
	rc = parse_text(&parser, text, name, err);
	free(parser.section);
	return rc;
}

int buckconfig_parse(struct buckconfig **out_config, const char *text, size_t len, const char *name,
		     struct err *err)
{
	struct buckconfig *config = xcalloc(1, sizeof(*config));

	if (parse_one(&config->all, (struct str){text, len}, name, err) < 0 ||
	    parse_one(&config->immediate, (struct str){text, len}, name, err) < 0) {
		buckconfig_free(config);
		return -1;
	}
	*out_config = config;
	return 0;
}

void buckconfig_free(struct buckconfig *config)
{
	if (!config)
		return;
	free(config->root);
	table_release(&config->all);
	table_release(&config->immediate);
	free(config);
}

/* ---- values ---- */

int buckconfig_get(struct buckconfig *config, const char *section, const char *key,
		   const char **out_value, struct err *err)
{
	return table_get(&config->all, section, key, out_value, err);
}

const char *buckconfig_origin(const struct buckconfig *config, const char *section, const char *key)
{
	const struct setting *setting = table_find(&config->all, str_of(section), str_of(key));

	return setting ? setting->origin : NULL;
}

const char *buckconfig_root(const struct buckconfig *config)
{
	return config->root;
}

enum digest_function config_digest_function(struct buckconfig *config)
{
	struct err ignored = ERR_INIT;
	const char *names;

	if (table_get(&config->immediate, "buck2", "digest_algorithms", &names, &ignored) <= 0)
		return DIGEST_UNKNOWN;
	return digest_function_parse(trim((struct str){names, strcspn(names, ",")}));
}

/* ---- environment ---- */

static size_t env_name_length(const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	if (!*text || !strchr(letters, *text))
		return 0;
	return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}

static int not_set(const char *name, struct err *err)
{
	if (name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
		return err_set(err, ERR_USAGE,
			       "$ and a letter name an environment variable, and it is not set");
	return err_set(err, ERR_USAGE, "the environment variable %s is not set", name);
}

/* substitute_env_vars(): \$[a-zA-Z_][a-zA-Z_0-9]* and nothing else. */
int buckconfig_expand_env(const char *text, char **out_text, struct err *err)
{
	struct buf out = BUF_INIT;
	const char *dollar;

	for (; (dollar = strchr(text, '$')) != NULL; text = dollar) {
		size_t len = env_name_length(dollar + 1);
		char *name = xmemdup0(dollar + 1, len);
		const char *value = len ? getenv(name) : "$";

		buf_add(&out, text, (size_t)(dollar - text));
		if (value)
			buf_addstr(&out, value);
		else
			not_set(name, err);
		free(name);
		if (!value) {
			buf_release(&out);
			return -1;
		}
		dollar += 1 + len;
	}
	buf_addstr(&out, text);
	*out_text = buf_detach(&out);
	return 0;
}
