/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mask.h - masks user names and passwords of URLs in texts and JSON (common/net/url_mask.h). Pure.
 */
#pragma once
#include "common/data/json.h"

struct ing_arena;

/* Mask a text that is a URL or an identifier. Returns s itself when there is nothing to mask, else a
 * copy in the arena. NULL gives NULL. */
const char *ing_mask_url(struct ing_arena *ar, const char *s);

/* Mask all URLs in a text. Returns a copy in the arena, as UTF-8; NULL gives NULL. */
const char *ing_mask_text(struct ing_arena *ar, const char *text);

/* Mask all URLs in the strings and the keys of a JSON value. If two keys of an object become the
 * same, the later member is kept. Recurses as deep as the value is nested. Returns a new reference;
 * NULL gives NULL. */
json_t *ing_mask_json(const json_t *v);
