/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `idle` lists what may be forgotten, the one that was asked for longest ago first; `kept` the requests whose answer is
 * here, likewise by when it came.
 */
#include "worker/serve/asks.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "common/net/http_server.h"

/* The worker answers within intake's and the host's patience; who asks after that means it anew. */
#define SAME_MESSAGE_MS (10 * 60 * 1000)

struct ing_ask {
	UT_hash_handle hh;
	char key[ING_ASK_KEY_BYTES + 1];
	uint64_t digest; /* of the last message */
	uint64_t message, produced_ms;
	unsigned in_flight; /* messages without a report */
	uint64_t accepted;  /* the last message that was acknowledged; 0: none */
	uint64_t answered;  /* the last message when a result came; 0: none has */
	struct ing_blob *answer;
	struct ing_wait *waits;
	bool is_idle;
	struct ing_ask *idle_prev, *idle_next, *kept_prev, *kept_next;
};

struct ing_ask_delivery {
	struct ing_ask *ask;
	uint64_t message;
};

struct ing_asks {
	size_t max_requests, max_bytes, kept_bytes, alive_bytes;
	struct ing_ask *asks, *idle, *kept;
	uint64_t results, not_kept;
};

static struct ing_ask *find(const struct ing_asks *a, const char *key)
{
	struct ing_ask *ask;
	HASH_FIND(hh, a->asks, key, ING_ASK_KEY_BYTES, ask);
	return ask;
}

static uint64_t digest_of(const char *message, size_t bytes)
{
	struct ing_digests d;
	uint64_t ret;
	ing_digest(ING_DIGEST_SHA1, message, bytes, &d);
	memcpy(&ret, d.sha1, sizeof(ret));
	return ret;
}

static void drop_answer(struct ing_asks *a, struct ing_ask *ask)
{
	if (ask->answer == NULL)
		return;
	a->kept_bytes -= ask->answer->bytes;
	DL_DELETE2(a->kept, ask, kept_prev, kept_next);
	struct ing_blob *b = ING_TAKE(ask->answer);
	ing_blob_unref(b);
}

static void forget(struct ing_asks *a, struct ing_ask *ask)
{
	drop_answer(a, ask);
	if (ask->is_idle)
		DL_DELETE2(a->idle, ask, idle_prev, idle_next);
	HASH_DEL(a->asks, ask);
	free(ask);
}

/* After whatever may have changed whether somebody needs it. */
static void settle(struct ing_asks *a, struct ing_ask *ask)
{
	bool idle = ask->waits == NULL && ask->in_flight == 0;
	if (ask->is_idle)
		DL_DELETE2(a->idle, ask, idle_prev, idle_next);
	ask->is_idle = idle;
	if (!idle)
		return;
	DL_APPEND2(a->idle, ask, idle_prev, idle_next);
	if (ask->accepted == 0 && ask->answered == 0)
		forget(a, ask); /* nothing came of it */
	while (a->idle != NULL && HASH_COUNT(a->asks) > a->max_requests)
		forget(a, a->idle);
}

static void on_blob_freed(void *ctx, struct ing_blob *b)
{
	struct ing_asks *a = ctx;
	a->alive_bytes -= b->bytes;
}

static struct ing_blob *make_answer(const char *key, const char *value, size_t value_bytes)
{
	struct ing_buf out;
	ing_buf_init(&out, value_bytes + 256);
	ing_buf_printf(&out,
		"{\"id\":\"%s\",\"state\":\"done\",\"location\":\"/ingest/%s\",\"from\":\"topic\","
		"\"result\":",
		key, key);
	ing_buf_add(&out, value, value_bytes);
	ing_buf_add_char(&out, '}');
	ing_must(!out.failed);
	size_t bytes = out.len;
	return ing_blob_new(ing_buf_steal(&out), bytes);
}

/* What is no JSON object would break the answer that it is put into. */
static bool is_object(const char *value, size_t bytes)
{
	struct ing_error err = {0};
	json_t *o = ing_utf8_valid(value, bytes) ? ing_json_parse(value, bytes, &ing_json_own, &err)
						 : NULL;
	bool good = json_is_object(o);
	json_decref(o);
	return good;
}

static void keep(struct ing_asks *a, struct ing_ask *ask, struct ing_blob *answer)
{
	drop_answer(a, ask);
	if (answer->bytes > a->max_bytes || a->alive_bytes + answer->bytes > 2 * a->max_bytes) {
		a->not_kept++;
		ing_blob_unref(answer);
		return;
	}
	answer->ctx = a;
	answer->freed = on_blob_freed;
	a->alive_bytes += answer->bytes;
	a->kept_bytes += answer->bytes;
	ask->answer = answer;
	DL_APPEND2(a->kept, ask, kept_prev, kept_next);
	while (a->kept_bytes > a->max_bytes)
		drop_answer(a, a->kept);
}

/* Moves those who wait at `from`, of one message or (0) of any. */
static void move_waits(
	struct ing_ask *ask, enum ing_wait_end from, enum ing_wait_end to, uint64_t message)
{
	struct ing_wait *w;
	DL_FOREACH (ask->waits, w) {
		if (w->at != from || (message != 0 && w->message != message))
			continue;
		w->at = to;
		w->moved(w);
	}
}

