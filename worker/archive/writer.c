/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Items move through two lists: `pending` (not in the file) and `written` (in the file, not yet on
 * stable storage). A group is written, then synced once, then finished together. Whatever fails, an
 * item is in one of the lists or finished.
 *
 * A write fails: the file is cut back to the end of the last whole exchange; those before it are
 * synced and finished, the others wait for the next try. If the file cannot be cut, it is closed:
 * nothing goes behind a torn record.
 *
 * A sync fails: what of the unsynced part is on disk is unknown, and a second fdatasync would
 * succeed although the kernel has dropped the pages. The file is cut to its synced length and
 * closed, and the group returns to pending, for another file.
 *
 * Bodies are read and digested a buffer full at a time (bodies.h), before the first of their records is
 * written; one that is too large for it, or cannot be read, has no digests then, and warc_file makes them
 * or says what is wrong.
 *
 * Without a folder items are finished once they have their digests; only reading their bodies can fail.
 */
#include "worker/archive/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/base32.h"
#include "common/record/warc_file.h"
#include "worker/archive/bodies.h"
#include "worker/archive/name.h"
#include "worker/archive/records.h"
#include "worker/model/exchange.h"

/* A group is bounded, so that the first of many waits for some hundred milliseconds of compression
 * at most. */
#define GROUP_BYTES ((uint64_t)32 << 20)
#define GROUP_ITEMS 512
/* How long an item waits for others to be digested with, and how many are enough. */
#define GATHER_MS 20
#define GATHER_ITEMS 16
/* Back-off while the disk cannot be written. */
#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS 5000
/* A name can exist already after the clock was set back or a file was copied; the next serials are
 * free then. */
#define NAME_TRIES 16

struct list {
	struct ing_node *head;
	struct ing_node **tail;
	size_t count;
};

struct ing_archive_writer {
	const struct ing_archive_conf *conf;
	struct ing_archive_link *link;
	int dir_fd; /* -1: nothing is written */
	unsigned serial;
	struct ing_archive_file to;
	struct ing_archive_bodies *bodies;
	struct ing_digester *digester; /* for bodies that are not among them */
	uint64_t info_end;             /* of the file: behind its warcinfo record */
	uint64_t synced_bytes;         /* of the file: on stable storage */
	/* Written since the last sync. */
	uint64_t records, revisits, saved_bytes;
	struct list pending;
	struct list written;
	uint64_t busy_until; /* milliseconds: another item before then, and more are gathered */
	bool blocked;
	unsigned retry_ms;
};

static void list_init(struct list *l)
{
	*l = (struct list){0};
	l->tail = &l->head;
}

static void list_push(struct list *l, struct ing_node *node)
{
	node->next = NULL;
	*l->tail = node;
	l->tail = &node->next;
	l->count++;
}

/* The list must not be empty. */
static struct ing_node *list_pop(struct list *l)
{
	struct ing_node *node = l->head;
	ing_must(node != NULL);
	l->head = node->next;
	if (l->head == NULL)
		l->tail = &l->head;
	l->count--;
	return node;
}

/* Put all of `from` in front of `to`. */
static void list_prepend(struct list *to, struct list *from)
{
	if (from->head == NULL)
		return;
	*from->tail = to->head;
	if (to->head == NULL)
		to->tail = from->tail;
	to->head = from->head;
	to->count += from->count;
	list_init(from);
}

static void list_append_nodes(struct list *l, struct ing_node *nodes)
{
	while (nodes != NULL) {
		struct ing_node *next = nodes->next;
		list_push(l, nodes);
		nodes = next;
	}
}

static struct ing_archive_item *to_item(struct ing_node *node)
{
	return ING_CONTAINER(node, struct ing_archive_item, node);
}

