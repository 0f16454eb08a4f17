/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries among an object store, a store, an emit and an intake that do what each test tells them to: the order
 * in which things leave, what is counted, what a refusal does, and that calling off at any point
 * neither sends nor finishes anything more, nor frees anything too early or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "fakes.h"
#include "worker/deliver/answered.h"
#include "worker/deliver/dead_letter.h"
#include "worker/model/letter.h"
#include "worker/model/tier.h"

#define SLOT 3
#define EPOCH 7

static struct ing_deliver *deliver;
static unsigned delivered;          /* calls of done() */
static enum ing_status last_status; /* of the last of them */
static bool last_was_new;
static unsigned lines; /* of the capture index */

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	assert_ptr_equal(ctx, &delivered);
	delivered++;
	last_status = delivery->status;
	last_was_new = ing_delivery_is_new_result(delivery);
}

static void on_cdx(void *ctx, const struct ing_cdx *line)
{
	(void)ctx;
	assert_string_equal(line->url, "https://a.example/");
	lines++;
}

static void answer_parked(void *ctx, struct ing_arena *ar, const struct ing_output_message *parked,
	size_t max_value_bytes, struct ing_output_message *ret)
{
	(void)ctx;
	assert_string_equal(parked->value, "request");
	assert_int_equal(max_value_bytes, 1000);
	ret->key = ing_arena_strdup(ar, "sha1");
	ret->key_bytes = 4;
	ret->value = ing_strdup("host-backoff");
	ret->value_bytes = strlen(ret->value);
}

static char *shorten(const char *result, size_t bytes, size_t max_bytes, size_t *ret_bytes)
{
	assert_int_equal(strlen(result), bytes);
	assert_int_equal(max_bytes, bytes - 1);
	if (strcmp(result, "shortest") == 0)
		return NULL;
	*ret_bytes = 5;
	return ing_strdup("short");
}

static void begin(bool with_store)
{
	fake_reset();
	delivered = lines = 0;
	deliver = ing_deliver_new(1000);
	ing_deliver_wire(deliver, &(struct ing_deliver_stages){
					  .intake = FAKE_STAGE,
					  .store = with_store ? FAKE_STAGE : NULL,
					  .emit = FAKE_STAGE,
					  .on_cdx = on_cdx,
					  .shorten = shorten,
					  .answer_parked = answer_parked,
				  });
}

static void end(void)
{
	static const struct ing_deliver_load none;
	struct ing_deliver_load load = *ing_deliver_load(deliver);
	load.cancelled_total = 0;
	assert_memory_equal(&load, &none, sizeof(load));
	assert_true(ing_deliver_idle(deliver));
	assert_true(ing_deliver_oldest_ms(deliver) == UINT64_MAX);
	ing_deliver_free(deliver);
	fake_reset();
}

static void add_message(struct ing_delivery *d, enum ing_output output, const char *value)
{
	char key[] = "key";
	ing_delivery_add_message(d, &(struct ing_output_message){
					    .output = output,
					    .key = key,
					    .key_bytes = 3,
					    .value = ing_strdup(value),
					    .value_bytes = strlen(value),
				    });
	memset(key, 'x', sizeof(key)); /* it was copied */
}

/* Strings that are gone once they have been copied. */
static void set_rows(struct ing_delivery *d)
{
	char url[] = "https://a.example/";
	char hex[] = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
	struct ing_row_cdx cdx = {.url = url, .sha1hex = hex, .warc_path = "w"};
	ing_delivery_set_rows(d, &(struct ing_rows){
					 .result = {.present = true, .base_url = url},
					 .cdx = &cdx,
					 .cdx_count = 1,
				 });
	ing_delivery_add_cdx_line(d, &(struct ing_cdx){.url = url, .filename = hex});
	memset(url, 'x', sizeof(url) - 1);
	memset(hex, 'x', sizeof(hex) - 1);
}

/* What a request with a text leaves. */
static struct ing_delivery *make_result(int64_t offset)
{
	struct ing_delivery *d = ing_delivery_new(ING_DELIVERY_RESULT);
	d->token = (struct ing_token){.partition_index = SLOT, .epoch = EPOCH, .offset = offset};
	d->lane = ING_LANE_BULK;
	d->accepted_ms = 1000;
	d->status = ING_STATUS_SUCCESS;
	d->name = "https://a.example/";
	d->done = on_delivered;
	d->ctx = &delivered;
	set_rows(d);
	add_message(d, ING_OUTPUT_PDF_TEXT, "words");
	add_message(d, ING_OUTPUT_RESULTS, "whole");
	return d;
}

static void put(struct ing_delivery *d)
{
	assert_true(ing_deliver_put(deliver, &d));
	assert_null(d);
}

static void put_dead_letter(void)
{
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_SYNTAX, "not JSON");
	put(ing_dead_letter_new(
		&(struct ing_message){
			.token = {.partition_index = SLOT, .epoch = EPOCH, .offset = 9},
			.value = "{oops",
			.value_bytes = 5,
			.topic = "requests",
		},
		&err, ing_deliver_max_value_bytes(deliver, ING_OUTPUT_DEAD)));
}

