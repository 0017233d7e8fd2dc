/* The files of ingest/html, in the binary: `page` (around what the program writes), `style`. */
#ifndef BR2_HTML_FILES_H
#define BR2_HTML_FILES_H

#include "embedded.h"

/* Of texts of any kind, whatever its type is called. */
extern const struct embedded_sql html_files[];

#endif
