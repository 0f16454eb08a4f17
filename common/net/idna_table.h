/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * idna_table.h - properties of characters that IDNA asks for and lexbor does not have. For idna.c
 * only; constant.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Classes of the bidirectional algorithm, in the low four bits. */
enum ing_idna_bidi {
	ING_IDNA_L,
	ING_IDNA_R,
	ING_IDNA_AL,
	ING_IDNA_AN,
	ING_IDNA_EN,
	ING_IDNA_ES,
	ING_IDNA_CS,
	ING_IDNA_ET,
	ING_IDNA_ON,
	ING_IDNA_BN,
	ING_IDNA_NSM,
	ING_IDNA_OTHER, /* embeddings and separators */
};

enum ing_idna_joining { ING_IDNA_JOINS_NOT, ING_IDNA_JL, ING_IDNA_JR, ING_IDNA_JD, ING_IDNA_JT };

#define ING_IDNA_BIDI(properties) ((enum ing_idna_bidi)((properties)&15))
#define ING_IDNA_JOINING(properties) ((enum ing_idna_joining)((properties) >> 4 & 7))
#define ING_IDNA_MARK (1u << 7)   /* general category M */
#define ING_IDNA_VIRAMA (1u << 8) /* canonical combining class 9 */

struct ing_idna_range { /* of characters with the same properties, in ascending order */
	uint32_t first, last;
	uint16_t properties;
};

extern const struct ing_idna_range ing_idna_ranges[];
extern const size_t ing_idna_range_count;
