/*
 * What containers may use. Each different set that a pod was seen with is a row of
 * container_said; table container holds what these agree on, made again from them
 * all, so that their order does not matter.
 */
#include "store_db.h"

#define KEPT "cpu_request_milli, cpu_limit_milli, memory_request_bytes, memory_limit_bytes"

static void bind_container(struct statement *s, int64_t pod_id, const struct container_spec *spec)
{
	bind_int(s, ":pod_id", pod_id);
	bind_text(s, ":name", spec->container.data ? spec->container : STR(""));
}

static void bind_said(struct statement *s, int64_t pod_id, const struct container_spec *spec)
{
	bind_container(s, pod_id, spec);
	bind_text(s, ":uid", spec->uid.data ? spec->uid : STR(""));
	bind_text(s, ":node", spec->node);
	bind_int(s, ":cpu_request", spec->cpu_request_millicores);
	bind_int(s, ":cpu_limit", spec->cpu_limit_millicores);
	bind_int(s, ":memory_request", spec->memory_request_bytes);
	bind_int(s, ":memory_limit", spec->memory_limit_bytes);
}

/* 1: that is news; 0; -1. */
static int put_said(struct store *store, int64_t pod_id, const struct container_spec *spec,
		    struct err *err)
{
	struct statement *s =
		db_use(store, ST_SAID_PUT,
		       "INSERT INTO container_said (pod_id, name, uid, node, " KEPT ")"
		       " VALUES (:pod_id, :name, :uid, :node, :cpu_request, :cpu_limit,"
		       " :memory_request, :memory_limit) ON CONFLICT DO NOTHING");

	bind_said(s, pod_id, spec);
	return db_done(s, err) < 0 ? -1 : db_changes(store) > 0;
}

static int put_restarts(struct store *store, int64_t pod_id, const struct container_spec *spec,
			struct err *err)
{
	struct statement *s = db_use(
		store, ST_CONTAINER_PUT,
		"INSERT INTO container (pod_id, name, restarts) VALUES (:pod_id, :name, :restarts)"
		" ON CONFLICT (pod_id, name) DO UPDATE SET restarts = :restarts"
		" WHERE ifnull(restarts, -1) < :restarts");

	bind_container(s, pod_id, spec);
	bind_int(s, ":restarts", spec->restart_count);
	return db_done(s, err);
}

static int agree_on_pod(struct store *store, int64_t pod_id, struct err *err)
{
	struct statement *s =
		db_use(store, ST_POD_AGREE,
		       "UPDATE pod SET (uid, node) = (SELECT"
		       " CASE WHEN min(nullif(uid, '')) = max(uid) THEN max(uid) END,"
		       " CASE WHEN min(node) = max(node) THEN min(node) END"
		       " FROM container_said WHERE pod_id = :pod_id) WHERE pod_id = :pod_id");

	bind_int(s, ":pod_id", pod_id);
	return db_done(s, err);
}

/*
 * A pod's own listings complete one another, and those without a uid complete all.
 * Where two differ, or one of two pods has what the other has not, nothing is known.
 */
static int agree_on_container(struct store *store, int64_t pod_id,
			      const struct container_spec *spec, struct err *err)
{
#define PAIR(column, low, high) "min(" column ") AS " low ", max(" column ") AS " high
#define AGREED(low, high)                                                             \
	"CASE WHEN min(" low ") = max(" high ") AND count(CASE WHEN of_uid THEN " low \
	" END) IN (0, sum(of_uid)) THEN min(" low ") END"
	struct statement *s = db_use(
		store, ST_CONTAINER_AGREE,
		"UPDATE container SET (" KEPT ", disputed) = (SELECT a, b, c, d,"
		" known > (a IS NOT NULL) + (b IS NOT NULL) + (c IS NOT NULL) + (d IS NOT NULL)"
		" FROM (SELECT " AGREED("a1", "a2") " AS a, " AGREED(
			"b1",
			"b2") " AS b,"
			      " " AGREED("c1", "c2") " AS c, " AGREED(
				      "d1",
				      "d2") " AS d, (min(a1) IS NOT NULL)"
					    " + (min(b1) IS NOT NULL) + (min(c1) IS NOT NULL) + "
					    "(min(d1) IS NOT NULL) AS known"
					    " FROM (SELECT uid <> '' AS of_uid, " PAIR(
						    "cpu_request_milli", "a1",
						    "a2") ","
							  " " PAIR("cpu_limit_milli", "b1", "b2") ", " PAIR(
								  "memory_request_bytes", "c1",
								  "c2") ", " PAIR("memory_limit_"
										  "bytes",
										  "d1",
										  "d2") " FROM "
											"container_"
											"said "
											"WHERE "
											"pod_id = "
											":pod_id "
											"AND name "
											"= :name "
											"GROUP BY "
											"uid)))"
											" WHERE "
											"pod_id = "
											":pod_id "
											"AND name "
											"= :name");

	bind_container(s, pod_id, spec);
	return db_done(s, err);
#undef PAIR
#undef AGREED
}

int store_put_container(struct store *store, const struct container_spec *spec, struct err *err)
{
	int64_t pod_id;
	int news;

	if (pod_intern(store, spec->namespace, spec->pod, &pod_id, err) < 0 ||
	    put_restarts(store, pod_id, spec, err) < 0)
		return -1;
	news = put_said(store, pod_id, spec, err);
	if (news <= 0)
		return news;
	if (agree_on_pod(store, pod_id, err) < 0 ||
	    agree_on_container(store, pod_id, spec, err) < 0)
		return -1;
	return allot_due_pod(store, spec->pod, err);
}
