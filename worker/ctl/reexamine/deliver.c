/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order is that of a job's end: messages, then rows, which tell what became of the messages.
 */
#include "worker/ctl/reexamine/deliver.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/ctl/reexamine/reexamine.h"
#include "worker/ctl/reexamine/rows.h"
#include "worker/deliver/deliver.h"
#include "worker/job/result_capture.h"

/* The message, if this kind has one. It is made of every kind, because facts and rows tell whether it could be;
 * what was not asked for is not sent. */
static void add_message(const struct ing_deliver *deliver, enum ing_derived_kind kind, bool wanted,
	json_t *source, const struct ing_artifact_facts *facts, struct ing_artifact *a,
	struct ing_delivery *delivery)
{
	struct ing_output_message m = {.output = ing_derived_row(kind)->output,
		.key = a->file.sha1hex,
		.key_bytes = strlen(a->file.sha1hex)};
	size_t room = ing_deliver_max_value_bytes(deliver, m.output);
	if (facts->message != NULL)
		m.value = facts->message(a, kind, source, room, &m.value_bytes);
	if (m.value != NULL && wanted)
		ing_delivery_add_message(delivery, &m);
	else
		free(m.value);
}

/* A page's parts were fetched for the request, and nothing else knows of them. */
static void add_rows(const struct ing_reexamine_document *d, const struct ing_artifact *a,
	struct ing_delivery *delivery)
{
	struct ing_rows rows = {0};
	ing_artifact_fill_rows(a, ing_artifact_type(d->type), &delivery->ar, &rows);
	if (rows.html_meta.present && d->resources_json != NULL)
		rows.html_meta.resources_json = d->resources_json;
	ing_delivery_set_rows(delivery, &rows);
}

/* ------------------------------------------------------------------------------------------ */

struct ing_delivery *ing_reexamine_delivery(const struct ing_deliver *deliver,
	const struct ing_reexamine_what *what, const struct ing_reexamine_document *d,
	const struct ing_row_cdx *read, struct ing_artifact *a)
{
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_DOCUMENT);
	const struct ing_artifact_facts *facts = ing_artifact_type(d->type)->facts;
	const struct ing_row_cdx *of_hit = d->terminal.sha1hex != NULL ? &d->terminal : read;
	json_t *source = ing_row_cdx_json(of_hit, d->http_status);
	delivery->name = ing_arena_strdup(&delivery->ar, d->url);
	for (unsigned i = 0; i < ING_DERIVED_ && facts != NULL; i++)
		add_message(deliver, (enum ing_derived_kind)i, (what->derived & 1u << i) != 0,
			source, facts, a, delivery);
	json_decref(source);
	add_rows(d, a, delivery); /* before the objects are taken: it says whether there are any */
	for (unsigned i = 0; i < ING_DERIVED_ && ing_deliver_wants_objects(deliver); i++)
		if ((what->derived & 1u << i) != 0 && a->derived[i].data != NULL)
			ing_delivery_add_object(delivery, (enum ing_derived_kind)i, a->file.sha1hex,
				&a->derived[i]);
	return delivery;
}
