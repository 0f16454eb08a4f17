/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Request messages: any bytes are a request or an error with words, and a request has a key and a
 * start.
 */
#include "tests/fuzz/target.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/visit/target.h"
#include "worker/model/request.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 50, .heap_kb = 500, .heap_byte = 20);

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	if (ing_request_parse((const char *)data, size, &r, &err) != 0) {
		if (r != NULL || err.msg[0] == '\0')
			abort();
		return;
	}
	if (strlen(r->key) != 40 || r->base_url == NULL || r->ingest_type == NULL)
		abort();
	struct ing_decision d = ing_target_start(r->base_url, NULL, NULL);
	if (d.step == ING_STEP_LINK && strncmp(d.url, "http", 4) != 0)
		abort();
	free(d.url);
	ing_request_free(r);
}
