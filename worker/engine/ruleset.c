/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads the rules of a folder into the forms that the worker uses.
 */
#include "worker/engine/ruleset.h"

#include <unistd.h>

#include "common/base/log.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"
#include "worker/rules/rule_files.h"
#include "worker/scrape/rules/rules.h"

static int load_files(const struct ing_rule_files *files, struct ing_ruleset *ret,
	struct ing_report *report, struct ing_error *err)
{
	ret->digest = ing_rule_files_digest_all(files);
	/* All, so that one report has what is wrong with any. */
	ret->rules = ing_rules_load(files, report);
	int rc = ing_url_rules_load_files(files, &ret->url_rules, report);
	int hosts_rc = ing_host_rules_load_files(files, &ret->host_rules, report);
	ing_report_sort(report);
	if (ret->rules == NULL || rc != 0 || hosts_rc != 0 || report->errors > 0)
		return ing_error_set(err, ING_FAIL_CONFIG,
			"rules.dir: %zu error%s in the rule files", report->errors,
			ING_PLURAL_S(report->errors));
	return ing_rule_files_to_fd(files, &ret->fd, err);
}

static int read_filters(struct ing_rule_files *files, char *const *filters, struct ing_error *err)
{
	for (; filters != NULL && *filters != NULL; filters++) {
		struct ing_error bad = {0};
		if (ing_rule_files_read(files, ING_RULES_FILTERS, *filters, &bad) != 0)
			return ing_error_set(err, bad.code, "resources.filters: %s", bad.msg);
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ruleset_load(const char *dir, char *const *filters, struct ing_ruleset *ret,
	struct ing_report *report, struct ing_error *err)
{
	struct ing_rule_files files;
	struct ing_error bad = {0};
	*ret = (struct ing_ruleset){.fd = -1};
	ing_rule_files_init(&files);
	int rc = ing_rule_files_read_dir(&files, dir, &bad);
	if (rc == 0)
		rc = read_filters(&files, filters, &bad);
	if (rc == 0)
		rc = load_files(&files, ret, report, &bad);
	else if (rc == -ING_FAIL_NOT_FOUND)
		bad.code = ING_FAIL_CONFIG;
	ing_rule_files_done(&files);
	if (rc == 0)
		return 0;
	ing_ruleset_done(ret);
	return ing_error_set(err, bad.code, "%s", bad.msg);
}

void ing_ruleset_done(struct ing_ruleset *set)
{
	ing_rules_free(ING_TAKE(set->rules));
	ing_url_rules_free(ING_TAKE(set->url_rules));
	ing_host_rules_free(ING_TAKE(set->host_rules));
	if (set->fd > 0)
		close(set->fd);
	set->fd = -1;
}

size_t ing_ruleset_count(const struct ing_ruleset *set)
{
	return set->rules->count + ing_url_rules_count(set->url_rules) +
	       ing_host_rules_count(set->host_rules);
}

void ing_ruleset_log_report(const struct ing_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct ing_report_line *l = &report->lines[i];
		enum ing_log_level level = l->warning ? ING_LOG_WARNING : ING_LOG_ERROR;
		if (l->line > 0)
			ing_log(level, "%s:%d:%d: %s", l->file, l->line, l->column, l->text);
		else
			ing_log(level, "%s: %s", l->file, l->text);
	}
}
