/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_ask.h - what `ingestctl publication` and `webpage` do: identifiers in, the engine of
 * `ingestctl run` in this process, publications or pages out, in order. With postgres.dsn hosts are leased
 * and what is found is kept, as by a worker.
 */
#pragma once
#include "common/data/json.h"
#include "worker/ctl/publication/answers.h"

struct ing_ctl;

struct ing_publication_ask_options {
	const char *verb;
	bool pages;            /* web pages */
	const json_t *members; /* of each request; borrowed */
	enum ing_publication_format format;
	const char *path;     /* of the output; NULL: stdout */
	const char *warc_dir; /* NULL: nothing is archived */
	long max_wait_s;      /* -1: not given */
};

/* Words that are identifiers, files of them or "-". Returns an exit code. */
int ing_publication_ask(const struct ing_ctl *ctl, const struct ing_publication_ask_options *o,
	char *const *words, size_t count);