static struct ing_delivery *make_capture(void)
{
	struct ing_delivery *d = ing_delivery_new(ING_DELIVERY_CAPTURE);
	d->done = on_delivered;
	d->ctx = &delivered;
	set_rows(d);
	return d;
}

static struct ing_deliver_stats stats(void)
{
	struct ing_deliver_stats s;
	ing_deliver_stats(deliver, &s);
	return s;
}

/* --- order and counts --- */

/* The side message is acknowledged and the rows are stored; the record is given to emit. */
static void bring_to_commit(void)
{
	fake_emitted(0, true);
	fake_stored();
}

static void what_a_request_leaves_goes_out_in_the_durable_order(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.message_count, 1);
	fake_expect(0, ING_OUTPUT_PDF_TEXT, "key", "words");
	assert_true(fake_is_wanted(0));
	assert_int_equal(fakes.item_count, 0); /* not before the text is acknowledged */
	assert_int_equal(stats().emitting, 1);

	fake_emitted(0, true);
	assert_int_equal(stats().emitting, 0);
	assert_int_equal(stats().storing, 1);
	assert_int_equal(fakes.item_count, 1);
	assert_int_equal(fakes.record_count, 0); /* not before the rows are committed */
	const struct ing_store_item *item = fakes.items[0];
	assert_string_equal(item->rows->result.base_url, "https://a.example/");
	assert_string_equal(item->rows->cdx[0].url, "https://a.example/");
	assert_int_equal(item->source->offset, 1);
	assert_string_equal(item->message->value, "whole");

	fake_stored();
	assert_int_equal(stats().storing, 0);
	assert_int_equal(stats().committing, 1);
	fake_expect_record(0, ING_OUTPUT_RESULTS, "key", "whole");
	assert_int_equal(fakes.records[0].record->token.offset, 1);
	assert_int_equal(stats().results, 0);
	assert_int_equal(fakes.pruned_count, 0);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.pruned_count, 1);
	assert_int_equal(fakes.pruned[0], 1);
	assert_int_equal(delivered, 1);
	assert_int_equal(stats().results, 1);
	assert_int_equal(stats().hits, 1);
	assert_int_equal(stats().by_status[ING_STATUS_SUCCESS], 1);
	end();
}

/* --- objects --- */

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

static void begin_with_objects(void)
{
	begin(true);
	ing_deliver_wire(deliver, &(struct ing_deliver_stages){
					  .intake = FAKE_STAGE,
					  .store = FAKE_STAGE,
					  .emit = FAKE_STAGE,
					  .objects = FAKE_STAGE,
					  .on_cdx = on_cdx,
					  .shorten = shorten,
					  .answer_parked = answer_parked,
				  });
}

/* Both have six bytes, the message beside them five. */
static struct ing_delivery *make_result_with_objects(void)
{
	struct ing_delivery *d = make_result(1);
	char sha1hex[] = SHA1;
	struct ing_derived text = {ing_strdup("a text"), 6};
	struct ing_derived picture = {ing_strndup("\xff\0\xd8\0..", 6), 6};
	ing_delivery_add_object(d, ING_DERIVED_PDF_TEXT, sha1hex, &text);
	ing_delivery_add_object(d, ING_DERIVED_THUMBNAIL, sha1hex, &picture);
	assert_null(text.data);
	assert_null(picture.data);
	memset(sha1hex, 'x', sizeof(sha1hex) - 1); /* it was copied */
	return d;
}

static void objects_are_stored_before_all_else(void **state)
{
	(void)state;
	begin_with_objects();
	assert_true(ing_deliver_wants_objects(deliver));
	put(make_result_with_objects());
	assert_int_equal(fakes.object_count, 2);
	assert_int_equal(fakes.objects[0]->kind, ING_DERIVED_PDF_TEXT);
	assert_string_equal(fakes.objects[0]->sha1hex, SHA1);
	assert_int_equal(fakes.objects[1]->bytes, 6);
	assert_memory_equal(fakes.objects[1]->data, "\xff\0\xd8\0..", 6);
	assert_int_equal(stats().putting, 1);
	assert_int_equal(ing_deliver_load(deliver)->side_bytes, 17);
	fake_object_ended(1, ING_OBJECT_STORED); /* in any order */
	assert_int_equal(ing_deliver_load(deliver)->side_bytes, 11);
	assert_int_equal(fakes.message_count, 0);
	assert_int_equal(fakes.item_count, 0);
	fake_object_ended(0, ING_OBJECT_STORED);
	assert_int_equal(stats().putting, 0);
	assert_int_equal(stats().emitting, 1);
	assert_int_equal(ing_deliver_load(deliver)->side_bytes, 5);
	bring_to_commit();
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(delivered, 1);
	end();
}

static void an_object_that_is_refused_holds_up_nothing(void **state)
{
	(void)state;
	begin_with_objects();
	put(make_result_with_objects());
	fake_object_ended(0, ING_OBJECT_REFUSED);
	fake_object_ended(0, ING_OBJECT_STORED);
	bring_to_commit();
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(stats().results, 1);
	end();
}

