/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The collector of HTTP heads: any bytes, cut anywhere (the first byte says how often), must give
 * the same answer as in one piece, and never keep more than the limits allow; nor do the same bytes
 * behind the body.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>
#include "common/net/http.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 20, .heap_byte = 10);

#define MAX_BYTES 4096
#define MAX_FIELDS 40

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool add_trailers(struct ing_http_head *h, const uint8_t *data, size_t size, size_t step)
{
	bool good = true;
	for (size_t at = 0; good && at < size; at += step)
		good = ing_http_head_add_trailer(h, data + at, ING_MIN(step, size - at));
	ing_must(h->state == ING_HTTP_DONE && h->seen_bytes <= MAX_BYTES);
	return good;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_http_head whole, parts;
	if (size == 0)
		return;
	size_t step = data[0] % 16 + 1u;
	data++;
	size--;
	ing_http_head_init(&whole, MAX_BYTES, MAX_FIELDS);
	ing_http_head_init(&parts, MAX_BYTES, MAX_FIELDS);
	ing_http_head_add(&whole, data, size);
	for (size_t at = 0; at < size; at += step)
		ing_http_head_add(&parts, data + at, ING_MIN(step, size - at));

	ing_must((whole.state == ING_HTTP_BAD || whole.state == ING_HTTP_TOO_LARGE) ==
		 (whole.why != NULL));
	ing_must(whole.raw.len <= MAX_BYTES + (MAX_FIELDS + 1) * 16);
	ing_must((whole.state == ING_HTTP_DONE) == (parts.state == ING_HTTP_DONE));
	if (whole.state == ING_HTTP_DONE) {
		ing_must(whole.status >= 100 && whole.status <= 999);
		ing_must(whole.raw.len == parts.raw.len);
		ing_must(memcmp(whole.raw.data, parts.raw.data, whole.raw.len) == 0);
		ing_must(whole.raw.data[whole.raw.len - 1] == '\n');
		ing_must(same_text(whole.location, parts.location));
		ing_must(same_text(whole.content_type, parts.content_type));
		ing_must(same_text(whole.content_encoding, parts.content_encoding));
		ing_must(same_text(whole.transfer_encoding, parts.transfer_encoding));
		ing_must(same_text(whole.retry_after, parts.retry_after));
		ing_must(same_text(whole.date, parts.date));
		ing_must(whole.content_length == parts.content_length);
		if (whole.transfer_encoding != NULL)
			(void)ing_http_coding_is_plain(whole.transfer_encoding);
		ing_must(add_trailers(&whole, data, size, size) ==
			 add_trailers(&parts, data, size, step));
	}
	ing_http_head_done(&whole);
	ing_http_head_done(&parts);
}
