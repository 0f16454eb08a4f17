/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What answers of the API have in common.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "worker/serve/serve_priv.h"

#define MAX_MESSAGE_BYTES 4096

static void add_error(struct ing_http_exchange *x, const char *code, const char *fmt, va_list ap)
{
	char message[1024];
	struct ing_buf out;
	vsnprintf(message, sizeof(message), fmt, ap);
	ing_buf_init(&out, 8 * MAX_MESSAGE_BYTES);
	ing_buf_printf(&out, "{\"error\":{\"code\":\"%s\",\"message\":", code);
	size_t bytes;
	char *clean = ing_utf8_clean(message, strlen(message), &bytes);
	ing_must(clean != NULL);
	ing_json_add_text(&out, clean, bytes);
	free(clean);
	ing_buf_add_str(&out, "}}\n");
	ing_http_add_textn(x, out.data, out.len);
	ing_buf_done(&out);
}

/* ------------------------------------------------------------------------------------------ */

void ing_answer_common(struct ing_http_exchange *x)
{
	ing_http_add_header(x, "Cache-Control", "no-store");
	ing_http_add_header(x, "X-Content-Type-Options", "nosniff");
	/* Without any referrer, browsers would not say the origin of the page's own form. */
	ing_http_add_header(x, "Referrer-Policy", "same-origin");
}

void ing_answer_json(struct ing_http_exchange *x, unsigned status)
{
	ing_answer_common(x);
	ing_http_add_header(x, "Content-Type", "application/json");
	ing_http_add_header(
		x, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
	ing_http_answer(x, status);
}

void ing_answer_error(
	struct ing_http_exchange *x, unsigned status, const char *code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_error(x, code, fmt, ap);
	va_end(ap);
	ing_answer_json(x, status);
}

void ing_answer_retry(struct ing_http_exchange *x, unsigned status, unsigned seconds,
	const char *code, const char *fmt, ...)
{
	char text[16];
	va_list ap;
	va_start(ap, fmt);
	add_error(x, code, fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%u", seconds);
	ing_http_add_header(x, "Retry-After", text);
	ing_answer_json(x, status);
}

bool ing_answer_id(const char *text, char ret[ING_ASK_KEY_BYTES + 1])
{
	if (strlen(text) != ING_ASK_KEY_BYTES ||
		strspn(text, "0123456789abcdefABCDEF") != ING_ASK_KEY_BYTES)
		return false;
	for (size_t i = 0; i <= ING_ASK_KEY_BYTES; i++)
		ret[i] = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] | 0x20) : text[i];
	return true;
}

void ing_answer_add_state(struct ing_http_exchange *x, const char *key, const char *state)
{
	char text[200];
	snprintf(text, sizeof(text), "{\"id\":\"%s\",\"state\":\"%s\",\"location\":\"/ingest/%s\"}",
		key, state, key);
	ing_http_add_text(x, text);
}
