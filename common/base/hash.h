/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hash.h - uthash with a keyed hash: include this in place of <uthash.h>.
 *
 * The keys of most tables come from outside (host names, URLs), and uthash's own hash has no
 * key: names that are chosen to share a bucket make each look-up walk through all of them, and keep
 * the table from growing. Collisions of SipHash-2-4 with a random key cannot be chosen.
 * Any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 (Aumasson, Bernstein 2012) of the bytes under a 128-bit key. */
uint64_t ing_siphash(const uint64_t key[2], const void *data, size_t bytes);
/* The same under a random key, drawn when it is first needed. */
uint32_t ing_hash(const void *data, size_t bytes);

#define HASH_FUNCTION(keyptr, keylen, hashv) ((hashv) = ing_hash((keyptr), (keylen)))
#include <uthash.h>
