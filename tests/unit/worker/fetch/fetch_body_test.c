/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where bodies go: memory, file, the ceiling of all of them together, the disk that refuses; many
 * at once; calling off.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "client.h"
#include "common/base/clock.h"
#include "web.h"
#include "worker/fetch/fetch_priv.h"

#define MIB ((size_t)1 << 20)

static struct web *web;
static atomic_uint slow_sent;

/* /bytes?N: a body of N bytes of the pattern; /chunks?N: the same in chunks; /close?N: the same
 * without a length */
static size_t wanted_bytes(const struct web_conn *c)
{
	const char *question = strchr(c->request, '?');
	return question != NULL ? strtoul(question + 1, NULL, 10) : 0;
}

static void page_bytes(struct web_conn *c)
{
	size_t bytes = wanted_bytes(c);
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
	web_pattern(c, 0, bytes);
}

static void page_chunks(struct web_conn *c)
{
	size_t bytes = wanted_bytes(c);
	size_t size = 1;
	web_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (size_t done = 0; done < bytes && !c->over;) {
		size_t n = ING_MIN(size, bytes - done);
		web_sayf(c, "%zx\r\n", n);
		web_pattern(c, done, n);
		web_say(c, "\r\n");
		done += n;
		size = size * 3 % 70001;
	}
	web_say(c, "0\r\n\r\n");
}

/* In chunks of one to eight bytes, and a long one now and then. */
static void page_tiny(struct web_conn *c)
{
	size_t bytes = wanted_bytes(c);
	size_t done = 0;
	web_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (unsigned i = 0; done < bytes && !c->over; i++) {
		size_t n = ING_MIN(i % 1500 == 1499 ? (size_t)20000 : 1 + i % 8, bytes - done);
		web_sayf(c, "%zx\r\n", n);
		web_pattern(c, done, n);
		web_say(c, "\r\n");
		done += n;
	}
	web_say(c, "0\r\n\r\n");
}

static void page_close(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\n\r\n");
	web_pattern(c, 0, wanted_bytes(c));
	c->over = true;
}

/* Pieces with pauses between them: all transfers are under way together. */
static void page_slow(struct web_conn *c)
{
	size_t bytes = wanted_bytes(c);
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
	for (size_t done = 0; done < bytes && !c->over;) {
		size_t n = ING_MIN((size_t)50000, bytes - done);
		web_pattern(c, done, n);
		done += n;
		slow_sent++;
		if (!web_wait(c, 5))
			return;
	}
}

static void page_half(struct web_conn *c)
{
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", wanted_bytes(c));
	web_pattern(c, 0, wanted_bytes(c) / 2);
	web_wait(c, -1);
}

static void page_meet(struct web_conn *c)
{
	while (web_most_at_once(c->web) < 300 && web_wait(c, 10))
		continue;
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nmet");
}

/* A head of some 200 KB and a body of nothing. */
static void page_large_head(struct web_conn *c)
{
	char line[1024];
	memset(line, 'x', sizeof(line));
	memcpy(line, "X-Filler: ", 10);
	memcpy(line + sizeof(line) - 3, "\r\n", sizeof("\r\n"));
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (int i = 0; i < 200; i++)
		web_say(c, line);
	web_say(c, "\r\n");
}

static const struct web_page pages[] = {{"/bytes", page_bytes}, {"/chunks", page_chunks},
	{"/tiny", page_tiny}, {"/close", page_close}, {"/slow", page_slow}, {"/half", page_half},
	{"/meet", page_meet}, {"/large-head", page_large_head}, {NULL, NULL}};

static void start(struct client *c, size_t memory_bytes, size_t max_body_bytes)
{
	struct ing_fetch_settings conf = client_settings();
	conf.timeout_ms = 20000;
	conf.memory_bytes = memory_bytes;
	conf.max_body_bytes = max_body_bytes;
	client_start(c, &conf);
}

static size_t memory_of(struct client *c)
{
	struct ing_fetch_stats stats;
	ing_fetch_stats(c->fetch, &stats);
	return stats.memory_bytes - stats.head_bytes;
}

static size_t head_memory_of(struct client *c)
{
	struct ing_fetch_stats stats;
	ing_fetch_stats(c->fetch, &stats);
	return stats.head_bytes;
}

static bool is_in_memory(int fd)
{
	char path[32], name[64] = "";
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, name, sizeof(name) - 1) > 0 && strncmp(name, "/memfd:", 7) == 0;
}

