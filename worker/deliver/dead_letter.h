/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dead_letter.h - a message that is no request, or that has killed the worker, on its way to the topic of dead letters: as it
 * came, with headers that say where it came from and why it is there
 * (schemas/dead-letter.schema.json). Pure.
 */
#pragma once
#include "common/base/error.h"
#include "worker/deliver/deliver.h"
#include "worker/intake/intake.h"

/* Everything is copied. A value over max_value_bytes is cut, which one of the headers tells; a key
 * that would take the headers' room is left out. */
struct ing_delivery *ing_dead_letter_new(
	const struct ing_message *m, const struct ing_error *err, size_t max_value_bytes);
/* Of a request that was in flight at so many deaths of the worker by its own fault, at the last in
 * this stage: reason `poison`. */
struct ing_delivery *ing_dead_letter_poison(
	const struct ing_message *m, unsigned deaths, const char *stage, size_t max_value_bytes);
