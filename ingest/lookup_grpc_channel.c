#include "lookup_grpc_channel.h"

#include "lookup.h"
#include "util/buf.h"
#include "util/file.h"

#include <grpc/grpc_security.h>
#if __has_include(<grpc/credentials.h>)
#include <grpc/credentials.h> /* newer cores declare the credentials here */
#endif

#include <string.h>

/* Below the preflight's five seconds, so that its failure still names a cause. */
#define CONNECT_MS 4000
#define PEM_MAX ((size_t)4 << 20)

/*
 * The core takes any bytes as PEM and then fails every call with "empty address
 * list", so they are looked at here.
 */
static int read_pem(const char *path, const char *mark, const char *what, struct buf *pem,
		    struct err *err)
{
	if (file_read(path, PEM_MAX, pem, err) < 0)
		return -1;
	if (!strstr(pem->data, mark))
		return err_set(err, ERR_USAGE, "%s holds no %s in PEM form", path, what);
	return 0;
}

static int make_tls(const struct remote *remote, grpc_channel_credentials **out_credentials,
		    struct err *err)
{
	const char *key_path = remote->key_path ? remote->key_path : remote->cert_path;
	struct buf ca = BUF_INIT, cert = BUF_INIT, key = BUF_INIT;
	grpc_ssl_pem_key_cert_pair pair;
	int result = -1;

	if (remote->ca_path &&
	    read_pem(remote->ca_path, "-----BEGIN CERTIFICATE-----", "certificate", &ca, err) < 0)
		goto out;
	if (remote->cert_path &&
	    (read_pem(remote->cert_path, "-----BEGIN CERTIFICATE-----", "certificate", &cert, err) <
		     0 ||
	     read_pem(key_path, "PRIVATE KEY-----", "private key", &key, err) < 0))
		goto out;
	pair = (grpc_ssl_pem_key_cert_pair){key.data, cert.data};
	*out_credentials = grpc_ssl_credentials_create_ex(
		remote->ca_path ? ca.data : NULL, remote->cert_path ? &pair : NULL, NULL, NULL);
	result = 0;
out:
	buf_release(&ca);
	buf_release(&cert);
	buf_release(&key);
	return result;
}

static grpc_arg number_arg(const char *name, int value)
{
	grpc_arg arg;

	memset(&arg, 0, sizeof(arg));
	arg.type = GRPC_ARG_INTEGER;
	arg.key = (char *)(uintptr_t)name; /* the core only reads it */
	arg.value.integer = value;
	return arg;
}

static grpc_arg text_arg(const char *name, const char *value)
{
	grpc_arg arg;

	memset(&arg, 0, sizeof(arg));
	arg.type = GRPC_ARG_STRING;
	arg.key = (char *)(uintptr_t)name;
	arg.value.string = (char *)(uintptr_t)value;
	return arg;
}

/*
 * The core's own reconnect backoff (1 s to 120 s) would fail calls for minutes
 * after an outage; without keepalive a connection that a NAT forgot stays dead
 * for ever. The core's retries are off: the engine has its own, and the filter
 * that buffers each call for them takes a seventh of the instructions of a lookup.
 */
static grpc_channel *make_channel(const struct remote *remote,
				  grpc_channel_credentials *credentials)
{
	grpc_arg list[] = {
		number_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)LOOKUP_REPLY_MAX),
		number_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
		number_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, CONNECT_MS),
		number_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000),
		number_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 20000),
		number_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10000),
		number_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
		number_arg(GRPC_ARG_ENABLE_HTTP_PROXY, !remote->loopback),
		number_arg(GRPC_ARG_ENABLE_RETRIES, 0),
		text_arg(GRPC_ARG_PRIMARY_USER_AGENT_STRING, "br2-ingest/" BR2_VERSION),
	};
	grpc_channel_args args = {sizeof(list) / sizeof(list[0]), list};

	return grpc_channel_create(remote->target, credentials, &args);
}

int channel_open(const struct remote *remote, grpc_channel **out_channel, struct err *err)
{
	grpc_channel_credentials *credentials;

	if (!remote->tls)
		credentials = grpc_insecure_credentials_create();
	else if (make_tls(remote, &credentials, err) < 0)
		return -1;
	*out_channel = make_channel(remote, credentials);
	grpc_channel_credentials_release(credentials);
	return 0;
}
