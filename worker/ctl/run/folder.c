/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines are written with one write(2) or several, and a process can be killed in between; what is
 * then left of the last line is nobody's result, and must go before another is written behind it.
 */
#include "worker/ctl/run/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/record/cdx.h"
#include "worker/ctl/cdx_index.h"
#include "worker/model/outputs.h"

#define PATH_BYTES 4096
#define LONGEST_NAME_BYTES 64 /* of a file in the folder, with its slash */

struct ing_run_folder {
	char *dir;
	int lock_fd, results_fd;
	FILE *index;
	bool is_new;
};

/* Behind the last newline of the first `end` bytes; 0 without one, -1 when it cannot be read. */
static off_t find_line_end(int fd, off_t end)
{
	char block[65536];
	while (end > 0) {
		size_t bytes = (size_t)ING_MIN(end, (off_t)sizeof(block));
		off_t begin = end - (off_t)bytes;
		if (pread(fd, block, bytes, begin) != (ssize_t)bytes)
			return -1;
		const char *newline = memrchr(block, '\n', bytes);
		if (newline != NULL)
			return begin + (newline - block) + 1;
		end = begin;
	}
	return 0;
}

static int cut_partial_line(const char *path, struct ing_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : ing_error_sys(err, errno, "%s", path);
	off_t end = lseek(fd, 0, SEEK_END);
	off_t keep = end >= 0 ? find_line_end(fd, end) : -1;
	int rc = 0;
	if (keep < 0 || (keep != end && ftruncate(fd, keep) != 0))
		rc = ing_error_sys(err, errno, "%s", path);
	close(fd);
	return rc;
}

static int cut_partial_lines(const char *dir, struct ing_error *err)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "%s/index.cdx", dir);
	int rc = cut_partial_line(path, err);
	for (int i = 0; i < ING_OUTPUTS_ && rc == 0; i++) {
		const char *file = ing_output_row((enum ing_output)i)->file;
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		rc = cut_partial_line(path, err);
	}
	return rc;
}

static int lock(struct ing_run_folder *f, struct ing_error *err)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof(path), "%s/.lock", f->dir);
	f->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (f->lock_fd < 0)
		return ing_error_sys(err, errno, "%s", path);
	if (flock(f->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return ing_error_sys(err, errno, "%s", path);
	return ing_error_set(err, ING_FAIL_LOCKED, "%s: another run is using this folder", f->dir);
}

static int open_files(struct ing_run_folder *f, struct ing_error *err)
{
	char path[PATH_BYTES];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", f->dir, ing_output_row(ING_OUTPUT_RESULTS)->file);
	f->results_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (f->results_fd < 0 || fstat(f->results_fd, &st) != 0)
		return ing_error_sys(err, errno, "%s", path);
	f->is_new = st.st_size == 0;
	snprintf(path, sizeof(path), "%s/index.cdx", f->dir);
	f->index = fopen(path, "ae");
	if (f->index == NULL)
		return ing_error_sys(err, errno, "%s", path);
	setvbuf(f->index, NULL, _IOLBF, 0);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_run_folder_open(const char *dir, struct ing_run_folder **ret, struct ing_error *err)
{
	if (strlen(dir) > PATH_BYTES - LONGEST_NAME_BYTES)
		return ing_error_set(err, ING_FAIL_USAGE, "--out: the name is too long");
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return ing_error_sys(err, errno, "--out: cannot make %s", dir);
	struct ing_run_folder *f = ing_alloc(sizeof(*f));
	f->dir = ing_strdup(dir);
	f->lock_fd = f->results_fd = -1;
	int rc = lock(f, err);
	if (rc == 0)
		rc = cut_partial_lines(dir, err);
	if (rc == 0)
		rc = open_files(f, err);
	if (rc != 0)
		ing_run_folder_free(f);
	else
		*ret = f;
	return rc;
}

int ing_run_folder_results_fd(const struct ing_run_folder *f)
{
	return f->results_fd;
}

bool ing_run_folder_is_new(const struct ing_run_folder *f)
{
	return f->is_new;
}

int ing_run_folder_add_row(
	struct ing_run_folder *f, const struct ing_cdx *row, struct ing_error *err)
{
	struct ing_buf line;
	int rc = 0;
	ing_buf_init(&line, ING_CDX_MAX_BYTES);
	if (ing_cdx_format(row, &line) && fwrite(line.data, 1, line.len, f->index) != line.len)
		rc = ing_error_sys(err, errno, "%s/index.cdx", f->dir);
	ing_buf_done(&line);
	return rc;
}

int ing_run_folder_finish(struct ing_run_folder *f, struct ing_error *err)
{
	if (fclose(ING_TAKE(f->index)) != 0)
		return ing_error_sys(err, errno, "%s/index.cdx", f->dir);
	return ing_cdx_index_sort(f->dir, err);
}

void ing_run_folder_free(struct ing_run_folder *f)
{
	if (f == NULL)
		return;
	if (f->index != NULL)
		fclose(f->index);
	if (f->results_fd >= 0)
		close(f->results_fd);
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	free(f->dir);
	free(f);
}
