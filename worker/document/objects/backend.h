/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * backend.h - where objects go: one attempt to store one of them (s3.c, folder.c). Its user is objects.c.
 */
#pragma once
#include <stdbool.h>
#include <uv.h>

#include "worker/document/objects/objects.h"

enum ing_object_outcome {
	ING_OBJECT_OUTCOME_STORED,
	ING_OBJECT_OUTCOME_UNFIT,   /* this object will never be taken: it is too large */
	ING_OBJECT_OUTCOME_AWAY,    /* no connection, no answer, the server's or the disk's error */
	ING_OBJECT_OUTCOME_BUSY,    /* it asks for fewer requests */
	ING_OBJECT_OUTCOME_DENIED,  /* wrong or unreadable key, no permission */
	ING_OBJECT_OUTCOME_MISSING, /* there is no such bucket or folder */
	ING_OBJECT_OUTCOME_FULL,    /* no room, over a quota */
	ING_OBJECT_OUTCOME_STRANGE, /* it was refused for another reason, perhaps of its own */
	ING_OBJECT_OUTCOME_COUNT_
};

struct ing_object_verdict {
	enum ing_object_outcome outcome;
	unsigned retry_after_s; /* what the server asks for; 0: nothing */
	char detail[256];       /* words for the log, when it is not stored */
};

struct ing_object_backend;

/* Made by a backend around what it needs. */
struct ing_object_attempt {
	uv_work_t work;
	struct ing_object *object;
	struct ing_object_backend *backend;
	struct ing_object_verdict verdict;
	bool decided;                                /* verdict is there */
	bool in_pool;                                /* cannot be called off */
	void (*ended)(struct ing_object_attempt *a); /* objects.c */
};

struct ing_object_backend {
	char *name;           /* for the log: URL of the bucket, path of the folder; heap */
	unsigned max_running; /* attempts side by side */
	struct ing_object_attempt *(*new_attempt)(
		struct ing_object_backend *b, struct ing_object *o);
	/* In a thread of the pool: what may block or take long. May decide. */
	void (*prepare)(struct ing_object_attempt *a);
	/* On the loop, when prepare() has not decided: ends with a call of ended(), later. */
	void (*send)(struct ing_object_attempt *a);
	/* Call off what send() has begun; ended() is not called. */
	void (*stop)(struct ing_object_attempt *a);
	void (*free_attempt)(struct ing_object_attempt *a);
	void (*free)(struct ing_object_backend *b);
};

int ing_object_s3_new(uv_loop_t *loop, const struct ing_objects_settings *settings,
	const char *user_agent, struct ing_object_backend **ret,
	struct ing_error *err) ING_MUST_CHECK;
int ing_object_folder_new(const struct ing_objects_settings *settings, const char *instance,
	struct ing_object_backend **ret, struct ing_error *err) ING_MUST_CHECK;

void ing_object_decide(struct ing_object_attempt *a, enum ing_object_outcome outcome,
	const char *fmt, ...) ING_PRINTF(3, 4);
