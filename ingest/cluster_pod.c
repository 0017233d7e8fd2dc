#include "cluster_pod.h"

#include "cluster_pods.h"
#include "util/mem.h"
#include "util/quantity.h"
#include "util/timefmt.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further faults of one list are only counted. */
#define WARNINGS_MAX 10

/* A pod that is being read. */
struct pod {
	struct pod_list *list;
	struct str namespace, name, uid, node;
};

/* ---- values ---- */

/* NULL where it is missing, no text or empty. */
static struct str text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value) || !json_string_length(value))
		return STR_NULL;
	return (struct str){json_string_value(value), json_string_length(value)};
}

static int64_t integer_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? (int64_t)json_integer_value(value) : UNKNOWN;
}

/* Counts what cannot be read; tells of the first ones. */
__attribute__((format(printf, 2, 3))) static void malformed(struct pod_list *list,
							    const char *format, ...)
{
	char text[512];
	va_list args;

	if (++list->tally->malformed > WARNINGS_MAX)
		return;
	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	va_end(args);
	list->sink->warning(list->sink->context, text);
}

/*
 * metav1.Time: RFC 3339 or null. The zero time of Go (year 1) and of Unix, with
 * which runtimes say that there was none, are unknown too.
 */
static int64_t time_of(const struct pod *pod, const json_t *object, const char *key)
{
	struct str text = text_of(object, key);
	struct err err = ERR_INIT;
	int64_t ns;

	if (!text.data || str_starts(text, "0001-"))
		return UNKNOWN;
	/* time_parse() takes ages too: "5m" is no moment of a container. */
	if (!strchr(text.data, 'T') || time_parse(text.data, 0, &ns, &err) < 0) {
		malformed(pod->list, "pod %s: %s '%.40s' is no time", pod->name.data, key,
			  text.data);
		return UNKNOWN;
	}
	return ns > 0 ? ns : UNKNOWN;
}

static void note_start(struct cluster_tally *tally, int64_t ns)
{
	if (ns != UNKNOWN && (tally->oldest_ns == UNKNOWN || ns < tally->oldest_ns))
		tally->oldest_ns = ns;
}

/* ---- resources ---- */

typedef int quantity_fn(struct str text, int64_t *out_value, struct err *err);

/* A quantity is a text; one without a suffix may be a number in a file made by hand. */
static void take_quantity(const struct pod *pod, const json_t *list, const char *key,
			  quantity_fn *parse, int64_t *out_value)
{
	const json_t *value = json_object_get(list, key);
	struct str text = text_of(list, key);
	struct err err = ERR_INIT;
	char digits[32];

	if (json_is_integer(value)) {
		snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(value));
		text = str_of(digits);
	}
	if (!value || json_is_null(value))
		return;
	if (!text.data || parse(text, out_value, &err) < 0)
		malformed(pod->list, "pod %s: %s: %s", pod->name.data, key,
			  err.kind ? err.text : "neither a text nor a whole number");
}

/* Sets what `resources` names; the rest stays. */
static void take_resources(const struct pod *pod, const json_t *resources,
			   struct container_spec *spec)
{
	const json_t *requests = json_object_get(resources, "requests");
	const json_t *limits = json_object_get(resources, "limits");

	take_quantity(pod, requests, "cpu", quantity_millicores, &spec->cpu_request_millicores);
	take_quantity(pod, requests, "memory", quantity_bytes, &spec->memory_request_bytes);
	take_quantity(pod, limits, "cpu", quantity_millicores, &spec->cpu_limit_millicores);
	take_quantity(pod, limits, "memory", quantity_bytes, &spec->memory_limit_bytes);
}

/* ---- a container ---- */

static const json_t *find_named(const json_t *list, struct str name)
{
	const json_t *entry;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		entry = json_array_get(list, i);
		if (str_equal(text_of(entry, "name"), name))
			return entry;
	}
	return NULL;
}

