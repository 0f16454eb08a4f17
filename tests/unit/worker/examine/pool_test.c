/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pool, the zygote, the sandbox and the protocol, as they are, around documents that misbehave
 * on purpose (fake_document.c): every question comes back in its time with its own verdict, and the
 * next one is answered well.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "pool_harness.h"
#include "worker/examine/pool_priv.h"

#ifdef ING_SANITIZED
#	define TIMEOUT_MS 2000u
#	define MEMORY_BYTES ((size_t)0)
#else
#	define TIMEOUT_MS 1000u
#	define MEMORY_BYTES ((size_t)128 << 20)
#endif

static struct harness h;

static struct ing_pool_conf make_conf(unsigned examiners, unsigned recycle_after)
{
	return (struct ing_pool_conf){.settings = {.processes = examiners,
					      .recycle_after = recycle_after,
					      .timeout_ms = TIMEOUT_MS,
					      .max_wait_ms = 600000,
					      .memory_bytes = MEMORY_BYTES},
		.examiner_path = FAKE_EXAMINER,
		.capacity = 256,
		.rules_fd = -1};
}

static void start(unsigned examiners, unsigned recycle_after)
{
	struct ing_pool_conf conf = make_conf(examiners, recycle_after);
	harness_start(&h, &conf);
}

static void assert_good(const char *body)
{
	const struct ing_findings *f = harness_get(&h, body);
	if (f->exam != ING_EXAM_OK)
		fail_msg("%s: %d %s", body, (int)f->exam, f->detail);
	assert_string_equal(f->page.title, body);
}

static struct ing_pool_stats stats(void)
{
	struct ing_pool_stats s;
	ing_pool_stats(h.pool, &s);
	return s;
}

/* Until the examiners have taken what they can. */
static void wait_until_waiting(unsigned count)
{
	for (int i = 0; i < 1000 && stats().waiting > count; i++)
		harness_turn(&h, 10);
	assert_int_equal(stats().waiting, count);
}

static void test_good_documents(void **state)
{
	char body[32];
	(void)state;
	start(3, 1000);
	for (int i = 0; i < 100; i++) {
		snprintf(body, sizeof(body), "good %d", i);
		harness_ask_text(&h, body);
	}
	assert_int_equal(stats().waiting, 100); /* nobody is ready yet */
	harness_run(&h, &h.answered, 100, 30000);
	for (int i = 0; i < 100; i++) {
		snprintf(body, sizeof(body), "good %d", i);
		assert_int_equal(h.answers[i].f.exam, ING_EXAM_OK);
		assert_string_equal(h.answers[i].f.page.title, body);
		assert_int_equal(h.answers[i].f.file.size_bytes, strlen(body));
		assert_string_equal(h.answers[i].f.file.mimetype, "text/plain");
	}
	for (int i = 0; i < 200 && stats().examiners_ready < 3; i++)
		harness_turn(&h, 50); /* the last may have come too late for the work */
	struct ing_pool_stats s = stats();
	assert_true(s.documents == 100 && s.crashes == 0 && s.timeouts == 0 && s.zygotes == 1);
	assert_int_equal(s.forks, 3);
	assert_int_equal(s.examiners_ready, 3);
	assert_int_equal(stats().waiting, 0);
	harness_stop(&h);
}

/* Each examiner gets one after the other in the same memory: long ones, short ones, and others
 * between that it gets as they are. */
static void test_bodies_in_memory_that_is_used_again(void **state)
{
	char body[64];
	(void)state;
	start(2, 1000);
	for (int i = 0; i < 40; i++) {
		snprintf(body, sizeof(body), i % 2 ? "good %d" : "good %d and much longer", i);
		h.unsealed = i % 5 != 4;
		harness_ask_text(&h, body);
	}
	harness_run(&h, &h.answered, 40, 30000);
	for (int i = 0; i < 40; i++) {
		snprintf(body, sizeof(body), i % 2 ? "good %d" : "good %d and much longer", i);
		assert_int_equal(h.answers[i].f.exam, ING_EXAM_OK);
		assert_string_equal(h.answers[i].f.page.title, body);
	}
	h.unsealed = true;
	assert_int_equal(harness_get(&h, "abort")->exam, ING_EXAM_CRASH);
	assert_good("good");
	harness_stop(&h);
}

