#include "util/curl_files.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* What looking for a name takes: libcurl's thread a pair, the C library a file and a socket. */
#define ENOUGH 4

static curl_socket_t on_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct curl_files *files = context;
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	(void)purpose;
	files->refused = fd < 0 ? errno : 0;
	return fd < 0 ? CURL_SOCKET_BAD : fd;
}

void curl_files_watch(struct curl_files *files, CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, files);
}

/* The errno with which so many are refused now; 0. */
static int try_enough(void)
{
	int fds[ENOUGH], count, number = 0;

	for (count = 0; count < ENOUGH && !number; count++) {
		fds[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[count] < 0)
			number = errno;
	}
	while (count--)
		if (fds[count] >= 0)
			close(fds[count]);
	return number;
}

static int refusal(const struct curl_files *files, CURLcode code)
{
	switch ((int)code) {
	case CURLE_COULDNT_CONNECT:
		return files->refused;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		return try_enough();
	default:
		return 0;
	}
}

const char *curl_files_reason(struct curl_files *files, CURLcode code)
{
	int number = refusal(files, code);
	struct rlimit limit;

	if (number == ENFILE)
		return "too many files are open on this machine";
	if (number != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return NULL;
	snprintf(files->words, sizeof(files->words),
		 "too many files are open: the limit is %llu (ulimit -n)",
		 (unsigned long long)limit.rlim_cur);
	return files->words;
}
