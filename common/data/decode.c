/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A chain of layers, the outermost coding first: each is fed bytes and feeds what it makes of them
 * to the next, the last one to the output buffer. zlib and brotli do the work; this file decides
 * what servers mean.
 */
#include "common/data/decode.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define BLOCK_BYTES ((size_t)32 << 10) /* handed from layer to layer */
#define SLICE_BYTES ((size_t)1 << 30)  /* zlib counts in 32 bits */

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
	z_stream z;
	BrotliDecoderState *brotli;
	struct layer *next; /* NULL: the output */
	struct ing_buf *out;
	unsigned char block[BLOCK_BYTES];
};

static int feed(struct layer *l, const unsigned char *data, size_t bytes);

static int pass_on(struct layer *l, const unsigned char *data, size_t bytes)
{
	if (bytes == 0)
		return 0;
	if (l->next != NULL)
		return feed(l->next, data, bytes);
	return ing_buf_add(l->out, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
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
static void begin_inflate(struct layer *l, int window)
{
	ing_must((l->z_ready ? inflateReset2(&l->z, window) : inflateInit2(&l->z, window)) == Z_OK);
	l->z_ready = true;
	l->phase = PHASE_STREAM;
}

/* Decide by the first two bytes of a stream (or of what follows a member). */
static void judge(struct layer *l)
{
	if (is_gzip_magic(l->held))
		begin_inflate(l, MAX_WBITS + 16);
	else if (l->phase == PHASE_GAP)
		l->phase = PHASE_TAIL;
	else if (l->coding == CODING_GZIP)
		l->phase = PHASE_PASS;
	else
		begin_inflate(l, is_zlib_magic(l->held) ? MAX_WBITS : -MAX_WBITS);
}

/* Inflate up to the end of the input or of the stream; *data moves on. */
static int inflate_some(struct layer *l, const unsigned char **data, size_t *bytes)
{
	int z = Z_OK;
	while (z == Z_OK) {
		size_t slice = ING_MIN(*bytes, SLICE_BYTES);
		l->z.next_in = (z_const Bytef *)(uintptr_t)*data;
		l->z.avail_in = (uInt)slice;
		l->z.next_out = l->block;
		l->z.avail_out = BLOCK_BYTES;
		z = inflate(&l->z, Z_NO_FLUSH);
		size_t used = slice - l->z.avail_in;
		*data += used;
		*bytes -= used;
		int rc = pass_on(l, l->block, BLOCK_BYTES - l->z.avail_out);
		if (rc < 0)
			return rc;
		if (z == Z_OK && *bytes == 0 && l->z.avail_out > 0)
			return 0;
	}
	ing_must(z != Z_MEM_ERROR && z != Z_STREAM_ERROR);
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
			judge(l);
			l->held_bytes = 0;
			/* They are part of what follows; in the new phase this goes one level deep.
			 */
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
		BrotliDecoderResult r =
			BrotliDecoderDecompressStream(l->brotli, &bytes, &data, &room, &to, NULL);
		if (r == BROTLI_DECODER_RESULT_ERROR)
			return -ING_FAIL_SYNTAX;
		int rc = pass_on(l, l->block, BLOCK_BYTES - room);
		if (rc < 0)
			return rc;
		if (r == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
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

static void free_layers(struct layer *layers, int n)
{
	for (int i = 0; i < n; i++) {
		if (layers[i].z_ready)
			inflateEnd(&layers[i].z);
		BrotliDecoderDestroyInstance(layers[i].brotli);
	}
	free(layers);
}

/* The last coding applied is the first to come off. */
static struct layer *make_layers(const enum coding *codings, int n, struct ing_buf *out)
{
	struct layer *layers = ing_alloc((size_t)n * sizeof(*layers));
	for (int i = 0; i < n; i++) {
		struct layer *l = &layers[i];
		l->coding = codings[n - 1 - i];
		l->phase = PHASE_START;
		l->next = i + 1 < n ? &layers[i + 1] : NULL;
		l->out = out;
		if (l->coding == CODING_BROTLI) {
			l->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
			ing_must(l->brotli != NULL);
		}
	}
	return layers;
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
		if (!ing_buf_add(out, data, bytes))
			return ing_error_set(err, ING_FAIL_TOO_BIG,
				"body over the limit of %zu bytes", out->max);
		return 0;
	}
	struct layer *layers = make_layers(list, n, out);
	int rc = feed(&layers[0], data, bytes);
	for (int i = 0; i < n && rc == 0; i++)
		rc = finish(&layers[i]);
	free_layers(layers, n);
	if (rc == -ING_FAIL_TOO_BIG)
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"decoded body over the limit of %zu bytes", out->max);
	if (rc == -ING_FAIL_TRUNCATED)
		return ing_error_set(
			err, ING_FAIL_TRUNCATED, "content coding %.60s ends early", codings);
	if (rc < 0)
		return ing_error_set(
			err, ING_FAIL_SYNTAX, "content coding %.60s is damaged", codings);
	return 0;
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