static void test_empty_body(void **state)
{
	(void)state;
	start(1, 1000);
	const struct ing_findings *f = harness_get(&h, "");
	assert_int_equal(f->exam, ING_EXAM_OK);
	assert_int_equal(f->file.size_bytes, 0);
	harness_stop(&h);
}

/* One after the other on one examiner: each gets its own verdict, and the good one after it is none
 * the wiser. */
static void test_each_misbehaviour(void **state)
{
	static const struct {
		const char *body;
		enum ing_exam exam;
		const char *detail; /* begins with; NULL: any */
	} cases[] = {
		{"early-trap", ING_EXAM_CRASH, NULL},
		{"trap", ING_EXAM_CRASH, NULL},
		{"abort", ING_EXAM_CRASH, NULL},
		{"exit", ING_EXAM_CRASH, "the examiner died: exit code 7"},
#ifndef ING_SANITIZED
		{"exec", ING_EXAM_CRASH, "the examiner died: SIGSYS"},
		{"bus", ING_EXAM_UNREADABLE, "the examiner died: SIGBUS"},
		{"eat", ING_EXAM_CRASH, NULL},
#endif
		{"sleep", ING_EXAM_TIMEOUT, "killed after"},
		{"spin", ING_EXAM_TIMEOUT, "killed after"},
		{"half", ING_EXAM_TIMEOUT, "killed after"},
		{"garbage", ING_EXAM_CRASH, "the examiner sent an invalid reply"},
		{"bad", ING_EXAM_CRASH, "the examiner sent an invalid reply"},
		{"huge", ING_EXAM_CRASH, "the examiner sent an invalid reply"},
		{"early", ING_EXAM_CRASH, "the examiner sent an invalid reply"},
		{"deaf", ING_EXAM_CRASH, NULL},
	};
	unsigned crashes = 0;
	unsigned timeouts = 0;
	unsigned unread = 0;
	(void)state;
	start(1, 1000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		uint64_t start_ms = ing_now_ms();
		const struct ing_findings *f = harness_get(&h, cases[i].body);
		uint64_t took_ms = ing_now_ms() - start_ms;
		if (f->exam != cases[i].exam || f->detail == NULL ||
			(cases[i].detail != NULL &&
				strncmp(f->detail, cases[i].detail, strlen(cases[i].detail)) != 0))
			fail_msg("%s: %d %s", cases[i].body, (int)f->exam, f->detail);
		/* What it is was told before it misbehaved. */
		bool known = f->exam == ING_EXAM_CRASH || f->exam == ING_EXAM_TIMEOUT;
		known = known && strcmp(cases[i].body, "early-trap") != 0;
		assert_string_equal(f->file.mimetype, known ? "text/plain" : "");
		assert_int_equal(f->file.size_bytes, known ? strlen(cases[i].body) : 0);
		crashes += f->exam == ING_EXAM_CRASH;
		timeouts += f->exam == ING_EXAM_TIMEOUT;
		unread += f->exam == ING_EXAM_UNREADABLE;
		if (f->exam == ING_EXAM_TIMEOUT)
			assert_true(took_ms >= TIMEOUT_MS - 100);
		if (i > 0 && took_ms > TIMEOUT_MS + 3000) /* the first one waits for the zygote */
			fail_msg("%s: %u ms", cases[i].body, (unsigned)took_ms);
		assert_good("good");
	}
	struct ing_pool_stats s = stats();
	assert_true(s.crashes == crashes && s.timeouts == timeouts);
	assert_int_equal(s.forks, 1 + crashes + timeouts + unread);
	assert_int_equal(s.zygotes, 1);
	assert_true(s.cpu_us > 0);
	harness_stop(&h);
}

/* The same in the process that reads a PDF: the other findings survive it, and so does the
 * examiner. */
