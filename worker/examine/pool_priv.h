/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool_priv.h - the pool's insides, shared by pool.c (tasks), pool_wait.c (waiting for an
 * examiner), pool_examiner.c (one examiner and its socket) and pool_zygote.c (the process that
 * forks them). Thread: loop only.
 *
 * Callbacks into the user (finish) may submit, cancel or free the pool. So a caller of one checks
 * `closing` before it goes on, and no list is walked across such a call. running() may not.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include <uv.h>

#include "common/base/buf.h"
#include "worker/examine/box.h"
#include "worker/examine/ipc.h"
#include "worker/examine/pool.h"
#include "worker/examine/queue.h"

#define ING_POOL_MAGIC 0x504f4f4cu
#define ING_EXAMINER_MAGIC 0x4558414du
#define ING_ZYGOTE_MAGIC 0x5a59474fu

/* Fork to HELLO, the zygote's warming included: a cold disk, a sanitized build. */
#define ING_POOL_START_MS 60000u
#define ING_POOL_DYING_MS 10000u /* from SIGKILL to the zygote's EXIT */

struct ing_exam_task {
	struct ing_exam_entry entry;       /* waiting or running, unless failed */
	struct ing_exam_task *prev, *next; /* failed */
	bool failed;
	struct ing_pool *pool;
	struct ing_pool_examiner *owner; /* NULL unless an examiner has it */
	struct ing_buf frame;            /* the encoded question */
	int body_fd;                     /* borrowed */
	size_t body_bytes;
	unsigned attempts;         /* examiners that got it */
	struct ing_file_meta file; /* what the last of them has told before it read on; or empty */
	const struct ing_pool_user *user;
	void *ctx;
	uint64_t since_us; /* it waits, or an examiner has it */
};

enum ing_examiner_state {
	ING_EXAMINER_STARTING, /* no HELLO yet */
	ING_EXAMINER_IDLE,
	ING_EXAMINER_BUSY,  /* has a task */
	ING_EXAMINER_DYING, /* killed, retired, or found dead: its EXIT is awaited. May still have a
			     * task, which is finished then, when the cause is known */
};

struct ing_pool_examiner {
	unsigned magic;
	struct ing_pool_examiner *prev, *next;
	struct ing_pool *pool;
	struct ing_pool_zygote *zygote; /* that forked it */
	enum ing_examiner_state state;
	uint32_t id;
	int fd;
	uv_poll_t poll;
	uv_timer_t timer; /* the limit of the state it is in */
	unsigned open_handles;
	struct ing_exam_task *task;
	size_t sent; /* of the task's frame */
	struct ing_exam_box box;
	int body_fd; /* passed with the frame: of the box, or the task's */
	struct ing_buf in;
	unsigned served;
	uint64_t reported_cpu_us;
	bool assigned;      /* has had a question */
	bool exited;        /* EXIT has come */
	bool retired;       /* ended by us without a fault of its own */
	const char *reason; /* why we ended it, or NULL: static */
};

struct ing_pool_zygote {
	unsigned magic;
	struct ing_pool_zygote *prev, *next; /* in the list of retired ones */
	struct ing_pool *pool;
	pid_t pid;
	int fd;
	uv_poll_t poll;
	uv_timer_t timer; /* limit of becoming ready */
	unsigned open_handles;
	unsigned examiners; /* of the pool's, forked by it */
	bool ready;
	bool ended; /* killed and reaped; its memory goes with its handles */
};

