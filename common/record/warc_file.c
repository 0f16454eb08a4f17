/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A header holds the digest of the block behind it, so a body that is not at hand is read twice: once to
 * digest, once to compress. One that fits into the piece buffer is read once. Bodies come through
 * pread(2), not mmap(2): a spool file on a failing disk is then an error and no SIGBUS.
 */
#include "common/record/warc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "common/data/compress.h"
#include "common/data/digest.h"

#define PIECE_BYTES ((size_t)256 << 10)

struct ing_warc_file {
	int fd; /* -1: none is open */
	int dir_fd;
	char name[NAME_MAX + 1];
	uint64_t end; /* where the next byte goes; behind the last whole record but while one is
			 written */
	bool broken;
	bool dir_dirty;        /* created, and the folder not yet synced */
	struct ing_error *err; /* of the call under way; for the sink */
	struct ing_gzip *gzip;
	struct ing_digester *block_digester, *payload_digester;
	struct ing_buf head;
	unsigned char piece[PIECE_BYTES];
};

static void open_name(const char *name, char ret[NAME_MAX + 1])
{
	int n = snprintf(ret, NAME_MAX + 1, "%s" ING_WARC_OPEN_SUFFIX, name);
	ing_must(n > 0 && n <= NAME_MAX);
}

/* ing_gzip_sink: to the end of the file, whatever the kernel takes at a time. */
static int write_out(void *ctx, const void *data, size_t bytes)
{
	struct ing_warc_file *f = ctx;
	const char *from = data;
	while (bytes > 0) {
		ssize_t n = pwrite(f->fd, from, bytes, (off_t)f->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ing_error_sys(
				f->err, n < 0 ? errno : ENOSPC, "%s: cannot write", f->name);
		f->end += (uint64_t)n;
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Fill the piece buffer from the body at `at`. */
static int read_piece(
	struct ing_warc_file *f, const struct ing_warc_block *block, uint64_t at, size_t bytes)
{
	size_t have = 0;
	while (have < bytes) {
		ssize_t n =
			pread(block->body_fd, f->piece + have, bytes - have, (off_t)(at + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ing_error_set(f->err, ING_FAIL_TRUNCATED, "body: cannot read: %s",
				strerror(errno));
		if (n == 0)
			return ing_error_set(f->err, ING_FAIL_TRUNCATED,
				"body: ends at %llu of %llu bytes", (unsigned long long)(at + have),
				(unsigned long long)block->body_bytes);
		have += (size_t)n;
	}
	return 0;
}

/* The body's bytes from `at`, up to a piece of a file, all of those at hand. */
static int next_piece(struct ing_warc_file *f, const struct ing_warc_block *block, uint64_t at,
	const unsigned char **ret, size_t *ret_bytes)
{
	if (block->body != NULL) {
		*ret = (const unsigned char *)block->body + at;
		*ret_bytes = (size_t)(block->body_bytes - at);
		return 0;
	}
	*ret = f->piece;
	*ret_bytes = (size_t)ING_MIN(block->body_bytes - at, (uint64_t)PIECE_BYTES);
	return read_piece(f, block, at, *ret_bytes);
}

/* First reading of the body. A body of one piece stays in the buffer. */
static int digest_block(
	struct ing_warc_file *f, const struct ing_warc_block *block, struct ing_warc_digests *ret)
{
	int rc = 0;
	const unsigned char *piece;
	size_t bytes;
	ing_digester_add(f->block_digester, block->head, block->head_bytes);
	for (uint64_t at = 0; at < block->body_bytes; at += bytes) {
		rc = next_piece(f, block, at, &piece, &bytes);
		if (rc != 0)
			break;
		ing_digester_add(f->block_digester, piece, bytes);
		if (block->has_payload)
			ing_digester_add(f->payload_digester, piece, bytes);
	}
	/* Finished on failure too: that makes them ready for the next record. */
	ing_digester_finish(f->block_digester, &ret->block);
	if (block->has_payload)
		ing_digester_finish(f->payload_digester, &ret->payload);
	return rc;
}

/* Second reading of the body. */
static int compress_body(struct ing_warc_file *f, const struct ing_warc_block *block)
{
	bool in_piece =
		block->body == NULL && block->digests == NULL && block->body_bytes <= PIECE_BYTES;
	if (in_piece)
		return ing_gzip_add(f->gzip, f->piece, (size_t)block->body_bytes);
	const unsigned char *piece;
	size_t bytes;
	for (uint64_t at = 0; at < block->body_bytes; at += bytes) {
		int rc = next_piece(f, block, at, &piece, &bytes);
		if (rc == 0)
			rc = ing_gzip_add(f->gzip, piece, bytes);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int write_member(struct ing_warc_file *f, const struct ing_warc_block *block)
{
	ing_gzip_begin(f->gzip);
	int rc = ing_gzip_add(f->gzip, f->head.data, f->head.len);
	if (rc == 0)
		rc = ing_gzip_add(f->gzip, block->head, block->head_bytes);
	if (rc == 0)
		rc = compress_body(f, block);
	if (rc == 0)
		rc = ing_gzip_add(f->gzip, "\r\n\r\n", 4);
	if (rc == 0)
		rc = ing_gzip_end(f->gzip);
	return rc;
}

static void close_file(struct ing_warc_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static bool exists(int dir_fd, const char *name)
{
	struct stat st;
	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Where renameat2(2) cannot refuse to replace (some network file systems), a hard link can. */
static int rename_no_replace(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (linkat(dir_fd, from, dir_fd, to, 0) != 0)
		return -1;
	return unlinkat(dir_fd, from, 0);
}

/* Both names on one file: a crash came between link and unlink. */
static bool same_file(int dir_fd, const char *a, const char *b)
{
	struct stat sa;
	struct stat sb;
	return fstatat(dir_fd, a, &sa, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir_fd, b, &sb, AT_SYMLINK_NOFOLLOW) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_warc_file *ing_warc_file_new(void)
{
	struct ing_warc_file *f = ing_alloc(sizeof(*f));
	f->fd = -1;
	f->dir_fd = -1;
	f->gzip = ing_gzip_new(write_out, f);
	f->block_digester = ing_digester_new(ING_DIGEST_SHA1);
	f->payload_digester = ing_digester_new(ING_DIGEST_ALL);
	ing_buf_init(&f->head, ING_WARC_MAX_HEAD_BYTES);
	return f;
}

void ing_warc_file_free(struct ing_warc_file *f)
{
	if (f == NULL)
		return;
	close_file(f);
	ing_gzip_free(f->gzip);
	ing_digester_free(f->block_digester);
	ing_digester_free(f->payload_digester);
	ing_buf_done(&f->head);
	free(f);
}

int ing_warc_file_create(
	struct ing_warc_file *f, int dir_fd, const char *name, struct ing_error *err)
{
	ing_must(f->fd < 0);
	char temporary[NAME_MAX + 1];
	open_name(name, temporary);
	if (exists(dir_fd, name))
		return ing_error_set(err, ING_FAIL_LOCKED, "%s: is there already", name);
	int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		return ing_error_set(err, ING_FAIL_LOCKED, "%s: is there already", temporary);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s: cannot create", temporary);
	/* Where locks are not supported, the instance's own lock still keeps two workers apart. */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return ing_error_set(
			err, ING_FAIL_LOCKED, "%s: another process took it", temporary);
	}
	f->fd = fd;
	f->dir_fd = dir_fd;
	memcpy(f->name, name, strlen(name) + 1);
	f->end = 0;
	f->broken = false;
	f->dir_dirty = true;
	return 0;
}

bool ing_warc_file_is_open(const struct ing_warc_file *f)
{
	return f->fd >= 0;
}

bool ing_warc_file_is_broken(const struct ing_warc_file *f)
{
	return f->broken;
}

uint64_t ing_warc_file_bytes(const struct ing_warc_file *f)
{
	return f->end;
}

const char *ing_warc_file_name(const struct ing_warc_file *f)
{
	return f->name;
}

int ing_warc_file_add(struct ing_warc_file *f, const struct ing_warc_head *head,
	const struct ing_warc_block *block, struct ing_warc_place *ret, struct ing_error *err)
{
	ing_must(f->fd >= 0 && !f->broken);
	f->err = err;
	uint64_t begin = f->end;
	struct ing_warc_head full = *head;
	struct ing_warc_place place = {.offset = begin};
	struct ing_warc_digests digests;
	char block_sha1b32[33];
	if (block->digests != NULL)
		digests = *block->digests;
	int rc = block->digests != NULL ? 0 : digest_block(f, block, &digests);
	if (rc != 0)
		return rc;
	ing_base32_encode(digests.block.sha1, sizeof(digests.block.sha1), block_sha1b32);
	full.block_sha1b32 = block_sha1b32;
	if (block->has_payload) {
		place.payload = digests.payload;
		ing_base32_encode(
			digests.payload.sha1, sizeof(digests.payload.sha1), place.payload_sha1b32);
		full.payload_sha1b32 = place.payload_sha1b32;
	}
	full.content_bytes = block->head_bytes + block->body_bytes;
	ing_buf_clear(&f->head);
	if (!ing_warc_head_format(&full, &f->head))
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "%s: its header is too large", full.type);
	rc = write_member(f, block);
	if (rc != 0) {
		/* The first error is the one to report; a failed cut shows as `broken`. */
		struct ing_error second = {0};
		if (ing_warc_file_cut(f, begin, &second) != 0)
			ing_error_context(err, "%s", second.msg);
		return rc;
	}
	place.csize = f->end - begin;
	*ret = place;
	return 0;
}

int ing_warc_file_cut(struct ing_warc_file *f, uint64_t bytes, struct ing_error *err)
{
	ing_must(f->fd >= 0 && bytes <= f->end);
	f->end = bytes;
	int rc;
	do
		rc = ftruncate(f->fd, (off_t)bytes);
	while (rc != 0 && errno == EINTR);
	if (rc == 0)
		return 0;
	f->broken = true;
	return ing_error_sys(err, errno, "%s: cannot cut back to %llu bytes", f->name,
		(unsigned long long)bytes);
}

int ing_warc_file_sync(struct ing_warc_file *f, struct ing_error *err)
{
	ing_must(f->fd >= 0);
	if (fdatasync(f->fd) != 0) {
		f->broken = true;
		return ing_error_sys(err, errno, "%s: cannot sync", f->name);
	}
	if (!f->dir_dirty)
		return 0;
	if (fsync(f->dir_fd) != 0) {
		f->broken = true;
		return ing_error_sys(err, errno, "%s: cannot sync its folder", f->name);
	}
	f->dir_dirty = false;
	return 0;
}

int ing_warc_file_finish(struct ing_warc_file *f, struct ing_error *err)
{
	ing_must(f->fd >= 0);
	int rc = ing_warc_publish(f->dir_fd, f->name, err);
	close_file(f);
	return rc;
}

int ing_warc_file_retire(struct ing_warc_file *f, uint64_t bytes, struct ing_error *err)
{
	if (bytes == 0) {
		ing_warc_file_discard(f);
		return 0;
	}
	int rc = ing_warc_file_cut(f, bytes, err);
	if (rc == 0 && fdatasync(f->fd) != 0)
		rc = ing_error_sys(err, errno, "%s: cannot sync", f->name);
	if (rc == 0)
		rc = ing_warc_publish(f->dir_fd, f->name, err);
	close_file(f);
	return rc;
}

void ing_warc_file_discard(struct ing_warc_file *f)
{
	char temporary[NAME_MAX + 1];
	ing_must(f->fd >= 0);
	open_name(f->name, temporary);
	unlinkat(f->dir_fd, temporary, 0);
	close_file(f);
}

int ing_warc_publish(int dir_fd, const char *name, struct ing_error *err)
{
	char temporary[NAME_MAX + 1];
	open_name(name, temporary);
	if (rename_no_replace(dir_fd, temporary, name) != 0) {
		int errnum = errno;
		if (errnum != EEXIST)
			return ing_error_sys(err, errnum, "%s: cannot rename", temporary);
		if (!same_file(dir_fd, temporary, name) || unlinkat(dir_fd, temporary, 0) != 0)
			return ing_error_set(err, ING_FAIL_LOCKED,
				"%s: is there already, so %s keeps its name", name, temporary);
	}
	if (fsync(dir_fd) != 0)
		return ing_error_sys(err, errno, "%s: cannot sync its folder", name);
	return 0;
}