static void count(atomic_uint_least64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static void record_cpu(struct ing_archive_writer *w)
{
	atomic_store_explicit(&w->link->cpu_ns, ing_thread_cpu_ns(), memory_order_relaxed);
}

/* The folder may have been replaced (a disk unmounted and mounted again): open it by name each
 * time. */
static int open_dir(struct ing_archive_writer *w, struct ing_error *err)
{
	int fd = open(w->conf->settings.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s: cannot open", w->conf->settings.dir);
	close(w->dir_fd);
	w->dir_fd = fd;
	return 0;
}

static int create_file(struct ing_archive_writer *w, struct ing_error *err)
{
	int rc = open_dir(w, err);
	for (int tries = 0; rc == 0; tries++) {
		char name[ING_WARC_NAME_BYTES];
		ing_warc_name_make(w->conf->settings.prefix, w->conf->hostname, ing_wall_now(),
			w->serial++, name);
		ing_error_clear(err);
		rc = ing_warc_file_create(w->to.file, w->dir_fd, name, err);
		if (rc != -ING_FAIL_LOCKED || tries == NAME_TRIES)
			break;
		rc = 0;
	}
	if (rc != 0)
		return rc;
	rc = ing_archive_write_warcinfo(&w->to, w->conf, err);
	if (rc != 0) {
		ing_warc_file_discard(w->to.file);
		return rc;
	}
	w->info_end = ing_warc_file_bytes(w->to.file);
	w->synced_bytes = 0;
	w->records = 1;
	w->revisits = w->saved_bytes = 0;
	count(&w->link->files, 1);
	return 0;
}

static void clear_results(struct ing_archive_item *item)
{
	item->warc_name[0] = '\0';
	item->record_id[0] = '\0';
	item->refers_to = NULL;
	item->payload_sha1b32[0] = '\0';
	item->digested = false;
	item->lost = false;
	item->gzip = false;
	item->offset = 0;
	item->csize = 0;
}

static uint64_t body_bytes(const struct ing_exchange *ex)
{
	return ex->body_fd >= 0 ? ex->body_bytes : 0;
}

static const unsigned char gzip_magic[] = {0x1f, 0x8b, 0x08};

/* Reads pages that have just been read for the digests. */
static bool begins_as_gzip(const struct ing_exchange *ex, const struct ing_archive_body *body)
{
	unsigned char front[sizeof(gzip_magic)] = {0};
	if (body_bytes(ex) < sizeof(front))
		return false;
	if (body->ready)
		memcpy(front, body->data, sizeof(front));
	else if (pread(ex->body_fd, front, sizeof(front), 0) != (ssize_t)sizeof(front))
		return false;
	return memcmp(front, gzip_magic, sizeof(front)) == 0;
}

static void set_digests(struct ing_archive_item *item, const struct ing_archive_body *body,
	const struct ing_digests *payload)
{
	item->digested = true;
	item->body = *payload;
	item->gzip = begins_as_gzip(item->exchange, body);
	ing_base32_encode(payload->sha1, sizeof(payload->sha1), item->payload_sha1b32);
}

static int digest_payload(struct ing_archive_writer *w, const struct ing_exchange *ex,
	const struct ing_archive_body *body, struct ing_digests *ret, struct ing_error *err)
{
	if (body->ready) {
		*ret = body->digests.payload;
		return 0;
	}
	int rc = ing_digester_add_file(w->digester, ex->body_fd, body_bytes(ex), err);
	ing_digester_finish(w->digester, ret);
	return rc;
}

/* All that is done without a folder. */
static int digest_item(struct ing_archive_writer *w, struct ing_archive_item *item,
	const struct ing_archive_body *body, struct ing_error *err)
{
	struct ing_digests digests;
	int rc = digest_payload(w, item->exchange, body, &digests, err);
	if (rc == 0)
		set_digests(item, body, &digests);
	return rc;
}

/* RFC 3986 form of an identifier to the bare one. */
static void copy_uuid(const char *id, char ret[ING_UUID_BYTES])
{
	memcpy(ret, id + strlen("<urn:uuid:"), ING_UUID_BYTES - 1);
	ret[ING_UUID_BYTES - 1] = '\0';
}

/* Does one of the item's originals have its payload? Digests the body only if there is one to compare
 * it with. *ret_digests is set with it. */
static int find_original(struct ing_archive_writer *w, const struct ing_archive_body *body,
	const struct ing_archive_original **ret, struct ing_digests *ret_digests,
	struct ing_error *err)
{
	const struct ing_archive_item *item = body->item;
	*ret = NULL;
	if (item->original_count == 0)
		return 0;
	int rc = digest_payload(w, item->exchange, body, ret_digests, err);
	for (size_t i = 0; rc == 0 && *ret == NULL && i < item->original_count; i++) {
		const struct ing_archive_original *original = item->originals[i];
		if (memcmp(original->payload_sha1, ret_digests->sha1,
			    sizeof(original->payload_sha1)) == 0)
			*ret = original;
	}
	return rc;
}

/* A response record, or a revisit record that refers to an original. */
static int write_answer(struct ing_archive_writer *w, struct ing_archive_item *item,
	const struct ing_archive_body *body, const char *id, const char *request_id,
	struct ing_warc_place *ret, struct ing_error *err)
{
	struct ing_digests digests;
	int rc = find_original(w, body, &item->refers_to, &digests, err);
	if (rc != 0 || item->refers_to == NULL)
		return rc != 0 ? rc
			       : ing_archive_write_response(&w->to, body, id, request_id, ret, err);
	rc = ing_archive_write_revisit(
		&w->to, item->exchange, id, request_id, item->refers_to, ret, err);
	ret->payload = digests;
	return rc;
}

/* Both records or none. */
static int write_exchange(struct ing_archive_writer *w, struct ing_archive_item *item,
	const struct ing_archive_body *body, struct ing_error *err)
{
	const struct ing_exchange *ex = item->exchange;
	uint64_t begin = ing_warc_file_bytes(w->to.file);
	char request_id[ING_WARC_ID_BYTES] = "";
	char response_id[ING_WARC_ID_BYTES];
	struct ing_warc_place place;
	int rc = 0;
	ing_warc_make_id(response_id);
	if (ex->request.len > 0) {
		ing_warc_make_id(request_id);
		rc = ing_archive_write_request(&w->to, ex, request_id, response_id, err);
	}
	if (rc == 0)
		rc = write_answer(w, item, body, response_id, request_id, &place, err);
	if (rc != 0) {
		struct ing_error second = {0};
		if (!ing_warc_file_is_broken(w->to.file) &&
			ing_warc_file_cut(w->to.file, begin, &second) != 0)
			ing_log(ING_LOG_ERROR, "archive: %s", second.msg);
		return rc;
	}
	memcpy(item->warc_name, ing_warc_file_name(w->to.file),
		strlen(ing_warc_file_name(w->to.file)) + 1);
	copy_uuid(response_id, item->record_id);
	set_digests(item, body, &place.payload);
	item->offset = place.offset;
	item->csize = place.csize;
	w->records += ex->request.len > 0 ? 2 : 1;
	w->revisits += item->refers_to != NULL;
	w->saved_bytes += item->refers_to != NULL ? body_bytes(ex) : 0;
	return 0;
}

/* 0: in the file, or nothing to put there. */
static int write_item(struct ing_archive_writer *w, struct ing_archive_item *item,
	const struct ing_archive_body *body, struct ing_error *err)
{
	clear_results(item);
	if (!item->exchange->answered)
		return 0;
	int rc = 0;
	if (w->dir_fd >= 0 && !ing_warc_file_is_open(w->to.file))
		rc = create_file(w, err);
	if (rc != 0)
		return rc;
	rc = w->dir_fd >= 0 ? write_exchange(w, item, body, err) : digest_item(w, item, body, err);
	if (rc != -ING_FAIL_TRUNCATED && rc != -ING_FAIL_TOO_BIG)
		return rc;
	/* The body cannot be read back: trying again would not help it and would stop all
	 * others. */
	const struct ing_log_field fields[] = {ING_LOG_FIELD_TEXT("stage", "archive"),
		ING_LOG_FIELD_TEXT("url", item->exchange->url),
		ING_LOG_FIELD_TEXT("error", err->msg)};
	ing_log_fields(ING_LOG_ERROR, fields, ING_ARRAY_LEN(fields), "an answer is not archived");
	if (ing_warc_file_is_broken(w->to.file))
		return -ING_FAIL_SYSTEM;
	item->lost = true;
	ing_error_clear(err);
	return 0;
}

static bool group_is_full(const struct ing_archive_writer *w, uint64_t begin)
{
	if (w->written.count >= GROUP_ITEMS)
		return true;
	if (!ing_warc_file_is_open(w->to.file))
		return false;
	uint64_t bytes = ing_warc_file_bytes(w->to.file);
	return bytes >= w->conf->settings.max_bytes || bytes - ING_MIN(begin, bytes) >= GROUP_BYTES;
}

/* Move items from pending to written until the group is full or a write fails. The bodies that were
 * loaded stay for the next try. */
static int write_group(struct ing_archive_writer *w, struct ing_error *err)
{
	uint64_t begin = ing_warc_file_is_open(w->to.file) ? ing_warc_file_bytes(w->to.file) : 0;
	while (w->pending.head != NULL && !group_is_full(w, begin)) {
		struct ing_archive_item *item = to_item(w->pending.head);
		const struct ing_archive_body *body = ing_archive_bodies_find(w->bodies, item);
		/* Nothing is gained by keeping those that have all they come for. */
		if (body == NULL && w->dir_fd < 0 && w->written.count > 0)
			break;
		if (body == NULL) {
			ing_archive_bodies_load(w->bodies, w->pending.head, w->dir_fd >= 0);
			body = ing_archive_bodies_find(w->bodies, item);
		}
		int rc = write_item(w, item, body, err);
		if (rc != 0)
			return rc;
		ing_archive_bodies_drop(w->bodies, item);
		list_push(&w->written, list_pop(&w->pending));
	}
	return 0;
}

/* Nothing more can be written to the file. What is synced stays, under its final name if
 * possible. */
static void leave_broken_file(struct ing_archive_writer *w)
{
	struct ing_error err = {0};
	if (ing_warc_file_retire(w->to.file, w->synced_bytes, &err) != 0)
		ing_log(ING_LOG_ERROR, "archive: %s; the next start will recover it", err.msg);
}

static void finish_items(struct ing_archive_writer *w)
{
	bool wake = false;
	while (w->written.head != NULL)
		wake |= ing_queue_push(&w->link->finished, list_pop(&w->written));
	if (wake)
		w->link->wake(w->link->ctx);
}

static int sync_group(struct ing_archive_writer *w, struct ing_error *err)
{
	if (!ing_warc_file_is_open(w->to.file) ||
		ing_warc_file_bytes(w->to.file) == w->synced_bytes)
		return 0;
	uint64_t begun_us = ing_now_us();
	int rc = ing_warc_file_sync(w->to.file, err);
	if (rc != 0)
		return rc;
	ing_histogram_add_shared(w->link->sync_us, ING_METRIC_DURATION, ing_now_us() - begun_us);
	uint64_t bytes = ing_warc_file_bytes(w->to.file);
	count(&w->link->syncs, 1);
	count(&w->link->records, w->records);
	count(&w->link->revisits, w->revisits);
	count(&w->link->saved_bytes, w->saved_bytes);
	count(&w->link->bytes, bytes - w->synced_bytes);
	w->records = w->revisits = w->saved_bytes = 0;
	w->synced_bytes = bytes;
	return 0;
}

/* Only when everything in it is synced. A file of nothing but its warcinfo is not kept. */
static void close_file(struct ing_archive_writer *w)
{
	struct ing_error err = {0};
	if (!ing_warc_file_is_open(w->to.file))
		return;
	if (ing_warc_file_bytes(w->to.file) == w->info_end)
		ing_warc_file_discard(w->to.file);
	else if (ing_warc_file_finish(w->to.file, &err) != 0)
		ing_log(ING_LOG_ERROR, "archive: %s", err.msg);
}

static void set_blocked(struct ing_archive_writer *w, const struct ing_error *err)
{
	ing_note_set(&w->link->trouble, err->msg);
	if (w->blocked)
		return;
	w->blocked = true;
	w->retry_ms = RETRY_FIRST_MS;
	atomic_store(&w->link->blocked, true);
	ing_log(ING_LOG_ERROR, "archive: %s: %s; %zu exchanges waiting, nothing is lost, retrying",
		w->conf->settings.dir, err->msg, w->pending.count);
}

static void clear_blocked(struct ing_archive_writer *w)
{
	if (!w->blocked)
		return;
	w->blocked = false;
	atomic_store(&w->link->blocked, false);
	ing_log(ING_LOG_INFO, "archive: %s: writing again", w->conf->settings.dir);
}

/* One group: write, sync, finish. Returns false when something could not be written (it is
 * pending again). */
static bool work_group(struct ing_archive_writer *w)
{
	struct ing_error err = {0};
	struct ing_error sync_err = {0};
	int rc = write_group(w, &err);
	int sync_rc = sync_group(w, &sync_err);
	if (sync_rc == 0) {
		finish_items(w);
	} else {
		list_prepend(&w->pending, &w->written);
		err = sync_err;
		rc = sync_rc;
	}
	if (ing_warc_file_is_open(w->to.file)) {
		if (ing_warc_file_is_broken(w->to.file))
			leave_broken_file(w);
		else if (ing_warc_file_bytes(w->to.file) >= w->conf->settings.max_bytes)
			close_file(w);
	}
	if (rc == 0)
		clear_blocked(w);
	else
		set_blocked(w, &err);
	record_cpu(w);
	return rc == 0;
}

/* Wait before the next try; new items do not shorten it, the end does. */
static void back_off(struct ing_archive_writer *w)
{
	uint64_t until = ing_now_ms() + w->retry_ms;
	w->retry_ms = ING_MIN(w->retry_ms * 2, (unsigned)RETRY_MAX_MS);
	for (uint64_t now = ing_now_ms(); now < until && !ing_queue_closed(&w->link->todo);
		now = ing_now_ms())
		list_append_nodes(
			&w->pending, ing_queue_wait_all(&w->link->todo, (int)(until - now)));
}

/* When items come close together, wait for others to be digested and synced with. One that comes by
 * itself, or the last that is expected, does not wait. */
static void gather(struct ing_archive_writer *w)
{
	bool busy = w->pending.count > 1 || ing_now_ms() < w->busy_until;
	if (busy && w->pending.count < GATHER_ITEMS)
		list_append_nodes(&w->pending, ing_queue_gather(&w->link->todo,
						       GATHER_ITEMS - w->pending.count, GATHER_MS));
	w->busy_until = ing_now_ms() + GATHER_MS;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_archive_writer *ing_archive_writer_new(
	const struct ing_archive_conf *conf, int dir_fd, struct ing_archive_link *link)
{
	struct ing_archive_writer *w = ing_alloc(sizeof(*w));
	w->conf = conf;
	w->link = link;
	w->dir_fd = dir_fd;
	w->to.file = ing_warc_file_new();
	w->bodies = ing_archive_bodies_new();
	w->digester = ing_digester_new(ING_DIGEST_ALL);
	list_init(&w->pending);
	list_init(&w->written);
	return w;
}

void ing_archive_writer_free(struct ing_archive_writer *w)
{
	if (w == NULL)
		return;
	ing_warc_file_free(w->to.file);
	ing_archive_bodies_free(w->bodies);
	ing_digester_free(w->digester);
	if (w->dir_fd >= 0)
		close(w->dir_fd);
	free(w);
}

void ing_archive_writer_run(struct ing_archive_writer *w)
{
	for (;;) {
		list_append_nodes(&w->pending, ing_queue_wait_all(&w->link->todo, -1));
		gather(w);
		bool closed = ing_queue_closed(&w->link->todo);
		while (w->pending.head != NULL && (work_group(w) || !closed)) {
			if (w->blocked)
				back_off(w);
			closed = ing_queue_closed(&w->link->todo);
		}
		if (closed)
			break;
	}
	if (w->pending.head != NULL)
		ing_log(ING_LOG_ERROR,
			"archive: stopped while the disk cannot be written: %zu exchanges are not archived",
			w->pending.count);
	close_file(w);
	record_cpu(w);
}
