/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A chain of layers, the outermost coding first: each is fed bytes and feeds what it makes of them
 * to the next, the last one to the output buffer. zlib and brotli do the work; this file decides
 * what servers mean, and what it may cost.
 *
 * A ceiling on the output does not bound the work: empty blocks, members and headers take time and
 * yield nothing, and one layer makes a thousand times as many of them for the next. So the chain
 * counts its work in units of about a nanosecond, and has to earn it: by the bytes as they were
 * sent, and by the bytes that come out at its end. Honest streams need a hundredth of what they
 * earn.
 */
#include "common/data/decode.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define BLOCK_BYTES ((size_t)32 << 10) /* handed from layer to layer */
#define SLICE_BYTES ((size_t)1 << 30)  /* zlib counts in 32 bits */
/* brotli tells nothing between two outputs, so it gets little at a time. */
#define BROTLI_SLICE_BYTES ((size_t)4 << 10)

/* A list of codings is two words. What is longer may have been cut on its way here, and what was
 * cut off is not known. */
#define MAX_FIELD_BYTES ((size_t)1000)

/* What things cost, beside one unit for each byte that goes into a layer or comes out. */
#define WORK_PER_DYNAMIC_BLOCK 4096u /* its trees are built: some 3 us for 12 bytes of input */
#define WORK_PER_BLOCK 64u           /* stored, or with the fixed trees */
#define WORK_PER_MEMBER 256u
#define WORK_PER_BROTLI_BYTE 256u /* trees and context maps are dense: up to 1 us a byte */
/* What they may cost. A server that flushes after every line sends a dynamic block for 60 bytes at
 * the least, which is 70 units a byte. */
#define WORK_FREE ((uint64_t)1 << 20)
#define WORK_EARNED_BY_INPUT 512u
#define WORK_EARNED_BY_OUTPUT 4u
/* What comes out of a layer is not larger than what it is the coding of, but for frames, stored
 * blocks and flushes. */
#define MAX_MIDDLE_RATIO 2u
#define MIDDLE_FREE_BYTES ((size_t)64 << 10)

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_DEFLATE, CODING_BROTLI, CODING_UNKNOWN };

enum phase {
	PHASE_START,  /* the first two bytes tell what it is */
	PHASE_STREAM, /* inside a member or the one stream */
	PHASE_GAP,    /* behind a gzip member: another one, or the end */
	PHASE_PASS,   /* not what it was said to be: handed on as it is */
	PHASE_TAIL,   /* all that matters was read */
};

struct layer {
	enum coding coding;
	enum phase phase;
	unsigned char held[2]; /* bytes not yet judged in START and GAP */
	size_t held_bytes;
	bool z_ready;
	bool at_block;           /* zlib stands in front of a block that has not been paid for */
	unsigned char last_byte; /* that zlib has taken: the block's header may begin in it */
	z_stream z;
	BrotliDecoderState *brotli;
	size_t room;        /* for what still may come out; of the last layer its buffer knows */
	struct layer *next; /* NULL: the output */
	struct chain *chain;
	unsigned char block[BLOCK_BYTES];
};

struct chain {
	struct ing_buf *out;
	uint64_t work, earned;
	int count;
	struct layer layers[ING_MAX_CODING_LAYERS];
};

static int feed(struct layer *l, const unsigned char *data, size_t bytes);

/* Two codings may keep a chain busy without a byte of output, but not for long. */
static int spend(struct chain *c, uint64_t work)
{
	c->work += work;
	return c->work <= c->earned ? 0 : -ING_FAIL_INVALID;
}

/* At the ceiling as much as there is room for: of some files the first part is worth having. */
static int add_out(struct ing_buf *out, const unsigned char *data, size_t bytes)
{
	size_t room = out->max - out->len;
	ing_buf_add(out, data, ING_MIN(bytes, room));
	return bytes <= room ? 0 : -ING_FAIL_TOO_BIG;
}

static int pass_on(struct layer *l, const unsigned char *data, size_t bytes)
{
	struct chain *c = l->chain;
	if (bytes == 0)
		return 0;
	if (l->next == NULL) {
		c->work += bytes;
		c->earned += (uint64_t)WORK_EARNED_BY_OUTPUT * bytes;
		return add_out(c->out, data, bytes);
	}
	if (bytes > l->room)
		return -ING_FAIL_INVALID;
	l->room -= bytes;
	int rc = spend(c, bytes);
	return rc < 0 ? rc : feed(l->next, data, bytes);
}