static int give_spec(const struct pod *pod, const json_t *container, const json_t *statuses,
		     struct err *err)
{
	const struct cluster_sink *sink = pod->list->sink;
	struct container_spec spec = {
		.layer = LAYER_PODS,
		.namespace = pod->namespace,
		.pod = pod->name,
		.uid = pod->uid,
		.node = pod->node,
		.container = text_of(container, "name"),
		.cpu_request_millicores = UNKNOWN,
		.cpu_limit_millicores = UNKNOWN,
		.memory_request_bytes = UNKNOWN,
		.memory_limit_bytes = UNKNOWN,
	};
	const json_t *status = find_named(statuses, spec.container);

	if (!spec.container.data) {
		malformed(pod->list, "pod %s: a container without a name", pod->name.data);
		return 0;
	}
	take_resources(pod, json_object_get(container, "resources"), &spec);
	/* What is enacted, where a resize in place may differ from the spec (Kubernetes 1.33). */
	take_resources(pod, json_object_get(status, "resources"), &spec);
	spec.restart_count = integer_of(status, "restartCount");
	pod->list->tally->containers++;
	return sink->container(sink->context, &spec, err);
}

static int give_termination(const struct pod *pod, const json_t *status, const char *which,
			    struct err *err)
{
	const json_t *ended = json_object_get(json_object_get(status, which), "terminated");
	const struct cluster_sink *sink = pod->list->sink;
	struct cluster_tally *tally = pod->list->tally;
	struct termination termination = {
		.layer = LAYER_PODS,
		.namespace = pod->namespace,
		.pod = pod->name,
		.uid = pod->uid,
		.container = text_of(status, "name"),
	};

	if (!json_is_object(ended))
		return 0;
	termination.container_id = text_of(ended, "containerID");
	termination.reason = text_of(ended, "reason");
	termination.exit_code = integer_of(ended, "exitCode");
	termination.signal = integer_of(ended, "signal");
	termination.started_ns = time_of(pod, ended, "startedAt");
	termination.finished_ns = time_of(pod, ended, "finishedAt");
	termination.restarts = integer_of(status, "restartCount");
	note_start(tally, termination.started_ns);
	tally->terminations++;
	if (termination.finished_ns > tally->newest_ns) /* UNKNOWN is less than any time */
		tally->newest_ns = termination.finished_ns;
	return sink->termination(sink->context, &termination, err);
}

static int give_status(const struct pod *pod, const json_t *status, struct err *err)
{
	const json_t *running = json_object_get(json_object_get(status, "state"), "running");

	if (!text_of(status, "name").data) {
		malformed(pod->list, "pod %s: the status of a container without a name",
			  pod->name.data);
		return 0;
	}
	note_start(pod->list->tally, time_of(pod, running, "startedAt"));
	if (give_termination(pod, status, "lastState", err) < 0)
		return -1;
	return give_termination(pod, status, "state", err);
}

/* ---- a pod ---- */

/* Containers of one kind, and their statuses (absent while the pod is pending). */
static int give_containers(const struct pod *pod, const json_t *containers, const json_t *statuses,
			   struct err *err)
{
	size_t i;

	for (i = 0; i < json_array_size(containers); i++)
		if (give_spec(pod, json_array_get(containers, i), statuses, err) < 0)
			return -1;
	for (i = 0; i < json_array_size(statuses); i++)
		if (give_status(pod, json_array_get(statuses, i), err) < 0)
			return -1;
	return 0;
}

static int give_pod(struct pod_list *list, const json_t *object, struct err *err)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const json_t *spec = json_object_get(object, "spec");
	const json_t *status = json_object_get(object, "status");
	struct pod pod = {
		.list = list,
		.namespace = text_of(metadata, "namespace"),
		.name = text_of(metadata, "name"),
		.uid = text_of(metadata, "uid"),
		.node = text_of(spec, "nodeName"),
	};

	if (!pod.name.data) {
		malformed(list, "item %llu is a pod without a name",
			  (unsigned long long)list->items);
		return 0;
	}
	list->tally->pods++;
	note_start(list->tally, time_of(&pod, status, "startTime"));
	if (give_containers(&pod, json_object_get(spec, "containers"),
			    json_object_get(status, "containerStatuses"), err) < 0)
		return -1;
	/* A sidecar that restarts is an init container to Kubernetes. */
	return give_containers(&pod, json_object_get(spec, "initContainers"),
			       json_object_get(status, "initContainerStatuses"), err);
}

