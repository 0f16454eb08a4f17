/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * records.h - an exchange as WARC records: what stands in their headers. Written with ing_warc_file_add(),
 * whose results these return. The archive thread's.
 */
#pragma once
#include "common/record/warc_file.h"

struct ing_archive_body;
struct ing_archive_conf;
struct ing_archive_original;
struct ing_exchange;

/* Where records go, and what they refer to as their warcinfo. */
struct ing_archive_file {
	struct ing_warc_file *file;
	char warcinfo_id[ING_WARC_ID_BYTES];
};

/* The first record of a file. Sets warcinfo_id. */
int ing_archive_write_warcinfo(struct ing_archive_file *to, const struct ing_archive_conf *conf,
	struct ing_error *err) ING_MUST_CHECK;
/* Each names the other; id is the record's own. */
int ing_archive_write_request(const struct ing_archive_file *to, const struct ing_exchange *ex,
	const char *id, const char *response_id, struct ing_error *err) ING_MUST_CHECK;
/* request_id: "" when there is none. */
int ing_archive_write_response(const struct ing_archive_file *to,
	const struct ing_archive_body *body, const char *id, const char *request_id,
	struct ing_warc_place *ret, struct ing_error *err) ING_MUST_CHECK;
/* The head of the answer alone, and where its body is. */
int ing_archive_write_revisit(const struct ing_archive_file *to, const struct ing_exchange *ex,
	const char *id, const char *request_id, const struct ing_archive_original *original,
	struct ing_warc_place *ret, struct ing_error *err) ING_MUST_CHECK;