static bool is_gzip_magic(const unsigned char *two)
{
	return two[0] == 0x1f && two[1] == 0x8b;
}

/* zlib's two-byte header (RFC 1950, section 2.2): deflate, a legal window, divisible by 31. */
static bool is_zlib_magic(const unsigned char *two)
{
	return (two[0] & 0x0f) == 8 && (two[0] >> 4) <= 7 && (two[0] * 256 + two[1]) % 31 == 0;
}

/* The window argument by which zlib knows the frame: +16 gzip, negative none. */
static int begin_inflate(struct layer *l, int window)
{
	ing_must((l->z_ready ? inflateReset2(&l->z, window) : inflateInit2(&l->z, window)) == Z_OK);
	l->z_ready = true;
	l->at_block = false;
	l->phase = PHASE_STREAM;
	/* Without a frame zlib does not stop in front of the first block. */
	return spend(l->chain, window < 0 ? WORK_PER_DYNAMIC_BLOCK : WORK_PER_MEMBER);
}

/* Decide by the first two bytes of a stream (or of what follows a member). */
static int judge(struct layer *l)
{
	if (is_gzip_magic(l->held))
		return begin_inflate(l, MAX_WBITS + 16);
	if (l->phase == PHASE_GAP)
		l->phase = PHASE_TAIL;
	else if (l->coding == CODING_GZIP)
		l->phase = PHASE_PASS;
	else
		return begin_inflate(l, is_zlib_magic(l->held) ? MAX_WBITS : -MAX_WBITS);
	return 0;
}

/* The three bits of a block's header (RFC 1951, 3.2.3) stand in the last byte that zlib has taken,
 * in the next one, or in both: nothing is read twice, and nothing before it has been paid for.
 * Returns 1 when that next byte has not come yet. */
static int pay_for_block(struct layer *l, const unsigned char *data, size_t bytes)
{
	unsigned have = (unsigned)l->z.data_type & 7;
	unsigned bits = have > 0 ? (unsigned)l->last_byte >> (8 - have) : 0;
	if (have < 3 && bytes == 0)
		return 1;
	if (have < 3)
		bits |= (unsigned)data[0] << have;
	l->at_block = false;
	bool dynamic = (bits >> 1 & 3) == 2;
	return spend(l->chain, dynamic ? WORK_PER_DYNAMIC_BLOCK : WORK_PER_BLOCK);
}

/* One call of zlib, which ends at the latest with a block; *data moves on. zlib's answer, or the
 * chain's failure in *ret_rc. */
static int inflate_step(struct layer *l, const unsigned char **data, size_t *bytes, int *ret_rc)
{
	size_t slice = ING_MIN(*bytes, SLICE_BYTES);
	l->z.next_in = (z_const Bytef *)(uintptr_t)*data;
	l->z.avail_in = (uInt)slice;
	l->z.next_out = l->block;
	l->z.avail_out = BLOCK_BYTES;
	int z = inflate(&l->z, Z_BLOCK);
	ing_must(z != Z_MEM_ERROR && z != Z_STREAM_ERROR);
	size_t used = slice - l->z.avail_in;
	if (used > 0)
		l->last_byte = (*data)[used - 1];
	*data += used;
	*bytes -= used;
	*ret_rc = spend(l->chain, used);
	if (*ret_rc == 0)
		*ret_rc = pass_on(l, l->block, BLOCK_BYTES - l->z.avail_out);
	return z;
}

/* Inflate up to the end of the input or of the stream. */
static int inflate_some(struct layer *l, const unsigned char **data, size_t *bytes)
{
	enum { LAST_BLOCK = 64, BLOCK_ENDED = 128 }; /* of data_type, as zlib.h says */
	int rc = 0;
	int z = Z_OK;
	while (z == Z_OK) {
		if (l->at_block)
			rc = pay_for_block(l, *data, *bytes);
		if (rc != 0)
			return ING_MIN(rc, 0);
		z = inflate_step(l, data, bytes, &rc);
		if (rc < 0)
			return rc;
		bool ended = z == Z_OK && (l->z.data_type & BLOCK_ENDED) != 0;
		l->at_block = ended && (l->z.data_type & LAST_BLOCK) == 0;
		if (z == Z_OK && !ended && *bytes == 0 && l->z.avail_out > 0)
			return 0;
	}
	if (z == Z_BUF_ERROR)
		return 0; /* it waits for more input */
	if (z != Z_STREAM_END)
		return -ING_FAIL_SYNTAX;
	l->held_bytes = 0;
	l->phase = l->coding == CODING_GZIP ? PHASE_GAP : PHASE_TAIL;
	return 0;
}

