/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session.h - settings of the store's connections. Constant.
 *
 * What finds rows of result_outbox and partition_owner by key must do so by their index: both are
 * tiny when a connection plans its statements, and may not be later. Without a limit on idleness a
 * worker that stands still, or whose machine is gone, in the middle of a transaction would keep its
 * locks, and with them its partitions, from its successor.
 */
#pragma once

/* Server-side limit of a statement while a connection is prepared. Later the pace sets it. */
#define ING_STORE_SESSION                                                                          \
	"SET statement_timeout = '15s';"                                                           \
	"SET idle_in_transaction_session_timeout = '10s';"                                         \
	"SET default_transaction_isolation = 'read committed';"                                    \
	"SET client_min_messages = 'error';"                                                       \
	"SET plan_cache_mode = force_generic_plan; SET jit = off;"                                 \
	"SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off"
