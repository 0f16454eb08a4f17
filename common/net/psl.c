/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The wrapper of libpsl. The list is built once, under a once-control, and never freed: it is
 * static data of the library, or the system's file read into memory.
 *
 * A look-up costs some thousand instructions, and whoever asks for a host often asks again, so each thread
 * remembers some answers.
 */
#include "common/net/psl.h"

#include <libpsl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/net/addr.h"
#include "common/net/url.h"

static const psl_ctx_t *list;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_list(void)
{
	list = psl_builtin();
	if (list == NULL)
		list = psl_latest(NULL);
}

#define REMEMBERED 256u
#define NO_DOMAIN UINT8_MAX

struct answer {
	char host[63]; /* empty: none */
	uint8_t at;    /* where the domain begins in host, or NO_DOMAIN */
};

static _Thread_local struct answer answers[REMEMBERED];

static const char *look_up(const char *host, size_t bytes)
{
	struct ing_addr addr;
	char name[ING_URL_HOST_BYTES];
	if (bytes > 0 && host[bytes - 1] == '.')
		bytes--;
	if (bytes == 0 || bytes >= sizeof(name) || ing_addr_parse(host, &addr))
		return NULL;
	memcpy(name, host, bytes);
	name[bytes] = '\0';
	pthread_once(&once, load_list);
	const char *domain = list != NULL ? psl_registrable_domain(list, name) : NULL;
	return domain != NULL ? host + (domain - name) : NULL;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_psl_registered(const char *host)
{
	size_t bytes = strlen(host);
	if (bytes == 0 || bytes >= sizeof(answers[0].host))
		return look_up(host, bytes);
	struct answer *a = &answers[ing_hash(host, bytes) % REMEMBERED];
	if (strcmp(a->host, host) != 0) {
		const char *domain = look_up(host, bytes);
		memcpy(a->host, host, bytes + 1);
		a->at = domain != NULL ? (uint8_t)(domain - host) : NO_DOMAIN;
	}
	return a->at != NO_DOMAIN ? host + a->at : NULL;
}
