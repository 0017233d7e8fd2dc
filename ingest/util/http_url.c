#include "util/http_url.h"

#include "util/mem.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* NULL where the URL has no such part. Caller frees. */
static char *part_of(CURLU *url, CURLUPart part)
{
	char *text = NULL, *copy = NULL;

	if (curl_url_get(url, part, &text, 0) == CURLUE_OK)
		copy = xstrdup(text);
	curl_free(text);
	return copy;
}

/* One that an address that was read always has: only memory can be short. */
static char *known_part_of(CURLU *url, CURLUPart part)
{
	char *text = part_of(url, part);

	if (!text)
		abort();
	return text;
}

static bool has_part(CURLU *url, CURLUPart part)
{
	char *text = part_of(url, part);

	free(text);
	return text != NULL;
}

static bool is_loopback(const char *host)
{
	static const char tail[] = ".localhost"; /* RFC 6761 */
	size_t len = strlen(host);
	struct in_addr v4;

	if (inet_pton(AF_INET, host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (len >= sizeof(tail) && strcasecmp(host + len - (sizeof(tail) - 1), tail) == 0);
}

/* libcurl decodes %XX in a host, and may then not read what it wrote. */
static bool has_odd_host(CURLU *url)
{
	char *host = part_of(url, CURLUPART_HOST);
	bool odd = false;
	const char *c;

	for (c = host; c && *c; c++)
		odd |= (unsigned char)*c <= ' ' || *c == '\x7f' || *c == '%';
	free(host);
	return odd;
}

static char *make_name(CURLU *url)
{
	CURLU *shown = curl_url_dup(url);
	char *name;

	curl_url_set(shown, CURLUPART_QUERY, NULL, 0);
	name = known_part_of(shown, CURLUPART_URL);
	if (name[strlen(name) - 1] == '/')
		name[strlen(name) - 1] = '\0';
	curl_url_cleanup(shown);
	return name;
}

/* No text quotes the URL: what cannot be read may hold a password anywhere. */
static int check(CURLU *url, CURLUcode parsed, const char *prefix, struct err *err)
{
	char *scheme = part_of(url, CURLUPART_SCHEME);
	bool known = scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);

	free(scheme);
	if (parsed != CURLUE_OK || !known || has_odd_host(url))
		return err_set(err, ERR_USAGE, "the address is no http:// or https:// URL");
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
		return err_set(err, ERR_USAGE,
			       "a user or password in the URL stands in the process list for all "
			       "to see; use %suser and %spassword-file",
			       prefix, prefix);
	if (has_part(url, CURLUPART_FRAGMENT))
		return err_set(err, ERR_USAGE,
			       "the URL has a '#', and no server sees what follows "
			       "it; give the address before it");
	return 0;
}

int http_url_parse(const char *text, const char *prefix, struct http_url *out_url, struct err *err)
{
	CURLU *url = curl_url();
	CURLUcode parsed = curl_url_set(url, CURLUPART_URL, text, 0);
	char *scheme, *host;
	int rc = check(url, parsed, prefix, err);

	if (rc == 0) {
		scheme = known_part_of(url, CURLUPART_SCHEME);
		host = part_of(url, CURLUPART_HOST);
		out_url->text = known_part_of(url, CURLUPART_URL);
		out_url->name = make_name(url);
		out_url->tls = strcmp(scheme, "https") == 0;
		out_url->loopback = host && is_loopback(host);
		free(scheme);
		free(host);
	}
	curl_url_cleanup(url);
	return rc;
}

void http_url_release(struct http_url *url)
{
	free(url->text);
	free(url->name);
	*url = (struct http_url){0};
}

void http_url_add_fields(const struct http_field *fields, size_t count, struct buf *out)
{
	char *value;
	size_t i;

	for (i = 0; i < count; i++) {
		value = curl_easy_escape(NULL, fields[i].value, 0);
		buf_addf(out, "%s%s=%s", i ? "&" : "", fields[i].name, value);
		curl_free(value);
	}
}

static void set_path(CURLU *url, const char *path)
{
	char *own = part_of(url, CURLUPART_PATH), *whole;
	size_t len = own ? strlen(own) : 0;

	while (len && own[len - 1] == '/')
		len--;
	whole = xasprintf("%.*s%s", (int)len, own ? own : "", path);
	curl_url_set(url, CURLUPART_PATH, whole, 0);
	free(whole);
	free(own);
}

char *http_url_with(const struct http_url *url, const char *path, const struct http_field *fields,
		    size_t count)
{
	CURLU *made = curl_url();
	struct buf whole = BUF_INIT;
	char *text;

	curl_url_set(made, CURLUPART_URL, url->text, 0);
	if (path)
		set_path(made, path);
	text = known_part_of(made, CURLUPART_URL);
	buf_addstr(&whole, text);
	if (count) {
		buf_addch(&whole, strchr(text, '?') ? '&' : '?');
		http_url_add_fields(fields, count, &whole);
	}
	curl_url_cleanup(made);
	free(text);
	return buf_detach(&whole);
}
