/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as a message and as fields: the line of JSON is one line, valid JSON, bounded, and has
 * what fits; the line of text is one line of UTF-8 without control characters; each line of the
 * journal's entry is NAME=VALUE.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log_line.h"
#include "common/base/utf8.h"
#include "common/data/json.h"

FUZZ_BUDGET(.cpu_us = 300, .cpu_byte_ns = 200, .heap_kb = 150, .heap_byte = 20);

static void check_bytes(const char *line, size_t n, size_t lines)
{
	size_t feeds = 0;
	ing_must(ing_utf8_valid(line, n));
	for (size_t i = 0; i < n; i++) {
		feeds += line[i] == '\n';
		ing_must((unsigned char)line[i] >= 0x20 || line[i] == '\n');
	}
	ing_must(feeds == lines && line[n - 1] == '\n');
}

static void check_json(const struct ing_log_record *r, size_t room)
{
	char line[ING_LOG_LINE_BYTES];
	size_t n = ing_log_json_line(r, (struct timespec){0}, false, line, room);
	ing_must(n <= room);
	check_bytes(line, n, 1);
	json_t *value = ing_json_parse(line, n, &(struct ing_json_limits){.depth = 1}, NULL);
	ing_must(json_is_object(value) && ing_json_get_text(value, "message") != NULL);
	if (!ing_json_get_true(value, "truncated"))
		ing_must(json_object_size(value) == 4 + r->field_count);
	json_decref(value);
}

static void check_entry(const struct ing_log_record *r)
{
	char entry[ING_LOG_ENTRY_BYTES];
	size_t n = ing_log_journal_entry(r, "fuzz", entry, sizeof(entry));
	size_t lines = 0;
	ing_must(n <= sizeof(entry));
	for (const char *at = entry; at < entry + n; lines++) {
		size_t name = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		ing_must(name > 0 && name <= 64 && at[0] != '_' && at[name] == '=');
		at = (const char *)memchr(at, '\n', (size_t)(entry + n - at)) + 1;
	}
	check_bytes(entry, n, lines);
}

/* The first byte is the room, the first zero byte ends the first of two fields. */
void fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	size_t room = 256 + data[0] * 15u;
	char *copy = ing_strndup((const char *)data + 1, size - 1);
	struct ing_log_field fields[] = {ING_LOG_FIELD_TEXT("url", copy),
		ING_LOG_FIELD_NUMBER("ms", -(int64_t)size),
		ING_LOG_FIELD_TEXT("host", copy + strlen(copy) / 2),
		ING_LOG_FIELD_BOOL("hit", size % 2)};
	struct ing_log_record r = {.level = ING_LOG_WARNING,
		.instance = "w",
		.message = (const char *)data + 1,
		.message_bytes = size - 1,
		.fields = fields,
		.field_count = ING_ARRAY_LEN(fields)};
	char line[ING_LOG_LINE_BYTES];
	size_t n = ing_log_text_line(&r, (struct timespec){0}, size % 2 == 0, line, room);
	ing_must(n <= room);
	check_bytes(line, n, 1);
	check_json(&r, room);
	check_entry(&r);
	free(copy);
}
