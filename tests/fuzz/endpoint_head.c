/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fields of a request to the endpoint that are looked into: Accept up to the first NUL, Host
 * behind it.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "worker/service/endpoint_head.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 20, .heap_kb = 20, .heap_byte = 5);

void fuzz_target(const uint8_t *data, size_t size)
{
	char *text = ing_strndup((const char *)data, size);
	size_t accept = strnlen((const char *)data, size);
	char *host = ing_strndup((const char *)data + accept, 0);
	if (accept < size) {
		free(host);
		host = ing_strndup((const char *)data + accept + 1, size - accept - 1);
	}
	if (ing_endpoint_wants_openmetrics(text))
		ing_must(strcasestr(text, "openmetrics") != NULL);
	if (ing_endpoint_is_local_host(host))
		ing_must(strncasecmp(host, "localhost", 9) == 0 || strncmp(host, "127.", 4) == 0 ||
			 host[0] == '[');
	free(host);
	free(text);
}
