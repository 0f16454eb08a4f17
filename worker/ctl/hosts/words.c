/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of JSON objects as people read them.
 */
#include "worker/ctl/hosts/words.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"

/* -------------------------------------------------------------------------------------------- */

int64_t ing_words_number(const json_t *o, const char *key)
{
	return ing_json_get_number(o, key);
}

const char *ing_words_text(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

void ing_words_add_shown(struct ing_buf *out, const char *s)
{
	for (; *s != '\0'; s++) {
		const unsigned char c = (unsigned char)s[0];
		const unsigned char next = (unsigned char)s[1];
		if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
			ing_buf_add_char(out, '?');
			s++;
		} else {
			ing_buf_add_char(out, c < 0x20 || c == 0x7f ? '?' : (char)c);
		}
	}
}

void ing_words_add(struct ing_buf *out, const json_t *o, const char *key)
{
	ing_words_add_shown(out, ing_words_text(o, key));
}

void ing_words_add_time(struct ing_buf *out, int64_t ms)
{
	int64_t s = ms / 1000;
	if (ms < 1000)
		ing_buf_printf(out, "%" PRId64 " ms", ms);
	else if (s < 10)
		ing_buf_printf(out, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
	else if (s < 60)
		ing_buf_printf(out, "%" PRId64 " s", s);
	else if (s < 3600)
		ing_buf_printf(out, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else if (s < 86400)
		ing_buf_printf(out, "%" PRId64 " h %" PRId64 " min", s / 3600, s % 3600 / 60);
	else
		ing_buf_printf(out, "%" PRId64 " d %" PRId64 " h", s / 86400, s % 86400 / 3600);
}

void ing_words_add_count(struct ing_buf *out, int64_t n, const char *what)
{
	ing_buf_printf(out, "%" PRId64 " %s%s", n, what, ING_PLURAL_S(n));
}

void ing_words_add_answer(struct ing_buf *out, const json_t *last, bool took)
{
	int64_t status = ing_words_number(last, "http_status");
	if (status > 0)
		ing_buf_printf(out, "%" PRId64, status);
	const char *outcome = ing_words_text(last, "outcome");
	/* The transfer succeeded, as the status shows; which may be anything but success. */
	bool told = status > 0 && strcmp(outcome, "success") == 0;
	if (outcome[0] != '\0' && !told) {
		ing_buf_add_str(out, status > 0 ? " (" : "");
		ing_words_add_shown(out, outcome);
		ing_buf_add_str(out, status > 0 ? ")" : "");
	}
	ing_buf_add_str(out, ", ");
	ing_words_add_time(out, ing_words_number(last, "ms_ago"));
	ing_buf_add_str(out, " ago");
	if (took) {
		ing_buf_add_str(out, ", took ");
		ing_words_add_time(out, ing_words_number(last, "response_ms"));
	}
}

void ing_words_add_block(struct ing_buf *out, const json_t *block)
{
	ing_words_add(out, block, "why");
	ing_buf_add_str(out, " (");
	ing_words_add(out, block, "by");
	ing_buf_add_str(out, ing_words_text(block, "by")[0] != '\0' ? ", " : "");
	ing_words_add_time(out, ing_words_number(block, "ms_ago"));
	ing_buf_add_str(out, " ago)");
}

void ing_words_add_rest(struct ing_buf *out, const json_t *delay)
{
	static const struct {
		const char *why, *words;
	} reasons[] = {
		{"delay", "pause between two transfers"},
		{"crawl-delay", "Crawl-delay in robots.txt"},
		{"adaptive", "its last answer was slow"},
		{"worker-died",
			"its last worker died with its lease, and may have asked it until then"},
		{"retry-after", "its Retry-After asks for it"},
		{"backoff", "back-off after failures"},
		{"breaker", "circuit breaker open after consecutive failures"},
	};
	const char *why = ing_words_text(delay, "why");
	for (size_t i = 0; i < ING_ARRAY_LEN(reasons); i++) {
		if (strcmp(reasons[i].why, why) == 0)
			why = reasons[i].words;
	}
	ing_words_add_shown(out, why);
}
