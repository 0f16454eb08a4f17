/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_dump.h - where dumped lines go: standard output, or files of a folder, which get their names when all of them are whole.
 *
 * Owns its buffers and descriptors. Only whole lines are handed to write(2). One thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/base/buf.h"
#include "common/base/error.h"

#define ING_DUMP_MAX_FILES 1000

struct ing_dump_file {
	int fd; /* -1: it has its name */
	struct ing_buf lines;
};

struct ing_dump_output {
	const char *folder; /* borrowed; NULL: standard output */
	struct ing_dump_file *files;
	size_t count, next;
	uint64_t lines, bytes; /* added so far */
};

/* folder is made when it is not there; the files requests-NNNN.jsonl must not be. Close it whatever is returned. Error: -SYSTEM, -USAGE. */
int ing_dump_open(struct ing_dump_output *o, const char *folder, size_t files,
	struct ing_error *err) ING_MUST_CHECK;
/* The buffer to which the next line is added, with its end; files take turns. */
struct ing_buf *ing_dump_line(struct ing_dump_output *o);
/* It is there, and has so many bytes. Writes now and then. */
int ing_dump_added(struct ing_dump_output *o, size_t bytes, struct ing_error *err) ING_MUST_CHECK;
/* Write what is left, and give the files their names. */
int ing_dump_finish(struct ing_dump_output *o, struct ing_error *err) ING_MUST_CHECK;
/* Files without a name are removed. */
void ing_dump_close(struct ing_dump_output *o);