static void sizes(void **state)
{
	(void)state;
	static const struct {
		size_t bytes;
		bool in_memory;
	} cases[] = {{1, true}, {100000, true}, {MIB, true}, {MIB + 1, false}, {3 * MIB, false},
		{3 * MIB + 12345, false}};
	static const char *const ways[] = {"bytes", "chunks", "close", "tiny"};
	struct client c;
	start(&c, 64 * MIB, 8 * MIB);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases) * ING_ARRAY_LEN(ways); i++) {
		size_t bytes = cases[i / 4].bytes;
		struct ing_exchange *ex = client_getf(
			&c, "http://127.0.0.1:%u/%s?%zu", web_port(web), ways[i % 4], bytes);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_pattern(ex, bytes);
		assert_int_equal(is_in_memory(ex->body_fd), cases[i / 4].in_memory);
		assert_int_equal(memory_of(&c), cases[i / 4].in_memory ? bytes : 0);
		struct stat st;
		assert_int_equal(fstat(ex->body_fd, &st), 0);
		if (cases[i / 4].in_memory) {
			assert_true((size_t)st.st_size >= bytes);
		} else {
			assert_int_equal((size_t)st.st_size, bytes);
			assert_int_equal(
				pwrite(ex->body_fd, "x", 1, 0), -1); /* an examiner gets it */
		}
		assert_int_equal(st.st_nlink, 0);
		ing_exchange_unref(ex);
		assert_int_equal(memory_of(&c), 0);
	}
	client_stop(&c);
}

static ino_t inode_of(const struct ing_exchange *ex)
{
	struct stat st;
	assert_int_equal(fstat(ex->body_fd, &st), 0);
	return st.st_ino;
}

/* A body's memory is written again once it is gone, and not before. */
static void memory_is_used_again(void **state)
{
	(void)state;
	static const char *const ways[] = {"bytes", "chunks", "close", "tiny"};
	struct client c;
	start(&c, 64 * MIB, 8 * MIB);
	struct ing_exchange *ex =
		client_getf(&c, "http://127.0.0.1:%u/bytes?200000", web_port(web));
	assert_outcome(ex, ING_STATUS_SUCCESS);
	ino_t first = inode_of(ex);
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		struct ing_exchange *other = client_getf(
			&c, "http://127.0.0.1:%u/%s?%zu", web_port(web), ways[i], 1000 + i);
		assert_outcome(other, ING_STATUS_SUCCESS);
		assert_int_not_equal(inode_of(other), first);
		assert_pattern(other, 1000 + i);
		assert_pattern(ex, 200000);
		ing_exchange_unref(other);
	}
	ing_exchange_unref(ex);
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		ex = client_getf(
			&c, "http://127.0.0.1:%u/%s?%zu", web_port(web), ways[i], 5000 * i + 1);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_int_equal(inode_of(ex), first);
		assert_pattern(ex, 5000 * i + 1);
		assert_int_equal(memory_of(&c), 5000 * i + 1);
		ing_exchange_unref(ex);
	}
	assert_int_equal(memory_of(&c), 0);
	client_stop(&c);
}

static void cut_at_the_limit(void **state)
{
	(void)state;
	static const struct {
		size_t max, bytes;
	} cases[] = {{100000, 100000}, {100000, 100001}, {100000, 5 * MIB},
		{2 * MIB + 5, 2 * MIB + 5}, {2 * MIB + 5, 2 * MIB + 6}, {1, 2}};
	static const char *const ways[] = {"bytes", "chunks", "close", "tiny"};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases) * ING_ARRAY_LEN(ways); i++) {
		size_t max = cases[i / 4].max;
		size_t bytes = cases[i / 4].bytes;
		struct client c;
		start(&c, 64 * MIB, max);
		struct ing_exchange *ex = client_getf(
			&c, "http://127.0.0.1:%u/%s?%zu", web_port(web), ways[i % 4], bytes);
		bool over = bytes > max;
		assert_outcome(ex, over ? ING_STATUS_BODY_TOO_LARGE : ING_STATUS_SUCCESS);
		assert_int_equal(ex->truncated, over ? ING_TRUNC_LENGTH : ING_TRUNC_NONE);
		assert_true(ex->answered);
		assert_pattern(ex, ING_MIN(bytes, max));
		ing_exchange_unref(ex);
		client_stop(&c);
	}
}

