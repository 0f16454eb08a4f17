/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/fetch/starts.h"

#include "common/base/macros.h"

/* Starts between two measurements, and how slowly one changes what is believed. */
#define SAMPLE 32
#define WEIGHT 4

static void measure(struct ing_starts *p, uint64_t cpu_ns)
{
	if (p->started < SAMPLE)
		return;
	uint64_t sample_us = (cpu_ns - p->sampled_cpu_ns) / 1000 / p->started;
	sample_us = ING_MIN(sample_us, (uint64_t)ING_STARTS_MOST_US);
	p->cost_us = (p->cost_us * (WEIGHT - 1) + sample_us) / WEIGHT;
	p->cost_us = ING_MAX(p->cost_us, (uint64_t)ING_STARTS_LEAST_US);
	p->sampled_cpu_ns = cpu_ns;
	p->started = 0;
}

void ing_starts_init(struct ing_starts *p, uint64_t now_us, uint64_t cpu_ns)
{
	*p = (struct ing_starts){.cost_us = ING_STARTS_MOST_US,
		.left_us = ING_STARTS_BURST_US,
		.refilled_us = now_us,
		.sampled_cpu_ns = cpu_ns};
}

unsigned ing_starts_allow(struct ing_starts *p, uint64_t now_us, uint64_t cpu_ns)
{
	measure(p, cpu_ns);
	uint64_t gone_us = now_us - p->refilled_us;
	p->refilled_us = now_us;
	p->left_us = ING_MIN(p->left_us + gone_us, (uint64_t)ING_STARTS_BURST_US);
	return (unsigned)(p->left_us / p->cost_us);
}

void ing_starts_take(struct ing_starts *p)
{
	p->left_us -= ING_MIN(p->cost_us, p->left_us);
	p->started++;
}
