/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that may be compressed: whatever they are, reading goes on to an end or a failure that has a
 * position, with a small room as with a large one.
 */
#include "tests/fuzz/target.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/io.h"
#include "common/data/unpack.h"

/* Bombs go on for longer than a fuzzer wants to wait. */
#define MAX_CONTENT_BYTES ((uint64_t)4 << 20)

FUZZ_BUDGET(.cpu_us = 100000, .cpu_byte_ns = 20000, .heap_kb = 150000, .heap_byte = 100);

struct outcome {
	uint64_t bytes;
	uint32_t sum;
	enum ing_fail code;
	bool cut;
};

static struct outcome read_all(int fd, size_t room)
{
	static char to[65536];
	struct outcome o = {0};
	struct ing_error err = {0};
	ing_must(lseek(fd, 0, SEEK_SET) == 0);
	struct ing_unpack *u = ing_unpack_new(fd);
	while (o.bytes < MAX_CONTENT_BYTES) {
		ssize_t n = ing_unpack_read(u, to, room, &err);
		if (n <= 0) {
			o.code = err.code;
			ing_must(n == -(ssize_t)err.code);
			ing_must(n == 0 || err.msg[0] != '\0');
			break;
		}
		ing_must((size_t)n <= room);
		for (ssize_t i = 0; i < n; i++)
			o.sum = o.sum * 31 + (unsigned char)to[i];
		o.bytes += (uint64_t)n;
		ing_must(ing_unpack_content_bytes(u) == o.bytes);
	}
	o.cut = o.bytes >= MAX_CONTENT_BYTES;
	ing_unpack_free(u);
	return o;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	int fd = memfd_create("unpack", MFD_CLOEXEC);
	ing_must(fd >= 0);
	ing_must(ing_write_all(fd, data, size) == 0);
	struct outcome large = read_all(fd, 65536);
	if (size < 4096) {
		struct outcome small = read_all(fd, 61);
		/* What a decoder gives up before it finds damage may depend on the room. */
		ing_must(small.cut == large.cut);
		if (large.code == ING_FAIL_NONE && !large.cut)
			ing_must(small.bytes == large.bytes && small.sum == large.sum);
	}
	close(fd);
}
