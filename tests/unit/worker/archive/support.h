/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * support.h - for the tests of this folder: a temporary WARC folder, exchanges made by hand, a loop
 * that runs until all items have come back, and a reading of what is in the folder afterwards.
 */
#pragma once
#include <stdbool.h>
#include <uv.h>
#include "common/base/buf.h"
#include "worker/archive/archive.h"
#include "worker/model/exchange.h"

struct fixture {
	char path[64];
	uv_loop_t loop;
	struct ing_archive_conf conf;
	struct ing_archive *archive;
};

/* One exchange with its item. */
struct parcel {
	struct ing_archive_item item;
	struct ing_exchange exchange;
	unsigned done;
};

struct found {
	unsigned files, open_files;         /* names with ".open" counted in both */
	uint64_t records, bytes;            /* of files that are not open */
	char name[ING_WARC_NAME_BYTES + 8]; /* of some file */
};

int fixture_setup(void **state);    /* cmocka: *state becomes a struct fixture */
int fixture_teardown(void **state); /* removes the folder and all in it */
void fixture_start(struct fixture *f);
void fixture_stop(struct fixture *f); /* frees the archive and lets the loop close its handle */

/* body NULL: no byte. Everything is copied. */
void parcel_init(
	struct parcel *p, const char *url, const char *head, const void *body, size_t bytes);
void parcel_done(struct parcel *p);
void parcel_put(struct fixture *f, struct parcel *p);
void parcel_put_one_of(struct fixture *f, struct parcel *p, size_t coming);
void run_until_done(struct fixture *f, const struct parcel *parcels, size_t count);

/* The record to which an item points, inflated; asserts that member and item agree, and that its digests
 * are those of its bytes. */
void read_item(const struct fixture *f, const struct ing_archive_item *item, struct ing_buf *ret);
/* Look at every file of the folder; asserts that those not open hold nothing but whole records. */
struct found look_around(const struct fixture *f);
void write_file(const struct fixture *f, const char *name, const void *data, size_t bytes);
bool is_there(const struct fixture *f, const char *name);
