/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mask.h - what leaves a job, without the passwords of URLs (common/net/url_mask.h). Pure.
 */
#pragma once
#include "common/data/json.h"

struct ing_arena;

/* A text that is a URL or an identifier. Itself when there is nothing to mask, NULL for NULL, else
 * a copy in the arena. */
const char *ing_mask_url(struct ing_arena *ar, const char *s);

/* A copy of a JSON value in which every string, and every name of a member, is masked as words are;
 * of two members whose names become one the later stands. Recurses as deep as the value is nested.
 * A new reference; NULL for NULL. */
json_t *ing_mask_json(const json_t *v);
