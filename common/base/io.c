/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read(2) and write(2) may do less than they were asked for.
 */
#include "common/base/io.h"

#include <errno.h>
#include <unistd.h>

int ing_write_all(int fd, const void *data, size_t bytes)
{
	const char *from = data;
	while (bytes > 0) {
		ssize_t n = write(fd, from, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		from += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int ing_read_all(int fd, void *ret_data, size_t bytes)
{
	char *to = ret_data;
	while (bytes > 0) {
		ssize_t n = read(fd, to, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENODATA;
		to += n;
		bytes -= (size_t)n;
	}
	return 0;
}
