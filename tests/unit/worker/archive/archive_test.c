/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The contract of archive.h on a disk that works: records and their places, files and their names,
 * and what is left of predecessors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/base32.h"
#include "support.h"

#define OPEN_NAME "TEST-20260102030405678-00000-host-1.warc.gz.open"
#define FINAL_NAME "TEST-20260102030405678-00000-host-1.warc.gz"

static bool has(const struct ing_buf *b, const char *text)
{
	return strstr(ing_buf_str(b), text) != NULL;
}

static void an_exchange_is_two_records(void **state)
{
	struct fixture *f = *state;
	struct parcel p;
	struct ing_buf got;
	fixture_start(f);
	parcel_init(&p, "https://example.org/a",
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", "hello", 5);
	parcel_put(f, &p);
	run_until_done(f, &p, 1);
	assert_string_equal(p.item.payload_sha1b32, "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
	assert_memory_equal(p.item.warc_name, "TEST-20", 7);
	assert_true(p.item.offset > 0);
	assert_non_null(strstr(p.item.warc_name, "-00000-host-1.warc.gz"));
	read_item(f, &p.item, &got);
	assert_memory_equal(got.data, "WARC/1.1\r\nWARC-Type: response\r\n", 30);
	assert_true(has(&got, "WARC-Target-URI: https://example.org/a\r\n"));
	assert_true(has(&got, "WARC-Date: 2026-01-02T03:03:04.123456Z\r\n"));
	assert_true(has(&got, "WARC-IP-Address: 192.0.2.7\r\n"));
	assert_true(has(&got, "WARC-Concurrent-To: <urn:uuid:"));
	assert_true(has(&got, "WARC-Warcinfo-ID: <urn:uuid:"));
	assert_true(has(&got, "Content-Type: application/http;msgtype=response\r\n"));
	assert_false(has(&got, "WARC-Truncated"));
	assert_true(has(
		&got, "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\r\n\r\n"));
	ing_buf_done(&got);
	/* warcinfo and request are in front of it */
	struct ing_archive_stats stats;
	ing_archive_stats(f->archive, &stats);
	assert_int_equal(stats.records, 3);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.syncs, 1);
	assert_int_equal(stats.bytes, p.item.offset + p.item.csize);
	assert_true(stats.cpu_ns > 0);
	assert_int_equal(look_around(f).open_files, 1);
	fixture_stop(f);
	struct found found = look_around(f);
	assert_int_equal(found.files, 1);
	assert_int_equal(found.open_files, 0);
	assert_int_equal(found.records, 3);
	assert_string_equal(found.name, p.item.warc_name);
	parcel_done(&p);
}

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n"

static struct ing_archive_original original_of(const struct parcel *p)
{
	struct ing_archive_original original = {.url = p->exchange.url,
		.record_id = p->item.record_id,
		.record_date = "2026-01-02T03:03:04.123456Z"};
	memcpy(original.payload_sha1, p->item.body.sha1, sizeof(original.payload_sha1));
	return original;
}

static void a_body_that_an_earlier_record_has_is_referred_to(void **state)
{
	struct fixture *f = *state;
	struct parcel p[4];
	struct ing_buf got;
	char want[256];
	fixture_start(f);
	parcel_init(&p[0], "https://example.org/a", ANSWER, "hello", 5);
	parcel_init(&p[1], "https://example.org/a", ANSWER, "hullo", 5);
	parcel_put(f, &p[0]);
	parcel_put(f, &p[1]);
	run_until_done(f, p, 2);
	assert_null(p[0].item.refers_to);
	assert_int_equal(strlen(p[0].item.record_id), 36);
	const struct ing_archive_original known[] = {original_of(&p[1]), original_of(&p[0])};
	const struct ing_archive_original *const offered[] = {&known[0], &known[1]};
	parcel_init(&p[2], "https://example.org/a", ANSWER, "hello", 5);
	parcel_init(&p[3], "https://example.org/a", ANSWER, "hallo", 5);
	for (size_t i = 2; i < 4; i++) {
		p[i].item.originals = offered;
		p[i].item.original_count = 2;
		parcel_put(f, &p[i]);
	}
	run_until_done(f, p, 4);

	assert_ptr_equal(p[2].item.refers_to, offered[1]);
	assert_int_equal(strlen(p[2].item.record_id), 36);
	assert_string_not_equal(p[2].item.record_id, p[0].item.record_id);
	assert_string_equal(p[2].item.payload_sha1b32, p[0].item.payload_sha1b32);
	assert_true(p[2].item.digested);
	assert_memory_equal(
		p[2].item.body.sha256, p[0].item.body.sha256, sizeof(p[0].item.body.sha256));
	assert_int_equal(p[2].item.body.bytes, 5);
	read_item(f, &p[2].item, &got);
	assert_memory_equal(got.data, "WARC/1.1\r\nWARC-Type: revisit\r\n", 29);
	snprintf(want, sizeof(want), "WARC-Record-ID: <urn:uuid:%s>\r\n", p[2].item.record_id);
	assert_true(has(&got, want));
	snprintf(want, sizeof(want), "WARC-Refers-To: <urn:uuid:%s>\r\n", p[0].item.record_id);
	assert_true(has(&got, want));
	assert_true(has(&got, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
			      "identical-payload-digest\r\n"));
	assert_true(has(&got, "WARC-Refers-To-Target-URI: https://example.org/a\r\n"));
	assert_true(has(&got, "WARC-Refers-To-Date: 2026-01-02T03:03:04.123456Z\r\n"));
	assert_true(has(&got, "WARC-Truncated: length\r\n"));
	assert_true(has(&got, "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"));
	assert_true(has(&got, "\r\n\r\n" ANSWER "\r\n\r\n"));
	assert_false(has(&got, "hello"));
	ing_buf_done(&got);
	/* The record that it names is where the original is said to be. */
	read_item(f, &p[0].item, &got);
	assert_true(has(&got, strstr(want, "<urn")));
	ing_buf_done(&got);

	assert_null(p[3].item.refers_to);
	read_item(f, &p[3].item, &got);
	assert_memory_equal(got.data, "WARC/1.1\r\nWARC-Type: response\r\n", 30);
	ing_buf_done(&got);
	struct ing_archive_stats stats;
	ing_archive_stats(f->archive, &stats);
	assert_int_equal(stats.revisits, 1);
	assert_int_equal(stats.saved_bytes, 5);
	fixture_stop(f);
	assert_int_equal(look_around(f).records, 9);
	for (size_t i = 0; i < 4; i++)
		parcel_done(&p[i]);
}

static void a_body_that_cannot_be_compared_is_lost(void **state)
{
	struct fixture *f = *state;
	struct parcel p[2];
	fixture_start(f);
	parcel_init(&p[0], "https://example.org/a", ANSWER, "hello", 5);
	parcel_put(f, &p[0]);
	run_until_done(f, p, 1);
	const struct ing_archive_original known = original_of(&p[0]);
	const struct ing_archive_original *const offered[] = {&known};
	parcel_init(&p[1], "https://example.org/a", ANSWER, "hello", 5);
	p[1].exchange.body_bytes = 50; /* the file ends before */
	p[1].item.originals = offered;
	p[1].item.original_count = 1;
	parcel_put(f, &p[1]);
	run_until_done(f, p, 2);
	assert_true(p[1].item.lost);
	assert_null(p[1].item.refers_to);
	assert_string_equal(p[1].item.warc_name, "");
	fixture_stop(f);
	assert_int_equal(look_around(f).records, 3);
	for (size_t i = 0; i < 2; i++)
		parcel_done(&p[i]);
}

static void assert_hex(const unsigned char *bytes, size_t count, const char *want)
{
	char hex[130];
	ing_hex_encode(bytes, count, hex);
	assert_string_equal(hex, want);
}

static void assert_hello(const struct ing_archive_item *item)
{
	assert_true(item->digested);
	assert_int_equal(item->body.bytes, 5);
	assert_hex(item->body.md5, 16, "5d41402abc4b2a76b9719d911017c592");
	assert_hex(item->body.sha1, 20, "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d");
	assert_hex(item->body.sha256, 32,
		"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	assert_string_equal(item->payload_sha1b32, "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
	assert_false(item->gzip);
}

/* A body of several pieces, and its digests by themselves. */
static void assert_large(const struct ing_archive_item *item, const char *large, size_t bytes)
{
	struct ing_digests want;
	ing_digest(ING_DIGEST_ALL, large, bytes, &want);
	assert_true(item->digested && item->gzip);
	assert_int_equal(item->body.bytes, bytes);
	assert_memory_equal(item->body.md5, want.md5, sizeof(want.md5));
	assert_memory_equal(item->body.sha1, want.sha1, sizeof(want.sha1));
	assert_memory_equal(item->body.sha256, want.sha256, sizeof(want.sha256));
}

/* With a folder and without one. An answer that never came has no digests. */
static void bodies_are_digested(void **state)
{
	struct fixture *f = *state;
	enum { HELLO, LARGE, EMPTY, UNREADABLE, UNANSWERED, COUNT };
	static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
	size_t bytes = 1000003;
	char *large = ing_alloc(bytes);
	memset(large, 'x', bytes);
	memcpy(large, "\x1f\x8b\x08", 3);
	for (int with_folder = 1; with_folder >= 0; with_folder--) {
		struct parcel p[COUNT];
		f->conf.settings.dir = with_folder ? f->path : "";
		fixture_start(f);
		parcel_init(&p[HELLO], "http://h/1", head, "hello", 5);
		parcel_init(&p[LARGE], "http://h/2", head, large, bytes);
		parcel_init(&p[EMPTY], "http://h/3", head, NULL, 0);
		parcel_init(&p[UNREADABLE], "http://h/4", head, "hello", 5);
		p[UNREADABLE].exchange.body_bytes = 6;
		parcel_init(&p[UNANSWERED], "http://h/5", "", NULL, 0);
		p[UNANSWERED].exchange.answered = false;
		for (int i = 0; i < COUNT; i++)
			parcel_put(f, &p[i]);
		run_until_done(f, p, COUNT);
		assert_hello(&p[HELLO].item);
		assert_large(&p[LARGE].item, large, bytes);
		assert_true(p[EMPTY].item.digested && p[EMPTY].item.body.bytes == 0);
		assert_hex(p[EMPTY].item.body.md5, 16, "d41d8cd98f00b204e9800998ecf8427e");
		assert_false(p[UNREADABLE].item.digested || p[UNANSWERED].item.digested);
		assert_string_equal(p[UNREADABLE].item.payload_sha1b32, "");
		assert_int_equal(p[HELLO].item.warc_name[0] != '\0', with_folder);
		assert_false(ing_archive_blocked(f->archive));
		fixture_stop(f);
		for (int i = 0; i < COUNT; i++)
			parcel_done(&p[i]);
	}
	assert_int_equal(look_around(f).files, 1);
	free(large);
}

static void the_first_record_is_the_warcinfo(void **state)
{
	struct fixture *f = *state;
	struct parcel p;
	struct ing_buf got;
	fixture_start(f);
	parcel_init(&p, "http://h/", "HTTP/1.1 204 No Content\r\n\r\n", NULL, 0);
	p.exchange.request.len = 0; /* so that the response follows at once */
	parcel_put(f, &p);
	run_until_done(f, &p, 1);
	fixture_stop(f);
	struct ing_archive_item info = p.item;
	info.csize = p.item.offset;
	info.offset = 0;
	read_item(f, &info, &got);
	char filename[ING_WARC_NAME_BYTES + 64];
	snprintf(filename, sizeof(filename), "\r\nWARC-Filename: %s\r\n", p.item.warc_name);
	assert_memory_equal(got.data, "WARC/1.1\r\nWARC-Type: warcinfo\r\n", 30);
	assert_true(has(&got, filename));
	assert_true(has(&got, "Content-Type: application/warc-fields\r\n"));
	assert_true(has(&got,
		"\r\n\r\nsoftware: ingest-worker/0\r\nformat: WARC File Format 1.1\r\nconformsTo: "));
	assert_true(
		has(&got, "\r\nrobots: ignore\r\nhostname: host-1\r\n"
			  "http-header-user-agent: Bot/1 (+https://example.org/bot)\r\n\r\n\r\n"));
	ing_buf_done(&got);
	/* without a byte of body, the payload is the empty one */
	assert_string_equal(p.item.payload_sha1b32, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
	parcel_done(&p);
}

static const struct {
	enum ing_truncated truncated;
	const char *want;
} cuts[] = {
	{ING_TRUNC_LENGTH, "WARC-Truncated: length\r\n"},
	{ING_TRUNC_TIME, "WARC-Truncated: time\r\n"},
	{ING_TRUNC_DISCONNECT, "WARC-Truncated: disconnect\r\n"},
	{ING_TRUNC_UNSPECIFIED, "WARC-Truncated: unspecified\r\n"},
};

static void a_cut_body_says_so(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[ING_ARRAY_LEN(cuts)];
	fixture_start(f);
	for (size_t i = 0; i < ING_ARRAY_LEN(cuts); i++) {
		parcel_init(&parcels[i], "http://h/",
			"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "part", 4);
		parcels[i].exchange.truncated = cuts[i].truncated;
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, ING_ARRAY_LEN(cuts));
	for (size_t i = 0; i < ING_ARRAY_LEN(cuts); i++) {
		struct ing_buf got;
		read_item(f, &parcels[i].item, &got);
		assert_true(has(&got, cuts[i].want));
		assert_true(has(&got, "\r\nContent-Length: 1000\r\n\r\npart\r\n\r\n"));
		ing_buf_done(&got);
		parcel_done(&parcels[i]);
	}
}

static void what_was_not_answered_is_not_archived(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[3];
	fixture_start(f);
	for (size_t i = 0; i < 3; i++) {
		parcel_init(&parcels[i], "http://h/", "HTTP/1.1 200 OK\r\n\r\n", "x", 1);
		parcels[i].exchange.answered = i == 1;
		memset(parcels[i].item.warc_name, 'x', 9);
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, 3);
	assert_string_equal(parcels[0].item.warc_name, "");
	assert_string_not_equal(parcels[1].item.warc_name, "");
	assert_string_equal(parcels[2].item.warc_name, "");
	assert_string_equal(parcels[2].item.payload_sha1b32, "");
	fixture_stop(f);
	assert_int_equal(look_around(f).records, 3);
	for (size_t i = 0; i < 3; i++)
		parcel_done(&parcels[i]);
}

static void no_answer_at_all_makes_no_file(void **state)
{
	struct fixture *f = *state;
	struct parcel p;
	fixture_start(f);
	parcel_init(&p, "http://h/", "", NULL, 0);
	p.exchange.answered = false;
	parcel_put(f, &p);
	run_until_done(f, &p, 1);
	fixture_stop(f);
	assert_int_equal(look_around(f).files, 0);
	parcel_done(&p);
}

/* A body that cannot be read back is nobody else's trouble. */
static void an_unreadable_body_does_not_stop_the_others(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[3];
	fixture_start(f);
	for (size_t i = 0; i < 3; i++) {
		parcel_init(&parcels[i], "http://h/", "HTTP/1.1 200 OK\r\n\r\n", "hello", 5);
		if (i == 1)
			parcels[i].exchange.body_bytes = 6;
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, 3);
	assert_string_equal(parcels[1].item.warc_name, "");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(parcels[i].item.lost, i == 1); /* nothing else says so */
	assert_false(ing_archive_blocked(f->archive));
	fixture_stop(f);
	assert_int_equal(look_around(f).records, 5);
	for (size_t i = 0; i < 3; i++)
		parcel_done(&parcels[i]);
}

static void files_rotate_at_their_size(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 12, BODY = 20000 };
	struct parcel parcels[COUNT];
	char body[BODY];
	uint32_t x = 7;
	for (size_t i = 0; i < BODY; i++) {
		x = x * 1664525 + 1013904223;
		body[i] = (char)(x >> 24);
	}
	f->conf.settings.max_bytes = 50000; /* reached by every third */
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++) {
		parcel_init(&parcels[i], "http://h/", "HTTP/1.1 200 OK\r\n\r\n", body, BODY);
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		struct ing_buf got;
		char serial[16];
		snprintf(serial, sizeof(serial), "-%05zu-", i / 3);
		assert_non_null(strstr(parcels[i].item.warc_name, serial));
		read_item(f, &parcels[i].item, &got);
		assert_memory_equal(got.data + got.len - 4 - BODY, body, BODY);
		ing_buf_done(&got);
		parcel_done(&parcels[i]);
	}
	/* full files are closed at once */
	struct found found = look_around(f);
	assert_int_equal(found.files, COUNT / 3);
	assert_int_equal(found.open_files, 0);
	assert_int_equal(found.records, COUNT / 3 * (1 + 2 * 3));
}

/* More than a group in one go, from one loop turn. */
static void many_at_once_share_syncs(void **state)
{
	struct fixture *f = *state;
	enum { COUNT = 2000 };
	struct parcel *parcels = ing_alloc(COUNT * sizeof(*parcels));
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++) {
		parcel_init(&parcels[i], "http://h/", "HTTP/1.1 200 OK\r\n\r\n", NULL, 0);
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, COUNT);
	struct ing_archive_stats stats;
	ing_archive_stats(f->archive, &stats);
	assert_int_equal(stats.records, 1 + 2 * COUNT);
	assert_true(stats.syncs < COUNT / 4);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(i > 0 && parcels[i].item.offset <= parcels[i - 1].item.offset, 0);
		parcel_done(&parcels[i]);
	}
	free(parcels);
}

