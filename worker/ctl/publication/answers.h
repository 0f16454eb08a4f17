/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_answers.h - results of publications or web pages as they come from the engine, printed in
 * the order in which they were asked for.
 *
 * The engine writes results into a pipe; a thread of ours reads it. What comes before its turn waits as
 * text in a temporary file. A reader of the output that does not read holds the engine up, as with
 * `ingestctl run`. Owns: pipe, thread, temporary file, the output file.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

enum ing_publication_format {
	ING_ANSWERS_JSON, /* an object a line */
	ING_ANSWERS_PLAIN,
	ING_ANSWERS_HTML, /* one page with all, printed at the end */
};

struct ing_publication_answers_conf {
	const char *verb;
	bool pages; /* results of web pages */
	enum ing_publication_format format;
	const char *path;   /* NULL: stdout */
	char *const *names; /* borrowed: what was asked for */
	size_t count;
};

struct ing_publication_answers;

/* conf is copied. */
int ing_publication_answers_new(const struct ing_publication_answers_conf *conf,
	struct ing_publication_answers **ret, struct ing_error *err) ING_MUST_CHECK;
/* Where results are to be written; of the answers. */
int ing_publication_answers_fd(const struct ing_publication_answers *a);
/* No more results come. Waits until all are printed; of those without a result it is said.
 * Returns an exit code: NEGATIVE if one is not there or empty. */
int ing_publication_answers_end(struct ing_publication_answers *a);
/* After end(), or before anything was written. NULL is fine. */
void ing_publication_answers_free(struct ing_publication_answers *a);
