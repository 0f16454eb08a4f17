/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The wrapper of libpsl. The list is built once, under a once-control, and never freed: it is
 * static data of the library, or the system's file read into memory.
 */
#include "common/net/psl.h"

#include <libpsl.h>
#include <pthread.h>
#include <string.h>

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

/* -------------------------------------------------------------------------------------------- */

const char *ing_psl_registered(const char *host)
{
	struct ing_addr addr;
	char name[ING_URL_HOST_BYTES];
	size_t bytes = strlen(host);
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
