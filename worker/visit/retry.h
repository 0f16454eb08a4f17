/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * retry.h - whether a URL is asked for again within its request, and what its host is told of an
 * answer. Pure functions, any thread: tables of cases.
 *
 * Tried again are 429, 503 and the 5xx of servers that may be well in a moment, and whatever passes
 * by itself (struct ing_exchange.transient: no connection, resets, silence, bodies cut short, name
 * servers that failed), up to `tries` of the status table (status.def). 429 and 503 wait for their
 * host, which the gate holds; the others wait by themselves, a second, doubled each time, with
 * jitter; for a name server until its failure is forgotten. A try for which there was no descriptor
 * (no_descriptor) is none: whoever counts tries takes it back. What is permanent, a 404, a
 * certificate, a name that does not exist, is never tried again.
 */
#pragma once
#include "worker/model/exchange.h"
#include "worker/gate/gate.h"
#include "worker/gate/backoff.h"

/* For ing_gate_leave(): how the host did. */
struct ing_gate_report ing_retry_report(const struct ing_exchange *ex);
/* tries: made so far, this one included, 1 or more. more: how many more than the table has, for
 * what is transient and brought no answer. True: again, after *ret_delay_ms at least (set in this
 * case only). random: any 32 random bits. */
bool ing_retry_worth(const struct ing_exchange *ex, unsigned tries, unsigned more, uint32_t random,
	unsigned *ret_delay_ms);
#define ING_RETRY_DETAIL_BYTES 160
/* For error_message: why the gate has sent a waiter away, which had so many before it. */
void ing_retry_gate_detail(
	enum ing_gate_refusal reason, unsigned before, char ret[ING_RETRY_DETAIL_BYTES]);