static void test_each_pdf_misbehaviour(void **state)
{
	static const struct {
		const char *body, *status, *error;
	} cases[] = {
		{"pdf-good", "success", NULL},
		{"pdf-socket", "success", NULL},
		{"pdf-fork", "success", NULL},
		{"pdf-trap", "bad-pdf", "the reading process died"},
		{"pdf-exit", "bad-pdf", "the reading process sent an invalid reply"},
#ifndef ING_SANITIZED
		{"pdf-recv", "bad-pdf", "the reading process died: SIGSYS"},
		{"pdf-eat", "bad-pdf", "the reading process died"},
#endif
		{"pdf-sleep", "error-timeout", "still reading after"},
		{"pdf-spin", "error-timeout", "still reading after"},
		{"pdf-deaf", "error-timeout", "still reading after"},
	};
	(void)state;
	start(1, 1000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_findings *f = harness_get(&h, cases[i].body);
		if (f->exam != ING_EXAM_OK || strcmp(f->pdf.status, cases[i].status) != 0)
			fail_msg("%s: %d %s %s", cases[i].body, (int)f->exam, f->pdf.status,
				f->detail);
		assert_string_equal(f->page.title, cases[i].body);
		assert_string_equal(f->file.mimetype, "application/pdf");
		if (cases[i].error == NULL)
			assert_string_equal(f->pdf.text, "text of a PDF");
		else
			assert_memory_equal(
				f->pdf.error_msg, cases[i].error, strlen(cases[i].error));
		if (strcmp(cases[i].body, "pdf-socket") == 0 ||
			strcmp(cases[i].body, "pdf-fork") == 0)
			assert_non_null(f->pdf.created); /* its way of saying that it was refused */
		if (strcmp(cases[i].body, "pdf-spin") == 0)
			assert_true(f->pdf_cpu_us > 20000 && f->cpu_us < f->pdf_cpu_us);
	}
	assert_int_equal(stats().forks, 1);
	assert_good("good");
	harness_stop(&h);
}

/* What a reader has told before it misbehaves is kept. */
static void test_pdf_keeps_what_was_read(void **state)
{
	static const struct {
		const char *body, *info;
		bool thumbnail;
	} cases[] = {
		{"pdf-good", "{\"doi\":\"10.1/1\"}", true},
		{"pdf-late-trap", "{}", false},
		{"pdf-late-sleep", "{}", false},
		{"pdf-late-spin", "{}", false},
#ifndef ING_SANITIZED
		{"pdf-late-eat", "{}", false},
#endif
		{"pdf-last-trap", "{\"doi\":\"10.1/1\"}", false},
	};
	(void)state;
	start(1, 1000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_findings *f = harness_get(&h, cases[i].body);
		print_message("%s\n", cases[i].body);
		assert_int_equal(f->exam, ING_EXAM_OK);
		assert_string_equal(f->pdf.status, "success");
		assert_string_equal(f->pdf.text, "text of a PDF");
		assert_string_equal(f->pdf.info_json, cases[i].info);
		assert_int_equal(f->pdf.thumbnail.data != NULL, cases[i].thumbnail);
	}
	assert_int_equal(stats().forks, 1);
	harness_stop(&h);
}

/* The time of a part beyond the text is bounded by itself, long before the document's limit. */
static void test_pdf_part_has_its_own_time(void **state)
{
	struct ing_pool_conf conf = make_conf(1, 1000);
	(void)state;
	conf.settings.timeout_ms = 60000;
	harness_start(&h, &conf);
	const struct ing_findings *f = harness_get(&h, "pdf-late-spin");
	assert_string_equal(f->pdf.status, "success");
	assert_true(f->pdf_cpu_us < 30 * 1000000); /* of two seconds, as the kernel counts them */
	harness_stop(&h);
}

/* More than any answer, for which 16 MiB have to be taken first. */
static void test_pdf_reader_that_says_too_much(void **state)
{
	struct ing_pool_conf conf = make_conf(1, 1000);
	(void)state;
	conf.settings.timeout_ms = 30000;
	harness_start(&h, &conf);
	const struct ing_findings *f = harness_get(&h, "pdf-flood");
	assert_int_equal(f->exam, ING_EXAM_OK);
	assert_string_equal(f->pdf.status, "bad-pdf");
	assert_string_equal(f->pdf.error_msg, "the reading process died: SIGPIPE");
	assert_good("good");
	harness_stop(&h);
}

