/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Made-up stages: one callback for each put, none from inside it.
 */
#include "fakes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/intake/intake.h"

struct fakes fakes;

void fake_reset(void)
{
	assert_int_equal(fakes.object_count, 0);
	assert_int_equal(fakes.item_count, 0);
	assert_int_equal(fakes.message_count, 0);
	assert_int_equal(fakes.record_count, 0);
	fakes = (struct fakes){.max_value_bytes = 100000};
}

/* --- objects --- */

void ing_objects_put(struct ing_objects *s, struct ing_object *o)
{
	(void)s;
	assert_true(fakes.object_count < FAKE_PENDING && o->done != NULL && !o->cancelled);
	fakes.objects[fakes.object_count++] = o;
}

void ing_objects_cancel(struct ing_object *o)
{
	o->cancelled = true;
}

bool ing_objects_blocked(const struct ing_objects *s)
{
	(void)s;
	return fakes.objects_blocked;
}

void fake_object_ended(size_t i, enum ing_object_end end)
{
	assert_true(i < fakes.object_count);
	struct ing_object *o = fakes.objects[i];
	assert_true(end != ING_OBJECT_CANCELLED || o->cancelled);
	memmove(&fakes.objects[i], &fakes.objects[i + 1],
		(--fakes.object_count - i) * sizeof(fakes.objects[0]));
	o->done(o, end);
}

/* --- store --- */

void ing_store_put(struct ing_store *s, struct ing_store_item *item)
{
	(void)s;
	assert_true(fakes.item_count < FAKE_PENDING && item->rows != NULL);
	fakes.items[fakes.item_count++] = item;
}

bool ing_store_blocked(const struct ing_store *s)
{
	(void)s;
	return fakes.store_blocked;
}

void ing_store_prune(struct ing_store *s, const struct ing_source *source)
{
	(void)s;
	assert_true(fakes.pruned_count < FAKE_PENDING);
	assert_string_equal(source->group, "group");
	fakes.pruned[fakes.pruned_count++] = source->offset;
}

static void end_item(enum ing_store_end end, struct ing_answer *answer)
{
	assert_true(fakes.item_count > 0);
	struct ing_store_item *item = fakes.items[0];
	memmove(fakes.items, fakes.items + 1, --fakes.item_count * sizeof(struct ing_store_item *));
	item->end = end;
	item->answer = answer;
	item->done(item);
}

void fake_stored(void)
{
	end_item(ING_STORE_STORED, NULL);
}

void fake_store_fenced(void)
{
	end_item(ING_STORE_FENCED, NULL);
}

/* As the store makes it: everything on the heap. */
void fake_store_answered(enum ing_output output, const char *value)
{
	struct ing_answer *a = ing_alloc(sizeof(*a));
	struct ing_header *headers = ing_alloc(sizeof(*headers));
	headers[0] = (struct ing_header){ing_strdup("name"), ing_strdup("header")};
	a->message = (struct ing_output_message){
		.output = output,
		.key = ing_strdup("stored"),
		.key_bytes = 6,
		.value = ing_strdup(value),
		.value_bytes = strlen(value),
		.headers = headers,
		.header_count = 1,
	};
	end_item(ING_STORE_ANSWERED, a);
}

/* --- emit --- */

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	(void)output;
	return fakes.max_value_bytes;
}

bool ing_emit_has(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	return output < ING_OUTPUT_PARKED_1M || output == ING_OUTPUT_PARKED_1H;
}

bool ing_emit_blocked(const struct ing_emit *e)
{
	(void)e;
	return fakes.emit_blocked;
}

void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	(void)e;
	assert_true(fakes.message_count < FAKE_PENDING);
	fakes.messages[fakes.message_count++] = (struct fake_message){
		.output = m->output,
		.key = m->key != NULL ? ing_strndup(m->key, m->key_bytes) : NULL,
		.value = m->value != NULL ? ing_strndup(m->value, m->value_bytes) : ing_strdup(""),
		.header_count = m->header_count,
		.user = user,
		.ctx = ctx,
	};
	free(m->value);
}

