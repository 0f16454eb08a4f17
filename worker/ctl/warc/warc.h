/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc.h - what the subcommands of `ingestctl warc` share: files read record by record. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

struct ing_http_head;
struct ing_warc_scan_state;

#define ING_CTL_WARC "warc"

/* One whole record. Borrowed for the call. */
struct ing_ctl_warc_record {
	const char *path; /* of the file, as it was given */
	uint64_t offset, csize;
	const char *head;
	size_t head_bytes;
	const struct ing_http_head
		*http;               /* of an HTTP response; NULL: there is none, or no whole one */
	const char *payload_sha1b32; /* of its bytes */
	const char *fault;           /* a digest that is wrong: static words; or NULL */
};

typedef void ing_ctl_warc_f(void *ctx, const struct ing_ctl_warc_record *r);

/* All records of a file. False after a message on stderr. */
bool ing_ctl_warc_walk(
	const char *path, ing_ctl_warc_f *each, void *ctx, struct ing_warc_scan_state *ret);

/* Each prints on stdout and returns the exit code. */
int ing_ctl_warc_verify(char **paths, int count);
int ing_ctl_warc_index(char **paths, int count, bool cdxj);

struct ing_url_pattern;

struct ing_ctl_warc_erase {
	const struct ing_url_pattern *hosts;
	size_t host_count;
	const char *why; /* stands in the records */
	bool dry_run;
};

int ing_ctl_warc_erase(const struct ing_ctl_warc_erase *what, char **paths, int count);
int ing_ctl_warc_cat(const char *path, uint64_t offset, bool raw);
