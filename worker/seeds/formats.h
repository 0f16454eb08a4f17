/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * formats.h - the formats that there are; each is in a file read_*.c.
 */
#pragma once
#include "worker/seeds/reader.h"

extern const struct ing_seed_format ing_seed_format_jsonl; /* a JSON object a line */
extern const struct ing_seed_format ing_seed_format_json;  /* that, or in lists */
extern const struct ing_seed_format ing_seed_format_xml;   /* an element is a record */
extern const struct ing_seed_format ing_seed_format_cdx;   /* and CDXJ */
extern const struct ing_seed_format ing_seed_format_warc;
extern const struct ing_seed_format
	ing_seed_format_lines;                           /* a line is a row of one column, `line` */
extern const struct ing_seed_format ing_seed_format_csv; /* RFC 4180 */
extern const struct ing_seed_format
	ing_seed_format_tsv; /* columns divided by tabs, without quotes */