static void without_an_object_store_objects_are_dropped(void **state)
{
	(void)state;
	begin(true);
	assert_false(ing_deliver_wants_objects(deliver));
	put(make_result_with_objects());
	bring_to_commit();
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	end();
}

static void all_side_messages_are_acknowledged_first(void **state)
{
	(void)state;
	begin(true);
	struct ing_delivery *d = make_result(1);
	add_message(d, ING_OUTPUT_PDF_TEXT, "more");
	put(d);
	fake_emitted(1, true); /* in any order */
	assert_int_equal(fakes.item_count, 0);
	fake_emitted(0, true);
	fake_stored();
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	end();
}

static void without_a_store_there_is_the_commit_alone(void **state)
{
	(void)state;
	begin(false);
	put(make_result(1));
	assert_int_equal(lines, 1);
	fake_emitted(0, true);
	assert_int_equal(fakes.record_count, 1);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.pruned_count, 0);
	end();
}

static void every_result_is_counted_once_by_its_status(void **state)
{
	static const enum ing_status statuses[] = {
		ING_STATUS_SUCCESS, ING_STATUS_TIMEOUT, ING_STATUS_TIMEOUT};
	(void)state;
	begin(true);
	for (size_t i = 0; i < ING_ARRAY_LEN(statuses); i++) {
		struct ing_delivery *d = make_result((int64_t)i);
		d->status = statuses[i];
		put(d);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(statuses); i++)
		bring_to_commit();
	while (fakes.record_count > 0)
		fake_commit_ended(fakes.record_count - 1, ING_EMIT_COMMITTED);
	assert_int_equal(stats().results, 3);
	assert_int_equal(stats().hits, 1);
	assert_int_equal(stats().by_status[ING_STATUS_TIMEOUT], 2);
	assert_int_equal(stats().by_status[ING_STATUS_SUCCESS], 1);
	assert_int_equal(fakes.finished_count, 3);
	assert_int_equal(fakes.pruned_count, 3);
	assert_int_equal(delivered, 3);
	end();
}

/* --- requests that are answered already, and other owners --- */

/* An earlier process had stored its result, and died before it committed it. */
static void an_answer_that_was_there_first_is_committed_instead(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, true);
	fake_store_answered(ING_OUTPUT_RESULTS, "earlier");
	fake_expect_record(0, ING_OUTPUT_RESULTS, "stored", "earlier");
	assert_int_equal(fakes.records[0].record->message->header_count, 1);
	assert_string_equal(fakes.records[0].record->message->headers[0].value, "header");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.pruned_count, 1);
	assert_int_equal(delivered, 1);
	assert_int_equal(last_was_new, false);
	assert_int_equal(stats().answered, 1);
	assert_int_equal(stats().results, 0); /* it was counted by whoever made it */
	assert_int_equal(stats().hits, 0);
	end();
}

static struct ing_delivery *make_answered(void)
{
	char value[] = "earlier";
	char key[] = "stored";
	const struct ing_header header = {"name", "header"};
	const struct ing_answer answer = {.message = {.output = ING_OUTPUT_RESULTS,
						  .key = key,
						  .key_bytes = 6,
						  .value = value,
						  .value_bytes = 7,
						  .headers = &header,
						  .header_count = 1}};
	struct ing_delivery *d = ing_answered_new(&(struct ing_message){
		.token = {.partition_index = SLOT, .epoch = EPOCH, .offset = 1},
		.lane = ING_LANE_BULK,
		.answer = &answer,
	});
	memset(value, 'x', 7); /* it was copied */
	memset(key, 'x', 6);
	d->done = on_delivered;
	d->ctx = &delivered;
	return d;
}

static void a_stored_answer_is_committed_only(void **state)
{
	(void)state;
	begin(true);
	put(make_answered());
	assert_int_equal(fakes.message_count + fakes.item_count, 0);
	assert_int_equal(ing_deliver_load(deliver)->results, 1);
	assert_int_equal(ing_deliver_load(deliver)->lanes[ING_LANE_BULK], 1);
	fake_expect_record(0, ING_OUTPUT_RESULTS, "stored", "earlier");
	assert_string_equal(fakes.records[0].record->message->headers[0].value, "header");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.pruned_count, 1);
	assert_int_equal(stats().answered, 1);
	assert_int_equal(stats().results, 0);
	assert_false(last_was_new);
	end();
}

static void what_another_owner_answers_is_left_to_it(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, true);
	fake_store_fenced();
	assert_int_equal(fakes.fenced, 1);
	assert_int_equal(fakes.record_count, 0);
	assert_int_equal(fakes.finished_count, 0);
	assert_int_equal(delivered, 0);
	assert_int_equal(ing_deliver_load(deliver)->cancelled_total, 1);
	end();
}

static void what_was_called_off_is_fenced_without_a_word(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, true);
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	fake_store_fenced();
	assert_int_equal(fakes.fenced, 0);
	assert_int_equal(fakes.record_count, 0);
	end();
}

