/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stored answers. No state.
 */
#include "worker/deliver/answered.h"

#include "common/base/clock.h"

struct ing_delivery *ing_answered_new(const struct ing_message *m)
{
	struct ing_output_message answer = m->answer->message;
	if (answer.value != NULL)
		answer.value = ing_strndup(answer.value, answer.value_bytes);
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_ANSWERED);
	delivery->token = m->token;
	delivery->lane = m->lane;
	delivery->accepted_ms = ing_now_ms();
	delivery->answered = true;
	delivery->in_outbox = true;
	ing_delivery_add_message(delivery, &answer);
	return delivery;
}
