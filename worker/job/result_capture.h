/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result_capture.h - where an answer is archived, as a result tells it. New references. Pure.
 */
#pragma once
#include "common/data/json.h"

struct ing_capture;
struct ing_row_cdx;

/* `wayback`: the capture as a public archive has it once our files are indexed there. datetime
 * NULL: nothing was answered. */
json_t *ing_wayback_json(const char *url, const char *datetime);
/* `cdx`: of an answer that this request has got. */
json_t *ing_capture_cdx_json(const struct ing_capture *c);
/* `revisit_cdx`, of one that is a revisit record: the capture that it refers to. */
json_t *ing_capture_revisit_cdx_json(const struct ing_capture *c);
/* The same of a row of the table. http_status 0: not known. */
json_t *ing_row_cdx_json(const struct ing_row_cdx *row, int http_status);
