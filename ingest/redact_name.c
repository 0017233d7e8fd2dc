#include "redact_name.h"

#include <ctype.h>
#include <stddef.h>
#include <strings.h>

/* A name without what joins its words; of a longer one the end counts. */
#define NAME_MAX_BYTES 128

/* Anywhere in a name, whatever joins its words: "api_key" is "apikey". */
static const char *const secret_parts[] = {
	"token",      "secret",	    "password",	     "passwd",	      "passphrase", "credential",
	"apikey",     "privatekey", "accesskey",     "authorization", "cookie",	    "bearer",
	"signingkey", "accountkey", "encryptionkey", "sharedkey",     "masterkey",  "deploykey",
	"sshkey",     "httpheader", "dbpass",	     "userpass",      "smtppass",   NULL,
};

/* Too short for that: "path" holds "pat", "author" holds "auth". */
static const char *const secret_words[] = {
	"pat",	 "pats", "auth", "oauth", "pwd", "pw",	"cred",
	"creds", "sas",	 "sid",	 "jwt",	  "psk", "otp", NULL,
};

static const char *const header_parts[] = {
	"authorization", "apikey",   "cookie", "privatetoken", "authtoken",	"accesstoken",
	"jobtoken",	 "password", "passwd", "passphrase",   "securitytoken", NULL,
};

static const char *const query_words[] = {"sig", "signature", NULL};

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c);
}

/* "githubPat", "oauth2" and "db_pwd" have two words each. */
static bool begins_word(struct str name, size_t at)
{
	char c = name.data[at], before = at ? name.data[at - 1] : '_';

	if (!is_alnum(c))
		return false;
	if (!is_alnum(before))
		return true;
	if (isupper((unsigned char)c))
		return islower((unsigned char)before);
	return isdigit((unsigned char)c) && isalpha((unsigned char)before);
}

static bool is_any(struct str word, const char *const *words)
{
	for (; *words; words++)
		if (word.len == strlen(*words) && strncasecmp(word.data, *words, word.len) == 0)
			return true;
	return false;
}

static bool has_word(struct str name, const char *const *words)
{
	size_t at = 0, end;

	for (; at < name.len; at = end) {
		end = at + 1;
		if (!begins_word(name, at))
			continue;
		while (end < name.len && is_alnum(name.data[end]) && !begins_word(name, end))
			end++;
		if (is_any((struct str){name.data + at, end - at}, words))
			return true;
	}
	return false;
}

static bool has_part(struct str name, const char *const *parts)
{
	char joined[NAME_MAX_BYTES + 1];
	size_t len = 0, i = name.len > NAME_MAX_BYTES ? name.len - NAME_MAX_BYTES : 0;

	for (; i < name.len; i++)
		if (is_alnum(name.data[i]))
			joined[len++] = (char)tolower((unsigned char)name.data[i]);
	joined[len] = '\0';
	for (; *parts; parts++)
		if (strstr(joined, *parts))
			return true;
	return false;
}

bool name_is_secret(struct str name)
{
	/* The shell's working directory is no password. */
	if (str_is(name, "PWD"))
		return false;
	return has_word(name, secret_words) || has_part(name, secret_parts);
}

bool name_is_secret_header(struct str name)
{
	return has_part(name, header_parts);
}

bool name_is_secret_query(struct str name)
{
	return name_is_secret(name) || has_word(name, query_words) || str_is(name, "key");
}
