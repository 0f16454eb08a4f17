/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes ISA-L and, for whole gzip members, zlib. ISA-L never allocates: its
 * states, its level buffers and our output buffer are one block that lives as long as the writer.
 *
 * ISA-L makes the deflate blocks; the gzip wrapper around them is ours, because so are the stored
 * blocks between them, of which ISA-L's checksum would know nothing. Its stream is at a byte, and
 * its window is empty, before a stored block is written: no match may reach back across bytes that
 * ISA-L has not seen.
 */
#include "common/data/compress.h"

#include <stdlib.h>
#include <string.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "common/base/error.h"

/* Several pages' worth, so that a usual record is one write(2). */
#define OUT_BYTES ((size_t)256 << 10)
/* Both libraries count in 32 bits. */
#define STEP_BYTES ((size_t)1 << 30)
/* What is judged as one and compressed or stored as one: pictures between a document's texts are
 * longer, and the five bytes and new tables of a change are little against it. */
#define SEGMENT_BYTES ((size_t)32 << 10)
/* Heads and small pages: there is nothing to gain. */
#define JUDGE_BYTES ((size_t)8 << 10)
/* The sample of a segment: SAMPLES pieces, evenly spread. */
#define SAMPLES ((size_t)8)
#define SAMPLE_BYTES ((size_t)256)
/* Two bytes of noise are equal once in 256 times. Up to a sixteenth more often, there are not three
 * per cent to be had. */
#define NOISE_DIVISOR 16
/* RFC 1951 3.2.4: LEN has 16 bits. */
#define STORED_BYTES ((size_t)65535)
#define STORED_HEAD_BYTES ((size_t)5)
/* RFC 1952 2.3: the member's header and trailer. */
#define WRAP_HEAD_BYTES 10
#define WRAP_TAIL_BYTES 8

struct ing_gzip {
	struct isal_zstream stream; /* its next_out and avail_out are the place in `out` */
	ing_gzip_sink *sink;
	void *ctx;
	int failed;
	bool storing; /* the last segment was stored: ISA-L has nothing in hand */
	uint32_t crc;
	uint32_t bytes; /* modulo 2^32, as the trailer has it */
	unsigned char level_buf[ISAL_DEF_LVL1_DEFAULT];
	unsigned char out[OUT_BYTES];
};

struct ing_gunzip {
	z_stream stream;
};

const unsigned char ing_gzip_head[ING_GZIP_HEAD_BYTES] = {0x1f, 0x8b, 0x08, 0x00};

static int flush_out(struct ing_gzip *z)
{
	size_t bytes = OUT_BYTES - z->stream.avail_out;
	z->stream.next_out = z->out;
	z->stream.avail_out = OUT_BYTES;
	if (bytes > 0)
		z->failed = z->sink(z->ctx, z->out, bytes);
	return z->failed;
}

/* ISA-L's input pointer is not const, but it only reads. */
static uint8_t *to_input(const void *data)
{
	union {
		const void *from;
		uint8_t *to;
	} in = {.from = data};
	return in.to;
}

/* Let ISA-L work until it has taken all input and, when it is to flush or to end, has given all
 * output. */
static int run_deflate(struct ing_gzip *z)
{
	struct isal_zstream *s = &z->stream;
	for (;;) {
		ing_must(isal_deflate(s) == COMP_OK);
		bool done = s->end_of_stream ? s->internal_state.state == ZSTATE_END
					     : s->avail_in == 0 && s->avail_out > 0;
		if (done)
			return 0;
		if (s->avail_out == 0 && flush_out(z) != 0)
			return z->failed;
	}
}

static int compress_run(struct ing_gzip *z, const unsigned char *data, size_t bytes)
{
	z->storing = false;
	z->stream.next_in = to_input(data);
	z->stream.avail_in = (uint32_t)bytes;
	return run_deflate(z);
}

