/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes ISA-L and, for whole gzip members, zlib. ISA-L never allocates: its
 * state, its level buffer and our output buffer are one block that lives as long as the writer.
 */
#include "common/data/compress.h"

#include <stdlib.h>
#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "common/base/error.h"

/* Several pages' worth, so that a usual record is one write(2). */
#define OUT_BYTES ((size_t)256 << 10)
/* Both libraries count in 32 bits. */
#define STEP_BYTES ((size_t)1 << 30)

struct ing_gzip {
	struct isal_zstream stream;
	ing_gzip_sink *sink;
	void *ctx;
	int failed;
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

/* Let ISA-L work until it has taken all input (and, at the end of the stream, has given all
 * output). */
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

/* ----------------------------------------------------------------------------------------------------------
 */

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
	ing_gzip_begin(z);
	return z;
}

void ing_gzip_free(struct ing_gzip *z)
{
	free(z);
}

void ing_gzip_begin(struct ing_gzip *z)
{
	isal_deflate_reset(&z->stream);
	/* Once a header is out, ISA-L turns this into "no header" and its reset leaves it so. */
	z->stream.gzip_flag = IGZIP_GZIP;
	z->stream.end_of_stream = 0;
	z->stream.next_in = NULL;
	z->stream.avail_in = 0;
	z->stream.next_out = z->out;
	z->stream.avail_out = OUT_BYTES;
	z->failed = 0;
}

int ing_gzip_add(struct ing_gzip *z, const void *data, size_t bytes)
{
	/* ISA-L's input pointer is not const, but it only reads. */
	union {
		const void *from;
		uint8_t *to;
	} in = {.from = data};
	while (bytes > 0 && z->failed == 0) {
		size_t step = ING_MIN(bytes, STEP_BYTES);
		z->stream.next_in = in.to;
		z->stream.avail_in = (uint32_t)step;
		run_deflate(z);
		in.to += step;
		bytes -= step;
	}
	return z->failed;
}

int ing_gzip_end(struct ing_gzip *z)
{
	if (z->failed != 0)
		return z->failed;
	z->stream.end_of_stream = 1;
	z->stream.next_in = NULL;
	z->stream.avail_in = 0;
	if (run_deflate(z) != 0)
		return z->failed;
	return flush_out(z);
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
