/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_arg.h - URLs on the command line.
 */
#pragma once
#include "common/base/macros.h"

/* ING_CTL_OK when the value of --url is an absolute URL (of any scheme), or NULL; else
 * ING_CTL_USAGE after a message. What it is needed for, relative links and rules by host, would
 * else quietly fail to apply. */
int ing_ctl_check_url(const char *verb, const char *url) ING_MUST_CHECK;
