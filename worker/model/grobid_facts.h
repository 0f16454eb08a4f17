/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grobid_facts.h - what GROBID says of a document, for its result, its row and its message. Plain data,
 * any thread.
 */
#pragma once
#include <stdbool.h>

/* Strings are heap, valid UTF-8, or NULL. */
struct ing_grobid_facts {
	/* "success", "bad-grobid-xml", "error", "error-connect", "error-timeout", "blob-too-large";
	 * NULL: GROBID was not asked. */
	char *status;
	int status_code; /* of HTTP; negative: there was no answer (grobid/grobid.h) */
	char *error_msg; /* at most 10,000 characters; NULL on success */
	char *version;   /* of GROBID; of a success */
	char *fatcat_release;
	char *metadata_json; /* JSON object, parsed before; of a success */
	bool reused; /* from the row of an earlier request, to which nothing is to be added */
};

void ing_grobid_facts_done(struct ing_grobid_facts *f); /* safe on a zeroed one */
