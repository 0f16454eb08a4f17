/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request.h - an ingest request: the parsed and checked form of a message
 * (schemas/ingest-request.schema.json).
 *
 * On the heap; who has parsed it frees it. Strings in it belong to its JSON. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/model/ingest_type.h"

struct json_t;

/* Of a request for a publication; strings may be NULL. */
struct ing_request_publication {
	const char *pmid, *pmcid, *doi, *arxiv; /* of ext_ids, as they came; or NULL */
	unsigned parts; /* wanted: bits 1 << enum ing_part_key (part_type.h); 0: all */
	bool quick;
	const char *resource; /* name of the only one that is asked (publication_resource.def) */
};

struct ing_request {
	/* As received, but an alias in ingest_type is replaced, and a base_url that was derived from
	 * ext_ids is added. */
	struct json_t *json;
	enum ing_ingest_type type;
	const char *ingest_type; /* its name */
	const char
		*type_alias;  /* static: the name that was received, when it was another; or NULL */
	const char *base_url; /* where to start, not cleaned; never NULL */
	const char *link_source, *link_source_id, *ingest_request_source,
		*release_stage;        /* or NULL */
	char key[41];                  /* SHA-1 (hex) of the identity: the result's Kafka key */
	const char **expect_mimetypes; /* NULL-terminated, or NULL */
	const char *expect_md5, *expect_sha1, *expect_sha256; /* hex of either case, or NULL */
	bool force_recrawl; /* whatever the tables have, it is fetched */
	/* The tables may answer with a result that is no older; 0: they may not; -1: not said. */
	int64_t skip_existing_max_age_ms;
	bool derived; /* base_url was not given, but derived from ext_ids */
	struct ing_request_publication publication;
};

/* Parse and check a message. It has to be a JSON object of at most ING_MAX_REQUEST_BYTES of UTF-8,
 * nested at most ING_MAX_REQUEST_DEPTH deep, without duplicate keys, with a known ingest_type and a
 * base_url (or ext_ids with doi, arxiv or pmcid; for a publication also pmid), and members used here must have the right type. A
 * base_url that is not a URL is accepted: the request ends with invalid-url. Returns 0, or -TOO_BIG,
 * -TOO_DEEP, -SYNTAX, -ENCODING or -INVALID; *err names the member, and line and column of a syntax
 * error. Passwords in its text are masked. */
int ing_request_parse(const char *json, size_t bytes, struct ing_request **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* SHA-1 (hex) of an identity: what was received, NULL like the empty text. */
void ing_request_key(const char *ingest_type, const char *base_url, const char *link_source,
	const char *link_source_id, char ret[41]);
void ing_request_free(struct ing_request *r); /* NULL is fine */
