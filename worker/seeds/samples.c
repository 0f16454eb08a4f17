/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sample is converted as a file would be, by a source that is loaded with the sample's options.
 */
#include "worker/seeds/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "worker/model/request.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/convert.h"
#include "worker/seeds/source_priv.h"

#define MAX_OUTPUT_BYTES ((size_t)16 << 20)
#define MAX_SETTINGS 32

struct sample {
	const struct ing_yaml_node *node;
	const char *input;
	const char *want;
	const struct ing_yaml_node *left_out;
	unsigned bad;
	const char *settings[MAX_SETTINGS + 1];
};

struct output {
	struct ing_buf lines, bad;
	FILE *to;
	const char *file;
	int line;
	bool failed;
};

static bool take_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	struct output *o = ctx;
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	ing_buf_add(&o->lines, json, bytes);
	ing_buf_add_char(&o->lines, '\n');
	if (ing_request_parse(json, bytes, &request, &err) != 0) {
		fprintf(o->to, "%s:%d: record %" PRId64 " gives no valid request: %s\n", o->file,
			o->line, number, err.msg);
		o->failed = true;
	}
	ing_request_free(request);
	return true;
}

static void take_bad(void *ctx, int64_t number, const char *why)
{
	struct output *o = ctx;
	ing_buf_printf(&o->bad, "\t%" PRId64 ": %s\n", number, why);
}

static void print_lines(FILE *to, const char *mark, const char *lines)
{
	while (*lines != '\0') {
		size_t n = strcspn(lines, "\n");
		fprintf(to, "\t%s %.*s\n", mark, (int)n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void fail(struct output *o, const char *what)
{
	if (!o->failed)
		fprintf(o->to, "%s:%d: %s\n", o->file, o->line, what);
	o->failed = true;
}

static void compare_lines(struct output *o, const char *want)
{
	const char *got = ing_buf_str(&o->lines);
	if (strcmp(got, want) == 0)
		return;
	fail(o, "other requests than wanted (-)");
	print_lines(o->to, "-", want);
	print_lines(o->to, "+", got);
}

static uint64_t wanted_count(const struct ing_yaml_node *map, const char *reason)
{
	const struct ing_yaml_node *n = map != NULL ? ing_yaml_get(map, reason) : NULL;
	return n != NULL && n->kind == ING_YAML_SCALAR ? strtoull(n->text, NULL, 10) : 0;
}

static void compare_counts(
	struct output *o, const struct sample *sample, const struct ing_seed_counts *counts)
{
	for (size_t i = 0; i < counts->reasons; i++) {
		const struct ing_seed_left_out *l = &counts->left_out[i];
		uint64_t want = wanted_count(sample->left_out, l->reason);
		if (l->count == want)
			continue;
		fail(o, "other counts than wanted");
		fprintf(o->to, "\t%s: %" PRIu64 ", wanted %" PRIu64 "\n", l->reason, l->count,
			want);
	}
	if (counts->bad != sample->bad) {
		fail(o, "other bad records than wanted");
		fprintf(o->to, "\t%" PRIu64 ", wanted %u\n%s", counts->bad, sample->bad,
			ing_buf_str(&o->bad));
	}
}

static void convert(
	const struct ing_seed_source *source, const struct sample *sample, struct output *o)
{
	const struct ing_seed_sink sink = {take_request, take_bad, o};
	struct ing_error err = {0};
	struct ing_seed_converter *c = ing_seed_converter_new(source, &sink);
	int rc = ing_seed_converter_feed(c, sample->input, strlen(sample->input), &err);
	if (rc == 0)
		rc = ing_seed_converter_end(c, &err);
	if (rc != 0) {
		fail(o, "cannot be read");
		fprintf(o->to, "\t%s\n", err.msg);
	}
	compare_lines(o, sample->want);
	compare_counts(o, sample, ing_seed_converter_counts(c));
	ing_seed_converter_free(c);
}

static void read_settings(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, struct sample *ret)
{
	size_t count = 0;
	const struct ing_yaml_node *key = map != NULL ? map->first : NULL;
	for (; key != NULL && count < MAX_SETTINGS; key = key->next) {
		struct ing_buf set;
		ing_buf_init(&set, 10000);
		ing_buf_printf(&set, "%s=%s", key->text,
			key->value->kind == ING_YAML_SCALAR ? key->value->text : "");
		ret->settings[count++] = ing_arena_strndup(rd->arena, ing_buf_str(&set), set.len);
		ing_buf_done(&set);
	}
}

static bool read_sample(
	const struct ing_rule_reader *rd, const struct ing_yaml_node *map, struct sample *ret)
{
	static const char *const known[] = {"about", "options", "input", "want", "left_out", "bad"};
	*ret = (struct sample){.node = map, .input = "", .want = ""};
	if (!ing_rule_read_keys(rd, map, "a test", known, ING_ARRAY_LEN(known)))
		return false;
	const struct ing_yaml_node *input = ing_yaml_get(map, "input");
	const struct ing_yaml_node *want = ing_yaml_get(map, "want");
	if (input == NULL || input->kind != ING_YAML_SCALAR) {
		ing_rule_read_error(rd, map, "a test needs an input, which is a text");
		return false;
	}
	ret->input = input->text;
	if (want != NULL && want->kind == ING_YAML_SCALAR)
		ret->want = want->text;
	ret->left_out = ing_rule_read_node(rd, map, "left_out", ING_YAML_MAP);
	ret->bad = ing_rule_read_number(rd, map, "bad", 0, 1000000, 0);
	read_settings(rd, ing_rule_read_node(rd, map, "options", ING_YAML_MAP), ret);
	return true;
}

/* Loads the source with the sample's options. Returns whether it gave what is wanted. */
static bool check_sample(
	const char *dir, const char *name, const struct sample *sample, const char *file, FILE *to)
{
	struct output o = {.to = to, .file = file, .line = sample->node->line};
	struct ing_seed_source *source = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	ing_buf_init(&o.lines, MAX_OUTPUT_BYTES);
	ing_buf_init(&o.bad, MAX_OUTPUT_BYTES);
	if (ing_seed_source_load(dir, name, sample->settings, &source, &report, &err) != 0) {
		fail(&o, err.msg);
		ing_report_print_errors(&report, to);
	} else {
		convert(source, sample, &o);
	}
	ing_seed_source_free(source);
	ing_report_done(&report);
	ing_buf_done(&o.lines);
	ing_buf_done(&o.bad);
	return !o.failed;
}

/* -------------------------------------------------------------------------------------------- */

int ing_seed_samples_check(const char *dir, const char *name, FILE *to, size_t *ret_count,
	size_t *ret_failed, struct ing_report *report, struct ing_error *err)
{
	struct ing_seed_source *s;
	*ret_count = *ret_failed = 0;
	int rc = ing_seed_source_load(dir, name, NULL, &s, report, err);
	if (rc != 0)
		return rc;
	const struct ing_rule_reader rd = {.file = s->file, .report = report, .arena = &s->arena};
	const struct ing_yaml_node *n = s->samples != NULL ? s->samples->first : NULL;
	for (; n != NULL; n = n->next) {
		struct sample sample;
		++*ret_count;
		if (!read_sample(&rd, n, &sample) || !check_sample(dir, name, &sample, s->file, to))
			++*ret_failed;
	}
	ing_seed_source_free(s);
	return 0;
}
