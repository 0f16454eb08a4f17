/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_fold.h - adds up the counts of what a load stores, every few seconds and at its end: a list of millions would
 * else leave as many differences (schemas/sql/0009_lists.sql). A thread with a connection of its own; all functions are the loop's.
 */
#pragma once
#include "common/base/error.h"

struct uv_loop_s;
struct ing_load_folder;

/* done: after ing_load_folder_finish(), once. Error: as ing_schema_prepare(). */
int ing_load_folder_new(const char *dsn, struct uv_loop_s *loop, void (*done)(void *ctx), void *ctx,
	struct ing_load_folder **ret, struct ing_error *err) ING_MUST_CHECK;
/* Add up what is left. What takes too long, or is done by somebody else, is left to the workers' upkeep. */
void ing_load_folder_finish(struct ing_load_folder *f);
/* Abandons what is under way. Run the loop once more to close its handle. NULL is fine. */
void ing_load_folder_free(struct ing_load_folder *f);