static void a_result_of_an_epoch_that_is_over_goes_nowhere(void **state)
{
	(void)state;
	begin(true);
	fakes.epoch_over = true;
	struct ing_delivery *d = make_result(1);
	assert_false(ing_deliver_put(deliver, &d));
	assert_null(d);
	assert_int_equal(fakes.message_count + fakes.item_count + fakes.record_count, 0);
	assert_int_equal(delivered, 0);
	end();
}

static void what_is_under_way_is_known(void **state)
{
	(void)state;
	begin(true);
	const struct ing_deliver_load *load = ing_deliver_load(deliver);
	static const uint64_t born[] = {500, 300, 900, 700};
	for (size_t i = 0; i < ING_ARRAY_LEN(born); i++) {
		struct ing_delivery *d = make_result((int64_t)i);
		d->accepted_ms = born[i];
		d->lane = i == 0 ? ING_LANE_PRIORITY : ING_LANE_BULK;
		put(d);
	}
	put_dead_letter();
	put(make_capture());
	assert_int_equal(load->results, 4);
	assert_int_equal(load->lanes[ING_LANE_PRIORITY], 1);
	assert_int_equal(load->lanes[ING_LANE_BULK], 3);
	assert_int_equal(load->dead_letters, 1);
	assert_int_equal(load->captures, 1);
	assert_int_equal(load->side_bytes, 4 * strlen("words"));
	assert_int_equal(ing_deliver_oldest_ms(deliver), 300);
	fake_commit_ended(0, ING_EMIT_COMMITTED); /* the dead letter */
	fake_stored();                            /* the capture */
	static const uint64_t oldest[] = {300, 700, 700, UINT64_MAX};
	for (size_t i = 0; i < ING_ARRAY_LEN(oldest); i++) {
		bring_to_commit();
		assert_int_equal(load->side_bytes, (4 - i) * strlen("words"));
		fake_commit_ended(0, ING_EMIT_COMMITTED);
		assert_true(ing_deliver_oldest_ms(deliver) == oldest[i]);
	}
	end();
}

static void what_keeps_them_from_leaving_is_said(void **state)
{
	(void)state;
	begin(true);
	assert_null(ing_deliver_blocked_by(deliver));
	fakes.emit_blocked = true;
	assert_string_equal(ing_deliver_blocked_by(deliver), "broker");
	fakes.store_blocked = true;
	assert_string_equal(ing_deliver_blocked_by(deliver), "database");
	fakes.objects_blocked = true;
	assert_string_equal(ing_deliver_blocked_by(deliver), "database"); /* there is none */
	end();
	begin(false);
	fakes.store_blocked = true;
	assert_null(ing_deliver_blocked_by(deliver));
	end();
	begin_with_objects();
	fakes.objects_blocked = true;
	assert_string_equal(ing_deliver_blocked_by(deliver), "object store");
	end();
}

/* --- sizes and refusals --- */

static void values_have_the_room_that_their_output_has(void **state)
{
	(void)state;
	begin(true);
	fakes.max_value_bytes = 5000;
	assert_int_equal(ing_deliver_max_value_bytes(deliver, ING_OUTPUT_RESULTS), 1000);
	assert_int_equal(ing_deliver_max_value_bytes(deliver, ING_OUTPUT_PDF_TEXT), 5000);
	assert_int_equal(ing_deliver_max_value_bytes(deliver, ING_OUTPUT_DEAD), 5000 - 4096);
	fakes.max_value_bytes = 900;
	assert_int_equal(ing_deliver_max_value_bytes(deliver, ING_OUTPUT_RESULTS), 900);
	assert_int_equal(ing_deliver_max_value_bytes(deliver, ING_OUTPUT_DEAD), 0);
	end();
}

static struct ing_delivery *make_parked(int64_t offset)
{
	struct ing_delivery *d = ing_delivery_new(ING_DELIVERY_PARKED);
	d->token = (struct ing_token){.partition_index = SLOT, .epoch = EPOCH, .offset = offset};
	d->lane = ING_LANE_BULK;
	d->accepted_ms = 1000;
	d->name = "https://a.example/";
	d->done = on_delivered;
	d->ctx = &delivered;
	add_message(d, ING_OUTPUT_PARKED_1H, "request");
	return d;
}

static void a_parked_request_is_no_result(void **state)
{
	(void)state;
	begin(true);
	struct ing_delivery *d = make_parked(1);
	ing_delivery_add_cdx_line(d, &(struct ing_cdx){.url = "https://a.example/"});
	ing_delivery_set_rows(
		d, &(struct ing_rows){.cdx = &(struct ing_row_cdx){.url = "https://a.example/"},
			   .cdx_count = 1});
	assert_int_equal(ing_deliver_tiers(deliver), 1u << ING_TIER_1H);
	put(d);
	const struct ing_deliver_load *load = ing_deliver_load(deliver);
	assert_int_equal(load->parked, 1);
	assert_int_equal(load->results, 0);
	assert_int_equal(load->lanes[ING_LANE_BULK], 1);
	assert_int_equal(load->side_bytes, 0);
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.record_count, 0); /* what was fetched is in the index first */
	assert_string_equal(fakes.items[0]->message->value, "request");
	fake_stored();
	fake_expect_record(0, ING_OUTPUT_PARKED_1H, "key", "request");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.pruned_count, 1);
	assert_false(last_was_new);
	struct ing_deliver_stats stats = {0};
	ing_deliver_stats(deliver, &stats);
	assert_int_equal(stats.parked, 1);
	assert_int_equal(stats.results, 0);
	assert_int_equal(delivered, 1);
	assert_int_equal(fakes.finished_count, 1);
	end();
}

