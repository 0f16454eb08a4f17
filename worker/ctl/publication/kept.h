/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_kept.h - verbs about what is kept in PostgreSQL: `ingestctl publication list|show|export|stats|import`
 * and the same of `webpage`.
 */
#pragma once
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/kept_condition.h"

typedef int ing_kept_verb_f(
	enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl);

/* Whether the first argument is such a verb: then it is run, with *ret_code as its exit code. */
bool ing_ctl_kept(
	enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl, int *ret_code);

/* A file each. argv[0] is "ingestctl publication list". */
ing_kept_verb_f ing_ctl_kept_list, ing_ctl_kept_show, ing_ctl_kept_export, ing_ctl_kept_stats,
	ing_ctl_kept_import;

struct ing_usage;
extern const struct ing_usage ing_ctl_publication_export_usage;
extern const struct ing_usage ing_ctl_publication_import_usage;
extern const struct ing_usage ing_ctl_publication_list_usage;
extern const struct ing_usage ing_ctl_publication_show_usage;
extern const struct ing_usage ing_ctl_publication_stats_usage;
extern const struct ing_usage ing_ctl_webpage_export_usage;
extern const struct ing_usage ing_ctl_webpage_import_usage;
extern const struct ing_usage ing_ctl_webpage_list_usage;
extern const struct ing_usage ing_ctl_webpage_show_usage;
extern const struct ing_usage ing_ctl_webpage_stats_usage;
/* Of all of them, end with NULL. */
extern const struct ing_usage *const ing_kept_publication_below[];
extern const struct ing_usage *const ing_kept_webpage_below[];

/* "publication", "webpage" */
const char *ing_kept_table_name(enum ing_kept_table table);