static void time_limit_keeps_what_came(void **state)
{
	(void)state;
	static const size_t sizes_half[] = {200000, 5 * MIB};
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes_half); i++) {
		struct client c;
		struct got got = {0};
		char url[128];
		start(&c, 64 * MIB, 8 * MIB);
		snprintf(url, sizeof(url), "http://127.0.0.1:%u/half?%zu", web_port(web),
			sizes_half[i]);
		struct ing_transfer *t = ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got);
		while (got.ex == NULL &&
			(t->body == NULL || ing_spool_body_bytes(t->body) < sizes_half[i] / 2))
			uv_run(&c.loop, UV_RUN_ONCE);
		if (got.ex == NULL)
			t->limit_ms = ing_now_ms(); /* now that all has come that will come */
		client_wait(&c, &got);
		assert_outcome(got.ex, ING_STATUS_READ_TIMEOUT);
		assert_int_equal(got.ex->truncated, ING_TRUNC_TIME);
		assert_non_null(strstr(got.ex->detail, "the answer was not complete"));
		assert_pattern(got.ex, sizes_half[i] / 2);
		ing_exchange_unref(got.ex);
		client_stop(&c);
	}
}

/* Twenty bodies of 3 MiB through an account of 2: never over it by more than the reserves, and all
 * arrive. */
static void memory_ceiling(void **state)
{
	(void)state;
	struct got got[20] = {0};
	struct client c;
	char url[128];
	size_t most = 0;
	slow_sent = 0;
	start(&c, 2 * MIB, 8 * MIB);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/slow?%zu", web_port(web), 3 * MIB);
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got[i]);
	uint64_t until = ing_now_ms() + 30000;
	for (size_t ready = 0; ready < ING_ARRAY_LEN(got);) {
		assert_true(ing_now_ms() < until);
		uv_run(&c.loop, UV_RUN_ONCE);
		most = ING_MAX(most, memory_of(&c));
		ready = 0;
		for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
			ready += got[i].ex != NULL;
	}
	assert_true(most > MIB);
	assert_true(most <= 2 * MIB + 4 * 16384);
	assert_int_equal(memory_of(&c), 0); /* all of them are files */
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		assert_pattern(got[i].ex, 3 * MIB);
		ing_exchange_unref(got[i].ex);
	}
	client_stop(&c);
}

/* Finished bodies hold all of the memory and nobody frees them: transfers must still get
 * through. */
static void memory_held_by_the_finished(void **state)
{
	(void)state;
	struct ing_exchange *held[4];
	struct client c;
	start(&c, 410000, 8 * MIB); /* these, their heads, and no piece of another */
	for (size_t i = 0; i < ING_ARRAY_LEN(held); i++) {
		held[i] = client_getf(&c, "http://127.0.0.1:%u/bytes?100000", web_port(web));
		assert_outcome(held[i], ING_STATUS_SUCCESS);
	}
	assert_int_equal(memory_of(&c), 400000);
	struct got got[12] = {0};
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		char url[128];
		snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s?%zu", web_port(web),
			i % 2 ? "slow" : "chunks", (size_t)150000 + i);
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got[i]);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		client_wait(&c, &got[i]);
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		assert_pattern(got[i].ex, 150000 + i);
		assert_false(is_in_memory(got[i].ex->body_fd));
		ing_exchange_unref(got[i].ex);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(held); i++) {
		assert_pattern(held[i], 100000);
		ing_exchange_unref(held[i]);
	}
	assert_int_equal(memory_of(&c), 0);
	client_stop(&c);
}

/* Heads alone fill the account: bodies go to the disk at once, and every byte comes back. */
static void heads_count_as_memory(void **state)
{
	(void)state;
	struct ing_exchange *held[3];
	struct client c;
	start(&c, 500000, 8 * MIB);
	for (size_t i = 0; i < ING_ARRAY_LEN(held); i++) {
		held[i] = client_getf(&c, "http://127.0.0.1:%u/large-head", web_port(web));
		assert_outcome(held[i], ING_STATUS_SUCCESS);
		assert_true(held[i]->response.len > 200000);
		assert_true(head_memory_of(&c) >= (i + 1) * 200000);
	}
	assert_int_equal(memory_of(&c), 0);
	struct ing_exchange *ex = client_getf(&c, "http://127.0.0.1:%u/bytes?70000", web_port(web));
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_pattern(ex, 70000);
	assert_false(is_in_memory(ex->body_fd)); /* a file: there was no memory left for it */
	ing_exchange_unref(ex);
	for (size_t i = 0; i < ING_ARRAY_LEN(held); i++)
		ing_exchange_unref(held[i]);
	assert_int_equal(head_memory_of(&c), 0);
	client_stop(&c);
}