/* Nothing is to be stored: the transaction that has it and its position is all there is. */
static void a_parked_request_without_rows_is_committed_at_once(void **state)
{
	(void)state;
	begin(true);
	put(make_parked(1));
	assert_int_equal(fakes.item_count, 0);
	fake_expect_record(0, ING_OUTPUT_PARKED_1H, "key", "request");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.pruned_count, 0);
	assert_int_equal(stats().parked, 1);
	end();
}

static void a_parked_request_that_is_refused_ends(void **state)
{
	(void)state;
	begin(false);
	put(make_parked(1));
	fake_commit_ended(0, ING_EMIT_REFUSED);
	assert_int_equal(fakes.finished_count, 0);
	fake_expect_record(0, ING_OUTPUT_RESULTS, "sha1", "host-backoff");
	assert_int_equal(ing_deliver_load(deliver)->parked, 0);
	assert_int_equal(ing_deliver_load(deliver)->results, 1);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_true(last_was_new);
	struct ing_deliver_stats stats = {0};
	ing_deliver_stats(deliver, &stats);
	assert_int_equal(stats.parked, 0);
	assert_int_equal(stats.by_status[ING_STATUS_HOST_BACKOFF], 1);
	assert_int_equal(last_status, ING_STATUS_HOST_BACKOFF);
	assert_int_equal(fakes.finished_count, 1);
	end();
}

static void a_parked_request_of_a_revoked_partition_stays_where_it_was(void **state)
{
	(void)state;
	begin(false);
	put(make_parked(1));
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	fake_commit_ended(0, ING_EMIT_DROPPED);
	assert_int_equal(fakes.record_count, 0); /* and no result either */
	assert_int_equal(fakes.finished_count, 0);
	end();
}

static void a_refused_result_is_sent_shorter_once(void **state)
{
	(void)state;
	for (int taken = 0; taken < 2; taken++) {
		begin(true);
		put(make_result(1));
		bring_to_commit();
		fake_commit_ended(0, ING_EMIT_REFUSED);
		assert_int_equal(fakes.finished_count, 0);
		fake_expect_record(0, ING_OUTPUT_RESULTS, "key", "short");
		assert_int_equal(fakes.item_count, 0); /* the rows stay as they are */
		if (taken == 0) { /* not even that: its position is committed alone */
			fake_commit_ended(0, ING_EMIT_REFUSED);
			fake_expect_record(0, ING_OUTPUT_RESULTS, NULL, NULL);
		}
		fake_commit_ended(0, ING_EMIT_COMMITTED);
		assert_int_equal(fakes.finished_count, 1);
		assert_int_equal(fakes.pruned_count, 1);
		assert_int_equal(last_status, ING_STATUS_RESULT_TOO_LARGE);
		assert_int_equal(stats().by_status[ING_STATUS_RESULT_TOO_LARGE], 1);
		assert_int_equal(stats().hits, 0);
		assert_int_equal(stats().results, 1);
		end();
	}
}

/* The topic has become smaller since an earlier process had stored it. */
static void a_refused_answer_is_sent_shorter(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, true);
	fake_store_answered(ING_OUTPUT_RESULTS, "earlier");
	fake_commit_ended(0, ING_EMIT_REFUSED);
	fake_expect_record(0, ING_OUTPUT_RESULTS, "stored", "short");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(stats().answered, 1);
	end();
}

static void a_parked_request_in_the_outbox_that_is_refused_ends(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, true);
	fake_store_answered(ING_OUTPUT_PARKED_1D, "request");
	fake_commit_ended(0, ING_EMIT_REFUSED);
	fake_expect_record(0, ING_OUTPUT_RESULTS, "sha1", "host-backoff");
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(stats().by_status[ING_STATUS_HOST_BACKOFF], 1);
	assert_int_equal(stats().answered, 0);
	assert_int_equal(fakes.pruned_count, 1);
	end();
}

static void what_else_is_refused_is_left_out(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_emitted(0, false); /* the text */
	assert_int_equal(fakes.message_count, 0);
	fake_stored();
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(stats().hits, 1);

	put_dead_letter();
	fake_commit_ended(0, ING_EMIT_REFUSED);
	fake_expect_record(0, ING_OUTPUT_DEAD, NULL, NULL); /* it does not come again */
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 2);

	struct ing_delivery *d = make_result(2);
	add_message(d, ING_OUTPUT_RESULTS, "shortest"); /* in place of the other */
	put(d);
	bring_to_commit();
	fake_commit_ended(0, ING_EMIT_REFUSED);
	fake_expect_record(0, ING_OUTPUT_RESULTS, NULL, NULL);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 3);
	end();
}

/* --- dead letters and captures --- */

