/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Algorithms one after the other. The longest streams begin; one that ends leaves its lane to the
 * next. All lanes advance by as many blocks as the one has that has the fewest at hand in one place:
 * pieces that end within a block, and the end of a stream, are put together in its `tail`.
 *
 * When streams become fewer than a kernel is worth, they are finished by the next narrower one.
 *
 * A few streams of which all three are wanted are not worth lanes for MD5, and without those the other
 * two cost nothing beside it: they are digested one by one, all three at once.
 */
#include "common/data/digest_many.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/digest_lanes.h"

#define BLOCK_BYTES ING_DIGEST_BLOCK_BYTES

static const struct algorithm {
	unsigned which;
	bool big_endian;
	size_t words;
	uint32_t first[ING_DIGEST_MAX_WORDS];
} algorithms[] = {
	{ING_DIGEST_MD5, false, 4, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}},
	{ING_DIGEST_SHA1, true, 5, {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
	{ING_DIGEST_SHA256, true, 8,
		{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
			0x5be0cd19}},
};

enum { ALGORITHMS = ING_ARRAY_LEN(algorithms) };

struct stream {
	struct ing_digest_job *job;
	size_t part, part_at; /* where the bytes are that nothing has taken yet */
	uint32_t state[ING_DIGEST_MAX_WORDS];
	const unsigned char *at; /* blocks at hand */
	size_t blocks;
	unsigned char tail[ING_DIGEST_TAIL_BYTES];
	bool padded;
};

static uint64_t count_bytes(const struct ing_digest_job *job)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < job->count; i++)
		bytes += job->parts[i].iov_len;
	return bytes;
}

/* Up to a block of a stream's next bytes, from as many parts as it takes. */
static size_t fill_tail(struct stream *s)
{
	const struct ing_digest_job *job = s->job;
	size_t filled = 0;
	while (s->part < job->count && filled < BLOCK_BYTES) {
		const struct iovec *part = &job->parts[s->part];
		size_t take = ING_MIN(part->iov_len - s->part_at, BLOCK_BYTES - filled);
		if (take > 0)
			memcpy(s->tail + filled, (const char *)part->iov_base + s->part_at, take);
		filled += take;
		s->part_at += take;
		if (s->part_at == part->iov_len) {
			s->part++;
			s->part_at = 0;
		}
	}
	return filled;
}

/* The next blocks of a stream that are in one place; at the end, its padding. False: that was all. */
static bool next_blocks(struct stream *s, const struct algorithm *algorithm)
{
	const struct ing_digest_job *job = s->job;
	if (s->padded)
		return false;
	if (s->part < job->count) {
		const struct iovec *part = &job->parts[s->part];
		s->blocks = (part->iov_len - s->part_at) / BLOCK_BYTES;
		if (s->blocks > 0) {
			s->at = (const unsigned char *)part->iov_base + s->part_at;
			s->part_at += s->blocks * BLOCK_BYTES;
			return true;
		}
	}
	size_t filled = fill_tail(s);
	s->at = s->tail;
	s->blocks = 1;
	s->padded = filled < BLOCK_BYTES;
	if (s->padded)
		s->blocks = ing_digest_pad(s->tail, filled, job->ret.bytes, algorithm->big_endian);
	return true;
}

static unsigned char *digest_place(struct ing_digests *ret, unsigned which)
{
	switch (which) {
	case ING_DIGEST_MD5:
		return ret->md5;
	case ING_DIGEST_SHA1:
		return ret->sha1;
	default:
		return ret->sha256;
	}
}

static void put_digest(struct ing_digest_job *job, const struct algorithm *algorithm,
	const uint32_t state[ING_DIGEST_MAX_WORDS])
{
	unsigned char *to = digest_place(&job->ret, algorithm->which);
	for (size_t i = 0; i < algorithm->words; i++) {
		for (unsigned k = 0; k < 4; k++)
			*to++ = (unsigned char)(state[i] >>
						(algorithm->big_endian ? 24 - 8 * k : 8 * k));
	}
}

