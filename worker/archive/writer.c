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
 * Without a folder an item is finished once it has its digests; only reading its body can fail.
 */
#include "worker/archive/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/base32.h"
#include "common/record/warc_file.h"
#include "worker/archive/name.h"
#include "worker/model/exchange.h"

/* A group is bounded, so that the first of many waits for some hundred milliseconds of compression
 * at most. */
#define GROUP_BYTES ((uint64_t)32 << 20)
#define GROUP_ITEMS 512
/* Back-off while the disk cannot be written. */
#define RETRY_FIRST_MS 100
#define RETRY_MAX_MS 5000
/* A name can exist already after the clock was set back or a file was copied; the next serials are
 * free then. */
#define NAME_TRIES 16
#define MAX_INFO_BYTES ((size_t)16 << 10)

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
	struct ing_warc_file *file;
	struct ing_digester *digester; /* where no record is written; else the file has its own */
	char warcinfo_id[ING_WARC_ID_BYTES];
	uint64_t info_end;     /* of the file: behind its warcinfo record */
	uint64_t synced_bytes; /* of the file: on stable storage */
	/* Written since the last sync. */
	uint64_t records, revisits, saved_bytes;
	struct list pending;
	struct list written;
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

static const char *truncated_word(enum ing_truncated t)
{
	switch (t) {
	case ING_TRUNC_LENGTH:
		return "length";
	case ING_TRUNC_TIME:
		return "time";
	case ING_TRUNC_DISCONNECT:
		return "disconnect";
	case ING_TRUNC_UNSPECIFIED:
		return "unspecified";
	case ING_TRUNC_NONE:
		break;
	}
	return NULL;
}

static int write_warcinfo(struct ing_archive_writer *w, struct ing_error *err)
{
	struct ing_buf info;
	ing_buf_init(&info, MAX_INFO_BYTES);
	ing_warc_fields_add(&info, "software", w->conf->software);
	ing_warc_fields_add(&info, "format", "WARC File Format 1.1");
	ing_warc_fields_add(&info, "conformsTo",
		"http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/");
	ing_warc_fields_add(&info, "robots", w->conf->robots);
	ing_warc_fields_add(&info, "hostname", w->conf->hostname);
	ing_warc_fields_add(&info, "http-header-user-agent", w->conf->user_agent);
	ing_warc_make_id(w->warcinfo_id);
	const struct ing_warc_head head = {
		.type = "warcinfo",
		.id = w->warcinfo_id,
		.date = ing_wall_now(),
		.filename = ing_warc_file_name(w->file),
		.content_type = "application/warc-fields",
	};
	const struct ing_warc_block block = {.head = ing_buf_str(&info), .head_bytes = info.len};
	struct ing_warc_place place;
	int rc = ing_warc_file_add(w->file, &head, &block, &place, err);
	ing_buf_done(&info);
	return rc;
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
		rc = ing_warc_file_create(w->file, w->dir_fd, name, err);
		if (rc != -ING_FAIL_LOCKED || tries == NAME_TRIES)
			break;
		rc = 0;
	}
	if (rc != 0)
		return rc;
	rc = write_warcinfo(w, err);
	if (rc != 0) {
		ing_warc_file_discard(w->file);
		return rc;
	}
	w->info_end = ing_warc_file_bytes(w->file);
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

/* Reads pages that have just been read for the digests. */
static bool begins_as_gzip(const struct ing_exchange *ex)
{
	unsigned char magic[3] = {0};
	return body_bytes(ex) >= sizeof(magic) &&
	       pread(ex->body_fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "\x1f\x8b\x08", sizeof(magic)) == 0;
}

static void set_digests(struct ing_archive_item *item, const struct ing_digests *body)
{
	item->digested = true;
	item->body = *body;
	item->gzip = begins_as_gzip(item->exchange);
	ing_base32_encode(body->sha1, sizeof(body->sha1), item->payload_sha1b32);
}

/* All that is done without a folder. */
static int digest_item(
	struct ing_archive_writer *w, struct ing_archive_item *item, struct ing_error *err)
{
	const struct ing_exchange *ex = item->exchange;
	struct ing_digests digests;
	int rc = ing_digester_add_file(w->digester, ex->body_fd, body_bytes(ex), err);
	ing_digester_finish(w->digester, &digests);
	if (rc == 0)
		set_digests(item, &digests);
	return rc;
}

static int write_request(struct ing_archive_writer *w, const struct ing_exchange *ex,
	const char *id, const char *response_id, struct ing_error *err)
{
	const struct ing_warc_head head = {
		.type = "request",
		.id = id,
		.date = ex->started,
		.target_uri = ex->url,
		.ip = ex->ip,
		.concurrent_to = response_id,
		.warcinfo_id = w->warcinfo_id,
		.content_type = "application/http;msgtype=request",
	};
	const struct ing_warc_block block = {
		.head = ex->request.data, .head_bytes = ex->request.len};
	struct ing_warc_place place;
	return ing_warc_file_add(w->file, &head, &block, &place, err);
}

