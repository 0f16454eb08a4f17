/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading and writing the headers. No state.
 */
#include "worker/model/parked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/model/letter.h"

/* Milliseconds until the year 5138: far beyond any clock, and sums of two fit. */
#define MAX_TIME_MS ((int64_t)100000000000000)

/* Decimal digits and nothing else. Returns fallback when it is not, or above max. */
static int64_t read_number(const char *text, int64_t max, int64_t fallback)
{
	int64_t value = 0;
	if (*text == '\0')
		return fallback;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return fallback;
		value = value * 10 + (*text - '0');
		if (value > max)
			return fallback;
	}
	return value;
}

/* Printable ASCII, as hosts (ASCII form, or an address) and topics are. */
static const char *check_name(const char *text)
{
	size_t bytes = strnlen(text, ING_PARKED_VALUE_BYTES);
	if (bytes == 0 || bytes == ING_PARKED_VALUE_BYTES)
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return NULL;
	return text;
}

static void take_header(const char *name, const char *value, struct ing_parked *ret)
{
	if (strcmp(name, "attempt") == 0)
		ret->attempt = (unsigned)read_number(value, ING_PARKED_MAX_ATTEMPT, 0);
	else if (strcmp(name, "parkings") == 0)
		ret->parkings = (unsigned)read_number(value, ING_PARKED_MAX_ATTEMPT, 0);
	else if (strcmp(name, ING_LETTER_REPLAYS) == 0)
		ret->replays = (unsigned)read_number(value, ING_PARKED_MAX_ATTEMPT, 0);
	else if (strcmp(name, "not-before") == 0)
		ret->not_before_ms = read_number(value, MAX_TIME_MS, 0);
	else if (strcmp(name, "first-seen") == 0)
		ret->first_seen_ms = read_number(value, MAX_TIME_MS, 0);
	else if (strcmp(name, "host") == 0)
		ret->host = check_name(value);
	else if (strcmp(name, "origin") == 0)
		ret->origin = check_name(value);
}

/* -------------------------------------------------------------------------------------------- */

void ing_parked_parse(const struct ing_header *headers, size_t header_count, struct ing_parked *ret)
{
	*ret = (struct ing_parked){0};
	for (size_t i = 0; i < header_count; i++) {
		if (headers[i].name != NULL && headers[i].value != NULL)
			take_header(headers[i].name, headers[i].value, ret);
	}
}

size_t ing_parked_format(const struct ing_parked *p, struct ing_parked_text *text,
	struct ing_header ret[ING_PARKED_HEADERS])
{
	ing_must(p->host != NULL && p->origin != NULL);
	snprintf(text->attempt, sizeof(text->attempt), "%u", p->attempt);
	snprintf(text->not_before, sizeof(text->not_before), "%" PRId64, p->not_before_ms);
	snprintf(text->first_seen, sizeof(text->first_seen), "%" PRId64, p->first_seen_ms);
	snprintf(text->parkings, sizeof(text->parkings), "%u", p->parkings);
	snprintf(text->replays, sizeof(text->replays), "%u", p->replays);
	const struct ing_header headers[ING_PARKED_HEADERS] = {
		{"attempt", text->attempt},
		{"host", p->host},
		{"not-before", text->not_before},
		{"origin", p->origin},
		{"first-seen", text->first_seen},
		{"parkings", text->parkings},
		{ING_LETTER_REPLAYS, text->replays},
	};
	memcpy(ret, headers, sizeof(headers));
	return p->replays > 0 ? ING_PARKED_HEADERS : ING_PARKED_HEADERS - 1;
}
