/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * disk.h - the room that is left on the file systems of warc.dir, spool.dir, state.dir
 * and store.dir.
 *
 * With less than disk.stop_bytes on one of them nothing new is fetched (ing_disk_low()), with less
 * than disk.abort_bytes running transfers are to be ended (on_abort()). It ends by itself when the
 * level and a sixteenth of it are free again. A file system that does not answer for ten seconds
 * counts as below disk.stop_bytes; one that cannot be asked keeps its level. Each change is logged.
 *
 * Checked once a second, and every 100 ms while something is written. Owns a timer and the check
 * that is under way. Thread: loop; the check itself runs on libuv's pool.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_disk;

enum ing_disk_folder {
	ING_DISK_WARC,
	ING_DISK_SPOOL,
	ING_DISK_STATE,
	ING_DISK_STORE,
	ING_DISK_FOLDERS_
};
enum ing_disk_level { ING_DISK_ENOUGH, ING_DISK_STOP, ING_DISK_ABORT };

struct ing_disk_conf {
	struct ing_disk_settings settings;
	const char *folders[ING_DISK_FOLDERS_]; /* borrowed; NULL or "": not used */
	/* Bytes written so far, whatever they are: a change says that something is written. */
	uint64_t (*written)(void *ctx);
	/* Transfers are to be ended; called with every check until there is more room. key: of the
	 * folder, static. */
	void (*on_abort)(void *ctx, const char *key);
	void *ctx;
};

/* The first check is made at once, and waited for: nothing is fetched into a full disk. */
struct ing_disk *ing_disk_new(struct uv_loop_s *loop, const struct ing_disk_conf *conf);
/* NULL is fine. Run the loop once more: that frees what is under way. */
void ing_disk_free(struct ing_disk *d);
/* Nothing new should be fetched. */
bool ing_disk_low(const struct ing_disk *d);
struct ing_buf;
/* Append why: the folder that has the least room. Returns false, and appends nothing, when it is not low. */
bool ing_disk_add_trouble(const struct ing_disk *d, struct ing_buf *out);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_disk_stats(const struct ing_disk *d, struct ing_disk_stats *ret);

/* The level that follows from so much room, when it was `before`. Pure. */
enum ing_disk_level ing_disk_level_of(
	const struct ing_disk_settings *settings, uint64_t free_bytes, enum ing_disk_level before);
