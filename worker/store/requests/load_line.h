/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * load_line.h - a line of a list as a row of ingest_request. Pure, any thread.
 */
#pragma once
#include "common/base/error.h"
#include "worker/store/requests/load_rows.h"

/* Add the request to the share of its stream. created: RFC 3339, when the line does not say it; NULL: when it is stored. Error: as
 * ing_request_parse(), and -INVALID: it cannot be stored as it is (a part of its key is too long or has user information, its
 * `created` is no date). */
int ing_load_line(const char *line, size_t bytes, const char *created,
	struct ing_load_share *shares, unsigned streams, struct ing_error *err) ING_MUST_CHECK;

/* "ingest_type, base_url, …": what the text of a row has, in this order. */
void ing_load_columns(struct ing_buf *out);
