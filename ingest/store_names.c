/*
 * Names, each stored once: text in, id out. A bounded cache stands before the
 * tables, so that a log costs one question for each name and not for each row.
 * Names are never deleted, hence an id that was seen stays good until a rollback.
 */
#include "store_db.h"

#include <string.h>

/* Cache keys begin with what kind they are; name tables use their own number. */
enum { KEY_ACTION = NAME_TABLES, KEY_TARGET, KEY_INSTANCE, KEY_REQUEST };

static const struct {
	const char *insert, *select;
} name_sql[NAME_TABLES] = {
	[NAME_PROJECT] = {"INSERT INTO project (name) VALUES (:name) ON CONFLICT DO NOTHING",
			  "SELECT project_id FROM project WHERE name = :name"},
	[NAME_PACKAGE] = {"INSERT INTO package (name) VALUES (:name) ON CONFLICT DO NOTHING",
			  "SELECT package_id FROM package WHERE name = :name"},
	[NAME_CONFIGURATION] = {"INSERT INTO configuration (name) VALUES (:name)"
				" ON CONFLICT DO NOTHING",
				"SELECT configuration_id FROM configuration WHERE name = :name"},
	[NAME_CATEGORY] = {"INSERT INTO category (name) VALUES (:name) ON CONFLICT DO NOTHING",
			   "SELECT category_id FROM category WHERE name = :name"},
	[NAME_WORKER] = {"INSERT INTO worker (name) VALUES (:name) ON CONFLICT DO NOTHING",
			 "SELECT worker_id FROM worker WHERE name = :name"},
	[NAME_PLATFORM] = {"INSERT INTO platform (properties) VALUES (:name)"
			   " ON CONFLICT DO NOTHING",
			   "SELECT platform_id FROM platform WHERE properties = :name"},
	[NAME_RULE] = {"INSERT INTO rule (name) VALUES (:name) ON CONFLICT DO NOTHING",
		       "SELECT rule_id FROM rule WHERE name = :name"},
};

/* ---- cache keys ---- */

static void key_begin(struct store *store, int kind)
{
	buf_clear(&store->key);
	buf_addch(&store->key, (char)kind);
}

/* Lengths before bytes: texts may hold any byte, also NUL. */
static void key_add(struct store *store, struct str text)
{
	uint64_t len = text.data ? text.len + 1 : 0;

	buf_add(&store->key, &len, sizeof(len));
	buf_add(&store->key, text.data, text.len);
}

static bool cached(struct store *store, int64_t *out_id)
{
	return hashmap_get(&store->names, store->key.data, store->key.len, out_id);
}

static void keep(struct store *store, int64_t id)
{
	hashmap_put(&store->names, store->key.data, store->key.len, id);
}

void name_forget(struct store *store)
{
	hashmap_clear(&store->names);
}

/*
 * Runs the insert that was bound. 1: a row was made, *out_id; 0: it is there
 * already; -1.
 */
static int insert_new(struct statement *s, int64_t *out_id, struct err *err)
{
	if (db_done(s, err) < 0)
		return -1;
	if (db_changes(s->store) == 0)
		return 0;
	*out_id = db_last_id(s->store);
	return 1;
}

/* Runs the select that was bound: it has exactly one row. */
static int select_id(struct statement *s, int64_t *out_id, struct err *err)
{
	if (db_row(s, err) < 0)
		return -1;
	*out_id = column_int(s, 0);
	db_reset(s);
	return 0;
}

/* ---- plain names ---- */

int name_intern(struct store *store, enum name_table table, struct str name, int64_t *out_id,
		struct err *err)
{
	enum statement_id id = ST_NAME_FIRST + 2 * table;
	struct statement *s;
	int made;

	if (!name.data)
		name = STR("");
	key_begin(store, (int)table);
	key_add(store, name);
	if (cached(store, out_id))
		return 0;
	s = db_use(store, id, name_sql[table].insert);
	bind_text(s, ":name", name);
	made = insert_new(s, out_id, err);
	if (made == 0) {
		s = db_use(store, id + 1, name_sql[table].select);
		bind_text(s, ":name", name);
		made = select_id(s, out_id, err);
	}
	if (made < 0)
		return -1;
	keep(store, *out_id);
	return 0;
}

