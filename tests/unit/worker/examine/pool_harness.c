/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pool_harness.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fcntl.h>

#include <cmocka.h>

#include "common/base/clock.h"

static unsigned fds_before;

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

void harness_start(struct harness *h, const struct ing_pool_conf *conf)
{
	struct ing_error err = {0};
	memset(h, 0, sizeof(*h));
	/* The library's first loop leaves descriptors of its own behind. */
	assert_int_equal(uv_loop_init(&h->loop), 0);
	assert_int_equal(uv_loop_close(&h->loop), 0);
	fds_before = count_fds();
	assert_int_equal(uv_loop_init(&h->loop), 0);
	if (ing_pool_new(&h->loop, conf, &h->pool, &err) != 0)
		fail_msg("%s", err.msg);
}

void harness_stop(struct harness *h)
{
	ing_pool_free(h->pool);
	h->pool = NULL;
	uv_run(&h->loop, UV_RUN_DEFAULT); /* ends only when no handle is left */
	assert_int_equal(uv_loop_close(&h->loop), 0);
	for (unsigned i = 0; i < h->asked; i++) {
		ing_findings_done(&h->answers[i].f);
		if (h->answers[i].fd >= 0)
			close(h->answers[i].fd);
	}
	assert_int_equal(count_fds(), fds_before);
}

static void on_answer(void *ctx, struct ing_findings *f)
{
	struct answer *a = ctx;
	assert_false(a->came);
	a->came = true;
	a->at_ms = ing_now_ms();
	a->f = *f;
	a->task = NULL;
	a->h->answered++;
	if (a->h->then != NULL)
		a->h->then(a->h, a);
}

static void on_running(void *ctx, bool running)
{
	struct answer *a = ctx;
	assert_false(a->came || a->at_work == running);
	a->at_work = running;
	a->started += running;
	a->order = running ? ++a->h->started : a->order;
}

static const struct ing_pool_user user = {.done = on_answer, .running = on_running};

struct answer *harness_ask(
	struct harness *h, const void *body, size_t bytes, const struct ing_exam_request *q)
{
	assert_true(h->asked < MAX_ANSWERS);
	struct answer *a = &h->answers[h->asked++];
	*a = (struct answer){.h = h, .fd = -1, .bytes = bytes};
	if (bytes > 0) {
		a->fd = memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_true(a->fd >= 0);
		for (size_t n = 0; n < bytes;) {
			ssize_t wrote = write(a->fd, (const char *)body + n, bytes - n);
			assert_true(wrote > 0);
			n += (size_t)wrote;
		}
		if (!h->unsealed)
			assert_int_equal(
				fcntl(a->fd, F_ADD_SEALS,
					F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL),
				0);
	}
	unsigned answered = h->answered;
	a->task = ing_pool_submit(h->pool, q, a->fd, bytes, &user, a);
	assert_int_equal(h->answered, answered); /* never from inside */
	return a;
}

struct answer *harness_ask_text(struct harness *h, const char *body)
{
	const struct ing_exam_request q = {.url = "http://example.org/",
		.want = ING_WANT_LINKS | ING_WANT_PDF,
		.max_body_bytes = (uint64_t)128 << 20,
		.max_scrape_bytes = (uint64_t)16 << 20};
	return harness_ask(h, body, strlen(body), &q);
}

static void on_tick(uv_timer_t *timer)
{
	(void)timer;
}

void harness_run(struct harness *h, const unsigned *count, unsigned want, unsigned timeout_ms)
{
	uv_timer_t tick; /* wakes the loop, so that the end is seen */
	uint64_t end_ms = ing_now_ms() + timeout_ms;
	uv_timer_init(&h->loop, &tick);
	uv_timer_start(&tick, on_tick, 20, 20);
	while (*count < want && ing_now_ms() < end_ms)
		uv_run(&h->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&h->loop, UV_RUN_NOWAIT);
	if (*count < want)
		fail_msg("%u of %u after %u ms", *count, want, timeout_ms);
}

const struct ing_findings *harness_get(struct harness *h, const char *body)
{
	struct answer *a = harness_ask_text(h, body);
	harness_run(h, &h->answered, h->asked, 60000);
	return &a->f;
}

void harness_turn(struct harness *h, unsigned ms)
{
	uv_timer_t tick;
	uint64_t end_ms = ing_now_ms() + ms;
	uv_timer_init(&h->loop, &tick);
	uv_timer_start(&tick, on_tick, 10, 10);
	while (ing_now_ms() < end_ms)
		uv_run(&h->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&h->loop, UV_RUN_NOWAIT);
}

static bool is_alive(int pid)
{
	char path[64];
	char line[512] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return false;
	char *got = fgets(line, sizeof(line), f);
	fclose(f);
	const char *state = got != NULL ? strrchr(line, ')') : NULL;
	return state != NULL && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

bool harness_is_gone(int pid)
{
	for (int i = 0; i < 500; i++) {
		if (!is_alive(pid))
			return true;
		usleep(10000);
	}
	return false;
}
