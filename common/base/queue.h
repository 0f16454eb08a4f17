/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * queue.h - passes objects between two threads: an intrusive FIFO list under a lock.
 *
 * A push gives the object around the node away, a take receives it. The pushing side bounds the
 * queue (ing_queue_count()), since only it knows what to do when it is full.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_node {
	struct ing_node *next;
};

struct ing_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct ing_node *head;
	struct ing_node **tail;
	size_t count;
	size_t wanted; /* the waiter is woken when there are so many */
	size_t more;   /* expected to follow the last one */
	bool closed;
};

void ing_queue_init(struct ing_queue *q);
void ing_queue_done(struct ing_queue *q); /* must be empty, and no thread in it */
bool ing_queue_push(struct ing_queue *q, struct ing_node *node); /* true if it was empty before */
/* The same, saying that `more` others will probably follow soon, for ing_queue_gather(). */
bool ing_queue_push_one_of(struct ing_queue *q, struct ing_node *node, size_t more);
/* All nodes, oldest first, linked by next; NULL when there are none. */
struct ing_node *ing_queue_take_all(struct ing_queue *q);
/* The same, but waits up to timeout_ms for the first one (-1: for ever) or until the queue is
 * closed. */
struct ing_node *ing_queue_wait_all(struct ing_queue *q, int timeout_ms);
/* The same, but waits for `count` of them, as long as more are expected. */
struct ing_node *ing_queue_gather(struct ing_queue *q, size_t count, int timeout_ms);
void ing_queue_close(struct ing_queue *q); /* wakes the waiter; further waits return at once */
bool ing_queue_closed(struct ing_queue *q);
size_t ing_queue_count(struct ing_queue *q);
