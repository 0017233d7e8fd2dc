/*
 * Any text as the URL of an HTTP server. Laws: what is given reads back as the same; what messages
 * show has no query; a question's fields change neither who is asked nor how.
 */
#include "util/http_url.h"
#include "util/mem.h"

#undef NDEBUG /* the laws are checked in every build */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct http_url *url, const char *text)
{
	struct err err = ERR_INIT;
	struct http_url again;

	assert(http_url_parse(text, "--x-", &again, &err) == 0);
	assert(again.tls == url->tls && again.loopback == url->loopback);
	http_url_release(&again);
}

static void check_asked(const struct http_url *url)
{
	const struct http_field fields[] = {{"query", "a{b=\"c\"} & #d"}, {"time", "1"}};
	char *asked = http_url_with(url, "/api/v1/query", fields, 2);

	check_same(url, asked);
	assert(strstr(asked, "query=a%7Bb%3D%22c%22%7D%20%26%20%23d&time=1"));
	free(asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmemdup0(data, size);
	struct err err = ERR_INIT;
	struct http_url url;

	if (http_url_parse(text, "--x-", &url, &err) == 0) {
		assert(!strchr(url.name, '?'));
		check_same(&url, url.text);
		check_asked(&url);
		http_url_release(&url);
	} else {
		assert(err.kind == ERR_USAGE);
	}
	free(text);
	return 0;
}
