/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading the headers. No state.
 */
#include "worker/model/letter.h"

#include <string.h>

#include "common/base/macros.h"

/* Decimal digits and nothing else. Returns -1 when it is not, or above max. */
static int64_t read_number(const char *text, int64_t max)
{
	int64_t value = 0;
	if (*text == '\0')
		return -1;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		if (value > (max - (*text - '0')) / 10)
			return -1;
		value = value * 10 + (*text - '0');
	}
	return value;
}

static void take_text(const char *name, const char *value, struct ing_letter *ret)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ING_LETTER_TOPIC, &ret->topic},
		{ING_LETTER_MESSAGE, &ret->message},
		{ING_LETTER_REASON, &ret->reason},
		{ING_LETTER_STAGE, &ret->stage},
		{ING_LETTER_POSITION, &ret->position},
		{ING_LETTER_TIME, &ret->time},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		if (strcmp(name, texts[i].name) == 0)
			*texts[i].to = value[0] != '\0' ? value : NULL;
	}
}

static void take_header(const char *name, const char *value, struct ing_letter *ret)
{
	if (strcmp(name, ING_LETTER_PARTITION) == 0)
		ret->partition = (int32_t)read_number(value, INT32_MAX);
	else if (strcmp(name, ING_LETTER_OFFSET) == 0)
		ret->offset = read_number(value, INT64_MAX);
	else if (strcmp(name, ING_LETTER_VALUE_BYTES) == 0)
		ret->value_bytes = read_number(value, INT64_MAX);
	else if (strcmp(name, ING_LETTER_KEY_BYTES) == 0)
		ret->key_bytes = read_number(value, INT64_MAX);
	else if (strcmp(name, ING_LETTER_REPLAYS) == 0)
		ret->replays = (unsigned)ING_MAX(read_number(value, ING_LETTER_MAX_REPLAYS), 0);
	else if (strcmp(name, ING_LETTER_REPLAYED) == 0)
		ret->is_note = ing_letter_read_place(
			value, &ret->replayed_partition, &ret->replayed_offset);
	else
		take_text(name, value, ret);
}

/* -------------------------------------------------------------------------------------------- */

void ing_letter_parse(const struct ing_header *headers, size_t header_count, struct ing_letter *ret)
{
	*ret = (struct ing_letter){
		.partition = -1, .offset = -1, .value_bytes = -1, .key_bytes = -1};
	for (size_t i = 0; i < header_count; i++) {
		if (headers[i].name != NULL && headers[i].value != NULL)
			take_header(headers[i].name, headers[i].value, ret);
	}
}

bool ing_letter_has_header(const char *name)
{
	static const char *const prefixes[] = {"__dlq.errors.", "ingest.errors."};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

bool ing_letter_read_place(const char *text, int32_t *ret_partition, int64_t *ret_offset)
{
	char partition[12] = "0";
	const char *colon = strchr(text, ':');
	if (colon != NULL) {
		size_t n = (size_t)(colon - text);
		if (n >= sizeof(partition))
			return false;
		memcpy(partition, text, n);
		partition[n] = '\0';
		text = colon + 1;
	}
	int64_t p = read_number(partition, INT32_MAX);
	int64_t offset = read_number(text, INT64_MAX);
	if (p < 0 || offset < 0)
		return false;
	*ret_partition = (int32_t)p;
	*ret_offset = offset;
	return true;
}
