/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page from bytes to the flat tree, its text and its links. The first byte chooses a
 * Content-Type.
 */
#include "tests/fuzz/check_tree.h"

#include "common/markup/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "text/html; charset=utf-8",
		"text/html; charset=iso-2022-jp", "text/html; charset=gb18030",
		"text/html; charset=utf-16", "text/html; charset=windows-1252"};
	static const struct ing_html_limits limits = {
		.open_elements = 512,
		.tag_attributes = 256,
		.names = 10000,
		.tree_bytes = (size_t)8 << 20,
		.cpu_ms = 2000,
	};
	static struct ing_html *html; /* reused, as examiners do */
	static struct ing_tree *tree;
	if (html == NULL) {
		html = ing_html_new();
		tree = ing_tree_new();
	}
	if (size == 0)
		return 0;
	ing_html_parse(html, data + 1, size - 1, types[data[0] % ING_ARRAY_LEN(types)], &limits);
	ing_html_fill(html, tree);
	check_tree(tree, ing_tree_body(tree));
	return 0;
}
