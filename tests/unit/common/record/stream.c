/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * See stream.h.
 */
#include "stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "common/data/compress.h"
#include "common/record/warc.h"

static int to_buf(void *ctx, const void *data, size_t bytes)
{
	return ing_buf_add(ctx, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
}

void stream_add_member(struct ing_buf *b, const void *text, size_t bytes)
{
	struct ing_gzip *z = ing_gzip_new(to_buf, b);
	assert_int_equal(ing_gzip_add(z, text, bytes), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
}

void stream_add_record(
	struct ing_buf *b, const char *type, const char *info_id, const void *block, size_t bytes)
{
	bool is_info = strcmp(type, "warcinfo") == 0;
	struct ing_buf record;
	ing_buf_init(&record, ING_WARC_MAX_HEAD_BYTES);
	const struct ing_warc_head head = {
		.type = type,
		.id = is_info ? info_id : "<urn:uuid:00000000-0000-4000-8000-000000000000>",
		.warcinfo_id = is_info ? NULL : info_id,
		.content_bytes = bytes,
	};
	assert_true(ing_warc_head_format(&head, &record));
	/* In the calls that a writer makes: they decide what is compressed. */
	struct ing_gzip *z = ing_gzip_new(to_buf, b);
	assert_int_equal(ing_gzip_add(z, record.data, record.len), 0);
	assert_int_equal(ing_gzip_add(z, block, bytes), 0);
	assert_int_equal(ing_gzip_add(z, "\r\n\r\n", 4), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
	ing_buf_done(&record);
}

int stream_to_fd(const struct ing_buf *b)
{
	int fd = memfd_create("stream", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, ing_buf_str(b), b->len), b->len);
	return fd;
}
