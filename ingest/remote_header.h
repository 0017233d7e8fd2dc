/*
 * Request headers from .buckconfig and flags; only for remote.c. No message
 * holds a value, nor a name that is not known to be one.
 */
#ifndef BR2_REMOTE_HEADER_H
#define BR2_REMOTE_HEADER_H

#include "remote.h"

/* May a header hold these bytes? Printable ASCII. */
bool header_value_is_legal(const char *value);
/* [buck2_re_client] http_headers: "Name: value, Name: value", then $NAME replaced. */
int headers_add_config(struct remote *remote, const char *list, struct err *err);
/* A --header, the `number`th, from 1; replaces one of the same name. */
int headers_add_flag(struct remote *remote, const char *text, size_t number, struct err *err);
bool headers_have(const struct remote *remote, const char *name);
void headers_drop(struct remote *remote, const char *name);

#endif