static void dead_letters_come_as_they_were_with_a_reason(void **state)
{
	(void)state;
	begin(true);
	put_dead_letter();
	assert_int_equal(fakes.item_count + fakes.message_count, 0);
	fake_expect_record(0, ING_OUTPUT_DEAD, NULL, "{oops");
	assert_int_equal(fakes.records[0].record->message->header_count, 9);
	assert_int_equal(stats().dead, 1);
	assert_int_equal(fakes.finished_count, 0);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.finished[0].offset, 9);
	assert_int_equal(stats().results, 0);
	assert_int_equal(delivered, 0);
	end();
}

static const char *header_of(const struct ing_output_message *m, const char *name)
{
	for (size_t i = 0; i < m->header_count; i++)
		if (strcmp(m->headers[i].name, name) == 0)
			return m->headers[i].value;
	fail_msg("no header %s", name);
	return NULL;
}

static void a_dead_letter_leaves_room_for_its_headers(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name;
		size_t key_bytes, value_bytes, max_bytes;
		bool has_key;
		size_t want_bytes;
	} cases[] = {
		{.name = "small", .key_bytes = 3, .value_bytes = 5, .max_bytes = 100,
			.has_key = true, .want_bytes = 5},
		{.name = "a value over the limit is cut", .key_bytes = 3, .value_bytes = 500,
			.max_bytes = 100, .has_key = true, .want_bytes = 100},
		{.name = "a key as long as may be", .key_bytes = 4096, .value_bytes = 5,
			.max_bytes = 100, .has_key = true, .want_bytes = 5},
		{.name = "a longer key is left out", .key_bytes = 4097, .value_bytes = 5,
			.max_bytes = 100, .want_bytes = 5},
		{.name = "there is no room at all", .key_bytes = 3, .value_bytes = 5,
			.has_key = true, .want_bytes = 0},
		{.name = "there was nothing", .max_bytes = 100, .want_bytes = 0},
	};
	/* clang-format on */
	(void)state;
	char *bytes = ing_alloc(5000);
	memset(bytes, 'b', 5000);
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_SYNTAX, "words");
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("%s\n", cases[i].name);
		struct ing_delivery *d = ing_dead_letter_new(
			&(struct ing_message){
				.token = {.partition_index = 2, .epoch = 1, .offset = 41},
				.topic = "requests",
				.partition = 5,
				.key = cases[i].key_bytes > 0 ? bytes : NULL,
				.key_bytes = cases[i].key_bytes,
				.value = cases[i].value_bytes > 0 ? bytes : NULL,
				.value_bytes = cases[i].value_bytes,
			},
			&err, cases[i].max_bytes);
		const struct ing_output_message *m = &d->message;
		char full[24];
		snprintf(full, sizeof(full), "%zu", cases[i].value_bytes);
		assert_int_equal(m->key != NULL, cases[i].has_key);
		assert_int_equal(m->value_bytes, cases[i].want_bytes);
		assert_string_equal(header_of(m, "ingest.errors.value-bytes"), full);
		assert_string_equal(header_of(m, "__dlq.errors.topic"), "requests");
		assert_string_equal(header_of(m, "__dlq.errors.partition"), "5");
		assert_string_equal(header_of(m, "__dlq.errors.offset"), "41");
		assert_string_equal(header_of(m, "__dlq.errors.message"), "words");
		ing_delivery_free(d);
	}
	free(bytes);
}

/* A replay makes the message again from them; and so that it ends some time, it is counted. */
static void a_dead_letter_keeps_the_headers_of_its_message(void **state)
{
	(void)state;
	char *huge = ing_alloc(3001);
	memset(huge, 'h', 3000);
	const struct ing_header given[] = {
		{"attempt", "2"},
		{"__dlq.errors.offset", "of an earlier death"},
		{"ingest.errors.reason", "of an earlier death"},
		{"huge", huge},
		{"empty", ""},
		{"ingest.replays", "1"},
	};
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_SYNTAX, "words");
	struct ing_delivery *d = ing_dead_letter_new(
		&(struct ing_message){
			.token = {.partition_index = 2, .epoch = 1, .offset = 41},
			.topic = "requests",
			.key = huge,
			.key_bytes = 5000,
			.headers = given,
			.header_count = ING_ARRAY_LEN(given),
		},
		&err, 100);
	const struct ing_output_message *m = &d->message;
	struct ing_letter letter;
	ing_letter_parse(m->headers, m->header_count, &letter);
	assert_int_equal(letter.offset, 41);
	assert_int_equal(letter.replays, 1);
	assert_int_equal(letter.key_bytes, 5000);
	assert_string_equal(letter.reason, "syntax");
	assert_string_equal(header_of(m, "attempt"), "2");
	assert_string_equal(header_of(m, "empty"), "");
	assert_int_equal(m->header_count, 9 + 1 + 3);
	ing_delivery_free(d);
	free(huge);
}

static void a_capture_is_stored_and_nothing_else(void **state)
{
	(void)state;
	begin(true);
	put(make_capture());
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.item_count, 1);
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	ing_deliver_cancel(deliver);
	fake_stored();
	assert_int_equal(delivered, 1);
	assert_int_equal(fakes.message_count, 0);
	assert_int_equal(fakes.finished_count, 0);
	assert_int_equal(stats().results, 0);
	end();
}