static void test_pdf_is_not_read_unasked(void **state)
{
	const struct ing_exam_request q = {.url = "http://example.org/", .want = ING_WANT_LINKS};
	(void)state;
	start(1, 1000);
	struct answer *a = harness_ask(&h, "pdf-trap", 8, &q);
	harness_run(&h, &h.answered, 1, 60000);
	assert_int_equal(a->f.exam, ING_EXAM_OK);
	assert_null(a->f.pdf.status);
	harness_stop(&h);
}

static void test_pdf_limit_of_the_question(void **state)
{
	struct ing_exam_request q = {.want = ING_WANT_PDF, .pdf_timeout_ms = 100};
	(void)state;
	start(1, 1000);
	assert_good("good");
	uint64_t start_ms = ing_now_ms();
	struct answer *a = harness_ask(&h, "pdf-sleep", 9, &q);
	harness_run(&h, &h.answered, 2, 60000);
	assert_string_equal(a->f.pdf.status, "error-timeout");
	assert_string_equal(a->f.pdf.error_msg, "still reading after 100 ms");
	assert_true(a->at_ms - start_ms >= 90 && a->at_ms - start_ms < TIMEOUT_MS * 3 / 4);
	harness_stop(&h);
}

/* What a document makes a library print is hostile text: it does not reach the log. */
static void test_words_on_stderr(void **state)
{
	int ends[2];
	char words[4096] = "";
	(void)state;
	int keep = dup(STDERR_FILENO);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	fflush(stderr);
	dup2(ends[1], STDERR_FILENO);
	start(1, 1000);
	const struct ing_findings *f = harness_get(&h, "stderr");
	enum ing_exam exam = f->exam;
	harness_stop(&h);
	dup2(keep, STDERR_FILENO);
	close(keep);
	close(ends[1]);
	ssize_t n = read(ends[0], words, sizeof(words) - 1);
	close(ends[0]);
	assert_true(n >= 0);
	assert_int_equal(exam, ING_EXAM_OK);
#ifdef ING_SANITIZED
	assert_non_null(strstr(words, "hostile words")); /* there it is wanted */
#else
	assert_null(strstr(words, "hostile words"));
#endif
}

static void test_large_reply(void **state)
{
	(void)state;
	start(2, 1000);
	for (int i = 0; i < 4; i++) {
		const struct ing_findings *f = harness_get(&h, "big");
		assert_int_equal(f->exam, ING_EXAM_OK);
		assert_int_equal(strlen(f->pdf.text), 3000000);
	}
	harness_stop(&h);
}

/* However many examiners reply with megabytes at once. */
static void test_one_large_reply_a_turn(void **state)
{
	enum { REPLIES = 4, ROUNDS = 4 };
	(void)state;
	start(REPLIES, 1000);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < REPLIES; i++)
			harness_ask_text(&h, "big");
		while (h.answered < h.asked) {
			unsigned answered = h.answered;
			uv_run(&h.loop, UV_RUN_ONCE);
			assert_in_range(h.answered, answered, answered + 1);
		}
	}
	for (unsigned i = 0; i < h.asked; i++)
		assert_int_equal(strlen(h.answers[i].f.pdf.text), 3000000);
	harness_stop(&h);
}

static void keep_exam(void *ctx, struct ing_findings *f)
{
	*(int *)ctx = (int)f->exam;
	ing_findings_done(f);
	h.answered++;
}

static const struct ing_pool_user keeper = {.done = keep_exam};

/* A body that is shorter than it was fetched is what a disk of ours makes of it; a descriptor that
 * is none is our own mistake, and ends as any bad document. */
static void test_body_that_is_not_there(void **state)
{
	const struct ing_exam_request q = {.want = ING_WANT_LINKS};
	int exam = -1;
	(void)state;
	start(1, 1000);
	struct answer *a = harness_ask_text(&h, "good");
	harness_run(&h, &h.answered, 1, 60000);
	ing_pool_submit(h.pool, &q, a->fd, 100000, &keeper, &exam); /* has four bytes */
	harness_run(&h, &h.answered, 2, 60000);
	assert_int_equal(exam, ING_EXAM_UNREADABLE);
	assert_int_equal(stats().crashes, 0);
	ing_pool_submit(h.pool, &q, 9999, 4, &keeper, &exam); /* not open */
	exam = -1;
	harness_run(&h, &h.answered, 3, 60000);
	assert_int_equal(exam, ING_EXAM_CRASH);
	h.answered -= 2;
	assert_good("good");
	harness_stop(&h);
}

