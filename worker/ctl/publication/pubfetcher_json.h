/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pubfetcher_json.h - records in the form of PubFetcher's JSON output, there and back. Pure.
 *
 * What it does not have (authors, licence, publisher, sources of fields) is left out; types that it does not
 * know keep their names. Coming back, its marks for "unknown" (-1, "", false) become null.
 */
#pragma once
#include <stdint.h>
#include "common/data/json.h"

/* New references. */
json_t *ing_pubfetcher_publication(const json_t *record);
json_t *ing_pubfetcher_webpage(const json_t *record);
/* What is later than now_ms is of now. */
json_t *ing_publication_of_pubfetcher(const json_t *o, int64_t now_ms);
json_t *ing_webpage_of_pubfetcher(const json_t *o, int64_t now_ms);