/* ---- the list ---- */

static bool is_other_kind(const json_t *object)
{
	struct str kind = text_of(object, "kind");

	return kind.data && !str_is(kind, "Pod"); /* items of a PodList have none */
}

static int take_item(void *context, struct str text, struct err *err)
{
	struct pod_list *list = context;
	json_error_t fault;
	json_t *item = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &fault);
	int rc = 0;

	list->items++;
	if (!json_is_object(item))
		malformed(list, "item %llu of the list is no object: %s",
			  (unsigned long long)list->items, item ? "another value" : fault.text);
	else if (is_other_kind(item))
		list->tally->passed_over++;
	else
		rc = give_pod(list, item, err);
	json_decref(item);
	return rc;
}

void pod_list_init(struct pod_list *list, const struct cluster_sink *sink,
		   struct cluster_tally *tally)
{
	static const char *const path[] = {"items", NULL};

	list->sink = sink;
	list->tally = tally;
	list->items = 0;
	json_elements_init(&list->elements, path, CLUSTER_POD_MAX, take_item, list);
}

void pod_list_release(struct pod_list *list)
{
	json_elements_release(&list->elements);
}

int pod_list_feed(struct pod_list *list, const char *data, size_t len, struct err *err)
{
	return json_elements_feed(&list->elements, data, len, err);
}

static int list_kind_fault(struct str kind, const json_t *rest, struct err *err)
{
	struct str message = text_of(rest, "message");

	if (str_is(kind, "Status"))
		return err_set(err, ERR_FORMAT, "an error of the API, no pods: %.300s",
			       message.data ? message.data : "without a message");
	if (kind.data)
		return err_set(err, ERR_FORMAT, "holds a %.100s, no pods", kind.data);
	return err_set(err, ERR_FORMAT, "holds neither a list of pods nor a pod");
}

static int take_rest(struct pod_list *list, const json_t *rest, struct buf *out_next,
		     struct err *err)
{
	struct str kind = text_of(rest, "kind");
	struct str next = text_of(json_object_get(rest, "metadata"), "continue");
	bool is_list = str_is(kind, "List") || str_is(kind, "PodList");

	if (next.data)
		buf_add(out_next, next.data, next.len);
	/* An empty list may be null. */
	if (is_list &&
	    (json_elements_found(&list->elements) || json_is_null(json_object_get(rest, "items"))))
		return 0;
	if (!kind.data && json_elements_found(&list->elements))
		return 0;
	if (str_is(kind, "Pod") || (!kind.data && json_object_get(rest, "spec")))
		return give_pod(list, rest, err);
	return list_kind_fault(kind, rest, err);
}

int pod_list_end(struct pod_list *list, struct buf *out_next, struct err *err)
{
	struct str text = json_elements_rest(&list->elements);
	json_error_t fault;
	json_t *rest = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &fault);
	int rc;

	if (!rest)
		return err_set(err, ERR_FORMAT, "not JSON, or cut short: %s", fault.text);
	if (json_is_object(rest))
		rc = take_rest(list, rest, out_next, err);
	else
		rc = err_set(err, ERR_FORMAT, "holds neither a list of pods nor a pod");
	json_decref(rest);
	return rc;
}

char *pod_status_message(struct str text)
{
	json_t *status = json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
	struct str message = text_of(status, "message");
	char *copy = message.data ? xmemdup0(message.data, message.len) : NULL;

	json_decref(status);
	return copy;
}