/* One that is given up in its head holds nothing for longer than its exchange. */
static void heads_that_are_too_large_are_given_back(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	conf.max_header_bytes = 100000;
	client_start(&c, &conf);
	struct ing_exchange *ex = client_getf(&c, "http://127.0.0.1:%u/large-head", web_port(web));
	assert_outcome(ex, ING_STATUS_HEADERS_TOO_LARGE);
	ing_exchange_unref(ex);
	assert_int_equal(head_memory_of(&c), 0);
	client_stop(&c);
}

static void exchange_outlives_the_fetch(void **state)
{
	(void)state;
	struct client c;
	start(&c, 64 * MIB, 8 * MIB);
	struct ing_exchange *ex = client_getf(&c, "http://127.0.0.1:%u/bytes?70000", web_port(web));
	ing_exchange_ref(ex);
	client_stop(&c);
	ing_exchange_unref(ex);
	assert_pattern(ex, 70000);
	ing_exchange_unref(ex);
}

static void disk_refuses(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	conf.spool_dir = "no/such/folder";
	client_start(&c, &conf);
	struct ing_exchange *ex =
		client_getf(&c, "http://127.0.0.1:%u/bytes?%zu", web_port(web), 4 * MIB);
	assert_outcome(ex, ING_STATUS_WORKER_ERROR);
	assert_non_null(strstr(ex->detail, "spool.dir"));
	assert_int_equal(ex->truncated, ING_TRUNC_UNSPECIFIED);
	assert_int_equal(memory_of(&c), 0);
	ing_exchange_unref(ex);
	/* small ones do not need the disk */
	ex = client_getf(&c, "http://127.0.0.1:%u/bytes?5000", web_port(web));
	assert_outcome(ex, ING_STATUS_SUCCESS);
	ing_exchange_unref(ex);
	client_stop(&c);
}

/* It is put together in memory and written when it is whole; that can fail as well. */
static void a_small_body_that_cannot_be_kept_is_no_success(void **state)
{
	(void)state;
	struct client c;
	struct rlimit old;
	start(&c, 64 * MIB, 8 * MIB);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	struct rlimit tight = {.rlim_cur = 50, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	struct ing_exchange *ex = client_getf(&c, "http://127.0.0.1:%u/bytes?100", web_port(web));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_outcome(ex, ING_STATUS_WORKER_ERROR);
	assert_true(ex->transient);
	ing_exchange_unref(ex);
	assert_int_equal(memory_of(&c), 0);
	client_stop(&c);
}

/* The disk takes one window and then no more: what is safely there is kept. */
static void disk_fills_up(void **state)
{
	(void)state;
	struct client c;
	struct rlimit old;
	start(&c, 64 * MIB, 8 * MIB);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	struct rlimit tight = {.rlim_cur = MIB + MIB / 2, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	struct ing_exchange *ex =
		client_getf(&c, "http://127.0.0.1:%u/bytes?%zu", web_port(web), 4 * MIB);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_outcome(ex, ING_STATUS_WORKER_ERROR);
	assert_non_null(strstr(ex->detail, "spool.dir"));
	assert_true(ex->transient);
	assert_true(ex->body_bytes > 0 && ex->body_bytes <= MIB);
	assert_pattern(ex, ex->body_bytes);
	ing_exchange_unref(ex);
	client_stop(&c);
}

/* The linker leads the spool's calls here. */
static atomic_bool disk_is_full;
static atomic_uint full_answers;
ssize_t __real_sendfile(int out, int in, off_t *at, size_t bytes);
ssize_t __wrap_sendfile(int out, int in, off_t *at, size_t bytes);

ssize_t __wrap_sendfile(int out, int in, off_t *at, size_t bytes)
{
	if (!disk_is_full)
		return __real_sendfile(out, in, at, bytes);
	if (bytes > 1000 && *at == 0) /* it takes a little more, as real ones do */
		return __real_sendfile(out, in, at, 1000);
	full_answers++;
	errno = ENOSPC;
	return -1;
}

/* A full disk is waited for, and everything is whole when there is room again. */
static void full_disk_is_waited_for(void **state)
{
	(void)state;
	static const char *const ways[] = {"bytes", "chunks"};
	struct client c;
	struct got got[2] = {0};
	start(&c, 64 * MIB, 8 * MIB);
	full_answers = 0;
	disk_is_full = true;
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		char url[128];
		snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s?%zu", web_port(web), ways[i],
			4 * MIB + 77);
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got[i]);
	}
	uint64_t until = ing_now_ms() + 15000;
	while (full_answers < 4 && ing_now_ms() < until) /* each was tried again */
		client_turn(&c, 20);
	assert_true(full_answers >= 4);
	assert_true(ing_fetch_blocked(c.fetch));
	assert_true(got[0].ex == NULL && got[1].ex == NULL);
	assert_true(memory_of(&c) <= 4 * MIB);
	disk_is_full = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		client_wait(&c, &got[i]);
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		assert_pattern(got[i].ex, 4 * MIB + 77);
		ing_exchange_unref(got[i].ex);
	}
	assert_false(ing_fetch_blocked(c.fetch));
	assert_int_equal(memory_of(&c), 0);
	client_stop(&c);
}

