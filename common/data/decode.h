/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * decode.h - removal of the content codings of a body (RFC 9110, section 8.4).
 *
 * Everything here reads hostile bytes: the output has a ceiling however small the input is, layers
 * are streamed into each other, so that a bomb inside a bomb never exists as a whole, and memory is
 * that of the decoders' windows and of the output. A small output does not
 * bound the work, so the work of a stream is counted (README.md), and a stream that takes too much
 * for its size is refused. Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "common/base/error.h"

#define ING_MAX_CODING_LAYERS 2 /* servers send one; two by mistake */

/* Whether a Content-Encoding value (NULL is fine) asks for any work: something else than
 * identity. */
bool ing_decode_needed(const char *codings);

/* Append data without its codings to out, which must be initialised; its ceiling is the cap on what
 * is decoded. `codings` is the raw field value, codings in the order in which they were applied:
 * gzip, x-gzip, deflate, br, identity. Servers' habits that are accepted:
 * - a body said to be gzip that does not start as gzip does is taken as it is;
 * - gzip of several members; anything behind the last one is ignored, as it is after br and
 * deflate;
 * - deflate with zlib's frame (RFC 1950), without it (RFC 1951), or being gzip.
 * An empty body is empty in every coding. Returns 0, or
 * -ING_FAIL_UNSUPPORTED: an unknown coding, more than ING_MAX_CODING_LAYERS of them, or a value of
 * over 1,000 bytes; -ING_FAIL_SYNTAX: damaged data or a wrong checksum, -ING_FAIL_TRUNCATED: the stream
 * ends early, -ING_FAIL_INVALID: it takes too much work (or memory between two layers) for what it
 * is, -ING_FAIL_TOO_BIG: over the ceiling. After a failure out holds what was decoded until then:
 * after -TOO_BIG, as much as its ceiling allows.
 */
int ing_decode(const char *codings, const void *data, size_t bytes, struct ing_buf *out,
	struct ing_error *err) ING_MUST_CHECK;

/* Up to ING_DECODE_FREE_BYTES the ratio does not matter: short texts of one repeated character are
 * no attack. */
#define ING_DECODE_FREE_BYTES ((size_t)1 << 20)

/* The same, with a second ceiling: max_ratio times the size of the data, or ING_DECODE_FREE_BYTES
 * if that is more; 0: none. Returns -ING_FAIL_TOO_BIG with a message of its own. */
int ing_decode_bounded(const char *codings, const void *data, size_t bytes, unsigned max_ratio,
	struct ing_buf *out, struct ing_error *err) ING_MUST_CHECK;
