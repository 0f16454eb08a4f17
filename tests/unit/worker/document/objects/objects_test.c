/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The object store among servers and folders that fail as each test says. A signature is right when a
 * real server takes it, which tests/scenario/test_objects.py shows.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "common/base/io.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "tests/unit/worker/fetch/web.h"
#include "worker/document/objects/objects.h"

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define OBJECTS 40

struct answer {
	const char *head;
	const char *code;
};

static const struct answer good = {"200 OK", NULL};

static struct {
	uv_loop_t loop;
	struct ing_objects *store;
	struct ing_objects_settings settings;
	char dir[32], endpoint[64], access_path[64], secret_path[64], store_dir[64];
	struct web *web;
	/* The server's, under the lock. */
	pthread_mutex_t lock;
	const struct answer *script; /* one answer each, then `after` */
	unsigned script_left;
	struct answer after;
	const char *strange_path; /* what has this in its path is refused */
	const char *wanted_key;
	unsigned seen;
	char head[32 << 10];
	char body[4096];
	bool digest_good;
	int write_errno; /* of ing_write_all() */
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct object {
	struct ing_object o;
	unsigned calls;
	enum ing_object_end end;
};

static struct object objects[OBJECTS];

int __real_ing_write_all(int fd, const void *data, size_t bytes);
int __wrap_ing_write_all(int fd, const void *data, size_t bytes);

int __wrap_ing_write_all(int fd, const void *data, size_t bytes)
{
	int errnum = __atomic_load_n(&world.write_errno, __ATOMIC_SEQ_CST);
	return errnum != 0 ? errnum : __real_ing_write_all(fd, data, bytes);
}

/* --- the server --- */

static struct answer next_answer(const struct web_conn *c)
{
	struct answer a = world.after;
	world.seen++;
	memcpy(world.head, c->request, sizeof(world.head));
	if (world.strange_path != NULL && strstr(c->request, world.strange_path) != NULL)
		return (struct answer){"400 Bad Request", "Strange"};
	if (world.wanted_key != NULL && strstr(c->request, world.wanted_key) == NULL)
		return (struct answer){"403 Forbidden", "InvalidAccessKeyId"};
	if (world.script_left > 0) {
		a = *world.script++;
		world.script_left--;
	}
	return a;
}

static bool is_digest_good(const struct web_conn *c, const char *body, size_t bytes)
{
	struct ing_digests d;
	char hex[ING_SHA256_HEX_BYTES];
	ing_digest(ING_DIGEST_SHA256, body, bytes, &d);
	ing_hex_encode(d.sha256, sizeof(d.sha256), hex);
	const char *field = strstr(c->request, "x-amz-content-sha256: ");
	return field != NULL && strncmp(field + 22, hex, 64) == 0;
}

static void take_object(struct web_conn *c)
{
	char body[4096] = "";
	const char *length = strstr(c->request, "Content-Length: ");
	size_t bytes = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
	assert_true(bytes < sizeof(body));
	if (!web_receive(c, body, bytes))
		return;
	pthread_mutex_lock(&world.lock);
	struct answer a = next_answer(c);
	memcpy(world.body, body, sizeof(body));
	world.digest_good = is_digest_good(c, body, bytes);
	pthread_mutex_unlock(&world.lock);
	if (a.head == NULL) {
		web_wait(c, -1);
		c->over = true;
		return;
	}
	if (strcmp(a.head, "cut off") == 0) {
		web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<");
		c->over = true;
		return;
	}
	char text[200] = "";
	if (a.code != NULL)
		snprintf(text, sizeof(text), "<Error><Code>%s</Code></Error>", a.code);
	web_sayf(c, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", a.head, strlen(text), text);
}

static const struct web_page pages[] = {{NULL, take_object}, {NULL, NULL}};

static unsigned seen(void)
{
	pthread_mutex_lock(&world.lock);
	unsigned n = world.seen;
	pthread_mutex_unlock(&world.lock);
	return n;
}

static void set_after(struct answer a)
{
	pthread_mutex_lock(&world.lock);
	world.after = a;
	pthread_mutex_unlock(&world.lock);
}

/* --- the store --- */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void start_world(bool s3)
{
	struct ing_error err = {0};
	snprintf(world.dir, sizeof(world.dir), "/tmp/ing-objects-test.XXXXXX");
	assert_non_null(mkdtemp(world.dir));
	snprintf(world.access_path, sizeof(world.access_path), "%s/access", world.dir);
	snprintf(world.secret_path, sizeof(world.secret_path), "%s/secret", world.dir);
	snprintf(world.store_dir, sizeof(world.store_dir), "%s/store", world.dir);
	write_file(world.access_path, "AKEXAMPLE\n");
	write_file(world.secret_path, " \nsecret");
	write_file(world.secret_path, "secret\n");
	world.web = web_start(pages, NULL);
	snprintf(world.endpoint, sizeof(world.endpoint), "http://127.0.0.1:%u/",
		web_port(world.web));
	world.settings = (struct ing_objects_settings){.endpoint = s3 ? world.endpoint : "",
		.bucket = "bucket",
		.prefix = "pre/fix",
		.region = "us-east-1",
		.access_key_file = world.access_path,
		.secret_key_file = world.secret_path,
		.dir = s3 ? "" : world.store_dir};
	world.script_left = world.seen = 0;
	world.after = good;
	world.strange_path = world.wanted_key = NULL;
	world.write_errno = 0;
	memset(objects, 0, sizeof(objects));
	assert_int_equal(uv_loop_init(&world.loop), 0);
	assert_true(ing_objects_wanted(&world.settings));
	int rc = ing_objects_new(&world.loop, &world.settings, "test/1", "me", &world.store, &err);
	if (rc != 0)
		fail_msg("%s", err.msg);
}

static int begin_s3(void **state)
{
	(void)state;
	start_world(true);
	return 0;
}

static int begin_folder(void **state)
{
	(void)state;
	start_world(false);
	return 0;
}

static int end(void **state)
{
	char command[128];
	(void)state;
	ing_objects_free(world.store);
	uv_run(&world.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&world.loop), 0);
	web_stop(world.web);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", world.dir);
	FILE *shell = popen(command, "r");
	assert_non_null(shell);
	assert_int_equal(pclose(shell), 0);
	return 0;
}

static void on_done(struct ing_object *o, enum ing_object_end how)
{
	struct object *object = ING_CONTAINER(o, struct object, o);
	object->calls++;
	object->end = how;
}

static void put(unsigned i, enum ing_derived_kind kind, const char *text)
{
	objects[i].o = (struct ing_object){.kind = kind,
		.sha1hex = SHA1,
		.data = text,
		.bytes = strlen(text),
		.done = on_done};
	objects[i].calls = 0;
	ing_objects_put(world.store, &objects[i].o);
	assert_int_equal(objects[i].calls, 0); /* not from inside the call */
}

static void do_nothing(uv_timer_t *timer)
{
	(void)timer;
}

static void wait_for(unsigned i)
{
	while (objects[i].calls == 0)
		uv_run(&world.loop, UV_RUN_ONCE);
	assert_int_equal(objects[i].calls, 1);
}

static void expect_stored(unsigned i)
{
	wait_for(i);
	assert_int_equal(objects[i].end, ING_OBJECT_STORED);
}

static struct ing_objects_stats stats(void)
{
	struct ing_objects_stats s;
	ing_objects_stats(world.store, &s);
	return s;
}

static uint64_t failures(void)
{
	struct ing_objects_stats s = stats();
	return s.failed_away + s.failed_busy + s.failed_denied + s.failed_missing + s.failed_full +
	       s.failed_strange;
}

static void wait_for_failures(uint64_t count)
{
	while (failures() < count)
		uv_run(&world.loop, UV_RUN_ONCE);
}

/* --- S3 --- */

static void an_object_is_put_under_its_name_with_a_signature_of_its_content(void **state)
{
	(void)state;
	put(0, ING_DERIVED_PDF_TEXT, "words");
	expect_stored(0);
	assert_non_null(
		strstr(world.head, "PUT /bucket/pre/fix/text/da/39/" SHA1 ".txt HTTP/1.1\r\n"));
	assert_non_null(strstr(world.head, "Content-Type: text/plain; charset=utf-8\r\n"));
	assert_non_null(
		strstr(world.head, "Authorization: AWS4-HMAC-SHA256 Credential=AKEXAMPLE/"));
	assert_non_null(strstr(world.head, "/us-east-1/s3/aws4_request"));
	assert_non_null(strstr(
		world.head, "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,"));
	assert_null(strstr(world.head, "secret"));
	assert_true(world.digest_good);
	assert_string_equal(world.body, "words");
	assert_int_equal(stats().stored, 1);
	assert_int_equal(stats().stored_bytes, 5);
	assert_int_equal(stats().waiting_bytes, 0);
	put(0, ING_DERIVED_THUMBNAIL, "");
	expect_stored(0);
	assert_non_null(strstr(world.head, "/pre/fix/pdf/da/39/" SHA1 ".180px.jpg HTTP/1.1\r\n"));
}

static void what_fails_is_tried_again(void **state)
{
	(void)state;
	static const struct {
		struct answer answer;
		size_t counter;
	} cases[] = {
#define COUNTER(member) offsetof(struct ing_objects_stats, member)
		{{"503 Busy", "SlowDown"}, COUNTER(failed_busy)},
		{{"500 Error", "InternalError"}, COUNTER(failed_away)},
		{{"cut off", NULL}, COUNTER(failed_away)},
		{{"403 Forbidden", "AccessDenied"}, COUNTER(failed_denied)},
		{{"404 Not Found", "NoSuchBucket"}, COUNTER(failed_missing)},
		{{"507 Full", "XMinioStorageFull"}, COUNTER(failed_full)},
		{{"403 Forbidden", "QuotaExceeded"}, COUNTER(failed_full)},
		{{"400 Bad Request", "Anything"}, COUNTER(failed_strange)},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_objects_stats before = stats();
		pthread_mutex_lock(&world.lock);
		world.script = &cases[i].answer;
		world.script_left = 1;
		pthread_mutex_unlock(&world.lock);
		put(0, ING_DERIVED_JATS, "<article/>");
		expect_stored(0);
		struct ing_objects_stats after = stats();
		const uint64_t *was = (const void *)((const char *)&before + cases[i].counter);
		const uint64_t *is = (const void *)((const char *)&after + cases[i].counter);
		assert_int_equal(*is - *was, 1);
		assert_int_equal(failures(), i + 1);
		assert_int_equal(after.stored, i + 1);
		assert_int_equal(seen(), 2 * (i + 1));
	}
}

/* All wait while one is tried; then all are stored. */
static void a_store_that_is_full_blocks_until_there_is_room(void **state)
{
	(void)state;
	set_after((struct answer){"507 Full", "XMinioStorageFull"});
	for (unsigned i = 0; i < OBJECTS; i++)
		put(i, ING_DERIVED_PDF_TEXT, "words");
	assert_false(ing_objects_blocked(world.store));
	while (!ing_objects_blocked(world.store))
		uv_run(&world.loop, UV_RUN_ONCE);
	assert_int_equal(stats().blocked, 1);
	assert_int_equal(stats().stored, 0);
	assert_int_equal(stats().waiting + stats().running, OBJECTS);
	assert_int_equal(stats().waiting_bytes, 5 * OBJECTS);
	/* Those that were on their way at first, then one at a time. */
	assert_in_range(seen(), 2, 16 + 4);
	set_after(good);
	for (unsigned i = 0; i < OBJECTS; i++)
		expect_stored(i);
	assert_false(ing_objects_blocked(world.store));
	assert_in_range(web_most_at_once(world.web), 2, 16);
}

static void what_is_too_large_is_left_out(void **state)
{
	(void)state;
	set_after((struct answer){"413 Too Large", NULL});
	put(0, ING_DERIVED_PDF_TEXT, "words");
	wait_for(0);
	assert_int_equal(objects[0].end, ING_OBJECT_REFUSED);
	assert_int_equal(stats().refused, 1);
	assert_int_equal(seen(), 1);
	set_after(good);
	put(0, ING_DERIVED_PDF_TEXT, "words");
	expect_stored(0);
}

/* But not while nothing else is stored either: then it is the store's fault. */
static void an_object_that_alone_is_refused_is_left_out(void **state)
{
	(void)state;
	world.strange_path = "180px.jpg";
	put(0, ING_DERIVED_THUMBNAIL, "picture");
	wait_for_failures(2);
	assert_int_equal(objects[0].calls, 0);
	for (unsigned i = 1; objects[0].calls == 0; i++) {
		put(1 + i % 2, ING_DERIVED_PDF_TEXT, "words");
		expect_stored(1 + i % 2);
	}
	assert_int_equal(objects[0].end, ING_OBJECT_REFUSED);
	assert_int_equal(stats().failed_strange, 4);
	assert_int_equal(stats().refused, 1);
}

static void a_key_that_is_changed_takes_effect(void **state)
{
	(void)state;
	world.wanted_key = "Credential=AKOTHER/";
	put(0, ING_DERIVED_PDF_TEXT, "words");
	wait_for_failures(1);
	write_file(world.access_path, "AKOTHER");
	expect_stored(0);
	assert_int_equal(stats().failed_denied, 1);
	/* None, or an empty one, is not sent. */
	unsigned before = seen();
	assert_int_equal(unlink(world.secret_path), 0);
	put(0, ING_DERIVED_PDF_TEXT, "words");
	wait_for_failures(2);
	write_file(world.secret_path, "\n");
	wait_for_failures(3);
	assert_int_equal(seen(), before);
	write_file(world.secret_path, "secret");
	expect_stored(0);
	assert_int_equal(stats().failed_denied, 3);
}

static void cancelled_objects_come_back_once(void **state)
{
	(void)state;
	set_after((struct answer){NULL, NULL}); /* never answers */
	for (unsigned i = 0; i < OBJECTS; i++)
		put(i, ING_DERIVED_PDF_TEXT, "words");
	while (seen() < 16)
		uv_run(&world.loop, UV_RUN_NOWAIT);
	assert_int_equal(stats().running, 16);
	for (unsigned i = 0; i < OBJECTS; i++) {
		ing_objects_cancel(&objects[i].o);
		ing_objects_cancel(&objects[i].o);
		assert_int_equal(objects[i].calls, 0);
	}
	for (unsigned i = 0; i < OBJECTS; i++) {
		wait_for(i);
		assert_int_equal(objects[i].end, ING_OBJECT_CANCELLED);
	}
	assert_int_equal(stats().running + stats().waiting + stats().waiting_bytes, 0);
	/* At once after it was put: it may be in the pool. */
	set_after(good);
	for (unsigned turns = 0; turns < 4; turns++) {
		put(0, ING_DERIVED_PDF_TEXT, "words");
		for (unsigned i = 0; i < turns; i++)
			uv_run(&world.loop, UV_RUN_NOWAIT);
		ing_objects_cancel(&objects[0].o);
		wait_for(0);
	}
	ing_objects_cancel(&objects[0].o); /* not under way: nothing */
	assert_int_equal(objects[0].calls, 1);
}

/* Nobody waits any more, so nobody is held up. */
static void a_failing_store_without_objects_blocks_nobody(void **state)
{
	(void)state;
	set_after((struct answer){"507 Full", NULL});
	put(0, ING_DERIVED_PDF_TEXT, "words");
	while (!ing_objects_blocked(world.store))
		uv_run(&world.loop, UV_RUN_ONCE);
	ing_objects_cancel(&objects[0].o);
	wait_for(0);
	assert_false(ing_objects_blocked(world.store));
}

/* It may be slow, or hang: the objects are on their way, and have not failed yet. */
static void a_store_that_does_not_answer_blocks(void **state)
{
	(void)state;
	static uv_timer_t tick; /* closed when the loop ends */
	set_after((struct answer){NULL, NULL});
	put(0, ING_DERIVED_PDF_TEXT, "words");
	assert_int_equal(uv_timer_init(&world.loop, &tick), 0);
	uv_timer_start(&tick, do_nothing, 50, 50);
	while (!ing_objects_blocked(world.store))
		uv_run(&world.loop, UV_RUN_ONCE);
	assert_int_equal(failures(), 0);
	assert_int_equal(stats().running, 1);
	ing_objects_cancel(&objects[0].o);
	wait_for(0);
	assert_false(ing_objects_blocked(world.store));
	uv_close((uv_handle_t *)&tick, NULL);
}

/* --- folder --- */

static void expect_file(const char *path, const char *want)
{
	char name[200];
	char got[64] = "";
	snprintf(name, sizeof(name), "%s/%s", world.store_dir, path);
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	size_t n = fread(got, 1, sizeof(got) - 1, f);
	fclose(f);
	assert_int_equal(n, strlen(want));
	assert_string_equal(got, want);
}

/* How many files there are while they are written. */
static void expect_no_temporaries(void)
{
	char name[200];
	snprintf(name, sizeof(name), "%s/.tmp", world.store_dir);
	assert_int_equal(rmdir(name), 0); /* it is empty, and is made again */
}

static void a_folder_has_the_same_names(void **state)
{
	(void)state;
	put(0, ING_DERIVED_PDF_TEXT, "words");
	put(1, ING_DERIVED_GROBID_TEI, "<TEI/>");
	expect_stored(0);
	expect_stored(1);
	expect_file("text/da/39/" SHA1 ".txt", "words");
	expect_file("grobid/da/39/" SHA1 ".tei.xml", "<TEI/>");
	expect_no_temporaries();
	put(0, ING_DERIVED_PDF_TEXT, "newer");
	expect_stored(0);
	expect_file("text/da/39/" SHA1 ".txt", "newer");
	expect_no_temporaries();
	assert_int_equal(seen(), 0);
}

static void a_full_disk_is_waited_for(void **state)
{
	(void)state;
	static const struct {
		int errnum;
		size_t counter;
	} cases[] = {
		{ENOSPC, COUNTER(failed_full)},
		{EDQUOT, COUNTER(failed_full)},
		{EIO, COUNTER(failed_away)},
		{EROFS, COUNTER(failed_denied)},
	};
	put(0, ING_DERIVED_PDF_TEXT, "before");
	expect_stored(0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_objects_stats before = stats();
		__atomic_store_n(&world.write_errno, cases[i].errnum, __ATOMIC_SEQ_CST);
		put(0, ING_DERIVED_PDF_TEXT, "after");
		wait_for_failures(i + 1);
		expect_file("text/da/39/" SHA1 ".txt", i == 0 ? "before" : "after");
		expect_no_temporaries();
		__atomic_store_n(&world.write_errno, 0, __ATOMIC_SEQ_CST);
		expect_stored(0);
		expect_file("text/da/39/" SHA1 ".txt", "after");
		struct ing_objects_stats after = stats();
		const uint64_t *was = (const void *)((const char *)&before + cases[i].counter);
		const uint64_t *is = (const void *)((const char *)&after + cases[i].counter);
		assert_int_equal(*is - *was, 1);
	}
}

/* As one whose file system is not mounted: nothing is written elsewhere. */
static void a_folder_that_is_gone_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(rmdir(world.store_dir), 0);
	put(0, ING_DERIVED_PDF_TEXT, "words");
	wait_for_failures(1);
	assert_int_equal(stats().failed_missing, 1);
	assert_int_not_equal(access(world.store_dir, F_OK), 0);
	assert_int_equal(mkdir(world.store_dir, 0755), 0);
	expect_stored(0);
	expect_file("text/da/39/" SHA1 ".txt", "words");
}

#define S3(f) cmocka_unit_test_setup_teardown(f, begin_s3, end)
#define FOLDER(f) cmocka_unit_test_setup_teardown(f, begin_folder, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		S3(an_object_is_put_under_its_name_with_a_signature_of_its_content),
		S3(what_fails_is_tried_again),
		S3(a_store_that_is_full_blocks_until_there_is_room),
		S3(what_is_too_large_is_left_out),
		S3(an_object_that_alone_is_refused_is_left_out),
		S3(a_key_that_is_changed_takes_effect),
		S3(cancelled_objects_come_back_once),
		S3(a_failing_store_without_objects_blocks_nobody),
		S3(a_store_that_does_not_answer_blocks),
		FOLDER(a_folder_has_the_same_names),
		FOLDER(a_full_disk_is_waited_for),
		FOLDER(a_folder_that_is_gone_is_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
