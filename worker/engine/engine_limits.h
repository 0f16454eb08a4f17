/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine_limits.h - what the process needs of the system before it begins: descriptors and threads.
 *
 * The one place that counts descriptors. Pure but for ing_engine_check_limits(), which runs before
 * any other thread.
 */
#pragma once
#include <stdint.h>
#include "common/base/error.h"

struct ing_conf;

/* Descriptors that so many transfers at a time may need, and those that others need beside. */
uint64_t ing_engine_descriptors(unsigned concurrency, unsigned beside);
/* Connections kept by fetch, those in use included. */
unsigned ing_engine_connections(unsigned concurrency);
/* -SYSTEM when the limit of descriptors does not do for gate.concurrency, or when
 * threads cannot be started, with words that say what to change. */
int ing_engine_check_limits(
	const struct ing_conf *conf, unsigned examiners, struct ing_error *err) ING_MUST_CHECK;
