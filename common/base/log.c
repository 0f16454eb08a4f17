/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines to stderr. Timestamps are left out under journald, which adds its own.
 */
#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"

#define LINE_BYTES 2048

static enum ing_log_level max_log_level = ING_LOG_INFO;
static bool under_journald;

static const char *level_word(enum ing_log_level level)
{
	switch (level) {
	case ING_LOG_ERROR:
		return "error";
	case ING_LOG_WARNING:
		return "warning";
	case ING_LOG_INFO:
		return "info";
	case ING_LOG_DEBUG:
		break;
	}
	return "debug";
}

/* Copies with control bytes and invalid UTF-8 as \xHH. Returns the bytes written; the rest is
 * cut. */
static size_t escape(const char *from, size_t from_bytes, char *to, size_t to_bytes)
{
	size_t out = 0;
	for (size_t i = 0; i < from_bytes && out + 5 < to_bytes;) {
		size_t n = ing_utf8_sequence(from + i, from_bytes - i);
		if (n == 0 || (unsigned char)from[i] < 0x20 || from[i] == 0x7f) {
			out += (size_t)snprintf(
				to + out, to_bytes - out, "\\x%02x", (unsigned char)from[i]);
			i++;
			continue;
		}
		memcpy(to + out, from + i, n);
		out += n;
		i += n;
	}
	return out;
}

/* -------------------------------------------------------------------------------------------- */

void ing_log_init(enum ing_log_level max_level)
{
	max_log_level = max_level;
	under_journald = getenv("JOURNAL_STREAM") != NULL;
}

bool ing_log_wants(enum ing_log_level level)
{
	return level <= max_log_level;
}

void ing_log(enum ing_log_level level, const char *fmt, ...)
{
	if (!ing_log_wants(level))
		return;
	char text[LINE_BYTES];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	size_t text_bytes = n < 0 ? 0 : ING_MIN((size_t)n, sizeof(text) - 1);

	char line[LINE_BYTES + 64];
	size_t len;
	if (under_journald) {
		len = (size_t)snprintf(line, sizeof(line), "<%d>", (int)level);
	} else {
		char when[ING_ISO8601_BYTES];
		ing_format_iso8601(ing_wall_now(), 3, when);
		len = (size_t)snprintf(line, sizeof(line), "%s %s: ", when, level_word(level));
	}
	len += escape(text, text_bytes, line + len, sizeof(line) - len - 1);
	line[len++] = '\n';
	ssize_t ignored = write(STDERR_FILENO, line, len);
	(void)ignored; /* nowhere left to complain */
}

bool ing_log_throttle_pass(
	struct ing_log_throttle *gate, uint64_t every_ms, unsigned *ret_suppressed)
{
	uint64_t now = ing_now_ms();
	if (gate->next_ms != 0 && now < gate->next_ms) {
		gate->suppressed++;
		return false;
	}
	if (ret_suppressed != NULL)
		*ret_suppressed = gate->suppressed;
	gate->suppressed = 0;
	gate->next_ms = now + every_ms;
	return true;
}
