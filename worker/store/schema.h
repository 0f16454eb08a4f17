/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schema.h - is the database's schema the one this program was built for?
 */
#pragma once
#include "common/data/pg.h"

/* 0, -INVALID (missing, older, newer: the message says what to do) or -UNAVAILABLE. */
int ing_schema_check(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;
