/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * objects.h - the object store: what is derived of documents (worker/model/derived.def), under their
 * SHA-1, in an S3 bucket or in a folder.
 *
 * An object is embedded in its owner, who fills in the members down to done() and calls
 * ing_objects_put(). What it points to is borrowed until done(), which is called once, on the loop,
 * never from inside a call. By then the object is durable: the server has answered, or file and folder
 * are synced. An object that is there already is replaced.
 *
 * Whatever fails is tried again, without limit: while the store is away, refuses the key, has no such
 * bucket or is full, objects wait, ing_objects_blocked() is true, and one of them is tried after 0.25 s
 * up to 30 s. Only an object that the store will never take (too large; or refused again and again while
 * others are stored) is given up.
 *
 * Thread: the loop's. Digests, keys and files are read and written by threads of libuv's pool.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/model/derived.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_objects;
struct ing_object_attempt;

enum ing_object_end {
	ING_OBJECT_STORED,
	ING_OBJECT_REFUSED, /* it will never be taken; logged */
	ING_OBJECT_CANCELLED,
};

struct ing_object {
	enum ing_derived_kind kind;
	const char *sha1hex; /* of the document */
	const void *data;
	size_t bytes;
	void (*done)(struct ing_object *o, enum ing_object_end end);

	/* objects' own; zero-initialise. */
	struct ing_object *prev, *next;
	struct ing_objects *store; /* NULL: it is not under way */
	uint8_t state;
	bool cancelled;
	struct ing_object_attempt *attempt;
	unsigned failures;      /* of its own fault, as it seems */
	uint64_t others_stored; /* when the first of them came */
	char sha256hex[65];     /* of data; "" before it was needed */
};

/* Whether a store is configured at all. */
bool ing_objects_wanted(const struct ing_objects_settings *settings);
/* Creates the folder. Nothing is kept of what it is given. instance: of this worker, for names of
 * files that are being written. */
int ing_objects_new(struct uv_loop_s *loop, const struct ing_objects_settings *settings,
	const char *user_agent, const char *instance, struct ing_objects **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine. Nothing may be under way. The loop must turn once more for libuv to close the handles. */
void ing_objects_free(struct ing_objects *s);
void ing_objects_put(struct ing_objects *s, struct ing_object *o);
/* done() comes soon, with ING_OBJECT_CANCELLED if the object was not stored before. */
void ing_objects_cancel(struct ing_object *o);
/* Objects wait, and nothing but failures has come for a second, or nothing at all for five. */
bool ing_objects_blocked(const struct ing_objects *s);
/* Why; NULL: it is not. */
const char *ing_objects_trouble(const struct ing_objects *s);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_objects_stats(const struct ing_objects *s, struct ing_objects_stats *ret);
