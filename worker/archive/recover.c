/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order is: judge, cut, sync, rename. A crash at any point leaves a file that the next start
 * treats the same way.
 */
#include "worker/archive/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/record/warc_file.h"
#include "common/record/warc_recover.h"
#include "worker/archive/archive.h"
#include "worker/archive/name.h"

static void log_end(const char *name, const struct ing_warc_end *end)
{
	unsigned long long cut = end->bytes - end->keep;
	if (end->hole)
		ing_log(ING_LOG_ERROR,
			"archive: %s: damaged at byte %llu (%s); records behind it are kept, so readers will stumble there",
			name, (unsigned long long)end->damage_at, end->damage);
	if (cut > 0)
		ing_log(ING_LOG_WARNING,
			"archive: %s: left open: cut %llu bytes behind its %llu whole records (%s)",
			name, cut, (unsigned long long)end->records, end->damage);
	else
		ing_log(ING_LOG_INFO, "archive: %s: left open, recovered with %llu records", name,
			(unsigned long long)end->records);
}

static int remove_empty(
	int dir_fd, const char *file, const struct ing_warc_end *end, struct ing_error *err)
{
	ing_log(ING_LOG_WARNING, "archive: %s: removed, %llu bytes without a complete record", file,
		(unsigned long long)end->bytes);
	if (unlinkat(dir_fd, file, 0) != 0)
		return ing_error_sys(err, errno, "%s: cannot remove", file);
	return 0;
}

static int cut_file(int fd, const char *file, const struct ing_warc_end *end, struct ing_error *err)
{
	if (end->keep < end->bytes && ftruncate(fd, (off_t)end->keep) != 0)
		return ing_error_sys(err, errno, "%s: cannot cut to %llu bytes", file,
			(unsigned long long)end->keep);
	if (fsync(fd) != 0)
		return ing_error_sys(err, errno, "%s: cannot sync", file);
	return 0;
}

static int recover_open_file(
	int dir_fd, int fd, const char *file, const char *name, struct ing_error *err)
{
	struct ing_warc_end end;
	int rc = ing_warc_find_end(fd, &end, err);
	if (rc != 0) {
		ing_error_context(err, "%s", file);
		return rc;
	}
	if (end.keep == 0)
		return remove_empty(dir_fd, file, &end, err);
	log_end(name, &end);
	rc = cut_file(fd, file, &end, err);
	if (rc != 0)
		return rc;
	struct ing_error taken = {0};
	rc = ing_warc_publish(dir_fd, name, &taken);
	if (rc == -ING_FAIL_LOCKED) {
		ing_log(ING_LOG_ERROR, "archive: %s", taken.msg);
		return 0;
	}
	return rc == 0 ? 0 : ing_error_set(err, taken.code, "%s", taken.msg);
}

static int recover_file(int dir_fd, const char *file, const char *name, struct ing_error *err)
{
	int fd = openat(dir_fd, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s: cannot open", file);
	int rc = 0;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		ing_log(ING_LOG_WARNING, "archive: %s: another process is writing it", file);
	else
		rc = recover_open_file(dir_fd, fd, file, name, err);
	close(fd);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_archive_recover(int dir_fd, const char *prefix, const char *host, struct ing_error *err)
{
	/* A descriptor of its own: reading a folder moves the descriptor's position. */
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		return ing_error_sys(err, errnum, "WARC folder: cannot read");
	}
	int rc = 0;
	while (rc == 0) {
		char name[ING_WARC_NAME_BYTES];
		errno = 0;
		const struct dirent *e = readdir(dir);
		if (e == NULL && errno != 0)
			rc = ing_error_sys(err, errno, "WARC folder: cannot read");
		if (e == NULL)
			break;
		if (ing_warc_name_is_open(e->d_name, prefix, host, name))
			rc = recover_file(dir_fd, e->d_name, name, err);
	}
	closedir(dir);
	return rc;
}
