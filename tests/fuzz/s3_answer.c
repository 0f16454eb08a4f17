/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The answer of an object store: the first two bytes are the status, the rest is the body. Whatever it
 * is, it is no success, and what is said of it fits a line of the log.
 */
#include "tests/fuzz/target.h"

#include <string.h>
#include "worker/document/objects/s3_answer.h"

FUZZ_BUDGET(.cpu_us = 100, .cpu_byte_ns = 20, .heap_kb = 4, .heap_byte = 1);

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_object_verdict v;
	if (size < 2)
		return;
	memset(&v, 0xaa, sizeof(v));
	unsigned status = 100 + (data[0] * 256u + data[1]) % 900;
	ing_s3_answer_judge(status, (const char *)data + 2, size - 2, &v);
	ing_must(v.outcome > ING_OBJECT_OUTCOME_STORED && v.outcome < ING_OBJECT_OUTCOME_COUNT_);
	ing_must(memchr(v.detail, '\0', sizeof(v.detail)) != NULL);
	ing_must(strlen(v.detail) >= 3);
}