static const struct ing_digest_kernel *kernel_for(
	const struct ing_digest_kernel *kernels, size_t streams)
{
	while (streams < kernels->min)
		kernels++;
	return kernels;
}

/* One call of the kernel for the first `count` streams. Lanes that are over repeat the first one's
 * work. */
static void advance(
	const struct ing_digest_kernel *kernel, struct stream *const *active, size_t count)
{
	uint32_t idle[ING_DIGEST_LANES][ING_DIGEST_MAX_WORDS] = {0};
	uint32_t *state[ING_DIGEST_LANES];
	const uint8_t *at[ING_DIGEST_LANES];
	size_t blocks = active[0]->blocks;
	for (size_t i = 0; i < kernel->lanes; i++) {
		state[i] = i < count ? active[i]->state : idle[i];
		at[i] = active[i < count ? i : 0]->at;
		if (i < count)
			blocks = ING_MIN(blocks, active[i]->blocks);
	}
	kernel->run(state, at, blocks);
	for (size_t i = 0; i < count; i++) {
		active[i]->at += blocks * BLOCK_BYTES;
		active[i]->blocks -= blocks;
	}
}

static void digest_streams(const struct algorithm *algorithm,
	const struct ing_digest_kernel *kernels, struct stream *streams, size_t count)
{
	struct stream *active[ING_DIGEST_LANES];
	size_t n = 0;
	for (size_t next = 0; n > 0 || next < count;) {
		for (; n < kernels->lanes && next < count; next++) {
			next_blocks(&streams[next], algorithm);
			active[n++] = &streams[next];
		}
		const struct ing_digest_kernel *kernel = kernel_for(kernels, n);
		size_t used = ING_MIN(n, kernel->lanes);
		advance(kernel, active, used);
		for (size_t i = used; i-- > 0;) {
			if (active[i]->blocks > 0 || next_blocks(active[i], algorithm))
				continue;
			put_digest(active[i]->job, algorithm, active[i]->state);
			active[i] = active[--n];
		}
	}
}

static int by_bytes(const void *left, const void *right)
{
	const struct stream *a = left;
	const struct stream *b = right;
	return (a->job->ret.bytes < b->job->ret.bytes) - (a->job->ret.bytes > b->job->ret.bytes);
}

static size_t choose_streams(const struct algorithm *algorithm, struct ing_digest_job *jobs,
	size_t count, unsigned except, struct stream *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if ((jobs[i].which & algorithm->which) == 0 || jobs[i].which == except)
			continue;
		struct stream *s = &ret[n++];
		s->job = &jobs[i];
		s->part = s->part_at = 0;
		s->padded = false;
		memcpy(s->state, algorithm->first, sizeof(s->state));
	}
	qsort(ret, n, sizeof(*ret), by_bytes);
	return n;
}

/* Those of the jobs whose `which` is not `except`. Returns which digests of all of them are done. */
static unsigned digest_in_lanes(struct ing_digest_job *jobs, size_t count, unsigned except)
{
	unsigned done = 0;
	struct stream *streams = ing_alloc(count * sizeof(*streams));
	for (size_t i = 0; i < ALGORITHMS; i++) {
		const struct algorithm *algorithm = &algorithms[i];
		const struct ing_digest_kernel *kernels = ing_digest_kernels(algorithm->which);
		if (kernels == NULL)
			continue;
		size_t n = choose_streams(algorithm, jobs, count, except, streams);
		/* One by one, OpenSSL is as fast or faster. */
		if (n == 0 || kernel_for(kernels, n)->lanes == 1)
			continue;
		digest_streams(algorithm, kernels, streams, n);
		done |= algorithm->which;
	}
	free(streams);
	return done;
}