/* Behind the bytes that are on their way out already. */
static int put_out(struct ing_gzip *z, const void *data, size_t bytes)
{
	const unsigned char *from = data;
	while (bytes > 0) {
		size_t step = ING_MIN(bytes, (size_t)z->stream.avail_out);
		memcpy(z->stream.next_out, from, step);
		z->stream.next_out += step;
		z->stream.avail_out -= (uint32_t)step;
		from += step;
		bytes -= step;
		if (z->stream.avail_out == 0 && flush_out(z) != 0)
			return z->failed;
	}
	return 0;
}

/* One block of RFC 1951 3.2.4. The three header bits are at the front of a byte, so that five more
 * bits of it are padding. */
static int put_stored(struct ing_gzip *z, const unsigned char *data, size_t bytes, bool final)
{
	const unsigned len = (unsigned)bytes;
	const unsigned char head[STORED_HEAD_BYTES] = {final, (unsigned char)len,
		(unsigned char)(len >> 8), (unsigned char)~len, (unsigned char)(~len >> 8)};
	int rc = put_out(z, head, sizeof(head));
	return rc == 0 ? put_out(z, data, bytes) : rc;
}

static int store_run(struct ing_gzip *z, const unsigned char *data, size_t bytes)
{
	if (!z->storing) {
		z->stream.flush = FULL_FLUSH;
		int rc = compress_run(z, NULL, 0);
		z->stream.flush = NO_FLUSH;
		if (rc != 0)
			return rc;
		z->storing = true;
	}
	int rc = 0;
	for (size_t at = 0; at < bytes && rc == 0; at += STORED_BYTES)
		rc = put_stored(z, data + at, ING_MIN(bytes - at, STORED_BYTES), false);
	return rc;
}

/* How often are two bytes of the sample equal? Compressed, encrypted and random bytes are all alike
 * in that; text and tables are far from it. A trial compression would tell the same, but trying
 * 8 KiB in 128 takes nearly all that storing saves, because noise has the largest Huffman trees. A
 * wrong guess costs bytes, never content. */
static bool is_noise(const unsigned char *data, size_t bytes)
{
	uint32_t counts[256] = {0};
	uint32_t equal = 0;
	const uint32_t n = SAMPLES * SAMPLE_BYTES;
	const size_t apart = (bytes - SAMPLE_BYTES) / (SAMPLES - 1);
	for (size_t i = 0; i < SAMPLES; i++) {
		for (size_t k = 0; k < SAMPLE_BYTES; k++)
			counts[data[i * apart + k]]++;
	}
	for (unsigned i = 0; i < 256; i++)
		equal += counts[i] * (counts[i] - 1);
	const uint32_t of_noise = n * (n - 1) / 256;
	return equal <= of_noise + of_noise / NOISE_DIVISOR;
}

static bool is_to_store(const struct ing_gzip *z, const unsigned char *data, size_t bytes)
{
	return bytes < JUDGE_BYTES ? z->storing : is_noise(data, bytes);
}

