/*
 * A small database for the tests of reports: project demo with a measured run
 * and a dev run, project demo2 with one; each digest stands for one fate.
 */
#ifndef BR2_MADE_REPORT_H
#define BR2_MADE_REPORT_H

#include "store.h"

#define TRACE_A "aaaaaaaa-0000-4000-8000-000000000000"
#define TRACE_B "bbbbbbbb-0000-4000-8000-000000000000"
#define TRACE_C "cccccccc-0000-4000-8000-000000000000"
#define LOG_A "/src/demo/buck-out/wrapped-remote/log/a_events.pb.zst"
#define LOG_B "/src/demo/buck-out/v2/log/b_events.pb.zst"
#define LOG_C "/src/demo2/buck-out/v2/log/c_events.pb.zst"

/* Set up by made_report_setup() for one group of tests, gone with made_report_teardown(). */
extern struct store *store;
int made_report_setup(void **state);
int made_report_teardown(void **state);

/* Ends the test where `text` does not hold `part`. */
void check_has(const char *text, const char *part);

#endif