static void a_capture_without_a_store_is_over_at_once(void **state)
{
	(void)state;
	begin(false);
	struct ing_delivery *d = make_capture();
	assert_false(ing_deliver_put(deliver, &d));
	assert_null(d);
	assert_int_equal(lines, 1);
	assert_int_equal(delivered, 0);
	end();
}

static struct ing_delivery *make_document(void)
{
	struct ing_delivery *d = ing_delivery_new(ING_DELIVERY_DOCUMENT);
	d->done = on_delivered;
	d->ctx = &delivered;
	return d;
}

static void a_document_has_rows_and_messages_and_answers_nobody(void **state)
{
	(void)state;
	begin(true);
	struct ing_delivery *d = make_document();
	set_rows(d);
	add_message(d, ING_OUTPUT_PDF_TEXT, "words");
	put(d);
	assert_int_equal(ing_deliver_load(deliver)->documents, 1);
	assert_false(ing_deliver_idle(deliver));
	fake_expect(0, ING_OUTPUT_PDF_TEXT, "key", "words");
	assert_int_equal(fakes.item_count, 0);
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	ing_deliver_cancel(deliver);
	assert_true(fake_is_wanted(0));
	fake_emitted(0, true);
	assert_int_equal(fakes.item_count, 1);
	assert_int_equal(delivered, 0);
	fake_stored();
	assert_int_equal(delivered, 1);
	assert_int_equal(fakes.finished_count, 0);
	assert_int_equal(stats().results, 0);
	assert_true(ing_deliver_idle(deliver));
	end();
}

static void a_document_needs_no_store_and_no_message(void **state)
{
	(void)state;
	begin(false);
	struct ing_delivery *d = make_document();
	set_rows(d);
	add_message(d, ING_OUTPUT_PDF_TEXT, "words");
	put(d);
	fake_emitted(0, true);
	assert_int_equal(delivered, 1);
	d = make_document();
	set_rows(d); /* with nobody to write them */
	assert_false(ing_deliver_put(deliver, &d));
	assert_null(d);
	assert_int_equal(delivered, 1);
	end();
}

/* --- calling off --- */

/* How far a delivery has come. */
enum point {
	P_PUTTING, /* one of two objects is stored */
	P_EMITTING,
	P_STORING,
	P_COMMITTING,
	P_REFUSED,
	P_DEAD_LETTER,
	P_PARKED,
	P_ANSWERED,
	POINTS
};

static void bring(enum point point)
{
	if (point == P_DEAD_LETTER) {
		put_dead_letter();
		return;
	}
	if (point == P_PARKED || point == P_ANSWERED) {
		put(point == P_PARKED ? make_parked(1) : make_answered());
		return;
	}
	put(make_result_with_objects());
	fake_object_ended(0, ING_OBJECT_STORED);
	if (point == P_PUTTING)
		return;
	fake_object_ended(0, ING_OBJECT_STORED);
	if (point == P_EMITTING)
		return;
	fake_emitted(0, true);
	if (point == P_STORING)
		return;
	fake_stored();
	if (point == P_REFUSED)
		fake_commit_ended(0, ING_EMIT_REFUSED);
}

static void revoke_epoch(void)
{
	ing_deliver_revoke(deliver, SLOT, EPOCH);
}

static void revoke_then_cancel(void)
{
	revoke_epoch();
	ing_deliver_cancel(deliver);
}

static void cancel_all(void)
{
	ing_deliver_cancel(deliver);
	ing_deliver_cancel(deliver);
}

/* What was handed over comes back. */
static void give_back(bool ok)
{
	if (fakes.object_count > 0)
		fake_object_ended(0, ok ? ING_OBJECT_STORED : ING_OBJECT_CANCELLED);
	if (fakes.message_count > 0)
		fake_emitted(0, ok);
	if (fakes.item_count > 0 && ok)
		fake_stored();
	else if (fakes.item_count > 0)
		fake_store_answered(ING_OUTPUT_RESULTS, "earlier");
	if (fakes.record_count > 0)
		fake_commit_ended(0, ok ? ING_EMIT_DROPPED : ING_EMIT_REFUSED);
}

static void a_delivery_can_be_called_off_at_any_point(void **state)
{
	static void (*const ways[])(void) = {revoke_epoch, cancel_all, revoke_then_cancel};
	(void)state;
	for (size_t way = 0; way < ING_ARRAY_LEN(ways); way++) {
		for (enum point point = P_PUTTING; point < POINTS; point++) {
			for (int ok = 0; ok < 2; ok++) {
				begin_with_objects();
				bring(point);
				bool is_request = point != P_DEAD_LETTER;
				ways[way]();
				/* What has not left yet does not leave any more. */
				for (size_t i = 0; i < fakes.message_count; i++)
					assert_false(fake_is_wanted(i));
				for (size_t i = 0; i < fakes.object_count; i++)
					assert_true(fakes.objects[i]->cancelled);
				for (size_t i = 0; i < fakes.record_count; i++)
					assert_true(fakes.records[i].dropped);
				assert_false(ing_deliver_idle(deliver));
				const struct ing_deliver_load *load = ing_deliver_load(deliver);
				assert_int_equal(load->cancelled, is_request);
				assert_int_equal(stats().putting + stats().emitting +
							 stats().storing + stats().committing,
					0);
				give_back(ok != 0);
				assert_int_equal(fakes.object_count + fakes.message_count +
							 fakes.item_count + fakes.record_count,
					0);
				assert_int_equal(load->cancelled_total, is_request);
				assert_int_equal(fakes.finished_count + fakes.pruned_count, 0);
				assert_int_equal(delivered, 0);
				assert_int_equal(stats().results + stats().answered, 0);
				end();
			}
		}
	}
}

