/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The body of POST /ingest. Each message that is made of it is a request that the worker takes, and the same request that was
 * checked; a body that is refused has reasons.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/json.h"
#include "worker/model/request.h"
#include "worker/serve/request_body.h"

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 30000, .heap_kb = 600, .heap_byte = 400);

static void check_request(const struct ing_body_request *r)
{
	struct ing_request *again = NULL;
	ing_must(strlen(r->message) == r->message_bytes);
	ing_must(ing_request_parse(r->message, r->message_bytes, &again, NULL) == 0);
	ing_must(strcmp(again->key, r->request->key) == 0);
	ing_must(!again->derived && again->ingest_request_source != NULL);
	ing_request_free(again);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const struct ing_body_limits limits = {50, "fuzz"};
	struct ing_body body;
	json_t *errors = NULL;
	if (size == 0)
		return;
	/* As a buffer has it: with a NUL behind. */
	char *copy = ing_alloc(size);
	memcpy(copy, data + 1, size - 1);
	if (ing_body_parse(copy, size - 1, data[0] & 1, &limits, &body, &errors) == 0) {
		ing_must(body.count > 0 && body.count <= limits.max_requests);
		for (size_t i = 0; i < body.count; i++)
			check_request(&body.requests[i]);
		ing_body_done(&body);
	} else {
		ing_must(json_array_size(errors) > 0 && body.count == 0);
		json_decref(errors);
	}
	free(copy);
}
