/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bearers.h - who may use the API: bearer tokens (RFC 6750) from a file, one a line, "#" for comments.
 *
 * Kept as their SHA-256 alone. A token that is offered is compared with every one of them, and each comparison takes the
 * same time whatever it finds. Owned by one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_bearers;

/* path: as ing_key_file_path() has it. Error: -CONFIG: it cannot be read, has no token, or one of under
 * ING_BEARER_MIN_BYTES. */
#define ING_BEARER_MIN_BYTES 16
int ing_bearers_load(
	const char *path, struct ing_bearers **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_bearers_free(struct ing_bearers *t); /* NULL is fine */
bool ing_bearers_have(const struct ing_bearers *t, const char *token);
/* Of a value of the header field Authorization; NULL is fine. */
bool ing_bearers_authorize(const struct ing_bearers *t, const char *authorization);
