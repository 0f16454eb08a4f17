/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands in for worker/document in the pool's tests: the body is an order to misbehave. Linked with
 * the real zygote, sandbox and examiner, and shipped nowhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/document/document.h"
#include "worker/examine/child.h"
#include "worker/examine/ipc.h"
#include "worker/examine/fdpass.h"
#include "worker/model/findings.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

/* The examiner's own, as code that has taken it over would find out. */
#define SOCKET_FD ING_CHILD_FD
#define LINK_FD (ING_CHILD_FD + 1)

static bool is_order(const void *data, size_t bytes, const char *order)
{
	size_t n = strlen(order);
	return bytes >= n && memcmp(data, order, n) == 0;
}

static void sleep_for_ever(void)
{
	struct timespec t = {.tv_sec = 1};
	for (;;)
		nanosleep(&t, NULL);
}

static void spin_for_ever(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

/* Touches every page that it gets, then dies of the refusal as a library would. */
static void eat_memory(void)
{
	for (;;) {
		char *p = malloc(1 << 20);
		if (p == NULL)
			abort();
		memset(p, 1, 1 << 20);
	}
}

static void say(const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = write(SOCKET_FD, bytes, n);
		if (sent <= 0)
			_exit(1);
		bytes += sent;
		n -= (size_t)sent;
	}
}

/* Forks as fast as it can; how many came of it. */
static int bomb(void)
{
	int forked = 0;
	for (int i = 0; i < 1000; i++) {
		pid_t pid = fork();
		if (pid == 0)
			spin_for_ever();
		forked += pid > 0;
	}
	return forked;
}

/* A reader for an hour of spinning, as code that has taken the examiner over would ask for one.
 * With the socket to it still open. */
static void start_reader(void)
{
	static const char body[] = "pdf-spin";
	const struct ing_pdf_reader_request request = {.version = ING_PDF_READER_VERSION,
		.timeout_ms = 3600000,
		.body_bytes = sizeof(body) - 1};
	struct ing_pdf_reader_event word;
	int fd;
	if (write(LINK_FD, &request, sizeof(request)) != (ssize_t)sizeof(request) ||
		ing_fd_recv(LINK_FD, &word, sizeof(word), 0, &fd) != (ssize_t)sizeof(word) ||
		fd < 0 || write(fd, body, sizeof(body) - 1) != (ssize_t)sizeof(body) - 1)
		_exit(8);
}

/* Requests as fast as they can be written, and never a look at what comes back. */
static void flood_link(void)
{
	const struct ing_pdf_reader_request request = {.version = ING_PDF_READER_VERSION};
	for (;;) {
		if (write(LINK_FD, &request, sizeof(request)) < 0 && errno != EAGAIN)
			sleep_for_ever();
	}
}

static void flood_answer(void)
{
	static const char zeros[65536];
	while (write(ING_CHILD_FD, zeros, sizeof(zeros)) > 0)
		;
}

/* A good answer, and then no look at the socket, so that its end is never seen. */
static void answer_and_stay(void)
{
	static const char body[] = "stay";
	struct ing_findings f;
	struct ing_buf frame;
	ing_findings_init(&f);
	f.file.size_bytes = sizeof(body) - 1;
	snprintf(f.file.mimetype, sizeof(f.file.mimetype), "text/plain");
	f.page.title = ing_strdup(body);
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&frame, &f);
	say(frame.data, frame.len);
	sleep_for_ever();
}

