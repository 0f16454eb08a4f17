/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Processes that die in every way, and what the next one knows of the requests that they had in
 * flight. A process is a fork of this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/macros.h"
#include "common/base/signals.h"
#include "worker/journal/journal_file.h"

static char folder[] = "journal-test.XXXXXX";
static char path[64];

static struct ing_source message(int64_t offset)
{
	return (struct ing_source){.group = "g",
		.topic = "requests",
		.partition = 3,
		.offset = offset,
		.timestamp_ms = 1700000000000 + offset,
		.digest = 0x1234 + (uint64_t)offset};
}

static struct ing_journal *open_journal(void)
{
	struct ing_journal *j = NULL;
	struct ing_error err = {0};
	if (ing_journal_open(path, &j, &err) != 0)
		fail_msg("%s", err.msg);
	return j;
}

static int set_up(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* --- ways to die --- */

static volatile uintptr_t nowhere = 16;

static void die_segv(void)
{
	*(volatile int *)nowhere = 1;
}

static void die_bus(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	volatile char *at = mmap(NULL, 16 << 20, PROT_READ, MAP_SHARED, fd, 0);
	(void)at[8 << 20]; /* behind the file's end */
}

static void die_fpe(void)
{
	raise(SIGFPE);
}

static void die_ill(void)
{
	__builtin_trap();
}

static void die_must(void)
{
	ing_must(path[0] == '\0');
}

static void die_by_watchdog(void)
{
	kill(getpid(), SIGABRT);
	pause();
}

static size_t (*volatile again)(size_t depth);

static size_t overflow(size_t depth)
{
	volatile char room[4096];
	room[depth % sizeof(room)] = 1;
	return again(depth + 1) + (size_t)room[depth % sizeof(room)];
}

static void die_of_depth(void)
{
	again = overflow;
	overflow(0);
}

static void *run_bad_thread(void *arg)
{
	(void)arg;
	die_segv();
	return NULL;
}

static void die_in_thread(void)
{
	pthread_t t;
	if (ing_thread_create(&t, run_bad_thread, NULL) == 0)
		pthread_join(t, NULL);
}

static void die_killed(void)
{
	kill(getpid(), SIGKILL);
}

static void die_at_once(void)
{
	_exit(1); /* as at a second signal */
}

/* Those of cmocka would go on with the next test. */
static void forget_handlers(void)
{
	static const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++)
		signal(all[i], SIG_DFL);
}

/* A process that opens the journal, has the requests from..to in flight, and dies. */
static void run_and_die(void (*die)(void), int64_t from, int64_t to)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ing_journal_mark marks[8] = {{0}};
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		forget_handlers();
		dup2(null, STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		struct ing_journal *j = open_journal();
		for (int64_t i = from; i <= to; i++) {
			struct ing_source s = message(i);
			ing_journal_enter(j, &marks[i - from], &s, ING_STAGE_INTAKE);
			ing_journal_enter(j, &marks[i - from], &s, ING_STAGE_FETCH);
		}
		die();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static enum ing_journal_verdict judge(const struct ing_journal *j, int64_t offset, unsigned deaths)
{
	struct ing_source s = message(offset);
	struct ing_journal_suspect suspect = {0};
	enum ing_journal_verdict verdict = ing_journal_judge(j, &s, &suspect);
	assert_int_equal(suspect.deaths, deaths);
	return verdict;
}

/* --- cases --- */

static void faults_of_its_own_make_suspects(void **state)
{
	(void)state;
	static void (*const ways[])(void) = {die_segv, die_bus, die_fpe, die_ill, abort, die_must,
		die_by_watchdog, die_of_depth, die_in_thread};
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		unlink(path);
		run_and_die(ways[i], 7, 8);
		struct ing_journal *j = open_journal();
		struct ing_journal_stats stats;
		ing_journal_stats(j, &stats);
		if (stats.faults != 1 || stats.suspects != 2)
			fail_msg("way %zu: %d faults, %d suspects", i, (int)stats.faults,
				(int)stats.suspects);
		assert_int_equal(judge(j, 7, 1), ING_SUSPECT_FREE);
		assert_int_equal(judge(j, 9, 0), ING_SUSPECT_FREE);
		assert_false(ing_journal_has_suspects(j));
		ing_journal_close(j);
	}
}

static void whoever_is_killed_suspects_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		run_and_die(i % 2 == 0 ? die_killed : die_at_once, 7, 7);
	struct ing_journal *j = open_journal();
	struct ing_journal_stats stats;
	ing_journal_stats(j, &stats);
	assert_int_equal(stats.suspects + stats.condemned + stats.faults, 0);
	ing_journal_close(j);
	/* nor does a clean end, with requests in flight */
	struct ing_journal_mark mark = {0};
	struct ing_source s = message(7);
	j = open_journal();
	ing_journal_enter(j, &mark, &s, ING_STAGE_FETCH);
	ing_journal_close(j);
	j = open_journal();
	ing_journal_stats(j, &stats);
	assert_int_equal(stats.suspects, 0);
	ing_journal_close(j);
}

