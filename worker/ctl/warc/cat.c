/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc cat: one record, written as it is read, whatever its size; its digests are known
 * when it has been written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/record/warc_read.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/warc/warc.h"

static void write_head(void *ctx, const char *head, size_t head_bytes)
{
	const bool *raw = ctx;
	if (*raw)
		fwrite(head, 1, head_bytes, stdout);
}

static void write_block(void *ctx, const void *data, size_t bytes, size_t payload_bytes)
{
	const bool *raw = ctx;
	size_t wanted = *raw ? bytes : payload_bytes;
	fwrite((const char *)data + bytes - wanted, 1, wanted, stdout);
}

static const struct ing_warc_read_user writer = {.head = write_head, .block = write_block};

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_warc_cat(const char *path, uint64_t offset, bool raw)
{
	struct ing_error err = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ing_ctl_fail(
			ING_CTL_ENVIRONMENT, ING_CTL_WARC, "%s: %s", path, strerror(errno));
	int rc = ing_warc_read(fd, offset, 0, &writer, &raw, &err);
	close(fd);
	if (rc == 0)
		return ING_CTL_OK;
	return ing_ctl_fail(rc == -ING_FAIL_INVALID ? ING_CTL_NEGATIVE : ING_CTL_ENVIRONMENT,
		ING_CTL_WARC, "%s: %s", path, err.msg);
}