static int write_response(struct ing_archive_writer *w, const struct ing_exchange *ex,
	const char *id, const char *request_id, struct ing_warc_place *ret, struct ing_error *err)
{
	const struct ing_warc_head head = {
		.type = "response",
		.id = id,
		.date = ex->started,
		.target_uri = ex->url,
		.ip = ex->ip,
		.concurrent_to = request_id,
		.warcinfo_id = w->warcinfo_id,
		.truncated = truncated_word(ex->truncated),
		.content_type = "application/http;msgtype=response",
	};
	const struct ing_warc_block block = {
		.head = ex->response.data,
		.head_bytes = ex->response.len,
		.body_fd = ex->body_fd,
		.body_bytes = body_bytes(ex),
		.has_payload = true,
	};
	return ing_warc_file_add(w->file, &head, &block, ret, err);
}

/* RFC 3986 form of an identifier to the bare one. */
static void copy_uuid(const char *id, char ret[ING_UUID_BYTES])
{
	memcpy(ret, id + strlen("<urn:uuid:"), ING_UUID_BYTES - 1);
	ret[ING_UUID_BYTES - 1] = '\0';
}

/* The head of the answer alone, and where its body is. */
static int write_revisit(struct ing_archive_writer *w, const struct ing_exchange *ex,
	const char *id, const char *request_id, const struct ing_archive_original *original,
	struct ing_warc_place *ret, struct ing_error *err)
{
	char refers_to[ING_WARC_ID_BYTES];
	char sha1b32[33];
	snprintf(refers_to, sizeof(refers_to), "<urn:uuid:%s>", original->record_id);
	ing_base32_encode(original->payload_sha1, sizeof(original->payload_sha1), sha1b32);
	const struct ing_warc_head head = {
		.type = "revisit",
		.id = id,
		.date = ex->started,
		.target_uri = ex->url,
		.ip = ex->ip,
		.concurrent_to = request_id,
		.warcinfo_id = w->warcinfo_id,
		.profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
		.refers_to = refers_to,
		.refers_to_target_uri = original->url,
		.refers_to_date = original->record_date,
		.truncated = "length",
		.content_type = "application/http;msgtype=response",
		.payload_sha1b32 = sha1b32,
	};
	const struct ing_warc_block block = {
		.head = ex->response.data, .head_bytes = ex->response.len};
	return ing_warc_file_add(w->file, &head, &block, ret, err);
}

/* Does one of the item's originals have its payload? Reads the body only if there is one to compare
 * it with. *ret_digests is set with it. */
static int find_original(struct ing_archive_writer *w, const struct ing_archive_item *item,
	const struct ing_archive_original **ret, struct ing_digests *ret_digests,
	struct ing_error *err)
{
	const struct ing_exchange *ex = item->exchange;
	*ret = NULL;
	if (item->original_count == 0)
		return 0;
	int rc = ing_digester_add_file(w->digester, ex->body_fd, body_bytes(ex), err);
	ing_digester_finish(w->digester, ret_digests);
	for (size_t i = 0; rc == 0 && *ret == NULL && i < item->original_count; i++) {
		const struct ing_archive_original *original = item->originals[i];
		if (memcmp(original->payload_sha1, ret_digests->sha1,
			    sizeof(original->payload_sha1)) == 0)
			*ret = original;
	}
	return rc;
}

/* A response record, or a revisit record that refers to an original. */
static int write_answer(struct ing_archive_writer *w, struct ing_archive_item *item, const char *id,
	const char *request_id, struct ing_warc_place *ret, struct ing_error *err)
{
	const struct ing_exchange *ex = item->exchange;
	struct ing_digests digests;
	int rc = find_original(w, item, &item->refers_to, &digests, err);
	if (rc != 0 || item->refers_to == NULL)
		return rc != 0 ? rc : write_response(w, ex, id, request_id, ret, err);
	rc = write_revisit(w, ex, id, request_id, item->refers_to, ret, err);
	ret->payload = digests;
	return rc;
}

/* Both records or none. */
static int write_exchange(
	struct ing_archive_writer *w, struct ing_archive_item *item, struct ing_error *err)
{
	const struct ing_exchange *ex = item->exchange;
	uint64_t begin = ing_warc_file_bytes(w->file);
	char request_id[ING_WARC_ID_BYTES] = "";
	char response_id[ING_WARC_ID_BYTES];
	struct ing_warc_place place;
	int rc = 0;
	ing_warc_make_id(response_id);
	if (ex->request.len > 0) {
		ing_warc_make_id(request_id);
		rc = write_request(w, ex, request_id, response_id, err);
	}
	if (rc == 0)
		rc = write_answer(w, item, response_id, request_id, &place, err);
	if (rc != 0) {
		struct ing_error second = {0};
		if (!ing_warc_file_is_broken(w->file) &&
			ing_warc_file_cut(w->file, begin, &second) != 0)
			ing_log(ING_LOG_ERROR, "archive: %s", second.msg);
		return rc;
	}
	memcpy(item->warc_name, ing_warc_file_name(w->file),
		strlen(ing_warc_file_name(w->file)) + 1);
	copy_uuid(response_id, item->record_id);
	set_digests(item, &place.payload);
	item->offset = place.offset;
	item->csize = place.csize;
	w->records += ex->request.len > 0 ? 2 : 1;
	w->revisits += item->refers_to != NULL;
	w->saved_bytes += item->refers_to != NULL ? body_bytes(ex) : 0;
	return 0;
}