int name_intern_or_null(struct store *store, enum name_table table, struct str name,
			int64_t *out_id, struct err *err)
{
	if (name.data)
		return name_intern(store, table, name, out_id, err);
	*out_id = UNKNOWN;
	return 0;
}

int name_find_instance(struct store *store, const char *cache, const char *name, int64_t *out_id,
		       struct err *err)
{
	struct statement *s =
		db_use(store, ST_INSTANCE_SELECT,
		       "SELECT instance_id FROM instance WHERE cache = :cache AND name = :name");

	bind_text(s, ":cache", str_of(cache));
	bind_text(s, ":name", str_of(name));
	return db_find(s, out_id, err);
}

int name_intern_instance(struct store *store, const char *cache, const char *name, int64_t *out_id,
			 struct err *err)
{
	struct statement *s;
	int made;

	key_begin(store, KEY_INSTANCE);
	key_add(store, str_of(cache));
	key_add(store, str_of(name));
	if (cached(store, out_id))
		return 0;
	s = db_use(store, ST_INSTANCE_INSERT,
		   "INSERT INTO instance (cache, name) VALUES (:cache, :name)"
		   " ON CONFLICT DO NOTHING");
	bind_text(s, ":cache", str_of(cache));
	bind_text(s, ":name", str_of(name));
	made = insert_new(s, out_id, err);
	if (made == 0)
		made = name_find_instance(store, cache, name, out_id, err);
	if (made < 0)
		return -1;
	keep(store, *out_id);
	return 0;
}

/* ---- targets and actions ---- */

static int insert_target(struct store *store, const struct action_name *name, struct str label,
			 int64_t *out_id, struct err *err)
{
	struct statement *s;
	int64_t package_id;
	int made;

	if (name_intern(store, NAME_PACKAGE, name->target, &package_id, err) < 0)
		return -1;
	s = db_use(store, ST_TARGET_INSERT,
		   "INSERT INTO target (package_id, buck_package, label)"
		   " VALUES (:package, :buck_package, :label) ON CONFLICT DO NOTHING");
	bind_int(s, ":package", package_id);
	bind_text(s, ":buck_package", name->buck_package.data ? name->buck_package : STR(""));
	bind_text(s, ":label", label);
	made = insert_new(s, out_id, err);
	if (made)
		return made < 0 ? -1 : 0;
	s = db_use(store, ST_TARGET_SELECT, "SELECT target_id FROM target WHERE label = :label");
	bind_text(s, ":label", label);
	return select_id(s, out_id, err);
}

static int intern_target(struct store *store, const struct action_name *name, int64_t *out_id,
			 struct err *err)
{
	struct str label;

	buf_clear(&store->label);
	buf_add(&store->label, name->buck_package.data, name->buck_package.len);
	buf_addch(&store->label, ':');
	buf_add(&store->label, name->target.data, name->target.len);
	label = (struct str){store->label.data, store->label.len};
	key_begin(store, KEY_TARGET);
	key_add(store, label);
	if (cached(store, out_id))
		return 0;
	if (insert_target(store, name, label, out_id, err) < 0)
		return -1;
	key_begin(store, KEY_TARGET); /* the package's name has used the key */
	key_add(store, label);
	keep(store, *out_id);
	return 0;
}

static void bind_action_name(struct statement *s, int64_t target_id, int64_t category_id,
			     struct str identifier, int64_t configuration_id)
{
	bind_int(s, ":target", target_id);
	bind_int(s, ":category", category_id);
	bind_text(s, ":identifier", identifier.data ? identifier : STR(""));
	bind_int(s, ":configuration", configuration_id);
}

static int insert_action_name(struct store *store, const struct action_name *name, int64_t *out_id,
			      struct err *err)
{
	int64_t target_id, category_id, configuration_id;
	struct statement *s;
	int made;

