/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zstd frames (RFC 8878), skippable ones among them. The only file that includes libzstd.
 */
#include <zstd.h>
#include <zstd_errors.h>

#include "common/base/macros.h"
#include "common/data/unpack.h"
#include "common/data/unpack_priv.h"

#define WINDOW_LOG 27
_Static_assert(ING_UNPACK_WINDOW_BYTES == (size_t)1 << WINDOW_LOG, "the limit that is documented");

static void *open_zstd(void)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ing_must(z != NULL);
	ing_must(!ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG)));
	return z;
}

static void close_zstd(void *state)
{
	ZSTD_freeDCtx(state);
}

static void begin_zstd(void *state)
{
	ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static int explain(size_t rc, struct ing_error *err)
{
	switch (ZSTD_getErrorCode(rc)) {
	case ZSTD_error_frameParameter_windowTooLarge:
	case ZSTD_error_memory_allocation:
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"the window is larger than %zu MiB (zstd --long): unpack it with \"zstd -dc "
			"--long=31\" and give the content on standard input",
			ING_UNPACK_WINDOW_BYTES >> 20);
	case ZSTD_error_dictionary_wrong:
	case ZSTD_error_dictionary_corrupted:
		return ing_error_set(
			err, ING_FAIL_UNSUPPORTED, "made with a dictionary, which is not known");
	default:
		return ing_error_set(err, ING_FAIL_SYNTAX, "damaged (%s)", ZSTD_getErrorName(rc));
	}
}

static int step_zstd(void *state, const unsigned char **in, size_t *in_bytes, void *out,
	size_t room, size_t *ret_bytes, struct ing_error *err)
{
	ZSTD_inBuffer from = {*in, *in_bytes, 0};
	ZSTD_outBuffer to = {out, room, 0};
	size_t rc = ZSTD_decompressStream(state, &to, &from);
	*in += from.pos;
	*in_bytes -= from.pos;
	*ret_bytes = to.pos;
	if (ZSTD_isError(rc))
		return explain(rc, err);
	return rc == 0 ? 1 : 0;
}

const struct ing_unpack_format ing_unpack_zstd = {
	.name = "zstd",
	.open = open_zstd,
	.close = close_zstd,
	.begin = begin_zstd,
	.step = step_zstd,
};
