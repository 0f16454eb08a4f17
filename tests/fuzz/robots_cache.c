/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any order of questions, departures, answers and passing time, with a cache that is far too small.
 * Everybody who waits is woken once, when his file has come and never else; an answer is a verdict;
 * the cache keeps its bounds. Woken ones may ask and leave in their turn. Two bytes are a step.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/robots.h"
#include "worker/gate/robots/robots.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 200, .heap_kb = 50, .heap_byte = 5);

#define CLIENTS 16
#define HOSTS 8
#define MAX_ENTRIES 3
#define MAX_STEPS 2000

struct client {
	struct ing_robots_waiter waiter;
	uint8_t host;
};

static struct {
	struct ing_robots *robots;
	struct client clients[CLIENTS];
	void *tokens[HOSTS]; /* NULL: nothing is being got */
	uint64_t now_ms;
	bool in_got;
	uint8_t mood; /* what the woken do */
} world;

static uint64_t read_clock(void)
{
	return world.now_ms;
}

static void get(void *ctx, const char *url, void *token)
{
	(void)ctx;
	ing_must(strncmp(url, "http://h", 8) == 0 && token != NULL);
	unsigned host = (unsigned)(url[8] - '0');
	ing_must(host < HOSTS && world.tokens[host] == NULL);
	world.tokens[host] = token;
}

static void ask(struct client *c, uint8_t host)
{
	char url[40];
	if (c->waiter.entry != NULL)
		return;
	snprintf(url, sizeof(url), "http://h%u.example/private", host % HOSTS);
	c->host = host % HOSTS;
	struct ing_robots_view v = ing_robots_ask(world.robots, url, &c->waiter);
	ing_must((v.verdict == ING_ROBOTS_PENDING) == (c->waiter.entry != NULL));
	ing_must(v.verdict != ING_ROBOTS_PENDING || world.tokens[c->host] != NULL);
	ing_must((v.verdict == ING_ROBOTS_DISALLOWED || v.verdict == ING_ROBOTS_FAILED) ==
		 (v.detail != NULL));
}

static void on_done(struct ing_robots_waiter *w)
{
	struct client *c = ING_CONTAINER(w, struct client, waiter);
	ing_must(world.in_got && w->entry == NULL);
	if (world.mood & 1)
		ask(c, c->host);
	if (world.mood & 2)
		ing_robots_leave(&world.clients[world.mood % CLIENTS].waiter);
	if (world.mood & 4)
		world.now_ms += 700;
	if (world.mood & 8)
		ask(&world.clients[(world.mood >> 4) % CLIENTS], (uint8_t)(c->host + 1));
}

static void answer(uint8_t host, uint8_t how)
{
	static const char body[] = "User-agent: *\nDisallow: /private\nCrawl-delay: 1\n";
	static const int http[] = {200, 404, 301, 429, 503, 200, 0, 404};
	struct ing_robots_answer a = {0};
	void *token = ING_TAKE(world.tokens[host % HOSTS]);
	if (token == NULL)
		return;
	a.http_status = http[how % ING_ARRAY_LEN(http)];
	a.outcome = how < 128 ? ING_STATUS_SUCCESS
			      : (enum ing_status)(how % (unsigned)ING_STATUS_COUNT_);
	a.retry_after_s = how % 3;
	struct ing_robots_txt *txt = ing_robots_txt_parse(body, how % sizeof(body), "bot");
	a.txt = how % 5 > 0 ? txt : NULL;
	world.mood = how;
	world.in_got = true;
	ing_robots_fetched(world.robots, token, &a);
	world.in_got = false;
	ing_robots_txt_free(txt); /* what the cache wants it has copied */
}

static void step(uint8_t what, uint8_t how)
{
	static const uint64_t spans_ms[] = {
		0, 1, 1000, 30000, 300000, 3600000, 86400000, (uint64_t)30 * 86400000};
	struct client *c = &world.clients[(what >> 2) % CLIENTS];
	switch (what & 3) {
	case 0:
		ask(c, how);
		break;
	case 1:
		ing_robots_leave(&c->waiter);
		ing_must(c->waiter.entry == NULL);
		break;
	case 2:
		answer(what >> 2, how);
		break;
	default:
		world.now_ms += spans_ms[how % ING_ARRAY_LEN(spans_ms)];
	}
}

static void check_world(void)
{
	struct ing_robots_stats stats;
	size_t waiting = 0;
	size_t under_way = 0;
	for (size_t i = 0; i < CLIENTS; i++)
		waiting += world.clients[i].waiter.entry != NULL;
	for (size_t i = 0; i < HOSTS; i++)
		under_way += world.tokens[i] != NULL;
	ing_robots_stats(world.robots, &stats);
	ing_must(stats.waiting == waiting);
	ing_must(stats.entries <= MAX_ENTRIES + under_way + 1);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const struct ing_robots_conf conf = {
		.obey = true,
		.max_entries = MAX_ENTRIES,
		.max_bytes = 100000,
		.fetch = get,
		.now_ms = read_clock,
	};
	memset(&world, 0, sizeof(world));
	world.robots = ing_robots_new(&conf);
	ing_robots_wire(world.robots, on_done);
	for (size_t i = 0; i + 1 < size && i < MAX_STEPS; i += 2) {
		step(data[i], data[i + 1]);
		check_world();
	}
	for (uint8_t i = 0; i < 2 * HOSTS; i++) /* the woken may ask once more */
		answer(i, 0);
	check_world();
	for (size_t i = 0; i < CLIENTS; i++)
		ing_must(world.clients[i].waiter.entry == NULL);
	ing_robots_free(world.robots);
}