static void the_third_death_alone_condemns(void **state)
{
	(void)state;
	run_and_die(die_segv, 1, 5);
	run_and_die(die_killed, 1, 5);
	run_and_die(die_segv, 5, 6);
	struct ing_journal *j = open_journal();
	assert_true(ing_journal_has_suspects(j));
	assert_int_equal(judge(j, 1, 1), ING_SUSPECT_FREE);
	assert_int_equal(judge(j, 5, 2), ING_SUSPECT_ALONE);
	assert_int_equal(judge(j, 6, 1), ING_SUSPECT_FREE);
	ing_journal_close(j);
	run_and_die(die_killed, 5, 5); /* alone, but not by its own fault */
	j = open_journal();
	assert_int_equal(judge(j, 5, 2), ING_SUSPECT_ALONE);
	ing_journal_close(j);
	run_and_die(die_segv, 5, 5);
	j = open_journal();
	assert_int_equal(judge(j, 5, 3), ING_SUSPECT_CONDEMNED);
	struct ing_journal_suspect suspect;
	struct ing_source s = message(5);
	ing_journal_judge(j, &s, &suspect);
	assert_string_equal(ing_journal_stage_name(suspect.stage), "fetch");
	ing_journal_close(j);
	j = open_journal(); /* and stays so */
	assert_int_equal(judge(j, 5, 3), ING_SUSPECT_CONDEMNED);
	ing_journal_close(j);
}

static void nobody_is_condemned_who_was_not_alone(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		run_and_die(die_must, 1, 2);
	struct ing_journal *j = open_journal();
	assert_int_equal(judge(j, 1, 5), ING_SUSPECT_ALONE);
	assert_int_equal(judge(j, 2, 5), ING_SUSPECT_ALONE);
	ing_journal_close(j);
	run_and_die(die_must, 2, 2);
	j = open_journal();
	assert_int_equal(judge(j, 1, 5), ING_SUSPECT_ALONE);
	assert_int_equal(judge(j, 2, 6), ING_SUSPECT_CONDEMNED);
	ing_journal_close(j);
}

static void whoever_comes_through_is_acquitted(void **state)
{
	(void)state;
	run_and_die(die_segv, 1, 2);
	run_and_die(die_segv, 1, 2);
	struct ing_journal *j = open_journal();
	struct ing_source one = message(1);
	ing_journal_acquit(j, &one);
	assert_int_equal(judge(j, 1, 0), ING_SUSPECT_FREE);
	assert_true(ing_journal_has_suspects(j));
	struct ing_source two = message(2);
	ing_journal_acquit(j, &two);
	assert_false(ing_journal_has_suspects(j));
	ing_journal_acquit(j, &two);
	ing_journal_close(j);
	j = open_journal();
	assert_int_equal(judge(j, 1, 0), ING_SUSPECT_FREE);
	ing_journal_close(j);
}

static void another_message_of_the_same_offset_is_another(void **state)
{
	(void)state;
	run_and_die(die_segv, 1, 1);
	run_and_die(die_segv, 1, 1);
	struct ing_journal *j = open_journal();
	struct ing_source others[] = {message(1), message(1), message(1), message(1)};
	struct ing_journal_suspect suspect;
	others[0].timestamp_ms++;
	others[1].digest++;
	others[2].partition++;
	others[3].topic = "requests-bulk";
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++)
		assert_int_equal(ing_journal_judge(j, &others[i], &suspect), ING_SUSPECT_FREE);
	assert_int_equal(judge(j, 1, 2), ING_SUSPECT_ALONE);
	ing_journal_close(j);
}

static void those_in_flight_are_counted(void **state)
{
	(void)state;
	struct ing_journal *j = open_journal();
	static struct ing_journal_mark marks[ING_JOURNAL_RECORDS + 2];
	memset(marks, 0, sizeof(marks));
	assert_int_equal(ing_journal_others(j, NULL), 0);
	for (unsigned i = 0; i < ING_ARRAY_LEN(marks); i++) {
		struct ing_source s = message(i);
		ing_journal_enter(j, &marks[i], &s, ING_STAGE_FETCH);
		ing_journal_enter(j, &marks[i], &s, ING_STAGE_ARCHIVE);
	}
	struct ing_journal_stats stats;
	ing_journal_stats(j, &stats);
	assert_int_equal(stats.in_flight, ING_JOURNAL_RECORDS);
	assert_int_equal(stats.unrecorded, 4); /* tried again with the next stage */
	assert_int_equal(ing_journal_others(j, &marks[0]), ING_JOURNAL_RECORDS - 1);
	for (unsigned i = 0; i < ING_ARRAY_LEN(marks); i++)
		ing_journal_leave(j, &marks[i]);
	ing_journal_leave(j, &marks[0]);
	assert_int_equal(ing_journal_others(j, NULL), 0);
	ing_journal_close(j);
}

