/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topics_print.h - what `ingestctl topics` says of a topic: a line on stdout, as text or as JSON,
 * and on stderr what the cluster refused. Both return an exit code. One thread.
 */
#pragma once
#include <stdbool.h>

struct ing_ctl_topic;
struct ing_ctl_topics;

/* Whether the topic, of which all is known that the cluster tells, is there and as the worker needs
 * it. partitions: the least of a topic with traffic. */
int ing_ctl_topics_print_check(const struct ing_ctl_topics *t, const struct ing_ctl_topic *topic,
	int partitions, bool json);
/* What has come of creating it. */
int ing_ctl_topics_print_created(const struct ing_ctl_topic *topic, bool json);
