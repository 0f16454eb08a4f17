/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * answered.h - a message whose answer an earlier process has stored and not committed, on its way to
 * be committed. Pure.
 */
#pragma once
#include "worker/deliver/deliver.h"
#include "worker/intake/intake.h"

/* m->answer is set. Everything is copied. */
struct ing_delivery *ing_answered_new(const struct ing_message *m);
