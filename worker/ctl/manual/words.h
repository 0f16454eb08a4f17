/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * words.h - what is said of one status and of one metric, the same in the manual and by `ingestctl help NAME`. Pure.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/model/status.h"

struct ing_buf;
struct ing_metric;

/* Its meaning, whether it is a hit, and when it is worth asking again, as sentences. Appended. */
void ing_words_add_status(enum ing_status st, struct ing_buf *to);
/* Its kind, its labels with all that they can be, and its help, as sentences. Appended. */
void ing_words_add_metric(const struct ing_metric *m, struct ing_buf *to);
/* Rows of one name stand behind one another or apart; the first of them speaks for all. */
bool ing_words_is_repeated_metric(size_t i);
