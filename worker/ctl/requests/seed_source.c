/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/ctl/requests/seed_source.h"

#include "common/base/report.h"
#include "worker/ctl/ctl.h"

int ing_ctl_seed_source(const char *verb, const char *dir, const char *name,
	const char *const *settings, struct ing_seed_source **ret)
{
	struct ing_report report = {0};
	struct ing_error err = {0};
	int rc = ing_seed_source_load(dir, name, settings, ret, &report, &err);
	ing_report_sort(&report);
	ing_report_print_errors(&report, stderr);
	if (rc != 0 && report.errors == 0)
		ing_ctl_fail(ING_CTL_USAGE, verb, "%s", err.msg);
	ing_report_done(&report);
	return rc == 0 ? ING_CTL_OK : rc == -ING_FAIL_SYSTEM ? ING_CTL_ENVIRONMENT : ING_CTL_USAGE;
}
