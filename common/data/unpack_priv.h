/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unpack_priv.h - what a format of unpack.h is: a magic and a decoder. One file for each foreign
 * library.
 */
#pragma once
#include "common/base/error.h"

struct ing_unpack_format {
	const char *name;
	void *(*open)(void);
	void (*close)(void *state);
	/* Expect the front of a member (frame, stream). */
	void (*begin)(void *state);
	/* Decodes from *in (moved on, *in_bytes lessened) to out, *ret_bytes of it. Returns 0 when it
	 * wants more input or more room, 1 at the end of a member, -ING_FAIL_x with words that can
	 * follow "at byte N: ". */
	int (*step)(void *state, const unsigned char **in, size_t *in_bytes, void *out, size_t room,
		size_t *ret_bytes, struct ing_error *err);
};

extern const struct ing_unpack_format ing_unpack_gzip;
extern const struct ing_unpack_format ing_unpack_zstd;
extern const struct ing_unpack_format ing_unpack_xz;
extern const struct ing_unpack_format ing_unpack_bzip2;
