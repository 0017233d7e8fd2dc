#include "flags_cluster.h"

#include "util/mem.h"
#include "util/timefmt.h"

#include <stdlib.h>
#include <string.h>

static size_t count_stdin(const struct option_list *list)
{
	size_t i, count = 0;

	for (i = 0; i < list->count; i++)
		count += strcmp(list->values[i], "-") == 0;
	return count;
}

static int check_stdin(size_t pods, size_t values, struct err *err)
{
	if (pods + values < 2)
		return 0;
	return err_set(err, ERR_USAGE, "%s: standard input can be read only once",
		       !values ? "--pods - twice"
		       : !pods ? "--values - twice"
			       : "--pods - and --values -");
}

/* Options that say how to ask whom nobody asked to ask: a slip of the pen. */
int cluster_flags_check(const struct cluster_flags *flags, struct err *err)
{
	if (!flags->pods.count && (flags->pods_user || flags->pods_password_file ||
				   flags->pods_token_file || flags->pods_ca))
		return err_set(err, ERR_USAGE, "the --pods-… options want --pods URL");
	if (!flags->prometheus &&
	    (flags->namespace || flags->container || flags->prom_user ||
	     flags->prom_password_file || flags->prom_token_file || flags->prom_ca))
		return err_set(err, ERR_USAGE,
			       "--namespace, --container and --prom-… want --prometheus URL");
	if (flags->valid_from && !flags->values.count)
		return err_set(err, ERR_USAGE, "--valid-from is about --values FILE");
	return check_stdin(count_stdin(&flags->pods), count_stdin(&flags->values), err);
}

static int fill_shapes(const struct option_list *texts, struct cluster_options *out,
		       struct err *err)
{
	struct shape *shapes = xcalloc(texts->count + 1, sizeof(*shapes));

	out->shapes = shapes;
	for (; out->shape_count < texts->count; out->shape_count++)
		if (shape_parse(str_of(texts->values[out->shape_count]), &shapes[out->shape_count],
				err) < 0)
			return err_prefix(err, "--shape");
	return shapes_check_names(shapes, out->shape_count, err);
}

int cluster_flags_fill(const struct cluster_flags *flags, int64_t now_ns,
		       struct cluster_options *out, struct err *err)
{
	*out = (struct cluster_options){
		.pods = flags->pods.values,
		.pod_count = flags->pods.count,
		.values = flags->values.values,
		.value_count = flags->values.count,
		.valid_from_ns = UNKNOWN,
		.selector = {flags->namespace, flags->container},
	};
	out->pods_http = (struct http_options){
		.option_prefix = "--pods-",
		.user = flags->pods_user,
		.password_file = flags->pods_password_file,
		.password_variable = "BR2_PODS_PASSWORD",
		.token_file = flags->pods_token_file,
		.ca_file = flags->pods_ca,
	};
	out->prometheus_http = (struct http_options){
		.url = flags->prometheus,
		.option_prefix = "--prom-",
		.user = flags->prom_user,
		.password_file = flags->prom_password_file,
		.password_variable = "BR2_PROM_PASSWORD",
		.token_file = flags->prom_token_file,
		.ca_file = flags->prom_ca,
	};
	if (flags->valid_from &&
	    time_parse(flags->valid_from, now_ns, &out->valid_from_ns, err) < 0)
		return err_prefix(err, "--valid-from");
	return fill_shapes(&flags->shapes, out, err);
}

void cluster_flags_release(struct cluster_flags *flags, struct cluster_options *options)
{
	free(options->shapes);
	options->shapes = NULL;
	option_list_release(&flags->pods);
	option_list_release(&flags->values);
	option_list_release(&flags->shapes);
}
