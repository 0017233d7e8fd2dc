/* Addresses of HTTP servers, and fields in them. Part of util/http. */
#ifndef BR2_HTTP_URL_H
#define BR2_HTTP_URL_H

#include "util/http.h"

struct http_url {
	char *text;    /* as given, in libcurl's spelling */
	char *name;    /* for messages: no query, no '/' at the end */
	bool tls;      /* https */
	bool loopback; /* this machine */
};

/*
 * -1 (ERR_USAGE): not http:// or https://; a user or password in it, which is
 * not quoted: messages say to use the options that begin with `prefix`.
 */
int http_url_parse(const char *text, const char *prefix, struct http_url *out_url, struct err *err);
void http_url_release(struct http_url *url);

/* The URL with `path` (may be NULL) behind its own and the fields in its query. Caller frees. */
char *http_url_with(const struct http_url *url, const char *path, const struct http_field *fields,
		    size_t count);
/* Adds "name=value&…", encoded. */
void http_url_add_fields(const struct http_field *fields, size_t count, struct buf *out);

#endif