/* How many bytes from the front go the same way, and which way. */
static size_t find_run(
	const struct ing_gzip *z, const unsigned char *data, size_t bytes, bool *ret_store)
{
	bytes = ING_MIN(bytes, STEP_BYTES);
	size_t run = ING_MIN(bytes, SEGMENT_BYTES);
	bool store = is_to_store(z, data, run);
	while (run < bytes) {
		size_t more = ING_MIN(bytes - run, SEGMENT_BYTES);
		if (more >= JUDGE_BYTES && is_noise(data + run, more) != store)
			break;
		run += more;
	}
	*ret_store = store;
	return run;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_gzip *ing_gzip_new(ing_gzip_sink *sink, void *ctx)
{
	struct ing_gzip *z = ing_alloc(sizeof(*z));
	z->sink = sink;
	z->ctx = ctx;
	isal_deflate_init(&z->stream);
	z->stream.level = 1;
	z->stream.level_buf = z->level_buf;
	z->stream.level_buf_size = sizeof(z->level_buf);
	z->stream.flush = NO_FLUSH;
	z->stream.gzip_flag = IGZIP_DEFLATE;
	ing_gzip_begin(z);
	return z;
}

void ing_gzip_free(struct ing_gzip *z)
{
	free(z);
}

void ing_gzip_begin(struct ing_gzip *z)
{
	/* No flags, no time, "unknown" system. */
	unsigned char head[WRAP_HEAD_BYTES] = {[WRAP_HEAD_BYTES - 1] = 0xff};
	memcpy(head, ing_gzip_head, ING_GZIP_HEAD_BYTES);
	isal_deflate_reset(&z->stream);
	z->stream.flush = NO_FLUSH;
	z->stream.end_of_stream = 0;
	z->stream.next_out = z->out;
	z->stream.avail_out = OUT_BYTES;
	z->failed = 0;
	z->storing = false;
	z->crc = 0;
	z->bytes = 0;
	ing_must(put_out(z, head, sizeof(head)) == 0);
}

int ing_gzip_add(struct ing_gzip *z, const void *data, size_t bytes)
{
	const unsigned char *from = data;
	while (bytes > 0 && z->failed == 0) {
		bool store;
		size_t run = find_run(z, from, bytes, &store);
		z->crc = crc32_gzip_refl(z->crc, from, run);
		z->bytes += (uint32_t)run;
		if (store)
			store_run(z, from, run);
		else
			compress_run(z, from, run);
		from += run;
		bytes -= run;
	}
	return z->failed;
}

int ing_gzip_end(struct ing_gzip *z)
{
	unsigned char tail[WRAP_TAIL_BYTES];
	int rc = z->failed;
	if (rc == 0 && z->storing) {
		rc = put_stored(z, NULL, 0, true);
	} else if (rc == 0) {
		z->stream.end_of_stream = 1;
		rc = compress_run(z, NULL, 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		tail[i] = (unsigned char)(z->crc >> i * 8);
		tail[4 + i] = (unsigned char)(z->bytes >> i * 8);
	}
	if (rc == 0)
		rc = put_out(z, tail, sizeof(tail));
	return rc == 0 ? flush_out(z) : rc;
}

struct ing_gunzip *ing_gunzip_new(void)
{
	struct ing_gunzip *z = ing_alloc(sizeof(*z));
	/* 16: a gzip wrapper and nothing else. */
	ing_must(inflateInit2(&z->stream, 16 + MAX_WBITS) == Z_OK);
	return z;
}

void ing_gunzip_free(struct ing_gunzip *z)
{
	if (z == NULL)
		return;
	inflateEnd(&z->stream);
	free(z);
}

void ing_gunzip_begin(struct ing_gunzip *z)
{
	ing_must(inflateReset(&z->stream) == Z_OK);
}

int ing_gunzip_step(struct ing_gunzip *z, const unsigned char **in, size_t *in_bytes, void *out,
	size_t room, size_t *ret_bytes)
{
	union {
		const unsigned char *from;
		unsigned char *to;
	} input = {.from = *in};
	uInt give = (uInt)ING_MIN(*in_bytes, STEP_BYTES);
	uInt take = (uInt)ING_MIN(room, STEP_BYTES);
	z->stream.next_in = input.to;
	z->stream.avail_in = give;
	z->stream.next_out = out;
	z->stream.avail_out = take;
	int rc = inflate(&z->stream, Z_NO_FLUSH);
	ing_must(rc != Z_MEM_ERROR && rc != Z_STREAM_ERROR);
	*in += give - z->stream.avail_in;
	*in_bytes -= give - z->stream.avail_in;
	*ret_bytes = take - z->stream.avail_out;
	if (rc == Z_STREAM_END)
		return 1;
	return rc == Z_OK || rc == Z_BUF_ERROR ? 0 : -ING_FAIL_SYNTAX;
}

uint32_t ing_crc32(const void *data, size_t bytes)
{
	return crc32_gzip_refl(0, data, bytes);
}
