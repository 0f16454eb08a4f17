/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library is asked by the name of its function, so that only those answer that are loaded, and none is loaded to be asked.
 */
#include "worker/model/libraries.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/data/digest_many.h"
#include "worker/model/version.h"

#define MAX_VERSION_BYTES 64
#define PCRE2_VERSION 11  /* PCRE2_CONFIG_VERSION */
#define OPENSSL_VERSION 6 /* OPENSSL_VERSION_STRING: "3.0.15" */

/* How the function is called, and what it returns. */
enum form {
	TEXT,         /* const char *(void) */
	TEXT_OF_NULL, /* const char *(void *) */
	TEXT_OF_INT,  /* const char *(int) */
	INTO,         /* int (int, char *) */
	CURL,         /* TEXT, "libcurl/7.88.1 OpenSSL/…" */
	POSTGRES,     /* int (void): 150008 */
	BROTLI,       /* unsigned (void): 0x1000009 */
	VARIABLE,     /* const char *const */
};

static const struct {
	const char *name, *symbol;
	enum form form;
} libraries[] = {
	{"librdkafka", "rd_kafka_version_str", TEXT},
	{"libcurl", "curl_version", CURL},
	{"c-ares", "ares_version", TEXT_OF_NULL},
	{"OpenSSL", "OpenSSL_version", TEXT_OF_INT},
	{"GnuTLS", "gnutls_check_version", TEXT_OF_NULL},
	{"libmicrohttpd", "MHD_get_version", TEXT},
	{"libpq", "PQlibVersion", POSTGRES},
	{"libuv", "uv_version_string", TEXT},
	{"jansson", "jansson_version_str", TEXT},
	{"libyaml", "yaml_get_version_string", TEXT},
	{"libxml2", "xmlParserVersion", VARIABLE},
	{"pcre2", "pcre2_config_8", INTO},
	{"libpsl", "psl_get_version", TEXT},
	{"zlib", "zlibVersion", TEXT},
	{"zstd", "ZSTD_versionString", TEXT},
	{"liblzma", "lzma_version_string", TEXT},
	{"bzip2", "BZ2_bzlibVersion", TEXT},
	{"brotli", "BrotliDecoderVersion", BROTLI},
	{"glibc", "gnu_get_libc_version", TEXT},
};

/* A pointer to a function of whatever type from dlsym(), as POSIX wants it. */
union symbol {
	void *address;
	const char *(*text)(void);
	const char *(*text_of)(void *);
	const char *(*text_of_int)(int);
	int (*into)(unsigned, void *);
	int (*number)(void);
	const char *const *variable;
};

static void take(char *ret, const char *text)
{
	snprintf(ret, MAX_VERSION_BYTES, "%s", text != NULL ? text : "");
}

static void ask(enum form form, union symbol s, char ret[MAX_VERSION_BYTES])
{
	unsigned n;
	ret[0] = '\0';
	switch (form) {
	case TEXT:
		take(ret, s.text());
		break;
	case TEXT_OF_NULL:
		take(ret, s.text_of(NULL));
		break;
	case TEXT_OF_INT:
		take(ret, s.text_of_int(OPENSSL_VERSION));
		break;
	case INTO:
		if (s.into(PCRE2_VERSION, NULL) < MAX_VERSION_BYTES)
			(void)s.into(PCRE2_VERSION, ret);
		break;
	case CURL:
		take(ret, strchr(s.text(), '/') + 1);
		break;
	case POSTGRES:
		n = (unsigned)s.number();
		snprintf(ret, MAX_VERSION_BYTES, "%u.%u", n / 10000, n % 10000);
		break;
	case BROTLI:
		n = (unsigned)s.number();
		snprintf(ret, MAX_VERSION_BYTES, "%u.%u.%u", n >> 24, n >> 12 & 0xfff, n & 0xfff);
		break;
	case VARIABLE:
		take(ret, *s.variable);
		break;
	}
	ret[strcspn(ret, " ,")] = '\0'; /* a date, or the next library */
}

/* -------------------------------------------------------------------------------------------- */

void ing_libraries_print(const char *program, FILE *to)
{
	fprintf(to, "%s %s\n", program, ING_VERSION);
	for (size_t i = 0; i < ING_ARRAY_LEN(libraries); i++) {
		char version[MAX_VERSION_BYTES];
		union symbol s = {.address = dlsym(RTLD_DEFAULT, libraries[i].symbol)};
		if (s.address == NULL)
			continue;
		ask(libraries[i].form, s, version);
		if (version[0] != '\0')
			fprintf(to, "%s %s\n", libraries[i].name, version);
	}
	fprintf(to, "lexbor %s\n", ING_LEXBOR_VERSION);
	fprintf(to, "digests %s\n", ing_digest_many_how());
}
