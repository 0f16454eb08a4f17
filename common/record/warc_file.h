/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_file.h - one WARC file being written: NAME.warc.gz.open until it is whole, NAME.warc.gz
 * afterwards.
 *
 * Owns: the file's descriptor (with an flock(2) on it, by which recovery knows a file that is still
 * being written), the compressor, the digesters and their buffers, all reused from file to file.
 * One thread at a time.
 *
 * A record is there in whole or not at all: when writing fails, the file is cut back to its end
 * before the record. If even that fails, the file is `broken` and accepts nothing more. Nothing is
 * on stable storage before ing_warc_file_sync() has returned 0.
 */
#pragma once
#include "common/base/error.h"
#include "common/data/digest.h"
#include "common/record/warc.h"

struct ing_warc_file;

#define ING_WARC_OPEN_SUFFIX ".open"
#define ING_WARC_SUFFIX ".warc.gz"

/* Of a block, its SHA-1 at least, and of the body, all of them. */
struct ing_warc_digests {
	struct ing_digests block, payload;
};

/* A record's block: bytes at hand, then `body_bytes` more, which are at hand, too, or in a file from its
 * offset 0 (read with pread(2)). */
struct ing_warc_block {
	const void *head;
	size_t head_bytes;
	const void *body; /* NULL: in body_fd */
	int body_fd;      /* not looked at with `body`, or when body_bytes is 0 */
	uint64_t body_bytes;
	bool has_payload; /* the body is an entity: give it a payload digest */
	const struct ing_warc_digests *digests; /* NULL: not made yet */
};

struct ing_warc_place {
	uint64_t offset;            /* of the record's gzip member */
	uint64_t csize;             /* its bytes */
	char payload_sha1b32[33];   /* "" when has_payload is false */
	struct ing_digests payload; /* all of them; not set when has_payload is false */
};

struct ing_warc_file *ing_warc_file_new(void);
void ing_warc_file_free(
	struct ing_warc_file *f); /* NULL is fine; a file still open keeps its .open name */

/* Make `name`.open in the folder, failing if it or `name` is there. dir_fd is borrowed until the
 * file is closed. */
int ing_warc_file_create(struct ing_warc_file *f, int dir_fd, const char *name,
	struct ing_error *err) ING_MUST_CHECK;
bool ing_warc_file_is_open(const struct ing_warc_file *f);
bool ing_warc_file_is_broken(const struct ing_warc_file *f);
uint64_t ing_warc_file_bytes(const struct ing_warc_file *f);
const char *ing_warc_file_name(const struct ing_warc_file *f); /* final name; borrowed */

/* Append a record as one gzip member. The head's content_bytes and block digest are set
 * here, and its payload digest if the block has the payload; digests are made if they are not known. Returns 0,
 * -ING_FAIL_TRUNCATED when the body cannot be read to its end or -ING_FAIL_TOO_BIG when the header
 * is over its ceiling (this record's fault; the file is as before), or -ING_FAIL_NO_SPACE or
 * -ING_FAIL_SYSTEM when the disk refuses (the file is as before, or broken). */
int ing_warc_file_add(struct ing_warc_file *f, const struct ing_warc_head *head,
	const struct ing_warc_block *block, struct ing_warc_place *ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Cut the file to `bytes`. */
int ing_warc_file_cut(
	struct ing_warc_file *f, uint64_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* fdatasync(2), and the folder's fsync(2) after a create: everything up to ing_warc_file_bytes() is
 * safe, in a broken file too. After a failure the kernel may have dropped what it could not write
 * and call the file clean, so the file is broken then: write its unsynced records anew into another
 * one. */
int ing_warc_file_sync(struct ing_warc_file *f, struct ing_error *err) ING_MUST_CHECK;
/* Close a synced file under its final name. -ING_FAIL_LOCKED when that name is taken: the .open
 * file stays. Closed and reusable whatever is returned. */
int ing_warc_file_finish(struct ing_warc_file *f, struct ing_error *err) ING_MUST_CHECK;
/* Close a broken file: cut to `bytes`, which an earlier sync made safe, synced, closed
 * under its final name (0: removed). Where even that fails it is closed with its .open name, for
 * recovery to look at. Returns as finish does. */
int ing_warc_file_retire(
	struct ing_warc_file *f, uint64_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* Close and remove. Errors do not matter: recovery would find nothing to keep in it. */
void ing_warc_file_discard(struct ing_warc_file *f);

/* Give `name`.open its final name, never replacing another file, and fsync(2) the folder.
 * -ING_FAIL_LOCKED when taken. */
int ing_warc_publish(int dir_fd, const char *name, struct ing_error *err) ING_MUST_CHECK;
