/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prefix and host may hold '-' themselves; the two runs of digits between them have fixed places,
 * so a name belongs to one prefix and host only.
 */
#include "worker/archive/name.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/record/warc_file.h"

enum { TIMESTAMP_DIGITS = 17, SERIAL_DIGITS = 5, SERIAL_MAX_DIGITS = 10 };

static bool is_safe(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* Move *at over `text`. */
static bool skip(const char **at, const char *text)
{
	size_t bytes = strlen(text);
	if (strncmp(*at, text, bytes) != 0)
		return false;
	*at += bytes;
	return true;
}

static bool skip_digits(const char **at, size_t min, size_t max)
{
	size_t digits = strspn(*at, "0123456789");
	*at += digits;
	return digits >= min && digits <= max;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_warc_name_part(const char *text)
{
	char *part = ing_strdup(text);
	for (char *p = part; *p != '\0'; p++) {
		if (!is_safe(*p) || (p == part && *p == '.'))
			*p = '_';
	}
	return part;
}

int ing_warc_name_check(const char *prefix, const char *host, struct ing_error *err)
{
	size_t longest = strlen(prefix) + strlen(host) + TIMESTAMP_DIGITS + SERIAL_MAX_DIGITS +
			 strlen("---" ING_WARC_SUFFIX ING_WARC_OPEN_SUFFIX);
	if (prefix[0] == '\0' || host[0] == '\0')
		return ing_error_set(
			err, ING_FAIL_CONFIG, "WARC files: prefix and host name must not be empty");
	if (longest >= ING_WARC_NAME_BYTES)
		return ing_error_set(err, ING_FAIL_CONFIG,
			"WARC files: prefix and host name are %zu bytes too long for a file name",
			longest - ING_WARC_NAME_BYTES + 1);
	return 0;
}

void ing_warc_name_make(const char *prefix, const char *host, struct timespec now, unsigned serial,
	char ret[ING_WARC_NAME_BYTES])
{
	char seconds[ING_DT14_BYTES];
	ing_format_dt14(now, seconds);
	int n = snprintf(ret, ING_WARC_NAME_BYTES, "%s-%s%03ld-%05u-%s" ING_WARC_SUFFIX, prefix,
		seconds, now.tv_nsec / 1000000 % 1000, serial, host);
	ing_must(n > 0 && n < ING_WARC_NAME_BYTES);
}

bool ing_warc_name_is_open(
	const char *file, const char *prefix, const char *host, char ret_name[ING_WARC_NAME_BYTES])
{
	const char *at = file;
	if (!skip(&at, prefix) || !skip(&at, "-") ||
		!skip_digits(&at, TIMESTAMP_DIGITS, TIMESTAMP_DIGITS) || !skip(&at, "-") ||
		!skip_digits(&at, SERIAL_DIGITS, SERIAL_MAX_DIGITS) || !skip(&at, "-") ||
		!skip(&at, host) || !skip(&at, ING_WARC_SUFFIX) ||
		strcmp(at, ING_WARC_OPEN_SUFFIX) != 0)
		return false;
	size_t bytes = (size_t)(at - file);
	if (bytes >= ING_WARC_NAME_BYTES)
		return false;
	memcpy(ret_name, file, bytes);
	ret_name[bytes] = '\0';
	return true;
}
