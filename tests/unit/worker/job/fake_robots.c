/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Made-up robots and rules about hosts: what is in struct fake is what they say.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/net/robots.h"
#include "stages.h"

/* --- robots --- */

struct ing_robots_view ing_robots_ask(
	struct ing_robots *r, const char *url, struct ing_robots_waiter *waiter)
{
	(void)r;
	ing_must(url != NULL && waiter->entry == NULL);
	fake.asked++;
	for (uint64_t from_ns = ing_thread_cpu_ns();
		ing_thread_cpu_ns() - from_ns < fake.robots_cost_ms * UINT64_C(1000000);)
		;
	if (fake.robots.verdict == ING_ROBOTS_PENDING) {
		waiter->entry = FAKE_STAGE;
		fake_list_add(&fake.robots_waiters, waiter);
	}
	return fake.robots;
}

static ing_robots_done_f *wired;

void ing_robots_wire(struct ing_robots *r, ing_robots_done_f *done)
{
	(void)r;
	wired = done;
}

void ing_robots_leave(struct ing_robots_waiter *w)
{
	if (w->entry != NULL)
		fake_list_take(&fake.robots_waiters, w);
	w->entry = NULL;
}

void fake_robots_done(void)
{
	struct ing_robots_waiter *w = fake_list_take_at(&fake.robots_waiters, 0);
	w->entry = NULL;
	wired(w);
}

void ing_robots_fetched(struct ing_robots *r, void *token, const struct ing_robots_answer *a)
{
	(void)r;
	fake.told = *a;
	fake.told_count++;
	fake.told_token = token;
	fake.told_rules = a->txt != NULL ? (int)ing_robots_txt_count(a->txt) : -1;
	snprintf(
		fake.told_words, sizeof(fake.told_words), "%s", a->detail != NULL ? a->detail : "");
	fake.told.txt = NULL;
	fake.told.detail = fake.told_words;
}

/* --- hosts' rules --- */

const char *ing_blocked_hosts_find(const struct ing_blocked_hosts *b, const char *host)
{
	(void)b;
	return fake.blocked_host != NULL && strcmp(host, fake.blocked_host) == 0
		       ? "its operator has asked"
		       : NULL;
}

const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host)
{
	(void)r;
	return fake.rule.host != NULL && strcmp(host, fake.rule.host) == 0 ? &fake.rule : NULL;
}
