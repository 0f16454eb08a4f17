/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page as TEI, whatever of it is kept. The first byte chooses which text is, by the numbers of the
 * nodes. What comes out is read by libxml2, without an error, and has the parts that TEI demands.
 */
#include "tests/fuzz/target.h"

#include "common/markup/html.h"
#include "common/markup/xml.h"
#include "worker/document/text/tei.h"
#include "worker/model/found_text.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 6000, .heap_kb = 4000, .heap_byte = 3000,
	.out_bytes = 4000, .out_byte = 400);

/* Takes the place of main_text.c, whose choices would leave out most of the markup. */
struct ing_main_text {
	const struct ing_tree *tree;
	unsigned seed;
};

bool ing_main_text_keeps(const struct ing_main_text *m, ing_node text)
{
	return m->seed == 0 || (text * 2654435761u >> 16) % m->seed != 0;
}

ing_node ing_main_text_top(const struct ing_main_text *m)
{
	return ing_tree_body(m->tree);
}

const char *ing_main_text_article(const struct ing_main_text *m, size_t *ret_bytes)
{
	(void)m;
	(void)ret_bytes;
	return NULL;
}

/* The parts of every kind of block that TEI demands. */
static void check_parts(const struct ing_tree *t)
{
	static const struct {
		const char *whole, *part, *or_part;
	} demands[] = {{"body", "p", "div"}, {"list", "item", "label"}, {"table", "row", "head"},
		{"row", "cell", "cell"}, {"text", "body", "body"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(demands); i++) {
		ing_node n = ING_NODE_DOCUMENT;
		while ((n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, demands[i].whole)) !=
			ING_NODE_NONE) {
			ing_must(ing_tree_first_child(t, n) != ING_NODE_NONE);
			if (i == 0)
				continue; /* any block will do */
			ing_must(ing_tree_next_named(t, n, n, demands[i].part) != ING_NODE_NONE ||
				 ing_tree_next_named(t, n, n, demands[i].or_part) != ING_NODE_NONE);
		}
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const struct ing_html_limits html_limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
		.names = ING_MAX_MARKUP_NAMES,
		.tree_bytes = ING_MAX_TREE_BYTES,
		.cpu_ms = ING_MAX_PAGE_CPU_MS,
	};
	static const struct ing_xml_limits xml_limits = {.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tree_bytes = ING_MAX_XML_TREE_BYTES,
		.cpu_ms = 60000};
	static struct ing_html *html; /* kept, as examiners do */
	static struct ing_tree *tree, *read_back;
	if (html == NULL) {
		html = ing_html_new();
		tree = ing_tree_new();
		read_back = ing_tree_new();
	}
	if (size == 0)
		return;
	struct ing_buf out;
	struct ing_error err = {0};
	const struct ing_main_text kept = {.tree = tree, .seed = data[0] % 5};
	const struct ing_tei_source source = {.tree = tree,
		.main_text = &kept,
		.agent = "fuzz",
		.agent_version = "1",
		.language = "en"};
	ing_html_parse(html, data + 1, size - 1, "text/html; charset=utf-8", &html_limits);
	ing_html_fill(html, tree);
	ing_tree_set_url(tree, "https://a.example/b/c");
	ing_buf_init(&out, ING_MAX_TEI_BYTES);
	if (ing_tei_write(&source, &out)) {
		ing_must(ing_xml_parse(read_back, out.data, out.len, NULL, &xml_limits, &err) == 0);
		check_parts(read_back);
	}
	fuzz_wrote(out.len);
	ing_buf_done(&out);
}