static void test_recycling(void **state)
{
	int pids[12];
	(void)state;
	start(1, 3);
	for (int i = 0; i < 12; i++) {
		pids[i] = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
		assert_true(pids[i] > 1);
		if (i % 3 != 0)
			assert_int_equal(pids[i], pids[i - 1]);
		else if (i > 0)
			assert_int_not_equal(pids[i], pids[i - 1]);
	}
	assert_true(harness_is_gone(pids[0]) && harness_is_gone(pids[5]));
	struct ing_pool_stats s = stats();
	assert_true(s.crashes == 0 && s.documents == 12 && s.zygotes == 1);
	harness_stop(&h);
}

static void test_examiner_killed_at_work(void **state)
{
	(void)state;
	start(1, 1000);
	int pid = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	struct answer *victim = harness_ask_text(&h, "sleep");
	struct answer *next = harness_ask_text(&h, "good");
	harness_turn(&h, 100);
	uint64_t start_ms = ing_now_ms();
	assert_int_equal(kill(pid, SIGKILL), 0);
	harness_run(&h, &h.answered, 3, TIMEOUT_MS - 200);
	assert_int_equal(victim->f.exam, ING_EXAM_CRASH);
	assert_string_equal(victim->f.detail, "the examiner died: SIGKILL");
	assert_int_equal(next->f.exam, ING_EXAM_OK);
	assert_true(next->at_ms - start_ms < TIMEOUT_MS);
	harness_stop(&h);
}

static void test_idle_examiner_killed(void **state)
{
	(void)state;
	start(1, 1000);
	int pid = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	assert_int_equal(kill(pid, SIGKILL), 0);
	harness_turn(&h, 100);
	assert_good("good");
	assert_true(stats().forks == 2 && stats().crashes == 0);
	harness_stop(&h);
}

/* The documents under way get a second chance, because it was not their fault. */
static void test_zygote_killed_at_work(void **state)
{
	(void)state;
	start(2, 1000);
	int pid = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	struct answer *slow[2] = {
		harness_ask_text(&h, "pdf-sleep 1"), harness_ask_text(&h, "pdf-sleep 2")};
	struct answer *queued = harness_ask_text(&h, "good");
	wait_until_waiting(1);
	assert_int_equal(kill(h.pool->zygote->pid, SIGKILL), 0);
	harness_run(&h, &h.answered, 4, 60000);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(slow[i]->f.exam, ING_EXAM_OK);
		assert_string_equal(slow[i]->f.pdf.status, "error-timeout");
	}
	assert_int_equal(queued->f.exam, ING_EXAM_OK);
	assert_true(harness_is_gone(pid)); /* they do not survive it */
	assert_int_equal(stats().zygotes, 2);
	harness_stop(&h);
}

static void test_zygote_killed_twice(void **state)
{
	(void)state;
	start(1, 1000);
	assert_good("good");
	struct answer *a = harness_ask_text(&h, "sleep");
	for (int i = 0; i < 2; i++) {
		uint64_t ready = 0;
		for (int n = 0; n < 1000 && (ready == 0 || stats().waiting > 0); n++) {
			harness_turn(&h, 10);
			ready = stats().examiners_ready;
		}
		assert_false(a->came);
		assert_int_equal(kill(h.pool->zygote->pid, SIGKILL), 0);
		harness_turn(&h, 50);
	}
	harness_run(&h, &h.answered, 2, 1000);
	assert_int_equal(a->f.exam, ING_EXAM_CRASH);
	assert_good("good");
	harness_stop(&h);
}

static void test_stopped_zygote(void **state)
{
	(void)state;
	start(1, 1000);
	assert_good("good");
	/* It neither kills nor reaps: the documents' deadlines hold all the same. */
	assert_int_equal(kill(h.pool->zygote->pid, SIGSTOP), 0);
	assert_int_equal(harness_get(&h, "sleep")->exam, ING_EXAM_TIMEOUT);
	assert_int_equal(kill(h.pool->zygote->pid, SIGCONT), 0);
	assert_good("good");
	assert_int_equal(stats().zygotes, 1);
	harness_stop(&h);
}

