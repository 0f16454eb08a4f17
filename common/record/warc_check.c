/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two digests of one stream: of all of it, and of what follows the head of an HTTP message. Lines of
 * a head may end without a CR, as servers write them.
 */
#include "common/record/warc_check.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/record/warc.h"

struct ing_warc_check {
	struct ing_digester *block, *payload;
	const char *head;
	size_t head_bytes;
	bool in_http_head;
	bool line_is_empty; /* of the HTTP head, so far */
	bool has_payload;
};

/* Whether a field's value begins with word, in any case. */
static bool begins(const struct ing_warc_check *c, const char *field, const char *word)
{
	const char *value;
	size_t bytes;
	return ing_warc_field(c->head, c->head_bytes, field, &value, &bytes) &&
	       bytes >= strlen(word) && strncasecmp(value, word, strlen(word)) == 0;
}

/* Returns the bytes of the HTTP head, its blank line included, that are in data. */
static size_t skip_http_head(struct ing_warc_check *c, const char *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (data[i] == '\n' && c->line_is_empty) {
			c->in_http_head = false;
			return i + 1;
		}
		if (data[i] == '\n')
			c->line_is_empty = true;
		else if (data[i] != '\r')
			c->line_is_empty = false;
	}
	return bytes;
}

static void sha1_of(struct ing_digester *d, char ret[ING_WARC_SHA1B32_BYTES])
{
	struct ing_digests found;
	ing_digester_finish(d, &found);
	ing_base32_encode(found.sha1, sizeof(found.sha1), ret);
}

/* False when the field says another digest than this one. */
static bool agrees(const struct ing_warc_check *c, const char *field, const char *sha1b32)
{
	static const char algorithm[] = "sha1:";
	const char *value;
	size_t bytes;
	if (!begins(c, field, algorithm) ||
		!ing_warc_field(c->head, c->head_bytes, field, &value, &bytes))
		return true;
	value += sizeof(algorithm) - 1;
	bytes -= sizeof(algorithm) - 1;
	return bytes == strlen(sha1b32) && strncasecmp(value, sha1b32, bytes) == 0;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_warc_check *ing_warc_check_new(void)
{
	struct ing_warc_check *c = ing_alloc(sizeof(*c));
	c->block = ing_digester_new(ING_DIGEST_SHA1);
	c->payload = ing_digester_new(ING_DIGEST_SHA1);
	return c;
}

void ing_warc_check_free(struct ing_warc_check *c)
{
	if (c == NULL)
		return;
	ing_digester_free(c->block);
	ing_digester_free(c->payload);
	free(c);
}

void ing_warc_check_begin(struct ing_warc_check *c, const char *head, size_t head_bytes)
{
	struct ing_digests unfinished; /* of a record that did not end */
	ing_digester_finish(c->block, &unfinished);
	ing_digester_finish(c->payload, &unfinished);
	c->head = head;
	c->head_bytes = head_bytes;
	c->in_http_head = begins(c, "Content-Type", "application/http");
	c->line_is_empty = false;
	c->has_payload = !begins(c, "WARC-Type", "revisit");
}

size_t ing_warc_check_add(struct ing_warc_check *c, const void *data, size_t bytes)
{
	size_t skip = c->in_http_head ? skip_http_head(c, data, bytes) : 0;
	ing_digester_add(c->block, data, bytes);
	ing_digester_add(c->payload, (const char *)data + skip, bytes - skip);
	return bytes - skip;
}

const char *ing_warc_check_end(struct ing_warc_check *c, char ret_payload[ING_WARC_SHA1B32_BYTES])
{
	char block[ING_WARC_SHA1B32_BYTES];
	char payload[ING_WARC_SHA1B32_BYTES];
	sha1_of(c->block, block);
	sha1_of(c->payload, payload);
	if (ret_payload != NULL)
		memcpy(ret_payload, payload, sizeof(payload));
	if (!agrees(c, "WARC-Block-Digest", block))
		return "the block has another digest than its WARC-Block-Digest";
	if (c->has_payload && !agrees(c, "WARC-Payload-Digest", payload))
		return "the payload has another digest than its WARC-Payload-Digest";
	return NULL;
}