/* Make a file of one exchange and give it this (open) name; returns its length. */
static size_t leave_open_file(
	struct fixture *f, const char *name, const void *tail, size_t tail_bytes)
{
	struct parcel p;
	char from[512];
	char to[512];
	const char *dir = f->path;
	fixture_start(f);
	parcel_init(&p, "http://h/", "HTTP/1.1 200 OK\r\n\r\n", "hello", 5);
	parcel_put(f, &p);
	run_until_done(f, &p, 1);
	fixture_stop(f);
	snprintf(from, sizeof(from), "%s/%s", dir, p.item.warc_name);
	snprintf(to, sizeof(to), "%s/%s", dir, name);
	assert_int_equal(rename(from, to), 0);
	int fd = open(to, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, tail, tail_bytes), tail_bytes);
	close(fd);
	parcel_done(&p);
	return p.item.offset + p.item.csize;
}

static void a_left_over_file_is_cut_and_closed(void **state)
{
	struct fixture *f = *state;
	size_t whole = leave_open_file(f, OPEN_NAME, "\x1f\x8b\x08torn", 7);
	fixture_start(f);
	struct found found = look_around(f);
	assert_int_equal(found.files, 1);
	assert_int_equal(found.open_files, 0);
	assert_string_equal(found.name, FINAL_NAME);
	assert_int_equal(found.records, 3);
	assert_int_equal(found.bytes, whole);
}