struct ing_pool {
	unsigned magic;
	uv_loop_t *loop;
	struct ing_pool_conf conf;       /* path is ours */
	struct ing_pool_zygote *zygote;  /* NULL: none at the moment */
	struct ing_pool_zygote *next;    /* has the rules of a reload, not ready yet; or NULL */
	struct ing_pool_zygote *retired; /* have rules of before, and examiners still at work */
	int rules_fd, next_rules_fd;     /* ours; -1: none */
	ing_pool_reloaded_f *reloaded;   /* while `next` is there */
	void *reloaded_ctx;
	struct ing_pool_examiner *examiners;
	unsigned examiner_count;
	uint32_t last_id;
	uv_timer_t refill_timer;
	unsigned failed_starts; /* in a row, of zygote or examiners: the exponent of the back-off */
	struct ing_exam_queue *queue;
	uv_timer_t wait_timer;        /* the queue's next event */
	size_t turn_bytes;            /* of replies, received and taken in this turn of the loop */
	uv_idle_t next_turn;          /* begins to count anew */
	struct ing_exam_task *failed; /* lost twice with a zygote: to be finished */
	unsigned open_handles;
	bool closing;
	struct ing_pool_stats stats;
};

/* pool.c */
/* Bring the pool to its number of examiners, and a zygote before; after delay_ms if that is above
 * 0. */
void ing_pool_refill(struct ing_pool *p);
void ing_pool_refill_later(struct ing_pool *p);
/* Finish a task: calls done() and frees it; takes the findings' contents. */
void ing_pool_finish(struct ing_exam_task *t, struct ing_findings *f);
void ing_pool_fail(struct ing_exam_task *t, enum ing_exam exam, const char *detail);
void ing_pool_handle_closed(struct ing_pool *p); /* frees the pool with its last handle */

/* pool_wait.c */
/* Start waiting tasks on idle examiners, preempt, and set the timer for the next time. To be called
 * after any change to examiners or tasks. */
void ing_pool_dispatch(struct ing_pool *p);
/* Add a task to its domain's queue; url may be NULL. Then dispatch. */
void ing_pool_enqueue(struct ing_pool *p, struct ing_exam_task *t, const char *url);
/* Its examiner is lost: the task goes to the head of its queue, or, the second time, to the failed. */
void ing_pool_requeue(struct ing_pool *p, struct ing_exam_task *t);

/* pool_examiner.c */
/* 0; -ING_FAIL_BUSY: no descriptor is free; -ING_FAIL_CRASH: the zygote does not
 * accept it. */
int ing_examiner_start(struct ing_pool *p);
void ing_examiner_assign(struct ing_pool_examiner *e, struct ing_exam_task *t);
void ing_examiner_kill(struct ing_pool_examiner *e, const char *reason);
void ing_examiner_exited(struct ing_pool_examiner *e, const struct ing_zygote_message *m);
void ing_examiner_close(
	struct ing_pool_examiner *e); /* takes it out of the pool; must hold no task */
/* End the examiners of a zygote: at once those without a document, the others after it. */
void ing_examiner_retire_all(struct ing_pool_zygote *z);

/* The environment of an examiner, ending with NULL; each string is to be freed. Returns ret_env. */
#define ING_EXAMINER_ENVIRONMENT 16
char **ing_examiner_environment(char *ret_env[ING_EXAMINER_ENVIRONMENT]);
void ing_examiner_environment_free(char **env);

/* pool_zygote.c */
/* A new process with these rules (-1: none); the caller puts it into the pool. */
int ing_zygote_start(struct ing_pool *p, int rules_fd, struct ing_pool_zygote **ret,
	struct ing_error *err) ING_MUST_CHECK;
bool ing_zygote_send(
	struct ing_pool_zygote *z, enum ing_zygote_message_kind kind, uint32_t id, int fd);
/* The zygote is dead or does not work: end it, requeue its documents, and start another after a
 * delay if it was the current one. `detail` is for the log. */
void ing_zygote_lost(struct ing_pool_zygote *z, const char *detail);
/* Take it out of the pool, kill, reap, close. NULL and ended is fine. */
void ing_zygote_end(struct ing_pool_zygote *z);
/* End a retired zygote that has no examiner left. */
void ing_zygote_end_if_done(struct ing_pool_zygote *z);
