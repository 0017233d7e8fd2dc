/*
 * Asks an HTTP server, one request at a time, by libcurl. What comes back is
 * handed on in pieces, so that nothing large is ever held.
 *
 * http and https only; redirects are not followed (they would carry the
 * credentials elsewhere); a proxy of the environment is not used for this
 * machine; packed answers are unpacked, and bounded as unpacked. No message
 * holds a password, a token, or the query of a URL.
 */
#ifndef BR2_HTTP_H
#define BR2_HTTP_H

#include "util/buf.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All texts are borrowed while http_new() runs. */
struct http_options {
	const char *url; /* http:// or https://, with a path and a query if need be */
	/* What messages call the options: "--prom-" for --prom-user, --prom-token-file, … */
	const char *option_prefix;
	const char *user;	       /* PREFIXuser: basic authentication; NULL: none */
	const char *password_file;     /* PREFIXpassword-file: its password, one line */
	const char *password_variable; /* or the environment variable that holds it */
	const char *token_file;	       /* PREFIXtoken-file: bearer token, one line */
	const char *ca_file;	       /* PREFIXca: PEM; NULL: the system's roots */
	uint64_t body_max;	       /* largest answer, unpacked; 0: 1 GiB */
	int64_t connect_ms;	       /* 0: 10 s */
	int64_t silence_s;	       /* how long a server may say nothing; 0: 150 s */
};

struct http_field {
	const char *name, *value; /* as they are: encoded here */
};

/* Takes a piece of a 2xx answer's body, borrowed during the call. -1 ends the request. */
typedef int http_body_fn(void *context, const char *data, size_t len, struct err *err);

struct http_request {
	const char
		*path; /* "/api/v1/query": put behind the URL's own path; NULL: the URL as it is */
	const struct http_field *fields;
	size_t field_count;
	bool post; /* the fields are the form of a POST, else part of a GET's query */
	http_body_fn *body;
	void *context;
};

/* What is known of an answer. */
struct http_reply {
	int status;
	bool is_json;	 /* says its Content-Type */
	struct buf text; /* of an answer that is not 2xx: its first bytes */
};

#define HTTP_REPLY_INIT            \
	{                          \
		0, false, BUF_INIT \
	}

struct http;

/*
 * -1 (ERR_USAGE): not such a URL, one that holds a user or password, options
 * that contradict each other, a file that cannot be read or holds no such thing.
 */
int http_new(const struct http_options *options, struct http **out_http, struct err *err);
void http_free(struct http *http);

/*
 * Asks, and waits for the answer's end. 0: there was an answer, of any status;
 * one of 401 has been asked for again if the token file had changed. -1: body's
 * own error; ERR_LIMIT: larger than body_max; ERR_NET: unreachable, not trusted,
 * silent, cut off …: err says in one line what, and what to do; also after
 * http_interrupt(). Pieces that `body` has had by then were part of an answer.
 */
int http_send(struct http *http, const struct http_request *request, struct http_reply *out_reply,
	      struct err *err);
void http_reply_release(struct http_reply *reply);

/* Sets ERR_NET and one line on an answer that is no use: what it was, what to do. Returns -1. */
int http_fault(const struct http *http, const struct http_reply *reply, struct err *err);

/* The server as messages name it: the URL without its query. */
const char *http_name(const struct http *http);
/* Worth a warning: a password or token goes to another machine without TLS. */
bool http_secret_in_clear(const struct http *http);
/* Bytes of all bodies so far, unpacked. */
uint64_t http_bytes(const struct http *http);
/* Makes http_send() return soon, now or whenever it is called; safe in a signal handler. */
void http_interrupt(void);

#endif
