/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * samples.h - the samples in a source's file (`tests`): what of a list it must make, line by line.
 */
#pragma once
#include <stddef.h>
#include <stdio.h>
#include "worker/seeds/source.h"

struct ing_report;

/* Converts each sample and compares; differences are written to `to`. Every request must be one that ing_request_parse() takes.
 * *ret_count: samples; *ret_failed: of them those that differ. Returns 0, or what ing_seed_source_load() does. */
int ing_seed_samples_check(const char *dir, const char *name, FILE *to, size_t *ret_count,
	size_t *ret_failed, struct ing_report *report, struct ing_error *err) ING_MUST_CHECK;
