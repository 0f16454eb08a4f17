/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statuses (model/status.def), metrics (model/metrics.def) and configuration keys (conf/conf_table.def) as lists of mdoc.
 */
#include "worker/ctl/manual/manual.h"

#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/manual/words.h"
#include "worker/conf/conf.h"
#include "worker/ctl/usage_text.h"
#include "worker/model/metrics.h"
#include "worker/model/status.h"

static void add_item(struct ing_buf *to, const char *name, const char *text)
{
	ing_buf_printf(to, ".It Cm %s\n", name);
	ing_usage_add_mdoc(to, text);
}

/* -------------------------------------------------------------------------------------------- */

void ing_manual_add_statuses(struct ing_buf *to)
{
	ing_buf_add_str(to, ".Bl -tag -width Ds\n");
	for (int i = 0; i < ING_STATUS_COUNT_; i++) {
		struct ing_buf text;
		ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
		ing_words_add_status((enum ing_status)i, &text);
		add_item(to, ing_status_slug((enum ing_status)i), ing_buf_str(&text));
		ing_buf_done(&text);
	}
	ing_buf_add_str(to, ".El\n");
}

void ing_manual_add_metrics(struct ing_buf *to)
{
	const struct ing_metric *m;
	ing_buf_add_str(to, ".Bl -tag -width Ds\n");
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		struct ing_buf text;
		if (ing_words_is_repeated_metric(i))
			continue;
		ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
		ing_words_add_metric(m, &text);
		add_item(to, m->name, ing_buf_str(&text));
		ing_buf_done(&text);
	}
	ing_buf_add_str(to, ".El\n");
}

void ing_manual_add_keys(struct ing_buf *to)
{
	const char *name;
	ing_buf_add_str(to, ".Bl -tag -width Ds\n");
	for (size_t i = 0; (name = ing_conf_key_name(i)) != NULL; i++) {
		struct ing_buf text;
		ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
		ing_conf_key_add_words(i, &text);
		add_item(to, name, ing_buf_str(&text));
		ing_buf_done(&text);
	}
	ing_buf_add_str(to, ".El\n");
}
