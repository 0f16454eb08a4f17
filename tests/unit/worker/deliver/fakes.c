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

#include "worker/emit/emit.h"
#include "worker/intake/intake.h"

struct fakes fakes;

void fake_reset(void)
{
	assert_int_equal(fakes.item_count, 0);
	assert_int_equal(fakes.message_count, 0);
	fakes = (struct fakes){.max_value_bytes = 100000};
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

void fake_stored(void)
{
	assert_true(fakes.item_count > 0);
	struct ing_store_item *item = fakes.items[0];
	memmove(fakes.items, fakes.items + 1, --fakes.item_count * sizeof(struct ing_store_item *));
	item->done(item);
}

/* --- emit --- */

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output output)
{
	(void)e;
	(void)output;
	return fakes.max_value_bytes;
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

/* --- intake --- */

void ing_intake_finish(struct ing_intake *in, struct ing_token t)
{
	(void)in;
	assert_true(fakes.finished_count < FAKE_PENDING);
	fakes.finished[fakes.finished_count++] = t;
}
