/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers of Amazon's S3, Ceph, MinIO, versitygw and proxies before them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/document/objects/s3_answer.h"

#define XML(code, message)                                                                         \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" code                           \
	"</Code><Message>" message "</Message><Resource>/b/k</Resource></Error>"

static void codes_come_before_the_status(void **state)
{
	(void)state;
	static const struct {
		unsigned status;
		const char *body;
		enum ing_object_outcome outcome;
		const char *detail;
	} cases[] = {
		{403, XML("InvalidAccessKeyId", "no such key"), ING_OBJECT_OUTCOME_DENIED,
			"403 InvalidAccessKeyId: no such key"},
		{403, XML("SignatureDoesNotMatch", ""), ING_OBJECT_OUTCOME_DENIED,
			"403 SignatureDoesNotMatch"},
		{403, XML("QuotaExceeded", "m"), ING_OBJECT_OUTCOME_FULL, "403 QuotaExceeded: m"},
		{400, XML("XMinioAdminBucketQuotaExceeded", "m"), ING_OBJECT_OUTCOME_FULL, NULL},
		{507, XML("XMinioStorageFull", "m"), ING_OBJECT_OUTCOME_FULL, NULL},
		{507, "", ING_OBJECT_OUTCOME_FULL, "507"},
		{404, XML("NoSuchBucket", "m"), ING_OBJECT_OUTCOME_MISSING, NULL},
		{301, XML("PermanentRedirect", "m"), ING_OBJECT_OUTCOME_MISSING, NULL},
		{404, "<html>nothing here", ING_OBJECT_OUTCOME_MISSING, "404"},
		{503, XML("SlowDown", "m"), ING_OBJECT_OUTCOME_BUSY, NULL},
		{503, "upstream", ING_OBJECT_OUTCOME_BUSY, NULL},
		{429, "", ING_OBJECT_OUTCOME_BUSY, NULL},
		{500, XML("InternalError", "m"), ING_OBJECT_OUTCOME_AWAY, NULL},
		{400, XML("RequestTimeout", "m"), ING_OBJECT_OUTCOME_AWAY, NULL},
		{502, "Bad Gateway", ING_OBJECT_OUTCOME_AWAY, "502"},
		{401, "", ING_OBJECT_OUTCOME_DENIED, NULL},
		{403, XML("RequestTimeTooSkewed", "m"), ING_OBJECT_OUTCOME_DENIED, NULL},
		{400, XML("EntityTooLarge", "m"), ING_OBJECT_OUTCOME_UNFIT, NULL},
		{413, "<html>", ING_OBJECT_OUTCOME_UNFIT, "413"},
		{400, XML("InvalidDigest", "m"), ING_OBJECT_OUTCOME_STRANGE, NULL},
		{405, "", ING_OBJECT_OUTCOME_STRANGE, NULL},
		{200, "", ING_OBJECT_OUTCOME_STRANGE, NULL}, /* nobody asks about a success */
		{403, "<Code>InvalidAccessKeyId", ING_OBJECT_OUTCOME_DENIED,
			"403 InvalidAccessKeyId"},
		{500, "<Code>", ING_OBJECT_OUTCOME_AWAY, "500"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_object_verdict v = {0};
		const char *body = cases[i].body;
		ing_s3_answer_judge(cases[i].status, body, strlen(body), &v);
		if (v.outcome != cases[i].outcome)
			fail_msg("%u %s", cases[i].status, body);
		if (cases[i].detail != NULL)
			assert_string_equal(v.detail, cases[i].detail);
	}
}

static void long_words_are_cut(void **state)
{
	(void)state;
	char body[4000] = "<Error><Code>";
	struct ing_object_verdict v = {0};
	memset(body + 13, 'c', 1000);
	memcpy(body + 1013, "</Code><Message>", 16);
	memset(body + 1029, 'm', 2000);
	ing_s3_answer_judge(500, body, 3029, &v);
	assert_int_equal(v.outcome, ING_OBJECT_OUTCOME_AWAY);
	assert_true(strlen(v.detail) < sizeof(v.detail) && strlen(v.detail) > 200);
	ing_s3_answer_judge(507, NULL, 0, &v);
	assert_string_equal(v.detail, "507");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_come_before_the_status),
		cmocka_unit_test(long_words_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
