/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files with keys.
 */
#include "common/base/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"

char *ing_key_file_path(const char *file)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	if (dir == NULL || strchr(file, '/') != NULL)
		return ing_strdup(file);
	struct ing_buf path;
	ing_buf_init(&path, PATH_MAX);
	ing_buf_printf(&path, "%s/%s", dir, file);
	return ing_buf_steal(&path);
}

int ing_key_file_read(const char *path, char *ret_key, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t n = read(fd, ret_key, bytes - 1);
	int errnum = n < 0 ? errno : 0;
	close(fd);
	ret_key[n > 0 ? n : 0] = '\0';
	ret_key[strcspn(ret_key, " \t\r\n")] = '\0';
	return errnum != 0 || ret_key[0] != '\0' ? errnum : ENODATA;
}
