/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * archive.h - exchanges to WARC 1.1 files, durably, and the digests of their bodies.
 *
 * Owns: the open WARC file and the archive thread, which compresses, digests, writes and groups
 * fdatasync(2). Without a folder nothing is written, and bodies are digested all the same.
 * ing_archive_put() and the callbacks are the loop thread's. An item is called back only when its
 * records are on stable storage. While the disk is full or cannot be written, items wait and are
 * tried again (`blocked`, logged once); nothing is lost or acknowledged meanwhile.
 */
#pragma once
#include "common/base/error.h"
#include "common/base/queue.h"
#include "common/data/digest.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_archive;
struct ing_exchange;

struct ing_archive_conf {
	struct ing_archive_settings settings; /* dir is made when it is missing */
	const char *hostname;   /* last part of the name: the instance, made safe for a file name */
	const char *software;   /* "ingest-worker/0.1.0", for warcinfo */
	const char *user_agent; /* http-header-user-agent of warcinfo */
	const char *robots;     /* "ignore": robots of warcinfo */
};

#define ING_WARC_NAME_BYTES 256
#define ING_UUID_BYTES 37 /* "01234567-89ab-4def-8123-456789abcdef" and NUL */

/* A record on stable storage that has the payload of an earlier answer. Strings are borrowed. */
struct ing_archive_original {
	uint8_t payload_sha1[20];
	const char *url;
	const char *record_id;   /* without urn:uuid: */
	const char *record_date; /* WARC-Date as it stands there */
};

/* Embedded in its owner; zero-initialise, set exchange and done. Between put and done only the
 * archive thread touches it. */
struct ing_archive_item {
	struct ing_node node;
	struct ing_exchange *exchange; /* borrowed until done */
	void (*done)(struct ing_archive_item *item);
	/* Borrowed until done. If one of them has the same payload, a revisit record that refers to
	 * it is written in place of the response. */
	const struct ing_archive_original *const *originals;
	size_t original_count;
	/* results */
	const struct ing_archive_original
		*refers_to;             /* one of them; NULL: a response was written */
	char record_id[ING_UUID_BYTES]; /* of the response or revisit record; "" as warc_name */
	char warc_name[ING_WARC_NAME_BYTES]; /* final name of the file (without .open, without
						folder) */
	uint64_t offset;                     /* of that record's gzip member in the file */
	uint64_t csize;                      /* bytes of that member */
	char payload_sha1b32[33]; /* RFC 4648 base32 of the SHA-1 of the entity body as sent */
	bool digested;           /* the answer's body could be read back, so the next two are set */
	struct ing_digests body; /* of the entity body as sent; its bytes */
	bool gzip;               /* it begins as gzip does (RFC 1952 2.3.1) */
	bool lost; /* there was an answer, but it cannot be archived: its body cannot be read back.
		      The rest is empty then; nothing that it said may be a success */
};

/* Recovers left-over .open files of this prefix and host first. */
int ing_archive_new(struct uv_loop_s *loop, const struct ing_archive_conf *conf,
	struct ing_archive **ret, struct ing_error *err) ING_MUST_CHECK;
/* Closes the file (drops .open) after everything put before is on disk; callbacks of those items
 * still come if the loop is run by the implementation or before this call: call it only when none
 * is outstanding. NULL is fine. */
void ing_archive_free(struct ing_archive *a);
/* `coming`: how many other answers are on their way. If there are some, and items come close together,
 * this one may wait 20 ms for others, because digests and syncs cost less when they are shared. */
void ing_archive_put(struct ing_archive *a, struct ing_archive_item *item, size_t coming);
/* Why it is, valid until the next call; NULL: it is not. */
const char *ing_archive_trouble(struct ing_archive *a);
bool ing_archive_blocked(const struct ing_archive *a); /* the disk refuses; intake should stop */

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_archive_stats(const struct ing_archive *a, struct ing_archive_stats *ret);
