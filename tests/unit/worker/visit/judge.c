/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A word for each kind of rule.
 */
#include "tests/unit/worker/visit/judge.h"

#include <string.h>

struct ing_url_decision judge_by_words(void *ctx, const char *url)
{
	(void)ctx;
	struct ing_url_decision f = {.rule = ING_URL_RULE_NONE, .detail = "so"};
	f.only_at_end = strstr(url, "/pass") != NULL;
	if (strstr(url, "/listed") != NULL)
		f.rule = ING_URL_RULE_BLOCKLIST;
	else if (strstr(url, "/wall") != NULL)
		f.rule = ING_URL_RULE_WALL;
	else if (strstr(url, "/cookie") != NULL)
		f.rule = ING_URL_RULE_COOKIE;
	else if (strstr(url, "/captcha") != NULL)
		f.rule = ING_URL_RULE_CAPTCHA;
	else if (strstr(url, "/signin") != NULL)
		f.rule = ING_URL_RULE_LOGIN;
	else if (strstr(url, "/check") != NULL)
		f.rule = ING_URL_RULE_CHALLENGE;
	return f;
}