/* Its commit was on its way and could not be called back. */
static void what_is_committed_although_it_was_called_off_counts(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	bring_to_commit();
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.pruned_count, 1);
	assert_int_equal(stats().results, 1);
	assert_int_equal(ing_deliver_load(deliver)->cancelled_total, 0);
	assert_int_equal(delivered, 0);
	end();
}

/* emit has noticed first that the epoch is over. */
static void what_emit_has_dropped_is_called_off(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	bring_to_commit();
	fakes.records[0].dropped = true;
	fake_commit_ended(0, ING_EMIT_DROPPED);
	assert_int_equal(ing_deliver_load(deliver)->cancelled_total, 1);
	assert_int_equal(fakes.pruned_count, 0);
	end();
}

static void a_revocation_is_about_its_own_epoch_alone(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	struct ing_delivery *other = make_result(2);
	other->token.partition_index = SLOT + 1;
	put(other);
	ing_deliver_revoke(deliver, SLOT, EPOCH - 1);
	ing_deliver_revoke(deliver, SLOT + 5, EPOCH); /* nothing was ever there */
	assert_int_equal(ing_deliver_load(deliver)->cancelled, 0);
	ing_deliver_revoke(deliver, SLOT, EPOCH);
	assert_int_equal(ing_deliver_load(deliver)->cancelled, 1);
	fake_emitted(1, true);
	fake_emitted(0, true);
	fake_stored();
	assert_int_equal(fakes.item_count, 0);
	fake_commit_ended(0, ING_EMIT_COMMITTED);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.finished[0].offset, 2);
	end();
}

static void one_that_was_not_put_can_be_freed(void **state)
{
	(void)state;
	ing_delivery_free(NULL);
	ing_delivery_free(make_result_with_objects());
	ing_deliver_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_request_leaves_goes_out_in_the_durable_order),
		cmocka_unit_test(objects_are_stored_before_all_else),
		cmocka_unit_test(an_object_that_is_refused_holds_up_nothing),
		cmocka_unit_test(without_an_object_store_objects_are_dropped),
		cmocka_unit_test(all_side_messages_are_acknowledged_first),
		cmocka_unit_test(without_a_store_there_is_the_commit_alone),
		cmocka_unit_test(every_result_is_counted_once_by_its_status),
		cmocka_unit_test(an_answer_that_was_there_first_is_committed_instead),
		cmocka_unit_test(a_stored_answer_is_committed_only),
		cmocka_unit_test(what_another_owner_answers_is_left_to_it),
		cmocka_unit_test(what_was_called_off_is_fenced_without_a_word),
		cmocka_unit_test(a_result_of_an_epoch_that_is_over_goes_nowhere),
		cmocka_unit_test(what_is_under_way_is_known),
		cmocka_unit_test(what_keeps_them_from_leaving_is_said),
		cmocka_unit_test(values_have_the_room_that_their_output_has),
		cmocka_unit_test(a_parked_request_is_no_result),
		cmocka_unit_test(a_parked_request_without_rows_is_committed_at_once),
		cmocka_unit_test(a_parked_request_that_is_refused_ends),
		cmocka_unit_test(a_parked_request_of_a_revoked_partition_stays_where_it_was),
		cmocka_unit_test(a_refused_result_is_sent_shorter_once),
		cmocka_unit_test(a_refused_answer_is_sent_shorter),
		cmocka_unit_test(a_parked_request_in_the_outbox_that_is_refused_ends),
		cmocka_unit_test(what_else_is_refused_is_left_out),
		cmocka_unit_test(dead_letters_come_as_they_were_with_a_reason),
		cmocka_unit_test(a_dead_letter_leaves_room_for_its_headers),
		cmocka_unit_test(a_dead_letter_keeps_the_headers_of_its_message),
		cmocka_unit_test(a_capture_is_stored_and_nothing_else),
		cmocka_unit_test(a_capture_without_a_store_is_over_at_once),
		cmocka_unit_test(a_document_has_rows_and_messages_and_answers_nobody),
		cmocka_unit_test(a_document_needs_no_store_and_no_message),
		cmocka_unit_test(a_delivery_can_be_called_off_at_any_point),
		cmocka_unit_test(what_is_committed_although_it_was_called_off_counts),
		cmocka_unit_test(what_emit_has_dropped_is_called_off),
		cmocka_unit_test(a_revocation_is_about_its_own_epoch_alone),
		cmocka_unit_test(one_that_was_not_put_can_be_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