static void a_left_over_file_without_a_record_is_removed(void **state)
{
	struct fixture *f = *state;
	write_file(f, OPEN_NAME, "\x1f\x8b\x08torn", 7);
	write_file(f, "TEST-20260102030405678-00001-host-1.warc.gz.open", "", 0);
	fixture_start(f);
	assert_int_equal(look_around(f).files, 0);
}

static void files_of_others_are_not_touched(void **state)
{
	static const char *const others[] = {
		"TEST-20260102030405678-00000-host-2.warc.gz.open",
		"TEST-20260102030405678-00000-host-1-1.warc.gz.open",
		"TEST-20260102030405678-00000-x-host-1.warc.gz.open",
		"OTHER-20260102030405678-00000-host-1.warc.gz.open",
		"TEST-2026-00000-host-1.warc.gz.open",
		"TEST-20260102030405678-00000-host-1.warc.gz.open.bak",
		"notes.open",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++)
		write_file(f, others[i], "theirs", 6);
	fixture_start(f);
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++)
		assert_true(is_there(f, others[i]));
}

static void a_file_that_is_being_written_is_not_touched(void **state)
{
	struct fixture *f = *state;
	char path[512];
	write_file(f, OPEN_NAME, "busy", 4);
	snprintf(path, sizeof(path), "%s/" OPEN_NAME, f->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	fixture_start(f);
	assert_true(is_there(f, OPEN_NAME));
	fixture_stop(f);
	close(fd);
	fixture_start(f);
	assert_false(is_there(f, OPEN_NAME));
}

static void a_taken_final_name_is_not_overwritten(void **state)
{
	struct fixture *f = *state;
	leave_open_file(f, OPEN_NAME, "", 0);
	write_file(f, FINAL_NAME, "", 0);
	fixture_start(f);
	assert_true(is_there(f, OPEN_NAME));
	assert_int_equal(look_around(f).bytes, 0);
}

static void the_folder_is_made(void **state)
{
	struct fixture *f = *state;
	char path[128];
	char inner[160];
	snprintf(path, sizeof(path), "%s/new", f->path);
	snprintf(inner, sizeof(inner), "%s/deeper/", path);
	f->conf.settings.dir = inner;
	fixture_start(f);
	assert_int_equal(access(inner, W_OK), 0);
	fixture_stop(f);
	rmdir(inner);
	rmdir(path);
}

static void a_wrong_configuration_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ing_error err = {0};
	struct ing_archive *a = NULL;
	struct ing_archive_conf conf = f->conf;
	char file[128];
	conf.settings.prefix = "";
	assert_int_equal(ing_archive_new(&f->loop, &conf, &a, &err), -ING_FAIL_CONFIG);
	write_file(f, "file", "", 0);
	snprintf(file, sizeof(file), "%s/file", f->path);
	conf = f->conf;
	conf.settings.dir = file;
	ing_error_clear(&err);
	assert_int_equal(ing_archive_new(&f->loop, &conf, &a, &err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, file));
	assert_null(a);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_exchange_is_two_records),
		CASE(a_body_that_an_earlier_record_has_is_referred_to),
		CASE(a_body_that_cannot_be_compared_is_lost),
		CASE(bodies_are_digested),
		CASE(the_first_record_is_the_warcinfo),
		CASE(a_cut_body_says_so),
		CASE(what_was_not_answered_is_not_archived),
		CASE(no_answer_at_all_makes_no_file),
		CASE(an_unreadable_body_does_not_stop_the_others),
		CASE(files_rotate_at_their_size),
		CASE(many_at_once_share_syncs),
		CASE(a_left_over_file_is_cut_and_closed),
		CASE(a_left_over_file_without_a_record_is_removed),
		CASE(files_of_others_are_not_touched),
		CASE(a_file_that_is_being_written_is_not_touched),
		CASE(a_taken_final_name_is_not_overwritten),
		CASE(the_folder_is_made),
		CASE(a_wrong_configuration_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
