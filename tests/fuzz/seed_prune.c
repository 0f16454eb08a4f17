/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is left of a JSON record when only what a source reads is kept: up to a NUL stands the source's file, behind it the record. Every
 * path must lead to the same values in both.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "common/data/json_text.h"
#include "worker/seeds/path.h"
#include "worker/seeds/prune.h"

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 40000, .heap_kb = 3000, .heap_byte = 1500);

#define MAX_FOUND ((size_t)1 << 20)

struct found {
	const struct ing_seed_template *template;
	struct ing_buf values;
};

static bool add_value(void *ctx, const json_t *value)
{
	struct found *f = ctx;
	ing_json_write(&f->values, value);
	return !ing_buf_add_char(&f->values, '\n');
}

static void add_paths(struct found *f, const json_t *root, bool of_item)
{
	for (size_t i = 0; i < f->template->count; i++)
		for (const struct ing_seed_path *p = f->template->fields[i].value.paths; p != NULL;
			p = p->next)
			if (p->of_item == of_item)
				ing_seed_walk(p, root, add_value, f);
}

static bool add_item(void *ctx, const json_t *item)
{
	struct found *f = ctx;
	add_paths(f, item, true);
	return !ing_buf_add_char(&f->values, '|');
}

static void find(const struct ing_seed_source *source, const json_t *record, struct found *f)
{
	ing_buf_init(&f->values, MAX_FOUND);
	for (const struct ing_seed_template *t = source->templates; t != NULL; t = t->next) {
		f->template = t;
		add_paths(f, record, false);
		if (t->each != NULL)
			ing_seed_walk(t->each, record, add_item, f);
	}
}

static void compare(const struct ing_seed_source *source, const char *text, size_t bytes)
{
	static const struct ing_json_limits limits = {
		.depth = 100, .flags = ING_JSON_NUL | ING_JSON_REPEATED_KEYS};
	struct ing_buf pruned;
	ing_buf_init(&pruned, bytes);
	bool done = ing_seed_prune(source->members, text, bytes, &pruned);
	json_t *whole = ing_json_parse(text, bytes, &limits, NULL);
	ing_must(done || !json_is_object(whole));
	if (whole != NULL && done) {
		struct found a, b;
		json_t *part = ing_json_parse(ing_buf_str(&pruned), pruned.len, &limits, NULL);
		ing_must(part != NULL);
		find(source, whole, &a);
		find(source, part, &b);
		ing_must(a.values.len == b.values.len);
		ing_must(strcmp(ing_buf_str(&a.values), ing_buf_str(&b.values)) == 0);
		ing_buf_done(&a.values);
		ing_buf_done(&b.values);
		json_decref(part);
	}
	json_decref(whole);
	ing_buf_done(&pruned);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nul = memchr(text, '\0', size);
	if (size > (size_t)1 << 18 || nul == NULL)
		return;
	struct ing_seed_source *source = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	if (ing_seed_source_parse(
		    "fuzz.yaml", text, (size_t)(nul - text), NULL, &source, &report, &err) == 0)
		compare(source, nul + 1, size - (size_t)(nul - text) - 1);
	ing_seed_source_free(source);
	ing_report_done(&report);
}
