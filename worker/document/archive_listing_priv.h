/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * archive_listing_priv.h - the members of an archive, as its readers see them; for the files
 * archive_*.c only.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/data/sniff.h"

#define ING_ARCHIVE_FRONT_BYTES ((size_t)4096) /* of a member, by which its type is told */
#define ING_ARCHIVE_MAX_TYPES 24               /* distinct ones */
#define ING_ARCHIVE_NAME_BYTES 256             /* the end of a longer name is kept */

struct ing_archive_types {
	char types[ING_ARCHIVE_MAX_TYPES][ING_MEDIA_TYPE_BYTES];
	size_t count;
	/* How many members of each ending were looked into: they are mostly alike. */
	struct {
		char ending[8];
		unsigned looked;
	} endings[64];
	size_t ending_count;
	unsigned members, looked;
	uint64_t cpu_end_ns;
};

/* A member comes by: whether its front is wanted. A folder or a link is none. */
bool ing_archive_wants(struct ing_archive_types *a, const char *name);
/* The front of a member that was wanted. */
void ing_archive_see(
	struct ing_archive_types *a, const char *name, const void *front, size_t bytes);
/* Whether no more members are to be looked at. */
bool ing_archive_is_over(const struct ing_archive_types *a);

/* A reader of tar's blocks that is given the archive piece by piece. Zero-initialise. */
struct ing_tar {
	unsigned char header[512];
	size_t header_bytes;
	uint64_t left; /* of the member and its padding */
	uint64_t size; /* of the member that is still to come */
	bool wanted, long_name, over;
	unsigned char front[ING_ARCHIVE_FRONT_BYTES];
	size_t front_bytes;
	char name[ING_ARCHIVE_NAME_BYTES];
	char next_name[ING_ARCHIVE_NAME_BYTES]; /* by an entry of its own; "": none */
};

/* Whether a block is the header of a tar's member. */
bool ing_tar_is_header(const unsigned char block[512]);
/* Returns false when nothing more is wanted. */
bool ing_tar_add(
	struct ing_tar *t, struct ing_archive_types *a, const unsigned char *data, size_t bytes);
/* The archive ends here: sees a member that is cut. */
void ing_tar_end(struct ing_tar *t, struct ing_archive_types *a);

/* All members of a zip, by its directory. */
void ing_zip_list(struct ing_archive_types *a, const unsigned char *data, size_t bytes);
