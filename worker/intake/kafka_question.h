/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kafka_question.h - what the brokers say of partitions, asked on a thread of libuv's pool.
 *
 * librdkafka 2.0 has only blocking calls for the ends of a log, and the loop must not wait. A
 * question has one owner, on the loop thread, and is answered there once; the pool's thread has it
 * in between. It uses the consumer, which therefore must outlive it: see
 * ing_kafka_question_is_over().
 */
#pragma once
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include "worker/intake/log_view.h"

struct uv_loop_s;
struct ing_kafka_question;

/* On the loop. parts: as given; views: one of each of them. Both are the question's, and freed
 * after this call. */
typedef void ing_kafka_answer_f(
	void *ctx, const rd_kafka_topic_partition_list_t *parts, const struct ing_log_view *views);

/* Asks for the group's positions, and with `ends` for the bounds of the logs too. Takes parts,
 * whose offsets are the caller's own and left alone. There may not be time to ask for the bounds of
 * all when some do not answer; those of the first parts are asked for. */
struct ing_kafka_question *ing_kafka_ask(struct uv_loop_s *loop, rd_kafka_t *rk,
	rd_kafka_topic_partition_list_t *parts, bool ends, ing_kafka_answer_f *done, void *ctx);
/* The pool's thread is done with it (or never began, and will not) and does not touch the consumer
 * any more. */
bool ing_kafka_question_is_over(struct ing_kafka_question *q);
/* done() is not called any more. The memory goes when the loop has turned once more. NULL is
 * fine. */
void ing_kafka_question_drop(struct ing_kafka_question *q);
/* The group's positions at once, in this thread, within timeout_ms; views: as many as parts. For
 * the end, when the loop does not turn. */
void ing_kafka_ask_now(rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *parts,
	struct ing_log_view *views, int timeout_ms);
