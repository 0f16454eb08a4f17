/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_tei.h - the header of a TEI document that GROBID has made, as an examiner found it (findings.h).
 */
#pragma once

struct ing_tei_found {
	char *status;        /* "success" or "bad-grobid-xml"; NULL: not asked */
	char *error_msg;     /* or NULL */
	char *version;       /* of GROBID, or NULL */
	char *metadata_json; /* JSON object; from a process that read hostile bytes. Or NULL */
};

void ing_tei_found_done(struct ing_tei_found *t); /* frees the strings; safe on a zeroed one */
