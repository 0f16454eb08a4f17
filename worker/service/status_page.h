/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status_page.h - a worker's status (schemas/worker-status.schema.json) as a page for people: one file with its style and
 * script, nothing from elsewhere, light and dark, for desks and phones; it shows itself anew every five seconds.
 *
 * Texts come from outside: all of them are escaped, links are http or https only, and the page's policy allows
 * its own style and script by their digests, and connections to where it came from. Pure; any thread.
 */
#pragma once
#include <stdint.h>
#include "common/data/json.h"

struct ing_buf;

#define ING_STATUS_PAGE_BYTES ((size_t)2 << 20)

/* status NULL: the worker has said nothing yet. silence_ms: since the worker's loop last turned. */
void ing_status_page(const json_t *status, uint64_t silence_ms, struct ing_buf *out);
/* The value of its Content-Security-Policy, heap. */
char *ing_status_page_policy(void);
