/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Made-up ways out: one callback for each put, none from inside it.
 */
#include "ways_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/emit/emit.h"
#include "worker/intake/intake.h"

struct out out;

void out_reset(void)
{
	assert_int_equal(out.item_count, 0);
	assert_int_equal(out.message_count, 0);
	out = (struct out){.max_value_bytes = 100000};
}

/* --- store --- */

void ing_store_put(struct ing_store *s, struct ing_store_item *item)
{
	(void)s;
	assert_true(out.item_count < OUT_PENDING && item->rows != NULL);
	out.items[out.item_count++] = item;
}

bool ing_store_blocked(const struct ing_store *s)
{
	(void)s;
	return out.store_blocked;
}

void out_stored(void)
{
	assert_true(out.item_count > 0);
	struct ing_store_item *item = out.items[0];
	memmove(out.items, out.items + 1, --out.item_count * sizeof(struct ing_store_item *));
	item->done(item);
}

/* --- emit --- */

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	(void)output;
	return out.max_value_bytes;
}

bool ing_emit_blocked(const struct ing_emit *e)
{
	(void)e;
	return out.emit_blocked;
}

void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	(void)e;
	assert_true(out.message_count < OUT_PENDING);
	out.messages[out.message_count++] = (struct out_message){
		.output = m->output,
		.key = m->key != NULL ? ing_strndup(m->key, m->key_bytes) : NULL,
		.value = m->value != NULL ? ing_strndup(m->value, m->value_bytes) : ing_strdup(""),
		.header_count = m->header_count,
		.user = user,
		.ctx = ctx,
	};
	free(m->value);
}

bool out_is_wanted(size_t i)
{
	assert_true(i < out.message_count);
	const struct out_message *m = &out.messages[i];
	return m->user->wanted(m->ctx);
}

void out_emitted(size_t i, bool ok)
{
	assert_true(i < out.message_count);
	struct out_message m = out.messages[i];
	memmove(&out.messages[i], &out.messages[i + 1],
		(--out.message_count - i) * sizeof(out.messages[0]));
	free(m.key);
	free(m.value);
	m.user->done(m.ctx, ok);
}

void out_expect(size_t i, enum ing_output output, const char *key, const char *value)
{
	assert_true(i < out.message_count);
	const struct out_message *m = &out.messages[i];
	assert_int_equal(m->output, output);
	if (key == NULL)
		assert_null(m->key);
	else
		assert_string_equal(m->key, key);
	assert_string_equal(m->value, value);
}

/* --- intake --- */

void ing_intake_finish(struct ing_intake *in, struct ing_token t)
{
	(void)in;
	assert_true(out.finished_count < OUT_PENDING);
	out.finished[out.finished_count++] = t;
}