static void test_cancel_in_each_state(void **state)
{
	(void)state;
	start(1, 1000);
	/* before any examiner is there */
	struct answer *a = harness_ask_text(&h, "sleep");
	ing_pool_cancel(a->task);
	h.answered++; /* it will not come */
	assert_good("good");
	/* under way */
	a = harness_ask_text(&h, "sleep");
	struct answer *waiting = harness_ask_text(&h, "sleep");
	wait_until_waiting(1);
	/* waiting behind it */
	ing_pool_cancel(waiting->task);
	assert_int_equal(stats().waiting, 0);
	uint64_t start_ms = ing_now_ms();
	ing_pool_cancel(a->task);
	h.answered += 2;
	assert_good("good");
	assert_true(
		ing_now_ms() - start_ms < TIMEOUT_MS - 100); /* the hanging one is not waited for */
	/* with its examiner dying */
	int pid = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	a = harness_ask_text(&h, "sleep");
	harness_turn(&h, 50);
	kill(h.pool->zygote->pid, SIGSTOP);
	kill(pid, SIGKILL);
	for (int i = 0; i < 100 && a->task->owner->state == ING_EXAMINER_BUSY; i++)
		harness_turn(&h, 10);
	assert_int_equal(a->task->owner->state, ING_EXAMINER_DYING);
	ing_pool_cancel(a->task);
	h.answered++;
	kill(h.pool->zygote->pid, SIGCONT);
	assert_good("good");
	assert_int_equal(stats().crashes, 0);
	harness_stop(&h);
}

static void ask_again(struct harness *which, struct answer *a)
{
	(void)a;
	if (which->asked < 20)
		harness_ask_text(which, which->asked % 2 ? "good" : "exit");
}

static void test_submitting_from_inside_done(void **state)
{
	(void)state;
	start(2, 2);
	h.then = ask_again;
	harness_ask_text(&h, "good");
	harness_ask_text(&h, "exit");
	harness_run(&h, &h.answered, 20, 30000);
	assert_int_equal(stats().crashes, 10);
	harness_stop(&h);
}

static void free_pool(struct harness *which, struct answer *a)
{
	(void)a;
	ing_pool_free(which->pool);
	which->pool = NULL;
}

static void test_freeing_from_inside_done(void **state)
{
	static const char *const bodies[] = {"good", "exit", "sleep"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bodies); i++) {
		start(1, 1000);
		h.then = free_pool;
		harness_ask_text(&h, bodies[i]);
		harness_ask_text(&h, "good"); /* dropped with the pool */
		harness_run(&h, &h.answered, 1, 30000);
		harness_stop(&h);
		assert_int_equal(h.answered, 1);
	}
}

static void test_freeing_with_work_under_way(void **state)
{
	(void)state;
	start(2, 1000);
	int pid = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	int zygote = (int)h.pool->zygote->pid;
	for (int i = 0; i < 5; i++)
		harness_ask_text(&h, "spin");
	harness_turn(&h, 50);
	harness_stop(&h);
	assert_int_equal(h.answered, 1);
	assert_true(harness_is_gone(pid));
	assert_true(kill(zygote, 0) != 0 && errno == ESRCH); /* reaped, too */
}

/* Processes that the zygote has forked and not reaped; -1 on kernels that do not list them. */
static int count_children(void)
{
	char path[64];
	char line[4096];
	int pid = (int)h.pool->zygote->pid;
	int count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		return -1;
	const char *got = fgets(line, sizeof(line), f);
	fclose(f);
	for (const char *c = got != NULL ? line : ""; *c != '\0'; c++)
		count += *c == ' ';
	return count;
}

static void wait_for_children(int want)
{
	for (int i = 0; i < 1000 && count_children() >= 0 && count_children() != want; i++)
		harness_turn(&h, 10);
	if (count_children() >= 0)
		assert_int_equal(count_children(), want);
}

static void test_fork_bomb_is_refused(void **state)
{
	(void)state;
	start(1, 1000);
	assert_string_equal(harness_get(&h, "bomb")->page.title, "0");
	wait_for_children(1);
	assert_good("good");
	harness_stop(&h);
}

/* One that has been taken over need not end when its socket does. Nobody else pays for that: not
 * the zygote, and with it all documents at work, nor those that wait for its successor. */
