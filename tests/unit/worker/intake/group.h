/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * group.h - for the tests of the consumer: up to two workers of a group on one loop, the in-process
 * cluster they read from, and what they were told.
 *
 * What must happen is waited for, with a ceiling that only a hang reaches; what must not happen is
 * looked for during a while, which on a slow machine may see less but never fails. This broker may
 * rebalance more often than needed (a member that went without leaving is reckoned with until its
 * session ends), so that after a rebalance "at least" is said where a count would depend on it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "tests/unit/common/kafka/mock_kafka.h"
#include "worker/intake/intake.h"
#include "worker/model/tier.h"

#define GROUP "ingest-worker"
#define MAX_MESSAGES 22528 /* to a worker, and of a topic */
#define MAX_PARTITIONS 32
#define CEILING_MS 60000
#define SETTLED_MS 8000
/* After its first round this broker collects a group's members for a second less than the session.
 * That must be longer than a revocation waits for its commit (3 s). A single member goes through
 * it, too, when metadata comes while it is the leader of the first round: the session must not be
 * long. */
#define CHANGING "session.timeout.ms=6000"
/* Of a group that does not change: what the machine does meanwhile should not expire it. */
#define SETTLED_MS 8000
#define STEADY "session.timeout.ms=12000"

/* An intake, what it was handed, and how often each value came. Of each message is checked what is
 * always so: its topic is its lane's or a tier's, its epoch is alive, it comes after the one before. */
struct worker {
	struct fixture *group;
	struct ing_intake *in;
	unsigned messages, assigned, revoked, fatals;
	unsigned last_assigned;       /* partitions */
	unsigned of_lane[ING_LANES_]; /* messages */
	unsigned times[MAX_MESSAGES]; /* by the number in the value, of all lanes */
	unsigned pause_after;         /* the lane of requests, after so many messages; 0: never */
	bool finish_at_once;
	bool starts_away; /* it has been told to leave the group before it starts */
	bool exactly_once;
	struct ing_claim_ops claims; /* without ctx: no database */
	/* Called with each message before anything else, or NULL. */
	void (*look)(struct worker *w, const struct ing_message *m);
	void *look_ctx;
	unsigned busy_ms;   /* so long each message keeps the loop */
	unsigned this_turn; /* messages of this turn of the loop, for the test to set back */
	/* Called with the fixture at the next on_revoked(), or NULL; for what it wants to keep. */
	void (*on_first_revoked)(void *fixture);
	unsigned seen;
	struct ing_token tokens[MAX_MESSAGES]; /* of the messages, as they came */
	enum ing_lane lanes[MAX_MESSAGES];
	uint32_t dead_epoch; /* newest revoked one */
	struct ing_token newest[ING_LANES_][MAX_PARTITIONS];
};

struct fixture {
	struct mock_kafka kafka;
	const char *const *topics;      /* by lane; NULL: none */
	const char *const *tier_topics; /* by tier; NULL: none of all */
	int partitions;                 /* of each topic */
	uv_loop_t loop;
	struct worker a, b; /* zero until opened, but for what a test wants of them */
};

/* Makes the topics. `topics` has ING_LANES_ entries and is borrowed. */
void setup(struct fixture *f, const char *const *topics, int partitions);
/* The same with so many brokers, of which the first coordinates the group and leads all
 * partitions. */
void setup_brokers(struct fixture *f, const char *const *topics, int partitions, int brokers);
void teardown(struct fixture *f); /* workers that are open are closed */

/* session and property are settings, "key=value"; property may be NULL. */
void open_worker(struct fixture *f, struct worker *w, const char *instance, const char *session,
	const char *property);
void close_worker(struct fixture *f, struct worker *w);

/* Values "r0" … "r(count - 1)", round robin over the partitions of the lane's topic. */
void fill(struct fixture *f, enum ing_lane lane, int count);

void turn(struct fixture *f, int ms);
void wait_count(struct fixture *f, const unsigned *counter, unsigned want);
/* Turns until a and b own so many partitions. */
void wait_shared(struct fixture *f, unsigned a, unsigned b);
/* Turns until each of the workers has owned so many partitions for longer than this broker takes to collect a
 * group: what happens after that was not begun by their joining. */
void wait_settled(struct fixture *f, struct worker *workers, unsigned count, unsigned partitions);
/* Turns until the group's position in each partition of the lane's topic is `want`; commits come
 * once a second. */
void wait_committed(struct fixture *f, enum ing_lane lane, int64_t want);
/* It is so now. */
void expect_committed(struct fixture *f, enum ing_lane lane, int64_t want);
