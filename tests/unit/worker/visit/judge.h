/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * judge.h - URL rules of the tests: what a URL is, by a word in it.
 */
#pragma once
#include "worker/rules/url_rules.h"

/* An ing_verdict_fn; ctx is not looked at. "/pass" makes the URL a place that one may be sent
 * through. The detail is "so". */
struct ing_url_decision judge_by_words(void *ctx, const char *url);