	if (intern_target(store, name, &target_id, err) < 0 ||
	    name_intern(store, NAME_CATEGORY, name->category, &category_id, err) < 0 ||
	    name_intern(store, NAME_CONFIGURATION, name->configuration, &configuration_id, err) < 0)
		return -1;
	s = db_use(store, ST_ACTION_NAME_INSERT,
		   "INSERT INTO action_name (target_id, category_id, identifier, configuration_id)"
		   " VALUES (:target, :category, :identifier, :configuration)"
		   " ON CONFLICT DO NOTHING");
	bind_action_name(s, target_id, category_id, name->identifier, configuration_id);
	made = insert_new(s, out_id, err);
	if (made)
		return made < 0 ? -1 : 0;
	s = db_use(store, ST_ACTION_NAME_SELECT,
		   "SELECT name_id FROM action_name WHERE target_id = :target"
		   " AND category_id = :category AND identifier = :identifier"
		   " AND configuration_id = :configuration");
	bind_action_name(s, target_id, category_id, name->identifier, configuration_id);
	return select_id(s, out_id, err);
}

static void action_key(struct store *store, const struct action_name *name)
{
	key_begin(store, KEY_ACTION);
	key_add(store, name->buck_package);
	key_add(store, name->target);
	key_add(store, name->category);
	key_add(store, name->identifier);
	key_add(store, name->configuration);
}

int name_intern_action(struct store *store, const struct action_name *name, int64_t *out_id,
		       struct err *err)
{
	action_key(store, name);
	if (cached(store, out_id))
		return 0;
	if (insert_action_name(store, name, out_id, err) < 0)
		return -1;
	action_key(store, name);
	keep(store, *out_id);
	return 0;
}

/* ---- who asked for an execution ---- */

static void bind_request(struct statement *s, const struct request_metadata *request)
{
	bind_text(s, ":invocation", request->tool_invocation_id);
	bind_text(s, ":tool_name", request->tool_name);
	bind_text(s, ":tool_version", request->tool_version);
	bind_text(s, ":correlated", request->correlated_invocations_id);
	bind_text(s, ":mnemonic", request->action_mnemonic);
	bind_text(s, ":target", request->target_id);
	bind_text(s, ":configuration", request->configuration_id);
}

static int insert_request(struct store *store, const struct request_metadata *request,
			  int64_t *out_id, struct err *err)
{
	struct statement *s = db_use(
		store, ST_REQUEST_INSERT,
		"INSERT INTO request (invocation, tool_name, tool_version,"
		" correlated_invocations_id, action_mnemonic, target_id, configuration_id)"
		" VALUES (:invocation, :tool_name, :tool_version, :correlated, :mnemonic, :target,"
		" :configuration) ON CONFLICT DO NOTHING");
	int made;

	bind_request(s, request);
	made = insert_new(s, out_id, err);
	if (made)
		return made < 0 ? -1 : 0;
	s = db_use(store, ST_REQUEST_SELECT,
		   "SELECT request_id FROM request WHERE ifnull(invocation, '') = "
		   "ifnull(:invocation, '')"
		   " AND ifnull(tool_name, '') = ifnull(:tool_name, '')"
		   " AND ifnull(tool_version, '') = ifnull(:tool_version, '')"
		   " AND ifnull(correlated_invocations_id, '') = ifnull(:correlated, '')"
		   " AND ifnull(action_mnemonic, '') = ifnull(:mnemonic, '')"
		   " AND ifnull(target_id, '') = ifnull(:target, '')"
		   " AND ifnull(configuration_id, '') = ifnull(:configuration, '')");
	bind_request(s, request);
	return select_id(s, out_id, err);
}

int name_intern_request(struct store *store, const struct request_metadata *request,
			int64_t *out_id, struct err *err)
{
	key_begin(store, KEY_REQUEST);
	key_add(store, request->tool_invocation_id);
	key_add(store, request->tool_name);
	key_add(store, request->tool_version);
	key_add(store, request->correlated_invocations_id);
	key_add(store, request->action_mnemonic);
	key_add(store, request->target_id);
	key_add(store, request->configuration_id);
	if (cached(store, out_id))
		return 0;
	if (insert_request(store, request, out_id, err) < 0)
		return -1;
	keep(store, *out_id);
	return 0;
}