/* 0: in the file, or nothing to put there. */
static int write_item(
	struct ing_archive_writer *w, struct ing_archive_item *item, struct ing_error *err)
{
	clear_results(item);
	if (!item->exchange->answered)
		return 0;
	int rc = 0;
	if (w->dir_fd >= 0 && !ing_warc_file_is_open(w->file))
		rc = create_file(w, err);
	if (rc != 0)
		return rc;
	rc = w->dir_fd >= 0 ? write_exchange(w, item, err) : digest_item(w, item, err);
	if (rc != -ING_FAIL_TRUNCATED && rc != -ING_FAIL_TOO_BIG)
		return rc;
	/* The body cannot be read back: trying again would not help it and would stop all
	 * others. */
	ing_log(ING_LOG_ERROR, "archive: %s: not archived: %s", item->exchange->url, err->msg);
	if (ing_warc_file_is_broken(w->file))
		return -ING_FAIL_SYSTEM;
	item->lost = true;
	ing_error_clear(err);
	return 0;
}

static bool group_is_full(const struct ing_archive_writer *w, uint64_t begin)
{
	if (w->written.count >= GROUP_ITEMS || (w->dir_fd < 0 && w->written.count > 0))
		return true;
	if (!ing_warc_file_is_open(w->file))
		return false;
	uint64_t bytes = ing_warc_file_bytes(w->file);
	return bytes >= w->conf->settings.max_bytes || bytes - ING_MIN(begin, bytes) >= GROUP_BYTES;
}

/* Move items from pending to written until the group is full or a write fails. */
static int write_group(struct ing_archive_writer *w, struct ing_error *err)
{
	uint64_t begin = ing_warc_file_is_open(w->file) ? ing_warc_file_bytes(w->file) : 0;
	while (w->pending.head != NULL && !group_is_full(w, begin)) {
		int rc = write_item(w, to_item(w->pending.head), err);
		if (rc != 0)
			return rc;
		list_push(&w->written, list_pop(&w->pending));
	}
	return 0;
}

/* Nothing more can be written to the file. What is synced stays, under its final name if
 * possible. */
static void leave_broken_file(struct ing_archive_writer *w)
{
	struct ing_error err = {0};
	if (ing_warc_file_retire(w->file, w->synced_bytes, &err) != 0)
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
	if (!ing_warc_file_is_open(w->file) || ing_warc_file_bytes(w->file) == w->synced_bytes)
		return 0;
	int rc = ing_warc_file_sync(w->file, err);
	if (rc != 0)
		return rc;
	uint64_t bytes = ing_warc_file_bytes(w->file);
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
	if (!ing_warc_file_is_open(w->file))
		return;
	if (ing_warc_file_bytes(w->file) == w->info_end)
		ing_warc_file_discard(w->file);
	else if (ing_warc_file_finish(w->file, &err) != 0)
		ing_log(ING_LOG_ERROR, "archive: %s", err.msg);
}

static void set_blocked(struct ing_archive_writer *w, const struct ing_error *err)
{
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
	if (ing_warc_file_is_open(w->file)) {
		if (ing_warc_file_is_broken(w->file))
			leave_broken_file(w);
		else if (ing_warc_file_bytes(w->file) >= w->conf->settings.max_bytes)
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

/* -------------------------------------------------------------------------------------------- */

struct ing_archive_writer *ing_archive_writer_new(
	const struct ing_archive_conf *conf, int dir_fd, struct ing_archive_link *link)
{
	struct ing_archive_writer *w = ing_alloc(sizeof(*w));
	w->conf = conf;
	w->link = link;
	w->dir_fd = dir_fd;
	w->file = ing_warc_file_new();
	w->digester = ing_digester_new(ING_DIGEST_ALL);
	list_init(&w->pending);
	list_init(&w->written);
	return w;
}

void ing_archive_writer_free(struct ing_archive_writer *w)
{
	if (w == NULL)
		return;
	ing_warc_file_free(w->file);
	ing_digester_free(w->digester);
	if (w->dir_fd >= 0)
		close(w->dir_fd);
	free(w);
}

void ing_archive_writer_run(struct ing_archive_writer *w)
{
	for (;;) {
		list_append_nodes(&w->pending, ing_queue_wait_all(&w->link->todo, -1));
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
