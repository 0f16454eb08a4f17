/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page read by the rules for web pages. Encoder and decoder field by field in the same order.
 */
#include "worker/examine/proto_parts.h"
#include "worker/model/found_webpage.h"

#define MAX_RULE_BYTES ((size_t)4096) /* of a rule file: a regular expression */
#define MAX_WORDS_BYTES ((size_t)4000)

void ing_proto_put_webpage(struct ing_buf *b, const struct ing_webpage_found *page)
{
	ing_wire_put_u8(b, page->read);
	if (!page->read)
		return;
	ing_wire_put_text(b, page->rule, MAX_RULE_BYTES);
	ing_wire_put_text(b, page->title, MAX_WORDS_BYTES);
	ing_wire_put_text(b, page->content, ING_MAX_WEBPAGE_BYTES);
	ing_wire_put_text(b, page->license, MAX_WORDS_BYTES);
	ing_wire_put_text(b, page->language, MAX_WORDS_BYTES);
}

void ing_proto_get_webpage(struct ing_wire *w, struct ing_webpage_found *page)
{
	uint8_t read = ing_wire_u8(w);
	w->failed |= read > 1;
	if (w->failed || read == 0)
		return;
	page->read = true;
	page->rule = ing_wire_text(w, MAX_RULE_BYTES);
	page->title = ing_wire_text(w, MAX_WORDS_BYTES);
	page->content = ing_wire_text(w, ING_MAX_WEBPAGE_BYTES);
	page->license = ing_wire_text(w, MAX_WORDS_BYTES);
	page->language = ing_wire_text(w, MAX_WORDS_BYTES);
}
