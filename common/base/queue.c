/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mutex and condition variable; taking everything at once keeps the lock cold.
 */
#include "common/base/queue.h"

#include <errno.h>
#include <time.h>

static struct ing_node *take_locked(struct ing_queue *q)
{
	struct ing_node *all = q->head;
	q->head = NULL;
	q->tail = &q->head;
	q->count = 0;
	return all;
}

static struct timespec time_after(int timeout_ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	if (timeout_ms > 0) {
		until.tv_sec += timeout_ms / 1000;
		until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
	}
	return until;
}

/* -------------------------------------------------------------------------------------------- */

void ing_queue_init(struct ing_queue *q)
{
	*q = (struct ing_queue){0};
	q->tail = &q->head;
	q->wanted = 1;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->filled, &attr);
	pthread_condattr_destroy(&attr);
}

void ing_queue_done(struct ing_queue *q)
{
	ing_must(q->head == NULL);
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
}

bool ing_queue_push(struct ing_queue *q, struct ing_node *node)
{
	return ing_queue_push_one_of(q, node, 0);
}

bool ing_queue_push_one_of(struct ing_queue *q, struct ing_node *node, size_t more)
{
	node->next = NULL;
	pthread_mutex_lock(&q->lock);
	bool was_empty = q->head == NULL;
	*q->tail = node;
	q->tail = &node->next;
	q->count++;
	q->more = more;
	bool wake = q->count == q->wanted || (more == 0 && q->wanted > 1);
	pthread_mutex_unlock(&q->lock);
	if (wake)
		pthread_cond_signal(&q->filled); /* whom this wakes finds the lock free */
	return was_empty;
}

struct ing_node *ing_queue_take_all(struct ing_queue *q)
{
	pthread_mutex_lock(&q->lock);
	struct ing_node *all = take_locked(q);
	pthread_mutex_unlock(&q->lock);
	return all;
}

struct ing_node *ing_queue_wait_all(struct ing_queue *q, int timeout_ms)
{
	struct timespec until = time_after(timeout_ms);
	pthread_mutex_lock(&q->lock);
	while (q->head == NULL && !q->closed) {
		int rc = timeout_ms < 0 ? pthread_cond_wait(&q->filled, &q->lock)
					: pthread_cond_timedwait(&q->filled, &q->lock, &until);
		if (rc == ETIMEDOUT)
			break;
	}
	struct ing_node *all = take_locked(q);
	pthread_mutex_unlock(&q->lock);
	return all;
}

struct ing_node *ing_queue_gather(struct ing_queue *q, size_t count, int timeout_ms)
{
	struct timespec until = time_after(timeout_ms);
	pthread_mutex_lock(&q->lock);
	q->wanted = count;
	while (q->count < count && q->more > 0 && !q->closed) {
		if (pthread_cond_timedwait(&q->filled, &q->lock, &until) == ETIMEDOUT)
			break;
	}
	q->wanted = 1;
	struct ing_node *all = take_locked(q);
	pthread_mutex_unlock(&q->lock);
	return all;
}

void ing_queue_close(struct ing_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

bool ing_queue_closed(struct ing_queue *q)
{
	pthread_mutex_lock(&q->lock);
	bool closed = q->closed;
	pthread_mutex_unlock(&q->lock);
	return closed;
}

size_t ing_queue_count(struct ing_queue *q)
{
	pthread_mutex_lock(&q->lock);
	size_t count = q->count;
	pthread_mutex_unlock(&q->lock);
	return count;
}
