/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_tei.h - GROBID's answer about a document, as an examiner found it (findings.h).
 */
#pragma once

/* Every value of status. "success": there are version, metadata and text. "error": the answer has
 * more than ING_MAX_GROBID_CHARS characters or ING_MAX_GROBID_BYTES bytes. */
#define ING_TEI_STATUSES "success", "bad-grobid-xml", "error"

struct ing_tei_found {
	char *status;         /* NULL: not asked */
	char *error_msg;      /* at most ING_MAX_GROBID_ERROR_CHARS characters; NULL on success */
	char *version;        /* of GROBID */
	char *fatcat_release; /* 26 characters, or NULL */
	char *metadata_json; /* JSON object: biblio, grobid_timestamp, language_code. From a process
			       * that read hostile bytes, so parse it before believing that it is
			       * one */
	char *text;          /* the document in UTF-8 */
};

void ing_tei_found_done(struct ing_tei_found *t); /* frees the strings; safe on a zeroed one */
