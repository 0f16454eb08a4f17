/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xz streams. The only file that includes liblzma.
 */
#include <stdlib.h>
#include <lzma.h>

#include "common/base/macros.h"
#include "common/data/unpack.h"
#include "common/data/unpack_priv.h"

static void begin_xz(void *state)
{
	/* Made again for a stream, it keeps its memory where the sizes are the same. */
	lzma_ret rc = lzma_stream_decoder(state, ING_UNPACK_WINDOW_BYTES, 0);
	ing_must(rc == LZMA_OK);
}

static void *open_xz(void)
{
	lzma_stream *z = ing_alloc(sizeof(*z));
	*z = (lzma_stream)LZMA_STREAM_INIT;
	return z;
}

static void close_xz(void *state)
{
	lzma_end(state);
	free(state);
}

static int step_xz(void *state, const unsigned char **in, size_t *in_bytes, void *out, size_t room,
	size_t *ret_bytes, struct ing_error *err)
{
	lzma_stream *z = state;
	z->next_in = *in;
	z->avail_in = *in_bytes;
	z->next_out = out;
	z->avail_out = room;
	lzma_ret rc = lzma_code(z, LZMA_RUN);
	*in = z->next_in;
	*in_bytes = z->avail_in;
	*ret_bytes = room - z->avail_out;
	switch (rc) {
	case LZMA_OK:
	case LZMA_BUF_ERROR: /* it waits for more input */
		return 0;
	case LZMA_STREAM_END:
		return 1;
	case LZMA_MEMLIMIT_ERROR:
	case LZMA_MEM_ERROR:
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"the dictionary is larger than %zu MiB: unpack it with \"xz -dc\" and give the "
			"content on standard input",
			ING_UNPACK_WINDOW_BYTES >> 20);
	case LZMA_OPTIONS_ERROR:
		return ing_error_set(
			err, ING_FAIL_UNSUPPORTED, "a filter that liblzma does not have");
	default:
		return ing_error_set(err, ING_FAIL_SYNTAX, "damaged");
	}
}

const struct ing_unpack_format ing_unpack_xz = {
	.name = "xz",
	.open = open_xz,
	.close = close_xz,
	.begin = begin_xz,
	.step = step_xz,
};
