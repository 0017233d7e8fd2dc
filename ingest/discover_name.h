/*
 * What the name of a log file says; pure, only for discover.c.
 */
#ifndef BR2_DISCOVER_NAME_H
#define BR2_DISCOVER_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct log_name {
	bool is_log;	   /* named as Buck2 names logs, in an encoding that it writes */
	int64_t start_ns;  /* UNKNOWN if not in it */
	char trace_id[37]; /* "" if not in it */
};

/*
 * "YYYYMMDD-HHMMSS_<command>_<trace>_events<suffix>" and "dl-<trace><suffix>".
 * The parts are taken where they are there: only _events or dl- and the suffix
 * make it a log.
 */
void log_name_parse(const char *name, struct log_name *out_name);

#endif
