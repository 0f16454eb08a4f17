/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Codes come first, as servers do not agree on the status of a quota (403 of Ceph, 400 or 507 of
 * others); of those that are not known the status decides.
 */
#include "worker/document/objects/s3_answer.h"

#include <stdio.h>
#include <string.h>

#include "common/base/macros.h"

#define MAX_CODE_BYTES 64
#define MAX_MESSAGE_BYTES 160

struct meaning {
	const char *text;
	enum ing_object_outcome outcome;
};

static const struct meaning codes[] = {
	{"AccessDenied", ING_OBJECT_OUTCOME_DENIED},
	{"AllAccessDisabled", ING_OBJECT_OUTCOME_DENIED},
	{"EntityTooLarge", ING_OBJECT_OUTCOME_UNFIT},
	{"ExpiredToken", ING_OBJECT_OUTCOME_DENIED},
	{"InsufficientStorage", ING_OBJECT_OUTCOME_FULL},
	{"InternalError", ING_OBJECT_OUTCOME_AWAY},
	{"InvalidAccessKeyId", ING_OBJECT_OUTCOME_DENIED},
	{"NoSuchBucket", ING_OBJECT_OUTCOME_MISSING},
	{"PermanentRedirect", ING_OBJECT_OUTCOME_MISSING},
	{"RequestTimeTooSkewed", ING_OBJECT_OUTCOME_DENIED},
	{"RequestTimeout", ING_OBJECT_OUTCOME_AWAY},
	{"ServiceUnavailable", ING_OBJECT_OUTCOME_BUSY},
	{"SignatureDoesNotMatch", ING_OBJECT_OUTCOME_DENIED},
	{"SlowDown", ING_OBJECT_OUTCOME_BUSY},
	{"SlowDownWrite", ING_OBJECT_OUTCOME_BUSY},
	{"TooManyRequests", ING_OBJECT_OUTCOME_BUSY},
};

/* In codes that have a server's name in front (QuotaExceeded, XMinioAdminBucketQuotaExceeded). */
static const struct meaning parts_of_codes[] = {
	{"QuotaExceeded", ING_OBJECT_OUTCOME_FULL},
	{"StorageFull", ING_OBJECT_OUTCOME_FULL},
};

static enum ing_object_outcome outcome_of_status(unsigned status)
{
	switch (status) {
	case 301:
	case 307:
	case 308:
	case 404:
		return ING_OBJECT_OUTCOME_MISSING;
	case 401:
	case 403:
		return ING_OBJECT_OUTCOME_DENIED;
	case 413:
		return ING_OBJECT_OUTCOME_UNFIT;
	case 429:
	case 503:
		return ING_OBJECT_OUTCOME_BUSY;
	case 507:
		return ING_OBJECT_OUTCOME_FULL;
	default:
		return status >= 500 ? ING_OBJECT_OUTCOME_AWAY : ING_OBJECT_OUTCOME_STRANGE;
	}
}

static enum ing_object_outcome outcome_of(unsigned status, const char *code)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(codes); i++)
		if (strcmp(codes[i].text, code) == 0)
			return codes[i].outcome;
	for (size_t i = 0; i < ING_ARRAY_LEN(parts_of_codes); i++)
		if (strstr(code, parts_of_codes[i].text) != NULL)
			return parts_of_codes[i].outcome;
	return outcome_of_status(status);
}

/* The text of the first element of this name, cut to `room` - 1 bytes; "" without one. Its entities stay
 * as they are. */
static void copy_element(
	const char *body, size_t bytes, const char *open_tag, char *ret_text, size_t room)
{
	*ret_text = '\0';
	size_t tag_bytes = strlen(open_tag);
	const char *from = bytes > 0 ? memmem(body, bytes, open_tag, tag_bytes) : NULL;
	if (from == NULL)
		return;
	from += tag_bytes;
	size_t left = bytes - (size_t)(from - body);
	const char *end = memchr(from, '<', left);
	size_t len = end != NULL ? (size_t)(end - from) : left;
	len = ING_MIN(len, room - 1);
	memcpy(ret_text, from, len);
	ret_text[len] = '\0';
}

/* -------------------------------------------------------------------------------------------- */

void ing_s3_answer_judge(
	unsigned status, const char *body, size_t bytes, struct ing_object_verdict *ret)
{
	char code[MAX_CODE_BYTES];
	char message[MAX_MESSAGE_BYTES];
	copy_element(body, bytes, "<Code>", code, sizeof(code));
	copy_element(body, bytes, "<Message>", message, sizeof(message));
	ret->outcome = outcome_of(status, code);
	snprintf(ret->detail, sizeof(ret->detail), "%u%s%s%s%s", status, *code != '\0' ? " " : "",
		code, *message != '\0' ? ": " : "", message);
}
