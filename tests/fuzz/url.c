/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URLs: "base NUL reference" through parsing, cleaning, resolution, comparison and the index key.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/surt.h"
#include "common/net/url.h"
#include "common/net/url_mask.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 5000, .heap_kb = 100, .out_bytes = 256, .out_byte = 32,
	.heap_byte = 1000);

/* What was written out once is read back as the same. */
static void check_stable(const char *href)
{
	char *again = ing_url_parse(href, strlen(href));
	ing_must(again == NULL ? strlen(href) > ING_URL_MAX_BYTES : strcmp(again, href) == 0);
	free(again);
}

static char *mask(const char *s)
{
	struct ing_buf out;
	ing_buf_init(&out, 4 * strlen(s) + 16);
	ing_url_mask(s, strlen(s), &out);
	ing_must(!out.failed);
	return ing_buf_steal(&out);
}

/* What is a web URL stays one, of the same host, and nobody's. */
static void check_mask(const char *text)
{
	char *masked = mask(text);
	char *again = mask(masked);
	ing_must(strcmp(masked, again) == 0);
	free(again);
	struct ing_url_parts before, after;
	if (ing_url_parts(text, strlen(text), NULL, &before) && ing_url_is_web(before.href)) {
		ing_must(ing_url_parts(masked, strlen(masked), NULL, &after) ||
			 strlen(masked) > ING_URL_MAX_BYTES);
		if (after.href != NULL) {
			bool nobody = before.username[0] == '\0' && before.password[0] == '\0';
			ing_must(strcmp(after.hostname, before.hostname) == 0);
			ing_must(strcmp(after.port, before.port) == 0);
			ing_must(after.password[0] == '\0');
			ing_must(nobody || strcmp(after.username, "***") == 0);
		}
		ing_url_parts_done(&after);
	}
	ing_url_parts_done(&before);
	free(masked);
}

/* Ways around the parser end where it does. */
static void check_shortcuts(const char *text)
{
	char host[ING_URL_HOST_BYTES];
	struct ing_url_parts parts;
	const char *trimmed = text;
	size_t bytes = strlen(text);
	ing_url_trim(&trimmed, &bytes);
	char *clean = ing_url_clean(text, strlen(text));
	char *href = ing_url_parse(trimmed, bytes);
	ing_must(href == NULL || strcmp(href, clean) == 0);
	bool known = ing_url_host(text, host, sizeof(host));
	bool parsed = ing_url_parts(text, strlen(text), NULL, &parts);
	ing_must(!known || (parsed && strcmp(parts.hostname, host) == 0));
	ing_url_parts_done(&parts);
	free(href);
	free(clean);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *text = ing_strndup((const char *)data, size);
	size_t base_len = strlen(text);
	const char *ref = base_len < size ? text + base_len + 1 : text;
	char *href = ing_url_parse((const char *)data, size);
	if (href != NULL)
		check_stable(href);
	free(href);
	href = ing_url_resolve(text, ref);
	if (href != NULL)
		check_stable(href);
	free(href);
	free(ing_url_clean((const char *)data, size));
	struct ing_url_parts parts;
	if (ing_url_parts(ref, strlen(ref), base_len < size ? text : NULL, &parts))
		ing_must(parts.href != NULL && parts.hash != NULL);
	ing_url_parts_done(&parts);
	char host[ING_URL_HOST_BYTES];
	ing_must(!ing_url_is_web(text) || ing_url_port(text) <= 65535);
	ing_must(ing_url_host(text, host, sizeof(host)) == (host[0] != '\0'));
	ing_must(ing_url_fuzzy_equal(text, text));
	ing_url_fuzzy_equal(text, ref);
	check_shortcuts(text);
	check_shortcuts(ref);
	check_mask(text);
	check_mask(ref);
	struct ing_buf key;
	ing_buf_init(&key, ING_URL_MAX_BYTES * 8);
	ing_must(!ing_surt(text, &key) || key.len > 0);
	fuzz_wrote(key.len);
	ing_buf_clear(&key);
	ing_must(!ing_surt_bytes((const char *)data, size, &key) ||
		 (key.len > 0 && memchr(key.data, '\0', key.len) == NULL));
	fuzz_wrote(key.len);
	ing_buf_done(&key);
	free(text);
}
