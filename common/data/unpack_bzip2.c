/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bzip2 streams. The only file that includes libbzip2.
 */
#include <stdlib.h>
#include <bzlib.h>

#include "common/base/macros.h"
#include "common/data/unpack_priv.h"

/* The library counts in 32 bits. */
#define STEP_BYTES ((size_t)1 << 30)

struct bunzip2 {
	bz_stream stream;
	bool ready;
};

static void end_stream(struct bunzip2 *z)
{
	if (z->ready)
		BZ2_bzDecompressEnd(&z->stream);
	z->ready = false;
}

static void *open_bzip2(void)
{
	return ing_alloc(sizeof(struct bunzip2));
}

static void close_bzip2(void *state)
{
	end_stream(state);
	free(state);
}

static void begin_bzip2(void *state)
{
	struct bunzip2 *z = state;
	end_stream(z);
	z->stream = (bz_stream){0};
	ing_must(BZ2_bzDecompressInit(&z->stream, 0, 0) == BZ_OK);
	z->ready = true;
}

static int step_bzip2(void *state, const unsigned char **in, size_t *in_bytes, void *out,
	size_t room, size_t *ret_bytes, struct ing_error *err)
{
	struct bunzip2 *z = state;
	/* It only reads its input, which is not const. */
	union {
		const unsigned char *from;
		char *to;
	} input = {.from = *in};
	unsigned give = (unsigned)ING_MIN(*in_bytes, STEP_BYTES);
	unsigned take = (unsigned)ING_MIN(room, STEP_BYTES);
	z->stream.next_in = input.to;
	z->stream.avail_in = give;
	z->stream.next_out = out;
	z->stream.avail_out = take;
	int rc = BZ2_bzDecompress(&z->stream);
	*in += give - z->stream.avail_in;
	*in_bytes -= give - z->stream.avail_in;
	*ret_bytes = take - z->stream.avail_out;
	ing_must(rc != BZ_MEM_ERROR && rc != BZ_PARAM_ERROR && rc != BZ_SEQUENCE_ERROR);
	if (rc == BZ_STREAM_END)
		return 1;
	return rc == BZ_OK ? 0 : ing_error_set(err, ING_FAIL_SYNTAX, "damaged");
}

const struct ing_unpack_format ing_unpack_bzip2 = {
	.name = "bzip2",
	.open = open_bzip2,
	.close = close_bzip2,
	.begin = begin_bzip2,
	.step = step_bzip2,
};
