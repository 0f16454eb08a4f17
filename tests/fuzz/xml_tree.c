/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An XML document from bytes to the flat tree and its text; also of what came before an error. The
 * first byte chooses a Content-Type.
 */
#include "tests/fuzz/target.h"

#include "tests/fuzz/check_tree.h"

#include "common/markup/xml.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 200, .heap_kb = 2000, .heap_byte = 500);

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "application/xml; charset=utf-8",
		"text/xml; charset=shift_jis", "text/xml; charset=utf-16",
		"application/xml; charset=windows-1252"};
	static const struct ing_xml_limits limits = {
		.open_elements = 512,
		.tree_bytes = (size_t)16 << 20,
		.cpu_ms = 2000,
	};
	static struct ing_tree *tree; /* reused, as examiners do */
	if (tree == NULL)
		tree = ing_tree_new();
	if (size == 0)
		return;
	struct ing_error err = {0};
	int fail = ing_xml_parse(
		tree, data + 1, size - 1, types[data[0] % ING_ARRAY_LEN(types)], &limits, &err);
	ing_must(fail == -(int)err.code);
	ing_must(fail == 0 || err.msg[0] != '\0');
	check_tree(tree, ING_NODE_DOCUMENT);
}