static void a_child_of_the_process_is_not_the_process(void **state)
{
	(void)state;
	struct ing_journal *j = open_journal();
	struct ing_journal_mark mark = {0};
	struct ing_source s = message(1);
	ing_journal_enter(j, &mark, &s, ING_STAGE_FETCH);
	pid_t pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		abort(); /* the journal's handler puts that of cmocka back, which does not take it */
	}
	waitpid(pid, NULL, 0);
	ing_journal_close(j);
	j = open_journal();
	assert_int_equal(judge(j, 1, 0), ING_SUSPECT_FREE);
	ing_journal_close(j);
}

/* Writes over a byte of the file. */
static void damage(size_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char byte;
	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= 0x55;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

static void a_torn_record_accuses_nobody(void **state)
{
	(void)state;
	static const size_t members[] = {offsetof(struct ing_journal_record, check),
		offsetof(struct ing_journal_record, topic),
		offsetof(struct ing_journal_record, partition),
		offsetof(struct ing_journal_record, offset),
		offsetof(struct ing_journal_record, timestamp_ms),
		offsetof(struct ing_journal_record, digest),
		offsetof(struct ing_journal_record, stage)};
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		unlink(path);
		run_and_die(die_segv, 1, 2);
		damage(offsetof(struct ing_journal_file, records) + members[i]);
		struct ing_journal *j = open_journal();
		struct ing_journal_stats stats;
		ing_journal_stats(j, &stats);
		if (stats.suspects != 1)
			fail_msg("member %zu: %d suspects", i, (int)stats.suspects);
		assert_int_equal(judge(j, 2, 1), ING_SUSPECT_FREE);
		ing_journal_close(j);
	}
}

static void another_file_is_begun_anew(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "INGJRNL1", "something else"};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		FILE *f = fopen(path, "w");
		fputs(texts[i], f);
		fclose(f);
		run_and_die(die_segv, 1, 1);
		struct ing_journal *j = open_journal();
		assert_int_equal(judge(j, 1, 1), ING_SUSPECT_FREE);
		ing_journal_close(j);
	}
	damage(0); /* the magic */
	struct ing_journal *j = open_journal();
	assert_int_equal(judge(j, 1, 0), ING_SUSPECT_FREE);
	ing_journal_close(j);
}

static void no_room_is_an_error(void **state)
{
	(void)state;
	struct rlimit before;
	struct ing_journal *j = NULL;
	struct ing_error err = {0};
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, before.rlim_max});
	assert_int_equal(ing_journal_open(path, &j, &err), -ING_FAIL_SYSTEM);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(err.msg, path));
	ing_error_clear(&err);
	assert_int_equal(ing_journal_open("journal-test/none/x", &j, &err), -ING_FAIL_SYSTEM);
	j = open_journal();
	ing_journal_close(j);
}

/* Tells what a stage costs. */
static void it_costs_little(void **state)
{
	(void)state;
	struct ing_journal *j = open_journal();
	struct ing_journal_mark mark = {0};
	const unsigned times = 200000;
	uint64_t began_ns = ing_thread_cpu_ns();
	for (unsigned i = 0; i < times; i++) {
		struct ing_source s = message(i);
		ing_journal_enter(j, &mark, &s, ING_STAGE_FETCH);
		ing_journal_enter(j, &mark, &s, ING_STAGE_ARCHIVE);
		ing_journal_leave(j, &mark);
	}
	print_message("a request with two stages: %u ns\n",
		(unsigned)((ing_thread_cpu_ns() - began_ns) / times));
	assert_int_equal(ing_journal_others(j, NULL), 0);
	ing_journal_close(j);
}

static void without_a_journal_nothing_happens(void **state)
{
	(void)state;
	struct ing_journal_mark mark = {0};
	struct ing_source s = message(1);
	struct ing_journal_suspect suspect;
	struct ing_journal_stats stats;
	ing_journal_enter(NULL, &mark, &s, ING_STAGE_FETCH);
	ing_journal_leave(NULL, &mark);
	ing_journal_acquit(NULL, &s);
	assert_int_equal(ing_journal_others(NULL, &mark), 0);
	assert_false(ing_journal_has_suspects(NULL));
	assert_int_equal(ing_journal_judge(NULL, &s, &suspect), ING_SUSPECT_FREE);
	ing_journal_stats(NULL, &stats);
	ing_journal_close(NULL);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup(f, set_up)
	const struct CMUnitTest tests[] = {
		CASE(faults_of_its_own_make_suspects),
		CASE(whoever_is_killed_suspects_nobody),
		CASE(the_third_death_alone_condemns),
		CASE(nobody_is_condemned_who_was_not_alone),
		CASE(whoever_comes_through_is_acquitted),
		CASE(another_message_of_the_same_offset_is_another),
		CASE(those_in_flight_are_counted),
		CASE(a_child_of_the_process_is_not_the_process),
		CASE(a_torn_record_accuses_nobody),
		CASE(another_file_is_begun_anew),
		CASE(no_room_is_an_error),
		CASE(it_costs_little),
		CASE(without_a_journal_nothing_happens),
	};
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/worker.crash-journal", folder);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return rc;
}