/* The padding is the same for all but for the order of the length's bytes. */
static void digest_all_of_one(struct ing_digest_job *job, ing_digest_all_run *run)
{
	struct stream s = {.job = job};
	uint32_t little[ALGORITHMS][ING_DIGEST_MAX_WORDS];
	uint32_t big[ALGORITHMS][ING_DIGEST_MAX_WORDS];
	for (size_t i = 0; i < ALGORITHMS; i++)
		memcpy(little[i], algorithms[i].first, sizeof(little[i]));
	for (next_blocks(&s, &algorithms[0]); !s.padded; next_blocks(&s, &algorithms[0]))
		run(little, s.at, s.blocks);
	memcpy(big, little, sizeof(big));
	run(little, s.at, s.blocks);
	unsigned char *length = s.tail + s.blocks * BLOCK_BYTES - sizeof(uint64_t);
	for (size_t i = 0; i < sizeof(uint64_t) / 2; i++) {
		unsigned char byte = length[i];
		length[i] = length[sizeof(uint64_t) - 1 - i];
		length[sizeof(uint64_t) - 1 - i] = byte;
	}
	run(big, s.at, s.blocks);
	for (size_t i = 0; i < ALGORITHMS; i++)
		put_digest(job, &algorithms[i], algorithms[i].big_endian ? big[i] : little[i]);
}

/* Returns ING_DIGEST_ALL when the jobs that want them all have them now, else 0. */
static unsigned digest_few(struct ing_digest_job *jobs, size_t count)
{
	size_t most;
	size_t n = 0;
	ing_digest_all_run *run = ing_digest_all(&most);
	for (size_t i = 0; i < count; i++)
		n += jobs[i].which == ING_DIGEST_ALL;
	if (run == NULL || n > most)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (jobs[i].which == ING_DIGEST_ALL)
			digest_all_of_one(&jobs[i], run);
	}
	return ING_DIGEST_ALL;
}

static void digest_alone(struct ing_digest_job *job, unsigned which)
{
	struct ing_digester *d = ing_digester_new(which);
	for (size_t i = 0; i < job->count; i++)
		ing_digester_add(d, job->parts[i].iov_base, job->parts[i].iov_len);
	ing_digester_finish(d, &job->ret);
	ing_digester_free(d);
}

/* -------------------------------------------------------------------------------------------- */

void ing_digest_many(struct ing_digest_job *jobs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		jobs[i].ret.bytes = count_bytes(&jobs[i]);
	unsigned except = digest_few(jobs, count);
	unsigned done = count > 1 ? digest_in_lanes(jobs, count, except) : 0;
	for (size_t i = 0; i < count; i++) {
		if (jobs[i].which != except && (jobs[i].which & ~done) != 0)
			digest_alone(&jobs[i], jobs[i].which & ~done);
	}
}

void ing_digest_one(unsigned which, const void *data, size_t bytes, struct ing_digests *ret)
{
	union {
		const void *from;
		void *to; /* as iovec wants it; it is only read */
	} base = {.from = data};
	const struct iovec part = {.iov_base = base.to, .iov_len = bytes};
	struct ing_digest_job job = {.which = which, .parts = &part, .count = 1};
	ing_digest_many(&job, 1);
	*ret = job.ret;
}

const char *ing_digest_many_how(void)
{
	const char *how = ing_digest_lanes_how();
	return how != NULL ? how : "OpenSSL";
}

size_t ing_digest_pad(
	unsigned char tail[ING_DIGEST_TAIL_BYTES], size_t filled, uint64_t bytes, bool big_endian)
{
	size_t blocks = filled + 1 + sizeof(uint64_t) <= BLOCK_BYTES ? 1 : 2;
	uint64_t bits = bytes * 8; /* modulo 2^64, as RFC 1321 has it; the others end before */
	unsigned char *length = tail + blocks * BLOCK_BYTES - sizeof(bits);
	tail[filled] = 0x80;
	memset(tail + filled + 1, 0, (size_t)(length - tail) - filled - 1);
	for (unsigned i = 0; i < sizeof(bits); i++)
		length[i] = (unsigned char)(bits >> (big_endian ? 56 - 8 * i : 8 * i));
	return blocks;
}
