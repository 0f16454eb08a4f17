/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * See support.h.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/compress.h"
#include "common/record/warc_read.h"
#include "common/record/warc_recover.h"

#define MAX_BYTES ((size_t)64 << 20)

static void note_done(struct ing_archive_item *item)
{
	struct parcel *p = ING_CONTAINER(item, struct parcel, item);
	p->done++;
}

static void join(const struct fixture *f, const char *name, char ret[512])
{
	assert_true(snprintf(ret, 512, "%s/%s", f->path, name) < 512);
}

static void ignore(void *ctx, const void *data, size_t bytes, size_t payload_bytes)
{
	(void)ctx;
	(void)data;
	(void)bytes;
	(void)payload_bytes;
}

/* -------------------------------------------------------------------------------------------- */

int fixture_setup(void **state)
{
	struct fixture *f = ing_alloc(sizeof(*f));
	strncpy(f->path, "/tmp/archive_test.XXXXXX", sizeof(f->path) - 1);
	if (mkdtemp(f->path) == NULL || uv_loop_init(&f->loop) != 0)
		return -1;
	f->conf = (struct ing_archive_conf){
		.settings = {.dir = f->path, .prefix = "TEST", .max_bytes = (uint64_t)1 << 30},
		.hostname = "host-1",
		.software = "ingest-worker/0",
		.user_agent = "Bot/1 (+https://example.org/bot)",
		.robots = "ignore"};
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	fixture_stop(f);
	DIR *dir = opendir(f->path);
	for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir)) {
		char path[512];
		join(f, e->d_name, path);
		if (e->d_name[0] != '.')
			unlink(path);
	}
	if (dir != NULL)
		closedir(dir);
	rmdir(f->path);
	int rc = uv_loop_close(&f->loop);
	free(f);
	return rc;
}

void fixture_start(struct fixture *f)
{
	struct ing_error err = {0};
	if (ing_archive_new(&f->loop, &f->conf, &f->archive, &err) != 0)
		fail_msg("%s", err.msg);
}

void fixture_stop(struct fixture *f)
{
	ing_archive_free(ING_TAKE(f->archive));
	uv_run(&f->loop, UV_RUN_DEFAULT);
}

void parcel_init(
	struct parcel *p, const char *url, const char *head, const void *body, size_t bytes)
{
	*p = (struct parcel){0};
	struct ing_exchange *ex = &p->exchange;
	ex->magic = ING_EXCHANGE_MAGIC;
	ex->refs = 1;
	ex->url = ing_strdup(url);
	ex->started = (struct timespec){.tv_sec = 1767322984, .tv_nsec = 123456000};
	strncpy(ex->ip, "192.0.2.7", sizeof(ex->ip) - 1);
	ex->answered = true;
	ing_buf_init(&ex->request, 4096);
	ing_buf_init(&ex->response, 4096);
	ing_buf_add_str(&ex->request, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
	ing_buf_add_str(&ex->response, head);
	ex->http_status = 200;
	ex->body_fd = -1;
	if (bytes > 0) {
		ex->body_fd = memfd_create("body", MFD_CLOEXEC);
		assert_int_equal(write(ex->body_fd, body, bytes), bytes);
		ex->body_bytes = bytes;
	}
	p->item.exchange = ex;
	p->item.done = note_done;
}

void parcel_done(struct parcel *p)
{
	free(p->exchange.url);
	ing_buf_done(&p->exchange.request);
	ing_buf_done(&p->exchange.response);
	if (p->exchange.body_fd >= 0)
		close(p->exchange.body_fd);
}

void parcel_put(struct fixture *f, struct parcel *p)
{
	parcel_put_one_of(f, p, 0);
}

void parcel_put_one_of(struct fixture *f, struct parcel *p, size_t coming)
{
	p->done = 0;
	ing_archive_put(f->archive, &p->item, coming);
}

/* The archive keeps the loop alive while items are out, so the loop's return is the test. */
void run_until_done(struct fixture *f, const struct parcel *parcels, size_t count)
{
	uv_run(&f->loop, UV_RUN_DEFAULT);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(parcels[i].done, 1);
}

void read_item(const struct fixture *f, const struct ing_archive_item *item, struct ing_buf *ret)
{
	static const struct ing_warc_read_user nobody = {.block = ignore};
	struct ing_error err = {0};
	char path[512];
	join(f, item->warc_name, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		assert_true(strlen(path) + 6 < sizeof(path));
		memcpy(path + strlen(path), ".open", 6);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	assert_true(fd >= 0);
	unsigned char *member = malloc(item->csize);
	assert_non_null(member);
	assert_int_equal(pread(fd, member, item->csize, (off_t)item->offset), item->csize);
	if (ing_warc_read(fd, item->offset, item->csize, &nobody, NULL, &err) != 0)
		fail_msg("%s", err.msg);
	close(fd);
	struct ing_gunzip *z = ing_gunzip_new();
	const unsigned char *in = member;
	size_t left = item->csize;
	int rc = 0;
	ing_buf_init(ret, MAX_BYTES);
	while (rc == 0) {
		size_t got;
		void *out = ing_buf_reserve(ret, 65536);
		assert_non_null(out);
		rc = ing_gunzip_step(z, &in, &left, out, 65536, &got);
		assert_true(rc == 1 || got > 0);
		ing_buf_commit(ret, got);
	}
	assert_int_equal(rc, 1);
	assert_int_equal(left, 0);
	ing_gunzip_free(z);
	free(member);
}

struct found look_around(const struct fixture *f)
{
	struct found found = {0};
	DIR *dir = opendir(f->path);
	assert_non_null(dir);
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		char path[512];
		struct ing_error err = {0};
		struct ing_warc_end end;
		if (e->d_name[0] == '.')
			continue;
		found.files++;
		size_t len = strlen(e->d_name);
		assert_true(len < sizeof(found.name));
		memcpy(found.name, e->d_name, len + 1);
		if (len > 5 && strcmp(e->d_name + len - 5, ".open") == 0) {
			found.open_files++;
			continue;
		}
		join(f, e->d_name, path);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(ing_warc_find_end(fd, &end, &err), 0);
		close(fd);
		if (end.damage != NULL)
			fail_msg("%s: at %llu: %s", e->d_name, (unsigned long long)end.damage_at,
				end.damage);
		found.records += end.records;
		found.bytes += end.bytes;
	}
	closedir(dir);
	return found;
}

void write_file(const struct fixture *f, const char *name, const void *data, size_t bytes)
{
	char path[512];
	join(f, name, path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), bytes);
	close(fd);
}

bool is_there(const struct fixture *f, const char *name)
{
	char path[512];
	join(f, name, path);
	return access(path, F_OK) == 0;
}
