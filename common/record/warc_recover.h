/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * warc_recover.h - where a file that was being written when its writer died has to be cut.
 *
 * A crash leaves whole records and then, at most, a part of one: everything after the last whole
 * record is cut. Damage in the middle is another matter (a failing disk): whole records behind it may
 * be in somebody's index, so they are searched, and the file is cut after the last of them.
 * Records are told from a web page that contains a WARC by their WARC-Warcinfo-ID, which no server
 * can know.
 *
 * Reads only. One thread at a time; memory does not grow with the file.
 */
#pragma once
#include "common/base/error.h"

struct ing_warc_end {
	uint64_t keep;      /* cut the file to this length */
	uint64_t bytes;     /* its length now */
	uint64_t records;   /* whole ones within keep */
	uint64_t damage_at; /* offset of the first damage, if `damage` */
	const char *damage; /* static words; NULL: the whole file is whole records */
	bool hole;          /* damage lies before the end of keep */
};

/* 0, or -ING_FAIL_SYSTEM when the file cannot be read. */
int ing_warc_find_end(int fd, struct ing_warc_end *ret, struct ing_error *err) ING_MUST_CHECK;
