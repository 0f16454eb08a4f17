/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule_files.h - the bytes of the rule files, read once and together, so that whoever loads rules
 * from them (the worker, to check and to name them; the examiners' zygote, to use them) has the
 * same.
 *
 * Owns the bytes. To hand them to another process they are written to a descriptor (a sealed memfd)
 * and read from there. One thread.
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
	ING_RULES_HOSTS, /* worker/rules/host_rules.h; nothing to examiners */
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
/* The seven files of a folder, in the order of kinds; each may be absent. A folder that is not
 * there is -NOT_FOUND. */
int ing_rule_files_read_dir(
	struct ing_rule_files *f, const char *dir, struct ing_error *err) ING_MUST_CHECK;
/* One more of a kind, loaded after those before (a user's own journals or webpages). */
int ing_rule_files_read(struct ing_rule_files *f, enum ing_rule_kind kind, const char *path,
	struct ing_error *err) ING_MUST_CHECK;
/* To a sealed memfd, and back from one (whatever its position). */
int ing_rule_files_to_fd(
	const struct ing_rule_files *f, int *ret_fd, struct ing_error *err) ING_MUST_CHECK;
int ing_rule_files_from_fd(struct ing_rule_files *f, int fd, struct ing_error *err) ING_MUST_CHECK;
/* Of all that is about URLs and pages. hosts.yaml does not count: rules about hosts change nothing
 * that an examiner finds, and other ones make no new set of what is found by. */
uint64_t ing_rule_files_digest(const struct ing_rule_files *f);
