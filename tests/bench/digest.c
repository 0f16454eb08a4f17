/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-digest [BYTES [MILLISECONDS]]
 *
 * How fast digests of streams of BYTES (150,000) are made, in GB a second of CPU time: by
 * OpenSSL one after the other and by digest_many with each set of instructions that the CPU has, for 1 to
 * 64 streams. One JSON line for each number of streams; "page" is what the archive makes of a body
 * (two SHA-1, one of them with a head in front, MD5 and SHA-256), in microseconds a body.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/data/digest_lanes.h"
#include "common/data/digest_many.h"

enum { MAX_STREAMS = 64, HEAD_BYTES = 301 };

static const size_t counts[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 64};

static const struct {
	const char *name;
	unsigned which;
} algorithms[] = {
	{"md5", ING_DIGEST_MD5}, {"sha1", ING_DIGEST_SHA1}, {"sha256", ING_DIGEST_SHA256}};

static const struct {
	const char *name;
	unsigned cpu;
} sets[] = {
	{"openssl", 0},
	{"sha", ING_DIGEST_CPU_SHA},
	{"avx2", ING_DIGEST_CPU_AVX2},
	{"avx512", ING_DIGEST_CPU_AVX512},
	{"avx2_sha", ING_DIGEST_CPU_AVX2 | ING_DIGEST_CPU_SHA},
	{"avx512_sha", ING_DIGEST_CPU_AVX512 | ING_DIGEST_CPU_SHA},
};

static char head[HEAD_BYTES];
static struct iovec parts[MAX_STREAMS][2];
static struct ing_digest_job jobs[2 * MAX_STREAMS];

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds a call, the best of as many as fit. */
static double measure(size_t count, unsigned milliseconds)
{
	double best = 1e9;
	double end = cpu_seconds() + milliseconds / 1e3;
	for (double begin = cpu_seconds(); begin < end;) {
		ing_digest_many(jobs, count);
		double now = cpu_seconds();
		best = ING_MIN(best, now - begin);
		begin = now;
	}
	return best;
}

static void print_speed(size_t count, size_t bytes, unsigned milliseconds)
{
	for (size_t a = 0; a < ING_ARRAY_LEN(algorithms); a++) {
		for (size_t i = 0; i < count; i++)
			jobs[i] = (struct ing_digest_job){
				.which = algorithms[a].which, .parts = parts[i] + 1, .count = 1};
		printf("\"%s\": %.2f, ", algorithms[a].name,
			(double)(bytes * count) / 1e9 / measure(count, milliseconds));
	}
	for (size_t i = 0; i < count; i++) {
		jobs[2 * i] = (struct ing_digest_job){
			.which = ING_DIGEST_SHA1, .parts = parts[i], .count = 2};
		jobs[2 * i + 1] = (struct ing_digest_job){
			.which = ING_DIGEST_ALL, .parts = parts[i] + 1, .count = 1};
	}
	printf("\"page\": %.1f", measure(2 * count, milliseconds) / (double)count * 1e6);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 150000;
	unsigned milliseconds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 30;
	for (size_t i = 0; i < MAX_STREAMS; i++) {
		char *body = ing_alloc(bytes + 1);
		memset(body, (int)i, bytes);
		parts[i][0] = (struct iovec){.iov_base = head, .iov_len = HEAD_BYTES};
		parts[i][1] = (struct iovec){.iov_base = body, .iov_len = bytes};
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(counts); i++) {
		printf("{\"streams\": %zu", counts[i]);
		for (size_t k = 0; k < ING_ARRAY_LEN(sets); k++) {
			if (ing_digest_lanes_restrict(sets[k].cpu) != sets[k].cpu)
				continue;
			printf(", \"%s\": {", sets[k].name);
			print_speed(counts[i], bytes, milliseconds);
			printf("}");
		}
		printf("}\n");
		fflush(stdout);
	}
	for (size_t i = 0; i < MAX_STREAMS; i++)
		free(parts[i][1].iov_base);
	return 0;
}