static void test_recycled_examiner_that_does_not_end(void **state)
{
	(void)state;
	start(1, 1);
	for (int i = 0; i < 3; i++)
		assert_good("stay");
	assert_good("good");
	wait_for_children(1);
	struct ing_pool_stats s = stats();
	assert_true(s.crashes == 0 && s.documents == 4 && s.zygotes == 1);
	harness_stop(&h);
}

/* Whatever way an examiner ends with a reader at work: nothing of the two goes on. The CPU time of
 * both is counted. */
static void test_nothing_is_left_of_a_dead_examiner(void **state)
{
	static const struct {
		const char *body;
		enum ing_exam exam;
	} cases[] = {
		{"reader, exit", ING_EXAM_CRASH},
		{"reader, sleep", ING_EXAM_TIMEOUT},
		{"reader, reader", ING_EXAM_CRASH}, /* asks out of turn */
		{"flood", ING_EXAM_CRASH},
	};
	(void)state;
	start(1, 1000);
	assert_good("good");
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_findings *f = harness_get(&h, cases[i].body);
		if (f->exam != cases[i].exam)
			fail_msg("%s: %d %s", cases[i].body, (int)f->exam, f->detail);
		assert_good("good");
		wait_for_children(1);
	}
	assert_true(
		stats().cpu_us > 20000); /* of a second's spinning, whoever else wants the CPU */
	assert_int_equal(stats().zygotes, 1);
	harness_stop(&h);
}

/* An examiner that has answered and kept its reader at work: that has the document's time, whatever
 * was asked for. */
static void test_reader_of_an_idle_examiner(void **state)
{
	(void)state;
	start(1, 1000);
	assert_int_equal(harness_get(&h, "reader, good")->exam, ING_EXAM_OK);
	wait_for_children(1);
	harness_stop(&h);
}

static long oom_score_of(int pid)
{
	char path[64];
	char score[16] = "";
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, score, sizeof(score) - 1) <= 0)
		fail_msg("%s: %s", path, strerror(errno));
	close(fd);
	return strtol(score, NULL, 10);
}

/* The one forked last; 0 on kernels that do not list them. */
static int last_child_of(int pid)
{
	char path[64];
	int child = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	FILE *f = fopen(path, "r");
	while (f != NULL && fscanf(f, "%d", &child) == 1)
		;
	if (f != NULL)
		fclose(f);
	return child;
}

static void test_examiners_are_the_first_to_go_without_memory(void **state)
{
	(void)state;
	start(1, 1000);
	int zygote = (int)h.pool->zygote->pid;
	int examiner = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
	assert_int_equal(oom_score_of(examiner), 1000);
	assert_true(oom_score_of(zygote) >= 900);
	/* And readers of PDFs. Once it has loaded its score, it is at it for long. */
	harness_ask_text(&h, "pdf-spin");
	wait_for_children(2);
	int reader = last_child_of(zygote);
	for (int i = 0; i < 100 && reader > 0 && oom_score_of(reader) != 1000; i++)
		harness_turn(&h, 5);
	if (reader > 0)
		assert_int_equal(oom_score_of(reader), 1000);
	harness_stop(&h);
}

/* The worker dies without a word: nothing of its examiners stays. */
static void test_worker_killed(void **state)
{
	int ends[2];
	int pids[2] = {0};
	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t worker = fork();
	if (worker == 0) {
		start(1, 1000);
		pids[0] = (int)strtol(harness_get(&h, "pid")->page.title, NULL, 10);
		pids[1] = (int)h.pool->zygote->pid;
		harness_ask_text(&h, "pdf-spin");
		harness_turn(&h, 100);
		if (write(ends[1], pids, sizeof(pids)) != (ssize_t)sizeof(pids))
			_exit(1);
		harness_turn(&h, 60000);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], pids, sizeof(pids)), sizeof(pids));
	close(ends[0]);
	assert_int_equal(kill(worker, SIGKILL), 0);
	waitpid(worker, NULL, 0);
	assert_true(harness_is_gone(pids[0]));
	assert_true(harness_is_gone(pids[1]));
}

