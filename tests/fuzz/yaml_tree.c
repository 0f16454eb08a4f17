/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * YAML trees, of configurations and of streams: what is accepted is walked, and every scalar is
 * written out and read back.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "common/data/yaml.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 500, .heap_kb = 200, .heap_byte = 200);

static void check_text(const struct ing_yaml_node *node)
{
	struct ing_yaml_limits limits = {(size_t)1 << 20, 1, 0};
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	struct ing_buf out;
	ing_buf_init(&out, (size_t)1 << 20);
	ing_yaml_add_text(&out, node->text);
	ing_must(ing_yaml_parse(ing_buf_str(&out), out.len, &limits, &doc, &err) == 0);
	bool bom = strstr(node->text, "\ufeff") != NULL;
	ing_must(bom || strcmp(ing_yaml_root(doc)->text, node->text) == 0);
	ing_yaml_free(doc);
	ing_buf_done(&out);
}

static size_t walk(const struct ing_yaml_node *node, int depth)
{
	ing_must(depth <= ING_YAML_MAX_DEPTH && node->line > 0 && node->column > 0);
	if (node->kind == ING_YAML_SCALAR) {
		ing_must(node->text[node->bytes] == '\0' && node->first == NULL);
		if (node->bytes < 200)
			check_text(node);
		return 1;
	}
	size_t count = 0;
	size_t all = 1;
	for (const struct ing_yaml_node *item = node->first; item != NULL; item = item->next) {
		count++;
		all += walk(item, depth + 1);
		ing_must((item->value != NULL) == (node->kind == ING_YAML_MAP));
		if (item->value != NULL)
			all += walk(item->value, depth + 1);
	}
	ing_must(count == node->count);
	return all;
}

/* As a stream: the limit holds for what a walk meets, aliases written out. */
static void check_stream(const uint8_t *data, size_t size, const struct ing_yaml_limits *limits)
{
	struct ing_report report;
	ing_report_init(&report);
	struct ing_yaml *doc =
		ing_yaml_stream_parse("fuzz", (const char *)data, size, limits, &report);
	ing_must((report.errors == 0) == (doc != NULL && ing_yaml_stream_is_whole(doc)));
	size_t all = 0;
	for (size_t i = 0; doc != NULL && i < ing_yaml_stream_count(doc); i++)
		all += walk(ing_yaml_stream_get(doc, i), 0);
	ing_must(all <= limits->nodes);
	ing_yaml_free(doc);
	ing_report_done(&report);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_yaml_limits limits = {(size_t)1 << 16, 5000, ING_YAML_MAX_DEPTH};
	struct ing_yaml *doc = NULL;
	struct ing_error err = {0};
	int rc = ing_yaml_parse((const char *)data, size, &limits, &doc, &err);
	ing_must((rc == 0) == (doc != NULL) && (rc == 0) == (err.code == ING_FAIL_NONE));
	if (rc == 0)
		ing_must(walk(ing_yaml_root(doc), 0) <= limits.nodes);
	ing_yaml_free(doc);
	check_stream(data, size, &limits);
}
