/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * writer.h - the archive thread: items in, records on stable storage, items out.
 *
 * The two queues and the counters of struct ing_archive_link are all that it shares with the loop.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include "common/base/note.h"
#include "common/base/queue.h"
#include "worker/archive/archive.h"

struct ing_archive_link {
	struct ing_queue todo;     /* loop to writer; closing it ends the writer */
	struct ing_queue finished; /* writer to loop */
	void (*wake)(void *ctx);   /* something is in `finished`; called on the writer's thread */
	void *ctx;
	atomic_bool blocked;
	struct ing_note trouble; /* why */
	atomic_uint_least64_t records, revisits, saved_bytes, bytes, syncs, files, cpu_ns;
	_Atomic uint64_t sync_us[ING_METRIC_COUNT_DURATION + 1];
};

struct ing_archive_writer;

/* conf's strings are borrowed until free and its prefix and hostname safe for names; dir_fd is
 * taken, -1: only digests. */
struct ing_archive_writer *ing_archive_writer_new(
	const struct ing_archive_conf *conf, int dir_fd, struct ing_archive_link *link);
void ing_archive_writer_free(struct ing_archive_writer *w); /* NULL is fine; not while it runs */
/* Works until link->todo is closed and empty, then closes the file. Items that cannot be
 * written by then are dropped without being finished. */
void ing_archive_writer_run(struct ing_archive_writer *w);