static void test_no_such_executable(void **state)
{
	struct ing_pool_conf conf = make_conf(1, 1);
	struct ing_pool *pool = NULL;
	struct ing_error err = {0};
	uv_loop_t loop;
	(void)state;
	conf.examiner_path = "/nonexistent/ingest-examiner";
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(ing_pool_new(&loop, &conf, &pool, &err), -ING_FAIL_SYSTEM);
	assert_null(pool);
	assert_non_null(strstr(err.msg, "/nonexistent/ingest-examiner"));
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* A zygote that cannot start is tried again with growing pauses, and the documents wait. */
static void test_zygote_that_cannot_start(void **state)
{
	(void)state;
	setenv("MAGIC", "die", 1);
	start(1, 1000);
	struct answer *a = harness_ask_text(&h, "good");
	harness_turn(&h, 1500);
	assert_true(stats().zygotes >= 2 && stats().zygotes <= 5);
	assert_false(a->came);
	unsetenv("MAGIC");
	harness_run(&h, &h.answered, 1, 30000);
	assert_int_equal(a->f.exam, ING_EXAM_OK);
	harness_stop(&h);
}

/* Examiners that die before they can do anything are not forked without pause. */
static void test_examiners_that_cannot_start(void **state)
{
	(void)state;
	setenv("MAGIC", "die in forks", 1);
	start(2, 1000);
	unsetenv("MAGIC");
	harness_turn(&h, 2000);
	struct ing_pool_stats s = stats();
	if (s.forks < 4 || s.forks > 12 || s.zygotes != 1)
		fail_msg("%u forks, %u zygotes", (unsigned)s.forks, (unsigned)s.zygotes);
	harness_stop(&h);
}

static void on_half_second(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

static void test_idle_pool_sleeps(void **state)
{
	uv_timer_t timer;
	bool over = false;
	unsigned turns = 0;
	(void)state;
	start(4, 1000);
	assert_good("good");
	harness_turn(&h, 500); /* the other three come up */
	uv_timer_init(&h.loop, &timer);
	timer.data = &over;
	uv_timer_start(&timer, on_half_second, 500, 0);
	for (; !over; turns++)
		uv_run(&h.loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	assert_true(turns < 5);
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_documents),
		cmocka_unit_test(test_bodies_in_memory_that_is_used_again),
		cmocka_unit_test(test_empty_body),
		cmocka_unit_test(test_each_misbehaviour),
		cmocka_unit_test(test_each_pdf_misbehaviour),
		cmocka_unit_test(test_pdf_keeps_what_was_read),
		cmocka_unit_test(test_pdf_part_has_its_own_time),
		cmocka_unit_test(test_pdf_reader_that_says_too_much),
		cmocka_unit_test(test_pdf_is_not_read_unasked),
		cmocka_unit_test(test_pdf_limit_of_the_question),
		cmocka_unit_test(test_words_on_stderr),
		cmocka_unit_test(test_large_reply),
		cmocka_unit_test(test_one_large_reply_a_turn),
		cmocka_unit_test(test_body_that_is_not_there),
		cmocka_unit_test(test_recycling),
		cmocka_unit_test(test_recycled_examiner_that_does_not_end),
		cmocka_unit_test(test_examiner_killed_at_work),
		cmocka_unit_test(test_idle_examiner_killed),
		cmocka_unit_test(test_zygote_killed_at_work),
		cmocka_unit_test(test_zygote_killed_twice),
		cmocka_unit_test(test_stopped_zygote),
		cmocka_unit_test(test_cancel_in_each_state),
		cmocka_unit_test(test_submitting_from_inside_done),
		cmocka_unit_test(test_freeing_from_inside_done),
		cmocka_unit_test(test_freeing_with_work_under_way),
		cmocka_unit_test(test_fork_bomb_is_refused),
		cmocka_unit_test(test_nothing_is_left_of_a_dead_examiner),
		cmocka_unit_test(test_reader_of_an_idle_examiner),
		cmocka_unit_test(test_examiners_are_the_first_to_go_without_memory),
		cmocka_unit_test(test_worker_killed),
		cmocka_unit_test(test_no_such_executable),
		cmocka_unit_test(test_zygote_that_cannot_start),
		cmocka_unit_test(test_examiners_that_cannot_start),
		cmocka_unit_test(test_idle_pool_sleeps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
