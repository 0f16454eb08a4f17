/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lives of the parts of findings that have headers of their own. Any thread, both sides of the
 * socket.
 */
#include <stdlib.h>

#include "worker/model/found_resources.h"
#include "worker/model/found_tei.h"
#include "worker/model/found_text.h"
#include "worker/model/found_webpage.h"
#include "worker/model/found_xml.h"

void ing_text_found_done(struct ing_text_found *t)
{
	free(t->status);
	free(t->tei_xml);
	free(t->language);
	*t = (struct ing_text_found){0};
}

void ing_xml_found_done(struct ing_xml_found *x)
{
	free(x->status);
	free(x->error_msg);
	free(x->jats_xml);
	*x = (struct ing_xml_found){0};
}

void ing_resources_found_done(struct ing_resources_found *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		free(r->items[i].url);
	free(r->items);
	*r = (struct ing_resources_found){0};
}

void ing_tei_found_done(struct ing_tei_found *t)
{
	free(t->status);
	free(t->error_msg);
	free(t->version);
	free(t->fatcat_release);
	free(t->metadata_json);
	free(t->text);
	*t = (struct ing_tei_found){0};
}

void ing_webpage_found_done(struct ing_webpage_found *w)
{
	free(w->rule);
	free(w->title);
	free(w->content);
	free(w->license);
	free(w->language);
	*w = (struct ing_webpage_found){0};
}
