/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that may have killed a process: which are recorded and when, that suspects are alone, and
 * that the condemned go to dead letters. The journal is played here; gate and loop are real.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages.h"
#include "worker/deliver/deliver.h"
#include "worker/job/job.h"

#define RECORDS 16
#define TICK_MS 150 /* the pipeline looks every 100 ms */

/* --- the journal --- */

static struct {
	int64_t offsets[RECORDS];
	enum ing_journal_stage stages[RECORDS];     /* NONE: free */
	enum ing_journal_verdict verdicts[RECORDS]; /* by offset */
	bool parsed[RECORDS];                       /* by offset */
	unsigned others_when_parsed[RECORDS];       /* by offset */
	int64_t acquitted;
} journal;

static unsigned count_records(void)
{
	unsigned count = 0;
	for (int i = 0; i < RECORDS; i++)
		count += journal.stages[i] != ING_STAGE_NONE;
	return count;
}

void ing_journal_enter(struct ing_journal *j, struct ing_journal_mark *m,
	const struct ing_source *source, enum ing_journal_stage stage)
{
	if (j == NULL)
		return;
	unsigned others = count_records();
	for (unsigned i = 0; i < RECORDS && m->record == 0; i++)
		if (journal.stages[i] == ING_STAGE_NONE) {
			m->record = i + 1;
			journal.offsets[i] = source->offset;
		}
	assert_true(m->record > 0);
	journal.stages[m->record - 1] = stage;
	int64_t offset = journal.offsets[m->record - 1];
	if (stage == ING_STAGE_INTAKE && !journal.parsed[offset]) {
		journal.parsed[offset] = true;
		journal.others_when_parsed[offset] = others;
	}
}

void ing_journal_leave(struct ing_journal *j, struct ing_journal_mark *m)
{
	if (j == NULL || m->record == 0)
		return;
	journal.stages[m->record - 1] = ING_STAGE_NONE;
	m->record = 0;
}

unsigned ing_journal_others(const struct ing_journal *j, const struct ing_journal_mark *but)
{
	assert_true(j != NULL && but == NULL);
	return count_records();
}

bool ing_journal_has_suspects(const struct ing_journal *j)
{
	return j != NULL;
}

enum ing_journal_verdict ing_journal_judge(const struct ing_journal *j,
	const struct ing_source *source, struct ing_journal_suspect *ret)
{
	(void)j;
	*ret = (struct ing_journal_suspect){.deaths = 3, .stage = ING_STAGE_EXAMINE};
	return journal.verdicts[source->offset];
}

void ing_journal_acquit(struct ing_journal *j, const struct ing_source *source)
{
	assert_non_null(j);
	journal.acquitted = source->offset;
}

const char *ing_journal_stage_name(enum ing_journal_stage stage)
{
	return stage == ING_STAGE_EXAMINE ? "examine" : "other";
}

static enum ing_journal_stage stage_of(int64_t offset)
{
	for (int i = 0; i < RECORDS; i++)
		if (journal.stages[i] != ING_STAGE_NONE && journal.offsets[i] == offset)
			return journal.stages[i];
	return ING_STAGE_NONE;
}

/* --- the worker --- */

static uv_loop_t loop;
static struct ing_gate *gate;
static struct ing_deliver *deliver;
static struct ing_visits *visits;
static struct ing_pipeline *pipeline;

static void begin(void)
{
	fake_reset();
	memset(&journal, 0, sizeof(journal));
	journal.acquitted = -1;
	assert_int_equal(uv_loop_init(&loop), 0);
	gate = ing_gate_new(&loop,
		&(struct ing_gate_conf){.settings = {.concurrency = 10, .host_concurrency = 1}});
	deliver = fake_deliver_new(true, NULL);
	visits = ing_visits_new(&loop, &(struct ing_visits_conf){0});
	ing_visits_wire(visits, &(struct ing_visits_stages){
					.gate = gate, .fetch = FAKE_STAGE, .archive = FAKE_STAGE});
	pipeline = ing_pipeline_new(
		&loop, &(struct ing_pipeline_conf){.settings = {.max_waiting = 100,
							   .max_hops = 2,
							   .max_redirects = 2,
							   .deadline_ms = 60000,
							   .max_scrape_bytes = 1000},
			       .max_unacked = 100,
			       .pdf_timeout_ms = 1000,
			       .max_body_bytes = 1000});
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver,
					    .journal = FAKE_STAGE});
}

