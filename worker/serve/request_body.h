/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request_body.h - the body of POST /ingest: a request as a JSON object, an array of requests, or JSON lines.
 *
 * Each is checked as `ingestctl submit` checks its lines. All are good, or none is taken. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct json_t;
struct ing_request;

struct ing_body_request {
	struct ing_request *request;
	char *message; /* heap: what is produced */
	size_t message_bytes;
};

struct ing_body {
	struct ing_body_request *requests;
	size_t count;
	bool many; /* an array or lines, also of one */
};

struct ing_body_limits {
	size_t max_requests;
	const char *source; /* ingest_request_source of requests that say none */
};

/* lines: it is known to be JSON lines; otherwise an object with further lines behind it is taken for lines, too. On
 * failure *ret_errors is a list of at most 20 objects {index, line?, member, reason}: new reference. Free with
 * ing_body_done(). */
int ing_body_parse(const char *data, size_t bytes, bool lines, const struct ing_body_limits *limits,
	struct ing_body *ret, struct json_t **ret_errors) ING_MUST_CHECK;
void ing_body_done(struct ing_body *b); /* zero-initialised is fine */
