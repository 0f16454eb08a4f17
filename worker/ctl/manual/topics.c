/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Topics of help: what several verbs have in common, and the tables of statuses, metrics and configuration keys.
 */
#include "worker/ctl/manual/manual.h"

#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/manual/words.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/requests/selection_options.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/verbs.h"
#include "worker/model/metrics.h"
#include "worker/model/status.h"

static void add_verb(void *ctx, const struct ing_usage *u)
{
	ing_buf_printf(ctx, "  %s\t%s\n", u->name, u->summary);
}

static void add_verbs(struct ing_buf *to)
{
	ing_buf_add_str(to, "All verbs; \"ingestctl help VERB\" says all about one.\n\n");
	ing_verbs_walk(add_verb, to);
}

static void add_group(const struct ing_options *group, struct ing_buf *to)
{
	if (group->title != NULL)
		ing_buf_printf(to, "%s\n\n", group->title);
	for (const struct ing_option *o = group->rows; o->name != NULL; o++) {
		ing_buf_printf(to, "  --%s %s\t", o->name, o->value != NULL ? o->value : "");
		ing_usage_add_option_text(o, to);
		ing_buf_add_char(to, '\n');
	}
	ing_buf_add_char(to, '\n');
	ing_usage_add_notes(group, to);
}

static void add_selections(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"Options by which \"requests dump\", \"count\" and \"enqueue\" and the jobs of \"reingest\" say which "
		"stored requests they are about.\n\n");
	add_group(ing_selection_shared[0], to);
}

static void add_conditions(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"Options by which \"publication list\", \"show\", \"export\" and \"stats\" say which of what is kept "
		"they are about; with other names, the same verbs of \"webpage\".\n\n");
	add_group(ing_kept_publication_shared[0], to);
	ing_buf_add_str(to, "\nOf web pages:\n\n");
	add_group(ing_kept_webpage_shared[0], to);
}

static void add_exit_status(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"  0\tsuccess\n"
		"  1\tthe answer is negative, or some of the input was invalid\n"
		"  2\tinvalid command line or configuration\n"
		"  3\tthe environment is not usable: a file, a server, a permission\n"
		"  4\tinterrupted by a signal, with work left that the same command goes on with\n\n"
		"The help of a verb says what they mean there. Results go to standard output, everything else "
		"to standard error.");
}

static void add_lanes(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"Requests come on topics of four lanes, which share a worker by their weights (intake.weight_LANE):\n\n"
		"  priority\tsomebody waits: \"ingestctl serve\", single requests\n"
		"  requests\tthe default\n"
		"  daily\twhat is new each day\n"
		"  bulk\tlong lists, which may take months\n\n"
		"The topics are kafka.topics.requests and kafka.topics.LANE; without a name of its own a lane's is "
		"that of the requests topic with -LANE behind it. \"ingestctl topics create --lanes\" creates "
		"them.");
}

static void add_times(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"A moment is a date or a date and time in UTC, or so long ago:\n\n"
		"  2026-11-21\tthe beginning of that day\n"
		"  2026-11-21T11:00:00\tthat second\n"
		"  90s, 30m, 12h, 7d, 2w\tso many seconds, minutes, hours, days or weeks ago\n\n"
		"An age is A..B, at least A and less than B ago; either may be left out: 8h..8d, 8h.., ..8d.");
}

static void add_statuses(struct ing_buf *to)
{
	ing_buf_add_str(
		to, "Statuses of results; \"ingestctl help STATUS\" says all about one.\n\n");
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_buf_printf(to, "  %s\t%s\n", ing_status_slug((enum ing_status)i),
			ing_status_meaning((enum ing_status)i));
}

static void add_metrics(struct ing_buf *to)
{
	const struct ing_metric *m;
	ing_buf_add_str(to,
		"Metrics of a worker (metrics.listen); \"ingestctl help METRIC\" says all about one.\n\n");
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++)
		if (!ing_words_is_repeated_metric(i))
			ing_buf_printf(to, "  %s\t%s\n", m->name, m->help);
}

/* Keys that are name, or begin with it and a dot; NULL: all. Returns how many. */
static size_t add_keys(const char *name, struct ing_buf *to)
{
	size_t count = 0;
	const char *key;
	size_t bytes = name != NULL ? strlen(name) : 0;
	for (size_t i = 0; (key = ing_conf_key_name(i)) != NULL; i++) {
		bool below = name == NULL || (strncmp(key, name, bytes) == 0 &&
						     (key[bytes] == '\0' || key[bytes] == '.'));
		if (!below)
			continue;
		ing_buf_printf(to, "  %s\t", key);
		ing_conf_key_add_words(i, to);
		ing_buf_add_char(to, '\n');
		count++;
	}
	return count;
}

static void add_configuration(struct ing_buf *to)
{
	ing_buf_add_str(to,
		"Keys of the configuration, a YAML file (--config), and of --set; \"ingestctl help KEY\" or the part "
		"of one before a dot prints fewer. ingest-worker.conf(5) has an example, \"ingest-worker "
		"--dump-config\" what is in force.\n\n");
	(void)add_keys(NULL, to);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_topic ing_topics[] = {
	{"verbs", "all verbs, those below others included", add_verbs},
	{"selections", "options that say which stored requests are meant", add_selections},
	{"conditions", "what can be asked of publications and web pages that are kept",
		add_conditions},
	{"times", "how moments and ages are written", add_times},
	{"lanes", "the lanes on which requests come", add_lanes},
	{"statuses", "what results say, and when it is worth asking again", add_statuses},
	{"metrics", "what workers count", add_metrics},
	{"configuration", "all keys", add_configuration},
	{"exit-status", "what the exit status of ingestctl says", add_exit_status},
	{0},
};

bool ing_topic_add_entry(const char *name, struct ing_buf *to)
{
	const struct ing_metric *m;
	int status = ing_status_from_slug(name);
	if (status >= 0) {
		ing_buf_printf(to, "%s is a status: ", name);
		ing_words_add_status((enum ing_status)status, to);
		return true;
	}
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		if (strcmp(m->name, name) == 0) {
			ing_buf_printf(to, "%s: ", name);
			ing_words_add_metric(m, to);
			return true;
		}
	}
	return add_keys(name, to) > 0;
}
