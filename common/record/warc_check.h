/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_check.h - whether the digests in a record's header are those of its bytes.
 *
 * Fed with the header and the block in pieces of any size; memory does not grow with them. Judged
 * are WARC-Block-Digest and WARC-Payload-Digest in the form "sha1:BASE32"; others are not looked at.
 * The payload of an HTTP message is what follows its head, of a revisit it is elsewhere and not
 * judged, of any other record it is the block. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

#define ING_WARC_SHA1B32_BYTES 33

struct ing_warc_check;

struct ing_warc_check *ing_warc_check_new(void);
void ing_warc_check_free(struct ing_warc_check *c); /* NULL is fine */
/* The next record; its header is borrowed until the end. */
void ing_warc_check_begin(struct ing_warc_check *c, const char *head, size_t head_bytes);
/* Returns how many of these bytes of the block belong to the payload: they are the last ones. */
size_t ing_warc_check_add(struct ing_warc_check *c, const void *data, size_t bytes);
/* Static words about what is wrong, or NULL. ret_payload (NULL is fine): the digest of the payload
 * as it is. */
const char *ing_warc_check_end(struct ing_warc_check *c, char ret_payload[ING_WARC_SHA1B32_BYTES]);
