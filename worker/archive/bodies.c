/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bodies come by pread(2), as everywhere: one that cannot be read is left to whoever writes its record,
 * who reads it again and reports what is wrong.
 */
#include "worker/archive/bodies.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/data/digest_many.h"
#include "worker/archive/archive.h"
#include "worker/model/exchange.h"

/* So that a body begins where a cache line does. */
#define ALIGNMENT ((size_t)64)

enum { ANSWER_PARTS = 2 };

struct ing_archive_bodies {
	size_t count;
	struct ing_archive_body bodies[ING_ARCHIVE_BODIES];
	unsigned char *buffer; /* NULL: not needed yet */
	size_t used;
	/* while they are digested */
	struct iovec parts[ING_ARCHIVE_BODIES][ANSWER_PARTS];
	struct ing_digest_job jobs[2 * ING_ARCHIVE_BODIES];
};

static bool read_whole(int fd, unsigned char *to, size_t bytes)
{
	for (size_t have = 0; have < bytes;) {
		ssize_t n = pread(fd, to + have, bytes - have, (off_t)have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static size_t body_bytes(const struct ing_archive_item *item)
{
	const struct ing_exchange *ex = item->exchange;
	return ex->answered && ex->body_fd >= 0 ? ex->body_bytes : 0;
}

static void read_body(struct ing_archive_bodies *b, struct ing_archive_body *body)
{
	size_t bytes = body_bytes(body->item);
	if (!body->item->exchange->answered || bytes > ING_ARCHIVE_BODIES_BYTES)
		return;
	if (bytes > 0 && !read_whole(body->item->exchange->body_fd, b->buffer + b->used, bytes))
		return;
	body->ready = true;
	body->bytes = bytes;
	body->data = bytes > 0 ? b->buffer + b->used : NULL;
	b->used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Payloads first, then the answers. Returns how many jobs there are. */
static size_t make_jobs(struct ing_archive_bodies *b, bool blocks)
{
	size_t n = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct ing_archive_body *body = &b->bodies[i];
		if (!body->ready)
			continue;
		const struct ing_buf *head = &body->item->exchange->response;
		b->parts[i][0] = (struct iovec){.iov_base = head->data, .iov_len = head->len};
		b->parts[i][1] = (struct iovec){.iov_base = body->data, .iov_len = body->bytes};
		b->jobs[n++] = (struct ing_digest_job){
			.which = ING_DIGEST_ALL, .parts = b->parts[i] + 1, .count = 1};
		if (blocks)
			b->jobs[n++] = (struct ing_digest_job){.which = ING_DIGEST_SHA1,
				.parts = b->parts[i],
				.count = ANSWER_PARTS};
	}
	return n;
}

static void digest_all(struct ing_archive_bodies *b, bool blocks)
{
	size_t at = 0;
	ing_digest_many(b->jobs, make_jobs(b, blocks));
	for (size_t i = 0; i < b->count; i++) {
		struct ing_archive_body *body = &b->bodies[i];
		if (!body->ready)
			continue;
		body->digests.payload = b->jobs[at++].ret;
		if (blocks)
			body->digests.block = b->jobs[at++].ret;
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_archive_bodies *ing_archive_bodies_new(void)
{
	return ing_alloc(sizeof(struct ing_archive_bodies));
}

void ing_archive_bodies_free(struct ing_archive_bodies *b)
{
	if (b == NULL)
		return;
	free(b->buffer);
	free(b);
}

void ing_archive_bodies_load(struct ing_archive_bodies *b, struct ing_node *first, bool blocks)
{
	if (b->buffer == NULL)
		b->buffer = ing_alloc(ING_ARCHIVE_BODIES_BYTES);
	b->count = b->used = 0;
	for (struct ing_node *node = first; node != NULL && b->count < ING_ARCHIVE_BODIES;
		node = node->next) {
		struct ing_archive_item *item = ING_CONTAINER(node, struct ing_archive_item, node);
		size_t bytes = body_bytes(item);
		if (bytes <= ING_ARCHIVE_BODIES_BYTES && bytes > ING_ARCHIVE_BODIES_BYTES - b->used)
			break;
		struct ing_archive_body *body = &b->bodies[b->count++];
		*body = (struct ing_archive_body){.item = item};
		read_body(b, body);
	}
	digest_all(b, blocks);
}

const struct ing_archive_body *ing_archive_bodies_find(
	const struct ing_archive_bodies *b, const struct ing_archive_item *item)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->bodies[i].item == item)
			return &b->bodies[i];
	return NULL;
}

void ing_archive_bodies_drop(struct ing_archive_bodies *b, const struct ing_archive_item *item)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->bodies[i].item == item)
			b->bodies[i].item = NULL;
}
