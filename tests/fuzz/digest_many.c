/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digests of many streams at once. The input is cut into streams and these into pieces by its own
 * bytes. Held to: OpenSSL's digests of the same streams, with every set of instructions.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/error.h"
#include "common/data/digest_lanes.h"
#include "common/data/digest_many.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 500, .heap_kb = 50, .heap_byte = 0);

enum { MAX_JOBS = 40, MAX_PARTS = 4 };

struct input {
	struct ing_digest_job jobs[MAX_JOBS];
	struct iovec parts[MAX_JOBS][MAX_PARTS];
	size_t count;
};

/* A byte says how long a piece is that follows it, the last takes the rest: those below 128 for
 * themselves, the others times 16. */
static size_t take_piece(const uint8_t **data, size_t *size, struct iovec *ret)
{
	if (*size == 0)
		return 0;
	size_t bytes = **data < 128 ? **data : (size_t)(**data - 128) * 16;
	union {
		const uint8_t *from;
		void *to;
	} base = {.from = *data + 1};
	bytes = ING_MIN(bytes, *size - 1);
	*ret = (struct iovec){.iov_base = base.to, .iov_len = bytes};
	*data += bytes + 1;
	*size -= bytes + 1;
	return 1;
}

static void cut_input(struct input *in, const uint8_t *data, size_t size)
{
	in->count = size > 0 ? data[0] % MAX_JOBS : 0;
	for (size_t i = 0; i < in->count; i++) {
		struct ing_digest_job *job = &in->jobs[i];
		job->which = ING_DIGEST_ALL;
		job->parts = in->parts[i];
		job->count = 0;
		for (size_t k = 0; k < 1 + i % MAX_PARTS; k++)
			job->count += take_piece(&data, &size, &in->parts[i][job->count]);
	}
}

static struct ing_digests digest_one(const struct ing_digest_job *job)
{
	struct ing_digests ret = {0};
	struct ing_digester *d = ing_digester_new(job->which);
	for (size_t i = 0; i < job->count; i++)
		ing_digester_add(d, job->parts[i].iov_base, job->parts[i].iov_len);
	ing_digester_finish(d, &ret);
	ing_digester_free(d);
	return ret;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static struct input in;
	struct ing_digests want[MAX_JOBS];
	cut_input(&in, data, size);
	for (size_t i = 0; i < in.count; i++)
		want[i] = digest_one(&in.jobs[i]);
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		ing_digest_lanes_restrict(cpu);
		ing_digest_many(in.jobs, in.count);
		for (size_t i = 0; i < in.count; i++) {
			const struct ing_digests *got = &in.jobs[i].ret;
			ing_must(got->bytes == want[i].bytes &&
				 memcmp(got->md5, want[i].md5, sizeof(got->md5)) == 0 &&
				 memcmp(got->sha1, want[i].sha1, sizeof(got->sha1)) == 0 &&
				 memcmp(got->sha256, want[i].sha256, sizeof(got->sha256)) == 0);
		}
	}
}
