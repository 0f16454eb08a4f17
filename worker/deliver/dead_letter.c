/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dead letters. No state.
 */
#include "worker/deliver/dead_letter.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/model/letter.h"

/* A key can be as large as a message, and so can its headers. */
#define MAX_KEY_BYTES 4096
#define MAX_CARRIED_BYTES 2048

/* The message's own headers, for whoever replays it; those that say why it died before are not.
 * Returns how many. */
static size_t carry_headers(
	const struct ing_message *m, struct ing_header ret[ING_INTAKE_MAX_HEADERS])
{
	size_t count = 0;
	size_t left = MAX_CARRIED_BYTES;
	for (size_t i = 0; i < m->header_count && count < ING_INTAKE_MAX_HEADERS; i++) {
		const struct ing_header *h = &m->headers[i];
		size_t bytes = strlen(h->name) + strlen(h->value);
		bool is_count = strcmp(h->name, ING_LETTER_REPLAYS) == 0;
		if (ing_letter_has_header(h->name) || (bytes > left && !is_count))
			continue;
		ret[count++] = *h;
		left -= ING_MIN(bytes, left);
	}
	return count;
}

struct why {
	const struct ing_error *err;
	const char *stage;
	unsigned deaths; /* 0: not said */
};

static struct ing_delivery *make_letter(
	const struct ing_message *m, const struct why *why, size_t max_value_bytes)
{
	const struct ing_error *err = why->err;
	char deaths[16];
	char partition[16];
	char offset[24];
	char when[ING_ISO8601_BYTES];
	char position[48];
	char full_bytes[24];
	char key_bytes[24];
	snprintf(key_bytes, sizeof(key_bytes), "%zu", m->key_bytes);
	snprintf(full_bytes, sizeof(full_bytes), "%zu", m->value_bytes);
	snprintf(deaths, sizeof(deaths), "%u", why->deaths);
	snprintf(partition, sizeof(partition), "%d", m->partition);
	snprintf(offset, sizeof(offset), "%lld", (long long)m->token.offset);
	snprintf(position, sizeof(position), "%d:%d", err->line, err->column);
	ing_format_iso8601(ing_wall_now(), 3, when);
	const struct ing_header headers[] = {
		{"__dlq.errors.topic", m->topic}, {"__dlq.errors.partition", partition},
		{"__dlq.errors.offset", offset}, {"__dlq.errors.message", err->msg},
		{"ingest.errors.reason", ing_fail_label((int)err->code)},
		{"ingest.errors.stage", why->stage}, {"ingest.errors.position", position},
		{"ingest.errors.time", when},
		{"ingest.errors.value-bytes", full_bytes}, /* more than the value has: it was cut */
	};
	struct ing_delivery *letter = ing_delivery_new(ING_DELIVERY_DEAD_LETTER);
	letter->token = m->token;
	bool keep_key = m->key_bytes <= MAX_KEY_BYTES;
	struct ing_header all[ING_ARRAY_LEN(headers) + 2 + ING_INTAKE_MAX_HEADERS];
	size_t count = ING_ARRAY_LEN(headers);
	memcpy(all, headers, sizeof(headers));
	if (why->deaths > 0)
		all[count++] = (struct ing_header){"ingest.errors.deaths", deaths};
	if (!keep_key)
		all[count++] = (struct ing_header){ING_LETTER_KEY_BYTES, key_bytes};
	count += carry_headers(m, all + count);
	size_t bytes = ING_MIN(m->value_bytes, max_value_bytes);
	ing_delivery_add_message(
		letter, &(struct ing_output_message){
				.output = ING_OUTPUT_DEAD,
				.key = keep_key ? m->key : NULL,
				.key_bytes = keep_key ? m->key_bytes : 0,
				.value = bytes > 0 ? ing_strndup(m->value, bytes) : NULL,
				.value_bytes = bytes,
				.headers = all,
				.header_count = count,
			});
	return letter;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_delivery *ing_dead_letter_new(
	const struct ing_message *m, const struct ing_error *err, size_t max_value_bytes)
{
	return make_letter(m, &(struct why){.err = err, .stage = "intake"}, max_value_bytes);
}

struct ing_delivery *ing_dead_letter_poison(
	const struct ing_message *m, unsigned deaths, const char *stage, size_t max_value_bytes)
{
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_POISON,
		"in flight at %u deaths of the worker by its own fault, alone at the last, in stage %s",
		deaths, stage);
	return make_letter(
		m, &(struct why){.err = &err, .stage = stage, .deaths = deaths}, max_value_bytes);
}
