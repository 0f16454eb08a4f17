/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * helper.h - a child for many questions: forked once, asked line by line, and forked again when a
 * question was its last. A fork for every line would cost more than most lines; without one a
 * single bad page would take the others along.
 *
 * Limits are child.h's: memory for the child as a whole, time for each question. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"

struct ing_ctl_helper;

/* Runs in the child: answer one question. What it keeps between questions is its own. */
typedef void ing_ctl_helper_f(void *ctx, const char *question, size_t bytes, struct ing_buf *out);

struct ing_ctl_helper *ing_ctl_helper_new(ing_ctl_helper_f *fn, void *ctx, unsigned timeout_ms);
void ing_ctl_helper_free(struct ing_ctl_helper *h); /* NULL is fine; ends the child */

/* Ask, and wait for the answer in *ret (initialised; emptied before). -ING_FAIL_TIMEOUT,
 * -ING_FAIL_CRASH, -ING_FAIL_TOO_BIG or -ING_FAIL_SYSTEM with words in *err; the helper can be
 * asked again in any case. */
int ing_ctl_helper_ask(struct ing_ctl_helper *h, const char *question, size_t bytes,
	struct ing_buf *ret, struct ing_error *err) ING_MUST_CHECK;

/* Prints an answer, or in its place err's words (err not NULL: there is none, the buffer is empty
 * and may be used). False: an error. */
typedef bool ing_ctl_answer_f(struct ing_buf *answer, const struct ing_error *err);

/* Every line of a file that is not empty is a question to one helper; an exit code (ctl.h). */
int ing_ctl_helper_batch(const char *verb, const char *path, size_t max_line_bytes,
	struct ing_ctl_helper *h, ing_ctl_answer_f *print);