static void end(void)
{
	fake_settle();
	assert_true(ing_pipeline_idle(pipeline));
	assert_int_equal(count_records(), 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	ing_gate_free(gate);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fake_reset();
}

static void turn(uint64_t ms)
{
	fake_turn(&loop, ms);
}

static void send_request(int64_t offset)
{
	char text[128];
	int bytes = snprintf(text, sizeof(text),
		"{\"ingest_type\":\"html\",\"base_url\":\"https://h%d.example/\"}", (int)offset);
	ing_pipeline_on_message(pipeline,
		&(struct ing_message){.token = {.partition_index = 3, .epoch = 7, .offset = offset},
			.value = text,
			.value_bytes = (size_t)bytes,
			.topic = "requests",
			.partition = 3,
			.lane = ING_LANE_REQUESTS});
}

/* Its transfer ends with 404. */
static void end_transfer(void)
{
	fake_fetch_done(404, NULL);
	turn(1);
}

/* --- cases --- */

static void a_request_is_recorded_while_it_is_in_a_stage(void **state)
{
	(void)state;
	begin();
	send_request(1);
	assert_true(journal.parsed[1]);
	assert_int_equal(stage_of(1), ING_STAGE_NONE); /* it waits */
	turn(1);
	assert_int_equal(stage_of(1), ING_STAGE_FETCH);
	fake_fetch_done(302, "https://there.example/");
	assert_int_equal(stage_of(1), ING_STAGE_ARCHIVE); /* of the redirect */
	fake_archive_done();
	assert_int_equal(stage_of(1), ING_STAGE_NONE);
	turn(1);
	assert_int_equal(stage_of(1), ING_STAGE_FETCH);
	fake_fetch_done(200, NULL);
	assert_int_equal(stage_of(1), ING_STAGE_EXAMINE);
	fake_archive_done();
	assert_int_equal(stage_of(1), ING_STAGE_EXAMINE);
	assert_int_equal(journal.acquitted, -1);
	fake_exam_done_page(NULL);
	turn(1);
	assert_int_equal(stage_of(1), ING_STAGE_NONE);
	assert_int_equal(journal.acquitted, 1);
	end();
}

static void a_suspect_is_alone_from_its_first_byte(void **state)
{
	(void)state;
	begin();
	journal.verdicts[2] = ING_SUSPECT_ALONE;
	send_request(1);
	turn(1);
	assert_int_equal(fake.fetches.count, 1);
	send_request(2);
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	send_request(3); /* intake had it already */
	turn(3 * TICK_MS);
	assert_false(journal.parsed[2]);
	assert_int_equal(fake.fetches.count, 1);
	end_transfer();
	turn(TICK_MS);
	assert_false(journal.parsed[2]); /* records are under way */
	fake_settle();
	turn(TICK_MS);
	assert_true(journal.parsed[2]);
	assert_int_equal(journal.others_when_parsed[2], 0);
	for (int i = 0; i < 10 && stage_of(2) == ING_STAGE_NONE; i++) {
		turn(TICK_MS); /* the third goes first, if its turn is before */
		if (stage_of(3) != ING_STAGE_NONE) {
			assert_int_equal(stage_of(2), ING_STAGE_NONE);
			end_transfer();
			fake_settle();
		}
	}
	assert_int_equal(stage_of(2), ING_STAGE_FETCH);
	assert_int_equal(count_records(), 1);
	send_request(4);
	turn(3 * TICK_MS);
	assert_int_equal(count_records(), 1);
	assert_true(fake.paused[ING_LANE_REQUESTS]);
	fake_fetch_done(302, "https://there.example/");
	fake_settle();
	turn(2 * TICK_MS); /* others may go between its hops, and it waits for them again */
	for (int i = 0; i < 10 && journal.acquitted != 2; i++) {
		turn(2 * TICK_MS);
		assert_int_equal(count_records(), fake.fetches.count);
		assert_true(stage_of(2) == ING_STAGE_NONE || count_records() == 1);
		if (fake.fetches.count > 0)
			end_transfer();
		fake_settle();
	}
	assert_int_equal(journal.acquitted, 2);
	turn(2 * TICK_MS);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	while (fake.fetches.count > 0) {
		end_transfer();
		fake_settle();
		turn(TICK_MS);
	}
	end();
	assert_int_equal(fake.finished, 0); /* reset */
}

static void the_condemned_go_to_dead_letters(void **state)
{
	(void)state;
	begin();
	journal.verdicts[1] = ING_SUSPECT_CONDEMNED;
	send_request(1);
	assert_false(journal.parsed[1]);
	assert_int_equal(fake.emitted.count, 1);
	fake_emit_done(true);
	assert_int_equal(fake.finished, 1);
	assert_int_equal(fake.last_finished.offset, 1);
	struct ing_pipeline_stats stats;
	ing_pipeline_stats(pipeline, &stats);
	assert_int_equal(stats.accepted, 0);
	end();
}

static void suspects_of_an_assignment_end_with_it(void **state)
{
	(void)state;
	begin();
	journal.verdicts[2] = journal.verdicts[3] = ING_SUSPECT_ALONE;
	send_request(1);
	turn(1);
	send_request(2);
	ing_pipeline_on_revoked(pipeline, 3, 6); /* an earlier one */
	turn(TICK_MS);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	end_transfer();
	fake_settle();
	turn(2 * TICK_MS);
	assert_false(journal.parsed[2]);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	/* one that has been admitted */
	send_request(3);
	turn(3 * TICK_MS);
	assert_int_equal(stage_of(3), ING_STAGE_FETCH);
	ing_pipeline_on_revoked(pipeline, 3, 7);
	assert_int_equal(stage_of(3), ING_STAGE_ARCHIVE); /* its transfer is under way */
	end_transfer();
	fake_settle();
	turn(2 * TICK_MS);
	assert_int_equal(journal.acquitted, -1);
	assert_false(fake.paused[ING_LANE_REQUESTS]);
	end();
}

static void suspects_do_not_outlast_a_drain(void **state)
{
	(void)state;
	begin();
	journal.verdicts[2] = ING_SUSPECT_ALONE;
	send_request(1);
	turn(1);
	send_request(2);
	ing_pipeline_drain(pipeline);
	end_transfer();
	fake_settle();
	turn(2 * TICK_MS);
	assert_false(journal.parsed[2]);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_recorded_while_it_is_in_a_stage),
		cmocka_unit_test(a_suspect_is_alone_from_its_first_byte),
		cmocka_unit_test(the_condemned_go_to_dead_letters),
		cmocka_unit_test(suspects_of_an_assignment_end_with_it),
		cmocka_unit_test(suspects_do_not_outlast_a_drain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