static struct ing_ask *add(struct ing_asks *a, const char *key)
{
	struct ing_ask *ask = ing_alloc(sizeof(*ask));
	memcpy(ask->key, key, ING_ASK_KEY_BYTES);
	HASH_ADD(hh, a->asks, key, ING_ASK_KEY_BYTES, ask);
	return ask;
}

static void attach(struct ing_asks *a, struct ing_ask *ask, struct ing_wait *w)
{
	w->ask = ask;
	w->message = ask->message;
	DL_APPEND(ask->waits, w);
	settle(a, ask);
}

static bool is_under_way(const struct ing_ask *ask)
{
	return ask->in_flight > 0 || ask->accepted > ask->answered;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_asks *ing_asks_new(size_t max_requests, size_t max_bytes)
{
	struct ing_asks *a = ing_alloc(sizeof(*a));
	*a = (struct ing_asks){.max_requests = max_requests, .max_bytes = max_bytes};
	return a;
}

void ing_asks_free(struct ing_asks *a)
{
	if (a == NULL)
		return;
	struct ing_ask *ask;
	struct ing_ask *next;
	HASH_ITER (hh, a->asks, ask, next) {
		ing_must(ask->waits == NULL);
		forget(a, ask);
	}
	ing_must(a->alive_bytes == 0); /* the server, which sends them, has gone before */
	free(a);
}

bool ing_asks_begin(struct ing_asks *a, const char *key, const char *message, size_t message_bytes,
	uint64_t now_ms, struct ing_wait *w)
{
	struct ing_ask *ask = find(a, key);
	uint64_t digest = digest_of(message, message_bytes);
	if (ask == NULL)
		ask = add(a, key);
	bool same = is_under_way(ask) && ask->digest == digest &&
		    now_ms - ask->produced_ms < SAME_MESSAGE_MS;
	if (!same) {
		ask->message++;
		ask->digest = digest;
		ask->produced_ms = now_ms;
		ask->in_flight++;
	}
	w->at = ask->accepted == ask->message ? ING_WAIT_RESULT : ING_WAIT_SENDING;
	attach(a, ask, w);
	return !same;
}

bool ing_asks_join(struct ing_asks *a, const char *key, struct ing_wait *w)
{
	struct ing_ask *ask = find(a, key);
	if (ask == NULL || !is_under_way(ask))
		return false;
	w->at = ING_WAIT_RESULT;
	attach(a, ask, w);
	return true;
}

void ing_asks_leave(struct ing_asks *a, struct ing_wait *w)
{
	struct ing_ask *ask = w->ask;
	if (ask == NULL)
		return;
	DL_DELETE(ask->waits, w);
	w->ask = NULL;
	settle(a, ask);
}

struct ing_ask_delivery *ing_wait_delivery(const struct ing_wait *w)
{
	struct ing_ask_delivery *d = ing_alloc(sizeof(*d));
	*d = (struct ing_ask_delivery){w->ask, w->message};
	return d;
}

void ing_asks_delivered(struct ing_asks *a, struct ing_ask_delivery *d, bool ok)
{
	struct ing_ask *ask = d->ask;
	ask->in_flight--;
	if (ok) {
		ask->accepted = ING_MAX(ask->accepted, d->message);
		if (ask->answered < d->message)
			drop_answer(a, ask); /* of an earlier time */
	}
	enum ing_wait_end next = !ok                           ? ING_WAIT_FAILED
				 : ask->answered >= d->message ? ING_WAIT_DONE
							       : ING_WAIT_RESULT;
	move_waits(ask, ING_WAIT_SENDING, next, d->message);
	free(d);
	settle(a, ask);
}

void ing_asks_result(struct ing_asks *a, const char *key, size_t key_bytes, const char *value,
	size_t value_bytes)
{
	struct ing_ask *ask = key_bytes == ING_ASK_KEY_BYTES ? find(a, key) : NULL;
	if (ask == NULL || value == NULL || !is_object(value, value_bytes))
		return;
	a->results++;
	ask->answered = ask->message;
	keep(a, ask, make_answer(ask->key, value, value_bytes));
	move_waits(ask, ING_WAIT_RESULT, ING_WAIT_DONE, 0);
	settle(a, ask);
}

enum ing_ask_state ing_asks_state(const struct ing_asks *a, const char *key)
{
	const struct ing_ask *ask = find(a, key);
	if (ask == NULL)
		return ING_ASKS_UNKNOWN;
	if (is_under_way(ask))
		return ask->accepted > ask->answered ? ING_ASKS_QUEUED : ING_ASKS_SENDING;
	return ask->answered > 0 ? ING_ASKS_DONE : ING_ASKS_UNKNOWN;
}

struct ing_blob *ing_asks_answer(const struct ing_asks *a, const char *key)
{
	const struct ing_ask *ask = find(a, key);
	return ask != NULL ? ask->answer : NULL;
}

void ing_asks_stats(const struct ing_asks *a, struct ing_asks_stats *ret)
{
	*ret = (struct ing_asks_stats){.requests = HASH_COUNT(a->asks),
		.kept_bytes = a->alive_bytes,
		.results = a->results,
		.not_kept = a->not_kept};
	for (const struct ing_ask *ask = a->asks; ask != NULL; ask = ask->hh.next)
		ret->waiting += is_under_way(ask);
}
