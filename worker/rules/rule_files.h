/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_files.h - the bytes of the rule files, read once and together, so that every process (the
 * worker, which checks and names the rules; the examiners' zygote, which applies them) loads the
 * same.
 *
 * Owns the bytes. They go to other processes through a sealed memfd. One thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"

enum ing_rule_kind { /* in the order of loading */
	ING_RULES_JOURNALS,
	ING_RULES_WEBPAGES,
	ING_RULES_LINKS,
	ING_RULES_SITES,
	ING_RULES_WALLS,
	ING_RULES_BLOCKLIST,
	ING_RULES_HOSTS, /* worker/rules/host_rules.h; not used by examiners */
	ING_RULES_FILTERS, /* a filter list (worker/document/filter), which is in no folder of rules */
};

struct ing_rule_file {
	enum ing_rule_kind kind;
	char *path; /* for messages */
	char *text;
	size_t bytes;
};

#define ING_MAX_RULE_FILES 32
#define ING_MAX_RULE_FILE_BYTES ((size_t)8 << 20)

struct ing_rule_files {
	struct ing_rule_file items[ING_MAX_RULE_FILES];
	size_t count;
};

void ing_rule_files_init(struct ing_rule_files *f);
void ing_rule_files_done(struct ing_rule_files *f);
/* Read the files of a folder in the order of enum ing_rule_kind; each may be absent. Returns 0,
 * -NOT_FOUND when there is no such folder, -TOO_BIG, -SYSTEM. */
int ing_rule_files_read_dir(
	struct ing_rule_files *f, const char *dir, struct ing_error *err) ING_MUST_CHECK;
/* Add one more file of a kind, which is loaded after those before it. Returns 0, -NOT_FOUND,
 * -TOO_BIG, -SYSTEM. */
int ing_rule_files_read(struct ing_rule_files *f, enum ing_rule_kind kind, const char *path,
	struct ing_error *err) ING_MUST_CHECK;
/* Write to a new sealed memfd, the caller's to close; read from one, at any file position. */
int ing_rule_files_to_fd(
	const struct ing_rule_files *f, int *ret_fd, struct ing_error *err) ING_MUST_CHECK;
int ing_rule_files_from_fd(struct ing_rule_files *f, int fd, struct ing_error *err) ING_MUST_CHECK;
/* Returns a digest of all files that have scraping rules: not of hosts.yaml and filter lists. Equal digests
 * mean equal rules, with equal numbers. */
uint64_t ing_rule_files_digest(const struct ing_rule_files *f);
/* The same of all files: workers that show equal ones work by the same rules. */
uint64_t ing_rule_files_digest_all(const struct ing_rule_files *f);
