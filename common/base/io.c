/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read(2) and write(2) may do less than they were asked for.
 */
#include "common/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

int ing_replace_file(const char *path, const void *data, size_t bytes, struct ing_error *err)
{
	char temp[4096];
	/* The process's own: a folder may be shared. */
	int n = snprintf(temp, sizeof(temp), "%s.%d.new", path, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof(temp))
		return ing_error_set(err, ING_FAIL_TOO_BIG, "%.200s: path too long", path);
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s", temp);
	int errnum = ing_write_all(fd, data, bytes);
	int rc = errnum != 0 ? ing_error_sys(err, errnum, "%s", temp) : 0;
	if (close(fd) != 0 && rc == 0)
		rc = ing_error_sys(err, errno, "%s", temp);
	if (rc == 0 && rename(temp, path) != 0)
		rc = ing_error_sys(err, errno, "%s", path);
	if (rc != 0)
		unlink(temp);
	return rc;
}
