/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_fetch.h - one page fetched as the worker would, under all its rules of politeness, into a WARC
 * file of its own. Blocks. One thread.
 */
#pragma once
#include "common/base/error.h"
#include "worker/ctl/ctl.h"

/* Where the answer is. Strings are heap. */
struct ing_page_record {
	char *dir;  /* made for it, with all that is inside; ing_page_record_done() removes it */
	char *warc; /* path of the file */
	uint64_t offset;
	char *url; /* of the answer, after redirects */
};

/* Runs `ingestctl run` with the same configuration. Returns 0; -ING_FAIL_INVALID when there is no answer with a page in it, with the status of the request in
 * the words; -ING_FAIL_SYSTEM. *ret is to be released in any case. */
int ing_page_fetch(const struct ing_ctl *ctl, const char *url, struct ing_page_record *ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_page_record_done(struct ing_page_record *r); /* zeroed is fine */