static void full_disk_until_the_limit(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	conf.timeout_ms = 1000;
	client_start(&c, &conf);
	disk_is_full = true;
	struct ing_exchange *ex =
		client_getf(&c, "http://127.0.0.1:%u/bytes?%zu", web_port(web), 4 * MIB);
	assert_outcome(ex, ING_STATUS_WORKER_ERROR);
	assert_true(ex->transient);
	assert_int_equal(ex->body_bytes, 0); /* nothing was safe */
	ing_exchange_unref(ex);
	/* a transfer that is called off, and one that is there when all ends */
	char url[128];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/bytes?%zu", web_port(web), 4 * MIB);
	for (int i = 0; i < 2; i++) {
		struct got got = {0};
		struct ing_transfer *t = ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got);
		uint64_t until = ing_now_ms() + 900;
		while (!ing_fetch_blocked(c.fetch) && ing_now_ms() < until)
			client_turn(&c, 5);
		assert_null(got.ex);
		if (i == 0)
			ing_fetch_cancel(t);
	}
	client_stop(&c);
	disk_is_full = false;
}

static void fail_if_called(void *ctx, struct ing_exchange *ex)
{
	(void)ctx;
	(void)ex;
	fail_msg("done() after a cancel");
}

/* Called off after every so many milliseconds of its life: queued, resolving, connecting, reading,
 * spooling. */
static void cancels(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"bytes?20", "slow?4000000", "half?4000000", "chunks?3000000"};
	struct client c;
	start(&c, MIB, 8 * MIB);
	for (unsigned ms = 0; ms < 40; ms++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(paths); i++) {
			char url[128];
			snprintf(url, sizeof(url), "http://%s:%u/%s",
				ms % 2 ? "localhost" : "127.0.0.1", web_port(web), paths[i]);
			struct got got = {0};
			struct ing_transfer *t =
				ing_fetch_start(c.fetch, &(struct ing_fetch_request){.url = url},
					i == 2 ? fail_if_called : client_done, &got);
			if (ms > 0)
				client_turn(&c, ms / 2);
			if (got.ex == NULL)
				ing_fetch_cancel(t);
			ing_exchange_unref(got.ex);
		}
	}
	/* what the pool is still copying comes back when it lands */
	uint64_t until = ing_now_ms() + 20000;
	while (memory_of(&c) > 0 && ing_now_ms() < until)
		client_turn(&c, 10);
	assert_int_equal(memory_of(&c), 0);
	client_stop(&c);
}

static void freed_in_flight(void **state)
{
	(void)state;
	struct client c;
	char url[128];
	start(&c, MIB, 8 * MIB);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/slow?6000000", web_port(web));
	for (int i = 0; i < 30; i++)
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, fail_if_called, NULL);
	client_turn(&c, 120);
	client_stop(&c);
}

/* done() may start, and cancel others. */
struct chain {
	struct client *client;
	struct ing_transfer *other;
	unsigned left;
	char url[128];
};

static void next_of_chain(void *ctx, struct ing_exchange *ex)
{
	struct chain *chain = ctx;
	assert_outcome(ex, ING_STATUS_SUCCESS);
	ing_exchange_unref(ex);
	ing_fetch_cancel(ING_TAKE(chain->other));
	if (--chain->left == 0)
		return;
	ing_fetch_start(chain->client->fetch, &(struct ing_fetch_request){.url = chain->url},
		next_of_chain, chain);
	char half[128];
	snprintf(half, sizeof(half), "http://127.0.0.1:%u/half?1000", web_port(web));
	chain->other = ing_fetch_start(chain->client->fetch,
		&(struct ing_fetch_request){.url = half}, fail_if_called, NULL);
}

