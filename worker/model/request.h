/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request.h - one ingest request: the parsed and checked form of a message
 * (schemas/ingest-request.schema.json).
 *
 * Heap object, owned by whoever parsed it until given on. Strings are borrowed from the JSON inside
 * it. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/model/ingest_type.h"

struct json_t;

struct ing_request {
	struct json_t *json; /* the request as received, but for an alias of its ingest_type, and
				base_url filled in when derived */
	enum ing_ingest_type type;
	const char *ingest_type; /* as in json */
	const char *base_url;    /* start, raw; NULL never */
	const char *link_source, *link_source_id, *ingest_request_source,
		*release_stage;        /* or NULL */
	char key[41];                  /* SHA-1 (hex) of the identity: the result's Kafka key */
	const char **expect_mimetypes; /* NULL-terminated or NULL */
	const char *expect_md5, *expect_sha1, *expect_sha256; /* lower-case hex, or NULL */
};

/* Parse and check at most ING_MAX_REQUEST_BYTES of JSON: well-formed UTF-8, nesting at most
 * ING_MAX_REQUEST_DEPTH, no duplicate keys, an object with a known ingest_type and a base_url
 * string (or ext_ids with doi, arxiv or pmcid), fields used by us of the right type. A base_url
 * that is no URL is accepted here: its result is invalid-url. Errors (-TOO_BIG, -TOO_DEEP, -SYNTAX,
 * -ENCODING, -INVALID) name the field, with line and column where the parser knows them. */
int ing_request_parse(const char *json, size_t bytes, struct ing_request **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_request_free(struct ing_request *r); /* NULL is fine */
