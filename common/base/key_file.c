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

/* Where systemd looks for a credential that is loaded by its name alone (systemd.exec(5)). */
static const char credstore[] = "/etc/credstore";

static char *join(const char *dir, const char *file)
{
	struct ing_buf path;
	ing_buf_init(&path, PATH_MAX);
	ing_buf_printf(&path, "%s/%s", dir, file);
	return ing_buf_steal(&path);
}

/* The whole file; -1 with errno. */
static ssize_t read_whole(const char *path, char *to, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = fd < 0 ? -1 : 1;
	while (got > 0 && n < bytes) {
		got = read(fd, to + n, bytes - n);
		n += got > 0 ? (size_t)got : 0;
	}
	int errnum = errno;
	if (fd >= 0)
		close(fd);
	errno = errnum;
	return got < 0 ? -1 : (ssize_t)n;
}

/* Why the bytes that were read are not what such a file holds; NULL: they are. */
static const char *fault_of(const char *text, ssize_t bytes)
{
	if (bytes < 0)
		return strerror(errno);
	if ((size_t)bytes > ING_KEY_FILE_MAX_BYTES)
		return "the file is too large";
	if (memchr(text, '\0', (size_t)bytes) != NULL)
		return "the file has a zero byte in it";
	return text[0] == '\0' ? "the file is empty" : NULL;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_key_file_path(const char *file)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	if (strchr(file, '/') != NULL)
		return ing_strdup(file);
	if (dir != NULL)
		return join(dir, file);
	char *stored = join(credstore, file);
	if (access(stored, F_OK) == 0)
		return stored;
	free(stored);
	return ing_strdup(file);
}

int ing_key_file_text(const char *file, char **ret_text, struct ing_error *err)
{
	char *path = ing_key_file_path(file);
	char *text = ing_alloc(ING_KEY_FILE_MAX_BYTES + 2);
	ssize_t n = read_whole(path, text, ING_KEY_FILE_MAX_BYTES + 1);
	size_t end = n > 0 ? (size_t)n : 0;
	if (end > 0 && text[end - 1] == '\n')
		end -= end > 1 && text[end - 2] == '\r' ? 2 : 1;
	text[end] = '\0';
	const char *fault = fault_of(text, n < 0 ? n : (ssize_t)end);
	int rc = 0;
	if (fault != NULL)
		rc = ing_error_set(err, ING_FAIL_CONFIG, "%s: %s", path, fault);
	free(path);
	if (rc == 0)
		*ret_text = text;
	else
		free(text);
	return rc;
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