static void from_inside_done(void **state)
{
	(void)state;
	struct client c;
	struct chain chain = {.client = &c, .left = 20};
	start(&c, MIB, 8 * MIB);
	snprintf(chain.url, sizeof(chain.url), "http://127.0.0.1:%u/bytes?10", web_port(web));
	char half[128];
	snprintf(half, sizeof(half), "http://127.0.0.1:%u/half?1000", web_port(web));
	chain.other = ing_fetch_start(
		c.fetch, &(struct ing_fetch_request){.url = half}, fail_if_called, NULL);
	ing_fetch_start(
		c.fetch, &(struct ing_fetch_request){.url = chain.url}, next_of_chain, &chain);
	uint64_t until = ing_now_ms() + 20000;
	while (chain.left > 0 && ing_now_ms() < until)
		uv_run(&c.loop, UV_RUN_ONCE);
	assert_int_equal(chain.left, 0);
	client_stop(&c);
}

/* Three hundred that end only when all have arrived, while a timer of the loop keeps its time. What
 * counts is the loop's own work between two beats, not what the machine does besides: on a loaded
 * one, with as many threads of the servers, a beat may be late without any fault of the loop. */
struct pulse {
	uint64_t last_us;
	uint64_t worst_us;
};

static uint64_t thread_cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void on_pulse(uv_timer_t *timer)
{
	struct pulse *pulse = timer->data;
	uint64_t now = thread_cpu_us();
	if (pulse->last_us != 0)
		pulse->worst_us = ING_MAX(pulse->worst_us, now - pulse->last_us);
	pulse->last_us = now;
}

static void three_hundred_at_once(void **state)
{
	(void)state;
	static struct got got[300];
	struct pulse pulse = {0};
	struct ing_fetch_stats stats;
	struct client c;
	uv_timer_t timer;
	char url[128];
	/* of its own: another's may still have connections of the tests before */
	struct web *own = web_start(pages, NULL);
	start(&c, 64 * MIB, 8 * MIB);
	uv_timer_init(&c.loop, &timer);
	timer.data = &pulse;
	uv_timer_start(&timer, on_pulse, 0, 5);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/meet", web_port(own));
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
		ing_fetch_start(
			c.fetch, &(struct ing_fetch_request){.url = url}, client_done, &got[i]);
	ing_fetch_stats(c.fetch, &stats);
	assert_int_equal(stats.active, 300);
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++) {
		client_wait(&c, &got[i]);
		assert_outcome(got[i].ex, ING_STATUS_SUCCESS);
		ing_exchange_unref(got[i].ex);
	}
	assert_int_equal(web_most_at_once(own), 300);
	ing_fetch_stats(c.fetch, &stats);
	assert_int_equal(stats.active, 0);
	assert_int_equal(stats.exchanges, 300);
	assert_int_equal(stats.body_bytes, 900);
	assert_true(stats.cpu_ns > 0);
	if (pulse.worst_us > 200000) /* sanitized it is some 20 ms */
		fail_msg("the loop was busy for %llu us", (unsigned long long)pulse.worst_us);
	uv_close((uv_handle_t *)&timer, NULL);
	client_stop(&c);
	web_stop(own);
}

static int start_web(void **state)
{
	(void)state;
	web = web_start(pages, NULL);
	return 0;
}

static int stop_web(void **state)
{
	(void)state;
	web_stop(web);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(memory_is_used_again),
		cmocka_unit_test(cut_at_the_limit),
		cmocka_unit_test(time_limit_keeps_what_came),
		cmocka_unit_test(memory_ceiling),
		cmocka_unit_test(memory_held_by_the_finished),
		cmocka_unit_test(heads_count_as_memory),
		cmocka_unit_test(heads_that_are_too_large_are_given_back),
		cmocka_unit_test(exchange_outlives_the_fetch),
		cmocka_unit_test(disk_refuses),
		cmocka_unit_test(a_small_body_that_cannot_be_kept_is_no_success),
		cmocka_unit_test(disk_fills_up),
		cmocka_unit_test(full_disk_is_waited_for),
		cmocka_unit_test(full_disk_until_the_limit),
		cmocka_unit_test(cancels),
		cmocka_unit_test(freed_in_flight),
		cmocka_unit_test(from_inside_done),
		cmocka_unit_test(three_hundred_at_once),
	};
	return cmocka_run_group_tests(tests, start_web, stop_web);
}
