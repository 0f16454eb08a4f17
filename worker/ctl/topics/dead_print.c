/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Letters on stdout. What is in them came from outside: in a line, control characters and what is
 * not UTF-8 are replaced, so that a terminal shows a line as a line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/base64.h"
#include "common/data/json.h"
#include "worker/ctl/topics/dead.h"

static void print_plain(const char *text)
{
	size_t n = strlen(text);
	for (size_t i = 0, step; i < n; i += step) {
		uint32_t c;
		step = ing_utf8_decode(text + i, n - i, &c);
		bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
		if (is_control || (c == 0xfffd && step == 1))
			fputs("\xef\xbf\xbd", stdout);
		else
			fwrite(text + i, 1, step, stdout);
	}
}

static void print_or(const char *text, const char *none)
{
	print_plain(text != NULL && text[0] != '\0' ? text : none);
	putchar(' ');
}

static void print_text_line(const struct ing_dead_letter *l)
{
	const struct ing_letter *a = &l->about;
	printf("%" PRId32 ":%" PRId64 " ", l->partition, l->offset);
	print_or(l->time, "-");
	print_or(a->reason, "-");
	print_or(a->stage, "-");
	print_plain(a->topic != NULL ? a->topic : "-");
	printf("/%" PRId32 "@%" PRId64 " ", a->partition, a->offset);
	if (a->replays > 0)
		printf("[replay %u] ", a->replays);
	if (l->replayed)
		fputs("[replayed] ", stdout);
	if (!ing_dead_is_whole(l))
		fputs("[cut] ", stdout);
	print_plain(a->message != NULL ? a->message : "-");
	putchar('\n');
}

static json_t *make_line(const struct ing_dead_letter *l)
{
	const struct ing_letter *a = &l->about;
	json_t *line = json_object();
	json_t *source = json_object();
	ing_json_set_number(line, "partition", l->partition);
	ing_json_set_number(line, "offset", l->offset);
	ing_json_set_text(line, "time", l->time[0] != '\0' ? l->time : NULL);
	ing_json_set_text(line, "reason", a->reason);
	ing_json_set_text(line, "stage", a->stage);
	ing_json_set_text(line, "message", a->message);
	ing_json_set_text(line, "position", a->position);
	ing_json_set_text(source, "topic", a->topic);
	ing_json_set_number(source, "partition", a->partition);
	ing_json_set_number(source, "offset", a->offset);
	ing_json_set(line, "source", source);
	ing_json_set_count(line, "value_bytes", l->value_bytes);
	ing_json_set_bool(line, "whole", ing_dead_is_whole(l));
	ing_json_set_number(line, "replays", a->replays);
	ing_json_set_bool(line, "replayed", l->replayed);
	return line;
}

static void print_json(json_t *value)
{
	char *text = ing_json_dump(value, NULL);
	puts(text);
	free(text);
	json_decref(value);
}

/* {"value": text} or {"value_base64": …}, and {"headers": {name: value}}. */
static json_t *make_whole(const struct ing_dead_letter *l)
{
	json_t *letter = json_object();
	json_t *headers = json_object();
	const char *value = l->value != NULL ? l->value : "";
	for (size_t i = 0; i < l->header_count; i++) {
		char *name = ing_utf8_clean(l->headers[i].name, strlen(l->headers[i].name), NULL);
		ing_json_set_text(headers, name != NULL ? name : "", l->headers[i].value);
		free(name);
	}
	if (ing_utf8_valid(value, l->value_bytes)) {
		ing_json_set(letter, "value", ing_json_textn(value, l->value_bytes));
	} else {
		char *text = ing_alloc(ING_BASE64_CHARS(l->value_bytes) + 1);
		ing_base64_encode(value, l->value_bytes, text);
		ing_json_set_text(letter, "value_base64", text);
		free(text);
	}
	ing_json_set(letter, "headers", headers);
	return letter;
}

/* -------------------------------------------------------------------------------------------- */

void ing_dead_print_line(const struct ing_dead_letter *l, bool json)
{
	if (json)
		print_json(make_line(l));
	else
		print_text_line(l);
}

void ing_dead_print_whole(const struct ing_dead_letter *l, bool json)
{
	if (json) {
		print_json(make_whole(l));
		return;
	}
	for (size_t i = 0; i < l->header_count; i++) {
		print_plain(l->headers[i].name);
		fputs(": ", stdout);
		print_plain(l->headers[i].value != NULL ? l->headers[i].value : "");
		putchar('\n');
	}
	putchar('\n');
	if (l->value_bytes > 0)
		fwrite(l->value, 1, l->value_bytes, stdout);
	putchar('\n');
}
