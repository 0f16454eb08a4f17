/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status.h - the one table of result statuses (status.def). Pure, any thread.
 */
#pragma once
#include <stdbool.h>

enum ing_status {
#define STATUS(name, slug, hit, retry, after_s, tries, meaning) ING_STATUS_##name,
#include "worker/model/status.def"
#undef STATUS
	ING_STATUS_COUNT_
};

enum ing_status_retry { ING_STATUS_NEVER, ING_STATUS_LATER, ING_STATUS_SOON };

const char *ing_status_slug(enum ing_status st);
const char *ing_status_meaning(enum ing_status st);
enum ing_status_retry ing_status_retry(enum ing_status st);
unsigned ing_status_retry_after_s(enum ing_status st); /* seconds; 0 with NEVER */
/* How often one URL is asked for within a request, at most, when it goes wrong like this; 1 or
 * more. Whether a certain answer is worth it: retry.h. */
unsigned ing_status_tries(enum ing_status st);
/* -1 when the slug is none of ours. */
int ing_status_from_slug(const char *slug);
