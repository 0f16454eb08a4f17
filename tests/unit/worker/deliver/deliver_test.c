/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries among a store, an emit and an intake that do what each test tells them to: the order
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
#include "worker/deliver/dead_letter.h"

#define SLOT 3
#define EPOCH 7

static struct ing_deliver *deliver;
static unsigned delivered;          /* calls of done() */
static enum ing_status last_status; /* of the last of them */
static unsigned lines;              /* of the capture index */

static void on_delivered(void *ctx, const struct ing_delivery *delivery)
{
	assert_ptr_equal(ctx, &delivered);
	delivered++;
	last_status = delivery->status;
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
	ing_delivery_set_shortest(d, ing_strdup("short"), 5);
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

static void what_a_request_leaves_goes_out_in_the_durable_order(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.item_count, 1);
	assert_int_equal(fakes.message_count, 0); /* not before the rows are committed */
	assert_int_equal(stats().storing, 1);
	const struct ing_rows *rows = fakes.items[0]->rows;
	assert_string_equal(rows->result.base_url, "https://a.example/");
	assert_string_equal(rows->cdx[0].url, "https://a.example/");

	fake_stored();
	assert_int_equal(stats().storing, 0);
	assert_int_equal(stats().emitting, 1);
	assert_int_equal(fakes.message_count, 2);
	fake_expect(0, ING_OUTPUT_PDF_TEXT, "key", "words");
	fake_expect(1, ING_OUTPUT_RESULTS, "key", "whole");
	assert_true(fake_is_wanted(0) && fake_is_wanted(1));
	fake_emitted(1, true);                     /* in any order */
	assert_int_equal(fakes.finished_count, 0); /* not before both are acknowledged */
	assert_int_equal(stats().results, 0);
	fake_emitted(0, true);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.finished[0].offset, 1);
	assert_int_equal(delivered, 1);
	assert_int_equal(stats().results, 1);
	assert_int_equal(stats().hits, 1);
	assert_int_equal(stats().by_status[ING_STATUS_SUCCESS], 1);
	end();
}

static void without_a_store_messages_go_at_once(void **state)
{
	(void)state;
	begin(false);
	put(make_result(1));
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.message_count, 2);
	fake_emitted(0, true);
	fake_emitted(0, true);
	assert_int_equal(fakes.finished_count, 1);
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
		fake_stored();
	while (fakes.message_count > 0)
		fake_emitted(fakes.message_count - 1, true);
	assert_int_equal(stats().results, 3);
	assert_int_equal(stats().hits, 1);
	assert_int_equal(stats().by_status[ING_STATUS_TIMEOUT], 2);
	assert_int_equal(stats().by_status[ING_STATUS_SUCCESS], 1);
	assert_int_equal(fakes.finished_count, 3);
	assert_int_equal(delivered, 3);
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
	fake_emitted(0, true); /* the dead letter */
	static const uint64_t oldest[] = {300, 700, 700, UINT64_MAX};
	for (size_t i = 0; i < ING_ARRAY_LEN(oldest); i++) {
		fake_stored();
		fake_emitted(0, true);
		assert_int_equal(load->side_bytes, (4 - i) * strlen("words"));
		fake_emitted(0, true);
		assert_true(ing_deliver_oldest_ms(deliver) == oldest[i]);
	}
	fake_stored();
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
	end();
	begin(false);
	fakes.store_blocked = true;
	assert_null(ing_deliver_blocked_by(deliver));
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
	put(d);
	const struct ing_deliver_load *load = ing_deliver_load(deliver);
	assert_int_equal(load->parked, 1);
	assert_int_equal(load->results, 0);
	assert_int_equal(load->lanes[ING_LANE_BULK], 1);
	assert_int_equal(load->side_bytes, 0);
	assert_int_equal(lines, 1);
	assert_int_equal(fakes.message_count, 0); /* what was fetched is in the index first */
	fake_stored();
	fake_expect(0, ING_OUTPUT_PARKED_1H, "key", "request");
	fake_emitted(0, true);
	struct ing_deliver_stats stats = {0};
	ing_deliver_stats(deliver, &stats);
	assert_int_equal(stats.parked, 1);
	assert_int_equal(stats.results, 0);
	assert_int_equal(delivered, 1);
	assert_int_equal(fakes.finished_count, 1);
	end();
}

static void a_parked_request_that_is_refused_ends(void **state)
{
	(void)state;
	begin(false);
	put(make_parked(1));
	fake_emitted(0, false);
	assert_int_equal(fakes.finished_count, 0);
	fake_expect(0, ING_OUTPUT_RESULTS, "sha1", "host-backoff");
	assert_int_equal(ing_deliver_load(deliver)->parked, 0);
	assert_int_equal(ing_deliver_load(deliver)->results, 1);
	fake_emitted(0, true);
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
	assert_false(fake_is_wanted(0));
	fake_emitted(0, false);
	assert_int_equal(fakes.message_count, 0); /* and no result either */
	assert_int_equal(fakes.finished_count, 0);
	end();
}

static void a_refused_result_is_sent_shorter_once(void **state)
{
	(void)state;
	for (int taken = 0; taken < 2; taken++) {
		begin(true);
		put(make_result(1));
		fake_stored();
		fake_emitted(1, false);
		fake_emitted(0, true);
		assert_int_equal(fakes.finished_count, 0);
		assert_int_equal(fakes.message_count, 1);
		fake_expect(0, ING_OUTPUT_RESULTS, "key", "short");
		assert_int_equal(fakes.item_count, 0); /* the rows stay as they are */
		fake_emitted(0, taken != 0);
		assert_int_equal(fakes.message_count, 0);
		assert_int_equal(fakes.finished_count, 1);
		assert_int_equal(last_status, ING_STATUS_RESULT_TOO_LARGE);
		assert_int_equal(stats().by_status[ING_STATUS_RESULT_TOO_LARGE], 1);
		assert_int_equal(stats().hits, 0);
		assert_int_equal(stats().results, 1);
		end();
	}
}

