/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deliver_priv.h - what delivery.c, deliver.c (the deliveries under way) and deliver_steps.c (their
 * way) share. Loop thread only.
 */
#pragma once
#include "common/base/log.h"
#include "worker/deliver/deliver.h"

#define ING_DELIVERY_MAGIC 0x444c5652u

enum ing_delivery_state {
	ING_DELIVERY_MADE,
	ING_DELIVERY_PUTTING,
	ING_DELIVERY_EMITTING,
	ING_DELIVERY_STORING,
	ING_DELIVERY_COMMITTING,
	ING_DELIVERY_CANCELLED,
	ING_DELIVERY_STATES_
};

struct ing_deliver {
	size_t max_message_bytes;
	struct ing_deliver_stages stages;
	struct ing_delivery **lists; /* of those without a token, then by partition_index */
	size_t list_count;
	unsigned in_state[ING_DELIVERY_STATES_]; /* of those that load.results counts */
	struct ing_deliver_load load;
	struct ing_deliver_stats stats;
	struct ing_log_throttle refused_gate;
};

/* deliver.c */

/* It belongs to a message that was taken in. */
bool ing_delivery_has_token(const struct ing_delivery *delivery);
/* It answers a request that the pipeline has taken: that, and no dead letter. */
bool ing_delivery_is_of_request(const struct ing_delivery *delivery);
void ing_delivery_set_state(struct ing_delivery *delivery, enum ing_delivery_state state);
void ing_delivery_set_kind(struct ing_delivery *delivery, enum ing_delivery_kind kind);
void ing_delivery_cancel(struct ing_delivery *delivery);
/* Out of its list, and freed. */
void ing_delivery_remove(struct ing_delivery *delivery);

/* deliver_steps.c */

bool ing_delivery_is_stored(const struct ing_deliver *d, const struct ing_delivery *delivery);
/* There is a store for them, too. */
bool ing_delivery_has_objects(const struct ing_deliver *d, const struct ing_delivery *delivery);
void ing_delivery_begin(struct ing_delivery *delivery);