/* How many descriptors above the reader's own socket are open. */
static int count_strangers(void)
{
	int open = 0;
	for (int fd = ING_CHILD_FD + 1; fd < 64; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

static void touch(const volatile char *two_pages)
{
	(void)two_pages[4096];
}

static void misbehave(const void *data, size_t bytes)
{
	if (is_order(data, bytes, "trap"))
		__builtin_trap();
	if (is_order(data, bytes, "abort"))
		abort();
	if (is_order(data, bytes, "bus")) /* a page that the body's file no longer has */
		touch(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, LINK_FD + 1, 0));
	if (is_order(data, bytes, "exit"))
		_exit(7);
	if (is_order(data, bytes, "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (is_order(data, bytes, "sleep"))
		sleep_for_ever();
	if (is_order(data, bytes, "spin"))
		spin_for_ever();
	if (is_order(data, bytes, "eat"))
		eat_memory();
	if (is_order(data, bytes, "garbage"))
		say("garbage that is longer than a head", 34);
	if (is_order(data, bytes, "early"))
		say("I", 1);
	if (is_order(data, bytes, "huge"))
		say("IXr\7\377\377\377\377", 8);
	if (is_order(data, bytes, "half")) {
		say("IXr\7\0\4\0\0half", 12);
		sleep_for_ever();
	}
	if (is_order(data, bytes, "bad"))
		say("IXr\7\4\0\0\0\1\2\3\4", 12);
	if (is_order(data, bytes, "reader, exit")) {
		start_reader();
		_exit(7);
	}
	if (is_order(data, bytes, "reader, sleep")) {
		start_reader();
		sleep_for_ever();
	}
	if (is_order(data, bytes, "reader, reader")) {
		start_reader();
		start_reader();
	}
	if (is_order(data, bytes, "reader, good"))
		start_reader();
	if (is_order(data, bytes, "flood"))
		flood_link();
	if (is_order(data, bytes, "stay"))
		answer_and_stay();
	if (is_order(data, bytes, "deaf")) {
		close(SOCKET_FD);
		sleep_for_ever();
	}
}

static char rules[64]; /* what a descriptor held */

/* Long enough for a reload to pass by. */
static void slow_rules(char *words, size_t room)
{
	usleep(600000);
	snprintf(words, room, "%s", rules);
}

static void set_title(struct ing_findings *f, const char *data, size_t bytes)
{
	char words[64];
	if (is_order(data, bytes, "pid"))
		snprintf(words, sizeof(words), "%d", (int)getpid());
	else if (is_order(data, bytes, "rules"))
		snprintf(words, sizeof(words), "%s", rules);
	else if (is_order(data, bytes, "slow rules"))
		slow_rules(words, sizeof(words));
	else if (is_order(data, bytes, "bomb"))
		snprintf(words, sizeof(words), "%d", bomb());
	else
		snprintf(words, sizeof(words), "%.*s", (int)ING_MIN(bytes, (size_t)60), data);
	f->page.title = ing_strdup(words);
}

static unsigned forks;

static void count_fork(void)
{
	forks++;
}

/* The first three may be the zygote's own probes: Landlock's version, a sandbox of each level. */
static void die_in_fork(void)
{
	if (forks > 3)
		_exit(9);
}

/* "bad" cannot be loaded, "die" is a loader that crashes. */
int ing_document_load_rules(int fd, struct ing_error *err)
{
	ssize_t n = pread(fd, rules, sizeof(rules) - 1, 0);
	if (n < 0 || strcmp(rules, "bad") == 0)
		return ing_error_set(err, ING_FAIL_CONFIG, "bad rules");
	if (strcmp(rules, "die") == 0)
		abort();
	return 0;
}

void ing_document_read_pdf(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	(void)q;
	(void)body;
	(void)ret;
}

void ing_document_warm(void)
{
	const char *order = getenv("MAGIC"); /* one of the few variables that reach us */
	if (order != NULL && strcmp(order, "die") == 0)
		_exit(9);
	if (order != NULL && strcmp(order, "die in forks") == 0)
		pthread_atfork(count_fork, NULL, die_in_fork);
}

void ing_document_warm_examiner(void)
{
}

bool ing_document_identify(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret)
{
	(void)q;
	if (is_order(data, bytes, "early-trap"))
		__builtin_trap();
	*ret_body = (struct ing_document_body){.data = data, .bytes = bytes};
	ret->file.size_bytes = bytes;
	const char *type = is_order(data, bytes, "pdf-") ? "application/pdf" : "text/plain";
	snprintf(ret->file.mimetype, sizeof(ret->file.mimetype), "%s", type);
	return true;
}

void ing_document_read(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret)
{
	const void *data = body->data;
	size_t bytes = body->bytes;
	(void)q;
	misbehave(data, bytes);
	set_title(ret, data, bytes);
	if (is_order(data, bytes, "big")) {
		ret->pdf.status = ing_strdup("success");
		ret->pdf.text = ing_alloc(3000001);
		memset(ret->pdf.text, 'x', 3000000);
	}
	if (is_order(data, bytes, "stderr"))
		fprintf(stderr, "hostile words\n");
}

void ing_document_body_done(struct ing_document_body *b)
{
	*b = (struct ing_document_body){0};
}

/* An examiner's reader that misbehaves once it has sent the text. */
static void misbehave_late(const void *data, size_t bytes)
{
	if (is_order(data, bytes, "pdf-late-trap"))
		__builtin_trap();
	if (is_order(data, bytes, "pdf-late-spin"))
		spin_for_ever();
	if (is_order(data, bytes, "pdf-late-sleep"))
		sleep_for_ever();
	if (is_order(data, bytes, "pdf-late-eat"))
		eat_memory();
}

static void add_thumbnail(struct ing_pdf *pdf)
{
	pdf->thumbnail.bytes = 60;
	pdf->thumbnail.data = ing_alloc(60);
	memcpy(pdf->thumbnail.data, "\xff\xd8\xff", 3);
	memcpy(pdf->thumbnail.data + 58, "\xff\xd9", 2);
}

void ing_document_pdf(const void *data, size_t bytes, ing_document_part_f *on_part, void *ctx,
	struct ing_pdf *ret)
{
	char word[8];
	if (is_order(data, bytes, "pdf-socket") && count_strangers() == 0)
		ret->created = ing_strdup("2021-01-01T00:00:00Z");
	if (is_order(data, bytes, "pdf-fork") && fork() < 0)
		ret->created = ing_strdup("2021-01-01T00:00:00Z");
	if (is_order(data, bytes, "pdf-trap"))
		__builtin_trap();
	if (is_order(data, bytes, "pdf-exit"))
		_exit(0);
	if (is_order(data, bytes, "pdf-sleep"))
		sleep_for_ever();
	if (is_order(data, bytes, "pdf-spin"))
		spin_for_ever();
	if (is_order(data, bytes, "pdf-flood"))
		flood_answer();
	if (is_order(data, bytes, "pdf-eat"))
		eat_memory();
	if (is_order(data, bytes, "pdf-recv"))
		recv(0, word, 1, 0);
	if (is_order(data, bytes, "pdf-deaf")) {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
		spin_for_ever();
	}
	ret->status = ing_strdup("success");
	ret->text = ing_strdup("text of a PDF");
	ret->page_count = 1;
	ret->info_json = ing_strdup("{}");
	on_part(ctx, ING_PDF_TEXT, ret);
	misbehave_late(data, bytes);
	free(ret->info_json);
	ret->info_json = ing_strdup("{\"doi\":\"10.1/1\"}");
	on_part(ctx, ING_PDF_INFO, ret);
	if (is_order(data, bytes, "pdf-last-trap"))
		__builtin_trap();
	add_thumbnail(ret);
	on_part(ctx, ING_PDF_THUMBNAIL, ret);
}
