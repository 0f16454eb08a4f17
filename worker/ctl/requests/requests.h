/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests.h - the verbs about lists of requests in the database, `ingestctl requests NAME`: a file each. argv[0]
 * is "ingestctl requests NAME", from which each parses its own options.
 */
#pragma once

struct ing_ctl;
struct ing_usage;

int ing_ctl_requests_count(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_requests_dump(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_requests_load(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_requests_enqueue(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_requests_lists(int argc, char **argv, const struct ing_ctl *ctl);

extern const struct ing_usage ing_ctl_requests_count_usage;
extern const struct ing_usage ing_ctl_requests_dump_usage;
extern const struct ing_usage ing_ctl_requests_enqueue_usage;
extern const struct ing_usage ing_ctl_requests_lists_usage;
extern const struct ing_usage ing_ctl_requests_load_usage;