static void what_else_is_refused_is_left_out(void **state)
{
	(void)state;
	begin(true);
	put(make_result(1));
	fake_stored();
	fake_emitted(0, false); /* the text */
	assert_int_equal(fakes.message_count, 1);
	fake_emitted(0, true);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(stats().hits, 1);
	put_dead_letter();
	fake_emitted(0, false);
	assert_int_equal(fakes.finished_count, 2);
	struct ing_delivery *d = make_result(2); /* as short as it can be */
	ing_delivery_set_shortest(d, NULL, 0);
	d->status = ING_STATUS_RESULT_TOO_LARGE;
	put(d);
	fake_stored();
	fake_emitted(0, true);
	fake_emitted(0, false);
	assert_int_equal(fakes.finished_count, 3);
	end();
}

/* --- dead letters and captures --- */

static void dead_letters_come_as_they_were_with_a_reason(void **state)
{
	(void)state;
	begin(true);
	put_dead_letter();
	assert_int_equal(fakes.item_count, 0);
	assert_int_equal(fakes.message_count, 1);
	fake_expect(0, ING_OUTPUT_DEAD, NULL, "{oops");
	assert_int_equal(fakes.messages[0].header_count, 9);
	assert_int_equal(stats().dead, 1);
	assert_int_equal(fakes.finished_count, 0);
	fake_emitted(0, true);
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
		const struct ing_output_message *m = &d->messages->m;
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

/* --- calling off --- */

/* How far a delivery has come. */
enum point { P_STORING, P_EMITTING, P_TEXT_SENT, P_REFUSED, P_DEAD_LETTER, POINTS };

static void bring(enum point point)
{
	if (point == P_DEAD_LETTER) {
		put_dead_letter();
		return;
	}
	put(make_result(1));
	if (point == P_STORING)
		return;
	fake_stored();
	if (point == P_EMITTING)
		return;
	fake_emitted(0, true);
	if (point == P_REFUSED)
		fake_emitted(0, false);
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

static void a_delivery_can_be_called_off_at_any_point(void **state)
{
	static void (*const ways[])(void) = {revoke_epoch, cancel_all, revoke_then_cancel};
	(void)state;
	for (size_t way = 0; way < ING_ARRAY_LEN(ways); way++) {
		for (enum point point = P_STORING; point < POINTS; point++) {
			for (int ok = 0; ok < 2; ok++) {
				begin(true);
				bring(point);
				bool is_result = point != P_DEAD_LETTER;
				size_t owed = fakes.message_count;
				ways[way]();
				/* What has not left yet does not leave any more. */
				for (size_t i = 0; i < owed; i++)
					assert_false(fake_is_wanted(i));
				assert_false(ing_deliver_idle(deliver));
				const struct ing_deliver_load *load = ing_deliver_load(deliver);
				assert_int_equal(load->cancelled, is_result);
				assert_int_equal(load->cancelled_total, is_result);
				assert_int_equal(stats().storing + stats().emitting, 0);
				/* What was handed over comes back; nothing new is sent. */
				if (point == P_STORING)
					fake_stored();
				assert_int_equal(fakes.message_count, owed);
				while (fakes.message_count > 0) {
					assert_false(ing_deliver_idle(deliver));
					fake_emitted(0, ok != 0);
				}
				assert_int_equal(fakes.finished_count, 0);
				assert_int_equal(delivered, 0);
				assert_int_equal(stats().results, 0);
				end();
			}
		}
	}
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
	fake_stored();
	fake_stored();
	assert_int_equal(fakes.message_count, 2);
	fake_emitted(0, true);
	fake_emitted(0, true);
	assert_int_equal(fakes.finished_count, 1);
	assert_int_equal(fakes.finished[0].offset, 2);
	end();
}

static void one_that_was_not_put_can_be_freed(void **state)
{
	(void)state;
	ing_delivery_free(NULL);
	ing_delivery_free(make_result(1));
	ing_deliver_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_request_leaves_goes_out_in_the_durable_order),
		cmocka_unit_test(without_a_store_messages_go_at_once),
		cmocka_unit_test(every_result_is_counted_once_by_its_status),
		cmocka_unit_test(what_is_under_way_is_known),
		cmocka_unit_test(what_keeps_them_from_leaving_is_said),
		cmocka_unit_test(values_have_the_room_that_their_output_has),
		cmocka_unit_test(a_parked_request_is_no_result),
		cmocka_unit_test(a_parked_request_that_is_refused_ends),
		cmocka_unit_test(a_parked_request_of_a_revoked_partition_stays_where_it_was),
		cmocka_unit_test(a_refused_result_is_sent_shorter_once),
		cmocka_unit_test(what_else_is_refused_is_left_out),
		cmocka_unit_test(dead_letters_come_as_they_were_with_a_reason),
		cmocka_unit_test(a_dead_letter_leaves_room_for_its_headers),
		cmocka_unit_test(a_capture_is_stored_and_nothing_else),
		cmocka_unit_test(a_capture_without_a_store_is_over_at_once),
		cmocka_unit_test(a_delivery_can_be_called_off_at_any_point),
		cmocka_unit_test(a_revocation_is_about_its_own_epoch_alone),
		cmocka_unit_test(one_that_was_not_put_can_be_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
