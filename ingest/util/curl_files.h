/*
 * What libcurl does not say: that a transfer failed for want of file descriptors. It
 * blames the server then, its name or the certificates.
 */
#ifndef BR2_CURL_FILES_H
#define BR2_CURL_FILES_H

#include <curl/curl.h>

struct curl_files {
	int refused; /* errno of the last socket that could not be had; 0 */
	char words[80];
};

/* Sees all sockets that `curl` opens from now on; `files`, zeroed, has to outlive it. */
void curl_files_watch(struct curl_files *files, CURL *curl);
/*
 * Why a transfer that ended with `code` failed: "too many files are open: …", until
 * the next call; NULL: for another reason.
 */
const char *curl_files_reason(struct curl_files *files, CURLcode code);

#endif
