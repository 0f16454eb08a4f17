/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What counts as a URL is what the worker would take for one.
 */
#include "worker/ctl/url_arg.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"
#include "worker/ctl/ctl.h"

int ing_ctl_check_url(const char *verb, const char *url)
{
	char *href = url != NULL ? ing_url_parse(url, strlen(url)) : NULL;
	bool good = url == NULL || href != NULL;
	free(href);
	return good ? ING_CTL_OK
		    : ing_ctl_fail(ING_CTL_USAGE, verb,
			      "--url must be an absolute URL, as in https://example.org/page");
}
