/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sentences made of the rows of two tables.
 */
#include "worker/ctl/manual/words.h"

#include <string.h>

#include "common/base/buf.h"
#include "worker/model/metrics.h"

#define DAY_S 86400

static void add_time(unsigned seconds, struct ing_buf *to)
{
	static const struct {
		unsigned s;
		const char *name;
	} units[] = {{DAY_S, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
	size_t u = 0;
	while (u + 1 < ING_ARRAY_LEN(units) && (seconds < units[u].s || seconds % units[u].s != 0))
		u++;
	unsigned n = seconds / units[u].s;
	ing_buf_printf(to, "%u %s%s", n, units[u].name, ING_PLURAL_S(n));
}

/* With a capital and a full stop. */
static void add_sentence(const char *text, struct ing_buf *to)
{
	size_t at = to->len;
	ing_buf_add_str(to, text);
	if (to->len > at && to->data[at] >= 'a' && to->data[at] <= 'z')
		to->data[at] = (char)(to->data[at] - 'a' + 'A');
	if (to->len > at && to->data[to->len - 1] != '.')
		ing_buf_add_char(to, '.');
}

static void add_names(const struct ing_metric *m, struct ing_buf *to)
{
	for (unsigned i = 0; i < m->count; i++)
		ing_buf_printf(to, "%s%s", i > 0 ? ", " : "", ing_metric_slug(m, i));
}

/* Fixed labels of all rows of this name. */
static void add_fixed_labels(const char *name, struct ing_buf *to)
{
	const struct ing_metric *m;
	const char *between = " Labels: ";
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		if (strcmp(m->name, name) != 0 || m->label[0] == '\0')
			continue;
		ing_buf_printf(to, "%s%s", between, m->label);
		between = "; ";
	}
	if (between[0] == ';')
		ing_buf_add_char(to, '.');
}

/* -------------------------------------------------------------------------------------------- */

void ing_words_add_status(enum ing_status st, struct ing_buf *to)
{
	add_sentence(ing_status_meaning(st), to);
	unsigned after_s = ing_status_retry_after_s(st);
	switch (ing_status_retry(st)) {
	case ING_STATUS_NEVER:
		ing_buf_add_str(to, " It is not worth asking again.");
		break;
	case ING_STATUS_SOON:
	case ING_STATUS_LATER:
		ing_buf_add_str(to, " It is worth asking again after ");
		add_time(after_s, to);
		ing_buf_add_char(to, '.');
		break;
	}
	unsigned tries = ing_status_tries(st);
	if (tries > 1)
		ing_buf_printf(to,
			" Within a request one URL is asked up to %u times before it ends so.",
			tries);
}

void ing_words_add_metric(const struct ing_metric *m, struct ing_buf *to)
{
	static const char *const kinds[] = {[ING_METRIC_COUNTER] = "A counter.",
		[ING_METRIC_GAUGE] = "A gauge.",
		[ING_METRIC_HISTOGRAM] = "A histogram."};
	add_sentence(m->help, to);
	ing_buf_printf(to, " %s", kinds[m->kind]);
	if (m->set == ING_METRIC_STATUS) {
		ing_buf_add_str(to, " Label: status, as in ingest-worker.statuses(7).");
	} else if (m->set == ING_METRIC_JOB_STATE) {
		ing_buf_add_str(to, " Label: state: ");
		add_names(m, to);
		ing_buf_add_char(to, '.');
	}
	add_fixed_labels(m->name, to);
}

bool ing_words_is_repeated_metric(size_t i)
{
	const struct ing_metric *m = ing_metric(i);
	for (size_t k = 0; k < i; k++)
		if (strcmp(ing_metric(k)->name, m->name) == 0)
			return true;
	return false;
}
