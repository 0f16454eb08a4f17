/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reader of WARC files that were left open. The first byte chooses: the rest is the file; or it
 * is the content of gzip members, cut at every line "--", because no fuzzer makes a gzip checksum.
 * Held to: any pieces give the same answer, the kept part is whole by itself, and a file is never
 * longer than it is.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/data/compress.h"
#include "common/record/warc_recover.h"
#include "common/record/warc_scan.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 2000, .heap_kb = 1000, .heap_byte = 200);

#define MAX_BYTES ((size_t)4 << 20)

static int to_buf(void *ctx, const void *data, size_t bytes)
{
	return ing_buf_add(ctx, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
}

static void add_members(struct ing_buf *file, const uint8_t *data, size_t size)
{
	static const char mark[] = "\n--\n";
	struct ing_gzip *z = ing_gzip_new(to_buf, file);
	while (size > 0) {
		const uint8_t *end = memmem(data, size, mark, sizeof(mark) - 1);
		size_t bytes = end != NULL ? (size_t)(end - data) : size;
		size_t skip = end != NULL ? bytes + sizeof(mark) - 1 : size;
		ing_gzip_begin(z);
		ing_must(ing_gzip_add(z, data, bytes) == 0 && ing_gzip_end(z) == 0);
		data += skip;
		size -= skip;
	}
	ing_gzip_free(z);
}

static struct ing_warc_scan_state scan(const struct ing_buf *file, size_t bytes, size_t step)
{
	struct ing_warc_scan *s = ing_warc_scan_new(NULL, NULL);
	for (size_t at = 0; at < bytes; at += step) {
		if (!ing_warc_scan_add(s, file->data + at, ING_MIN(step, bytes - at)))
			break;
	}
	struct ing_warc_scan_state state = ing_warc_scan_end(s);
	ing_warc_scan_free(s);
	return state;
}

static void check_scan(const struct ing_buf *file)
{
	struct ing_warc_scan_state whole = scan(file, file->len, ING_MAX(file->len, (size_t)1));
	struct ing_warc_scan_state pieces = scan(file, file->len, 7);
	ing_must(whole.whole == pieces.whole && whole.records == pieces.records);
	ing_must((whole.damage == NULL) == (pieces.damage == NULL));
	ing_must(whole.whole <= file->len && (whole.damage != NULL || whole.whole == file->len));
	struct ing_warc_scan_state kept = scan(file, (size_t)whole.whole, 4096);
	ing_must(kept.damage == NULL && kept.whole == whole.whole && kept.records == whole.records);
}

static void check_recovery(const struct ing_buf *file)
{
	struct ing_warc_end end;
	struct ing_error err = {0};
	int fd = memfd_create("file", MFD_CLOEXEC);
	ing_must(fd >= 0 && write(fd, ing_buf_str(file), file->len) == (ssize_t)file->len);
	ing_must(ing_warc_find_end(fd, &end, &err) == 0);
	ing_must(end.bytes == file->len && end.keep <= end.bytes);
	ing_must(end.damage != NULL ? end.damage_at <= end.bytes : end.keep == end.bytes);
	ing_must(end.hole || end.damage == NULL || end.keep == end.damage_at);
	close(fd);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_buf file;
	if (size == 0 || size > MAX_BYTES / 2)
		return;
	ing_buf_init(&file, MAX_BYTES);
	if (data[0] == 'g')
		ing_buf_add(&file, data + 1, size - 1);
	else
		add_members(&file, data + 1, size - 1);
	check_scan(&file);
	check_recovery(&file);
	ing_buf_done(&file);
}