static int feed_deflated(struct layer *l, const unsigned char *data, size_t bytes)
{
	while (bytes > 0) {
		int rc = 0;
		switch (l->phase) {
		case PHASE_START:
		case PHASE_GAP:
			l->held[l->held_bytes++] = *data++;
			bytes--;
			if (l->held_bytes < sizeof(l->held))
				break;
			rc = judge(l);
			l->held_bytes = 0;
			/* They are part of what follows; in the new phase this goes one level
			 * deep. */
			if (rc == 0)
				rc = feed_deflated(l, l->held, sizeof(l->held));
			break;
		case PHASE_STREAM:
			rc = inflate_some(l, &data, &bytes);
			break;
		case PHASE_PASS:
			return pass_on(l, data, bytes);
		case PHASE_TAIL:
			return 0;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int feed_brotli(struct layer *l, const unsigned char *data, size_t bytes)
{
	if (l->phase == PHASE_TAIL)
		return 0;
	for (l->phase = PHASE_STREAM;;) {
		uint8_t *to = l->block;
		size_t room = BLOCK_BYTES;
		size_t slice = ING_MIN(bytes, BROTLI_SLICE_BYTES);
		size_t left = slice;
		BrotliDecoderResult r =
			BrotliDecoderDecompressStream(l->brotli, &left, &data, &room, &to, NULL);
		if (r == BROTLI_DECODER_RESULT_ERROR)
			return -ING_FAIL_SYNTAX;
		bytes -= slice - left;
		int rc = spend(l->chain, (uint64_t)WORK_PER_BROTLI_BYTE * (slice - left));
		if (rc == 0)
			rc = pass_on(l, l->block, BLOCK_BYTES - room);
		if (rc < 0)
			return rc;
		if (r == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && bytes == 0)
			return 0;
		if (r == BROTLI_DECODER_RESULT_SUCCESS) {
			l->phase = PHASE_TAIL;
			return 0;
		}
	}
}

static int feed(struct layer *l, const unsigned char *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	return l->coding == CODING_BROTLI ? feed_brotli(l, data, bytes)
					  : feed_deflated(l, data, bytes);
}

/* No more input comes: whatever is neither whole nor empty was cut. */
static int finish(struct layer *l)
{
	if (l->phase == PHASE_STREAM)
		return -ING_FAIL_TRUNCATED;
	if (l->phase != PHASE_START || l->held_bytes == 0)
		return 0;
	/* One byte in all: no start of gzip, then it is as it is. */
	if (l->coding == CODING_GZIP && l->held[0] != 0x1f)
		return pass_on(l, l->held, l->held_bytes);
	return -ING_FAIL_TRUNCATED;
}

static enum coding coding_by_name(const char *name, size_t bytes)
{
	static const struct {
		const char *name;
		enum coding coding;
	} table[] = {
		{"gzip", CODING_GZIP}, {"x-gzip", CODING_GZIP}, {"deflate", CODING_DEFLATE},
		{"br", CODING_BROTLI}, {"identity", CODING_IDENTITY},
		{"", CODING_IDENTITY}, /* an empty list element means nothing (RFC 9110, 5.6.1.2) */
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(table); i++) {
		if (strlen(table[i].name) == bytes && strncasecmp(table[i].name, name, bytes) == 0)
			return table[i].coding;
	}
	return CODING_UNKNOWN;
}

/* The codings of a field value but identity, in its order; -1 when there is one too many or an
 * unknown one. */
static int list_codings(const char *s, enum coding ret[ING_MAX_CODING_LAYERS])
{
	int n = 0;
	if (s != NULL && strnlen(s, MAX_FIELD_BYTES + 1) > MAX_FIELD_BYTES)
		return -1;
	while (s != NULL && *s != '\0') {
		s += strspn(s, ", \t\r\n");
		size_t bytes = strcspn(s, ",");
		size_t name = bytes;
		while (name > 0 && strchr(" \t\r\n", s[name - 1]) != NULL)
			name--;
		enum coding c = coding_by_name(s, name);
		s += bytes;
		if (c == CODING_IDENTITY)
			continue;
		if (c == CODING_UNKNOWN || n == ING_MAX_CODING_LAYERS)
			return -1;
		ret[n++] = c;
	}
	return n;
}

static void free_chain(struct chain *c)
{
	for (int i = 0; i < c->count; i++) {
		if (c->layers[i].z_ready)
			inflateEnd(&c->layers[i].z);
		BrotliDecoderDestroyInstance(c->layers[i].brotli);
	}
	free(c);
}

/* The last coding applied is the first to come off. */
static struct chain *make_chain(
	const enum coding *codings, int count, size_t bytes, struct ing_buf *out)
{
	struct chain *c = ing_alloc(sizeof(*c));
	size_t room = out->max - out->len;
	c->out = out;
	c->count = count;
	c->earned = WORK_FREE + (uint64_t)WORK_EARNED_BY_INPUT * bytes;
	for (int i = 0; i < count; i++) {
		struct layer *l = &c->layers[i];
		l->chain = c;
		l->coding = codings[count - 1 - i];
		l->phase = PHASE_START;
		l->room = MIDDLE_FREE_BYTES +
			  ING_MIN(room, SIZE_MAX / 2 / MAX_MIDDLE_RATIO) * MAX_MIDDLE_RATIO;
		l->next = i + 1 < count ? &c->layers[i + 1] : NULL;
		if (l->coding == CODING_BROTLI) {
			l->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
			ing_must(l->brotli != NULL);
		}
	}
	return c;
}

static int describe(int rc, const char *codings, const struct ing_buf *out, struct ing_error *err)
{
	switch (-rc) {
	case 0:
		return 0;
	case ING_FAIL_TOO_BIG:
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"decoded body over the limit of %zu bytes", out->max);
	case ING_FAIL_TRUNCATED:
		return ing_error_set(
			err, ING_FAIL_TRUNCATED, "content coding %.60s ends early", codings);
	case ING_FAIL_INVALID:
		return ing_error_set(err, ING_FAIL_INVALID,
			"content coding %.60s takes more work than its bytes are worth", codings);
	default:
		return ing_error_set(
			err, ING_FAIL_SYNTAX, "content coding %.60s is damaged", codings);
	}
}

/* -------------------------------------------------------------------------------------------- */

bool ing_decode_needed(const char *codings)
{
	enum coding list[ING_MAX_CODING_LAYERS];
	return list_codings(codings, list) != 0;
}

int ing_decode(const char *codings, const void *data, size_t bytes, struct ing_buf *out,
	struct ing_error *err)
{
	enum coding list[ING_MAX_CODING_LAYERS];
	int n = list_codings(codings, list);
	if (n < 0)
		return ing_error_set(
			err, ING_FAIL_UNSUPPORTED, "content coding not understood: %.60s", codings);
	if (n == 0) {
		if (add_out(out, data, bytes) == 0)
			return 0;
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "body over the limit of %zu bytes", out->max);
	}
	struct chain *c = make_chain(list, n, bytes, out);
	int rc = feed(&c->layers[0], data, bytes);
	for (int i = 0; i < n && rc == 0; i++)
		rc = finish(&c->layers[i]);
	free_chain(c);
	return describe(rc, codings, out, err);
}

int ing_decode_bounded(const char *codings, const void *data, size_t bytes, unsigned max_ratio,
	struct ing_buf *out, struct ing_error *err)
{
	size_t max = out->max;
	size_t room = max - out->len;
	if (max_ratio == 0 || bytes > room / max_ratio || room <= ING_DECODE_FREE_BYTES)
		return ing_decode(codings, data, bytes, out, err);
	out->max = out->len + ING_MAX(bytes * max_ratio, ING_DECODE_FREE_BYTES);
	int rc = ing_decode(codings, data, bytes, out, err);
	out->max = max;
	if (rc != -ING_FAIL_TOO_BIG)
		return rc;
	if (err != NULL)
		*err = (struct ing_error){
			0}; /* the words are about a limit that is not the caller's */
	return ing_error_set(
		err, ING_FAIL_TOO_BIG, "the body decodes to over %u times its size", max_ratio);
}
