/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gzip members, by compress.h.
 */
#include "common/data/compress.h"
#include "common/data/unpack_priv.h"

static void *open_gzip(void)
{
	return ing_gunzip_new();
}

static void close_gzip(void *state)
{
	ing_gunzip_free(state);
}

static void begin_gzip(void *state)
{
	ing_gunzip_begin(state);
}

static int step_gzip(void *state, const unsigned char **in, size_t *in_bytes, void *out,
	size_t room, size_t *ret_bytes, struct ing_error *err)
{
	int rc = ing_gunzip_step(state, in, in_bytes, out, room, ret_bytes);
	return rc < 0 ? ing_error_set(err, (enum ing_fail) - rc, "damaged") : rc;
}

const struct ing_unpack_format ing_unpack_gzip = {
	.name = "gzip",
	.open = open_gzip,
	.close = close_gzip,
	.begin = begin_gzip,
	.step = step_gzip,
};