bool fake_is_wanted(size_t i)
{
	assert_true(i < fakes.message_count);
	const struct fake_message *m = &fakes.messages[i];
	return m->user->wanted(m->ctx);
}

void fake_emitted(size_t i, bool ok)
{
	assert_true(i < fakes.message_count);
	struct fake_message m = fakes.messages[i];
	memmove(&fakes.messages[i], &fakes.messages[i + 1],
		(--fakes.message_count - i) * sizeof(fakes.messages[0]));
	free(m.key);
	free(m.value);
	m.user->done(m.ctx, ok);
}

void fake_expect(size_t i, enum ing_output output, const char *key, const char *value)
{
	assert_true(i < fakes.message_count);
	const struct fake_message *m = &fakes.messages[i];
	assert_int_equal(m->output, output);
	if (key == NULL)
		assert_null(m->key);
	else
		assert_string_equal(m->key, key);
	assert_string_equal(m->value, value);
}

void ing_emit_commit(struct ing_emit *e, struct ing_emit_record *r)
{
	(void)e;
	assert_true(fakes.record_count < FAKE_PENDING);
	for (size_t i = 0; i < fakes.record_count; i++)
		assert_ptr_not_equal(fakes.records[i].record, r); /* one commit at a time */
	fakes.records[fakes.record_count++] = (struct fake_record){.record = r};
}

void ing_emit_drop(struct ing_emit *e, int32_t partition_index, uint32_t epoch)
{
	(void)e;
	for (size_t i = 0; i < fakes.record_count; i++) {
		struct ing_token t = fakes.records[i].record->token;
		if (t.partition_index == partition_index && t.epoch == epoch)
			fakes.records[i].dropped = true;
	}
}

void ing_emit_drop_all(struct ing_emit *e)
{
	(void)e;
	for (size_t i = 0; i < fakes.record_count; i++)
		fakes.records[i].dropped = true;
}

void fake_commit_ended(size_t i, enum ing_emit_end end)
{
	assert_true(i < fakes.record_count && fakes.finished_count < FAKE_PENDING);
	struct ing_emit_record *r = fakes.records[i].record;
	assert_true(end != ING_EMIT_DROPPED || fakes.records[i].dropped);
	memmove(&fakes.records[i], &fakes.records[i + 1],
		(--fakes.record_count - i) * sizeof(fakes.records[0]));
	if (end == ING_EMIT_COMMITTED)
		fakes.finished[fakes.finished_count++] = r->token;
	r->done(r, end);
}

static void expect_text(const char *want, const void *text, size_t bytes)
{
	assert_int_equal(bytes, strlen(want));
	assert_memory_equal(text, want, bytes);
}

void fake_expect_record(size_t i, enum ing_output output, const char *key, const char *value)
{
	assert_true(i < fakes.record_count);
	const struct ing_output_message *m = fakes.records[i].record->message;
	assert_int_equal(m != NULL, value != NULL);
	if (m == NULL)
		return;
	assert_int_equal(m->output, output);
	assert_int_equal(m->key != NULL, key != NULL);
	if (key != NULL)
		expect_text(key, m->key, m->key_bytes);
	expect_text(value, m->value, m->value_bytes);
}

/* --- intake --- */

bool ing_intake_source(const struct ing_intake *in, struct ing_token t, struct ing_source *ret)
{
	(void)in;
	if (fakes.epoch_over)
		return false;
	*ret = (struct ing_source){.group = "group",
		.topic = "requests",
		.partition = t.partition_index,
		.offset = t.offset,
		.fence = 1};
	return true;
}

void ing_intake_fenced(struct ing_intake *in, struct ing_token t)
{
	(void)in;
	(void)t;
	fakes.fenced++;
}
