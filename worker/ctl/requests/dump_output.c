/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Until all is written a file's name begins with a dot.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/folder.h"
#include "common/base/io.h"
#include "worker/ctl/requests/dump.h"

#define WRITE_BYTES ((size_t)128 << 10) /* of a file at once */
#define MAX_BUFFER_BYTES ((size_t)256 << 20)
#define PATH_BYTES 4096

static bool make_path(const struct ing_dump_output *o, size_t i, bool named, char to[PATH_BYTES])
{
	int n = snprintf(
		to, PATH_BYTES, "%s/%srequests-%04zu.jsonl", o->folder, named ? "" : ".", i + 1);
	return n > 0 && n < PATH_BYTES;
}

static int open_file(struct ing_dump_output *o, size_t i, struct ing_error *err)
{
	char path[PATH_BYTES];
	struct stat st;
	if (!make_path(o, i, true, path))
		return ing_error_set(err, ING_FAIL_USAGE, "%s: too long", o->folder);
	if (lstat(path, &st) == 0)
		return ing_error_set(err, ING_FAIL_USAGE, "%s: there is such a file already", path);
	(void)make_path(o, i, false, path);
	o->files[i].fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	return o->files[i].fd >= 0 ? 0 : ing_error_sys(err, errno, "%s", path);
}

static int write_lines(struct ing_dump_output *o, size_t i, struct ing_error *err)
{
	struct ing_dump_file *f = &o->files[i];
	int errnum = ing_write_all(f->fd, f->lines.data, f->lines.len);
	ing_buf_clear(&f->lines);
	if (errnum == 0)
		return 0;
	if (o->folder == NULL)
		return ing_error_sys(err, errnum, "standard output");
	return ing_error_sys(err, errnum, "%s/requests-%04zu.jsonl", o->folder, i + 1);
}

static int name_file(struct ing_dump_output *o, size_t i, struct ing_error *err)
{
	char from[PATH_BYTES];
	char to[PATH_BYTES];
	int fd = o->files[i].fd;
	(void)make_path(o, i, false, from);
	(void)make_path(o, i, true, to);
	o->files[i].fd = -1;
	if (close(fd) != 0 || rename(from, to) != 0)
		return ing_error_sys(err, errno, "%s", to);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_dump_open(
	struct ing_dump_output *o, const char *folder, size_t files, struct ing_error *err)
{
	int rc = folder != NULL ? ing_folder_make(folder, "--out", err) : 0;
	*o = (struct ing_dump_output){.folder = folder};
	if (rc != 0)
		return rc;
	o->files = ing_alloc(files * sizeof(*o->files));
	for (; rc == 0 && o->count < files; o->count++) {
		o->files[o->count].fd = folder != NULL ? -1 : STDOUT_FILENO;
		ing_buf_init(&o->files[o->count].lines, MAX_BUFFER_BYTES);
		if (folder != NULL)
			rc = open_file(o, o->count, err);
	}
	return rc;
}

struct ing_buf *ing_dump_line(struct ing_dump_output *o)
{
	return &o->files[o->next].lines;
}

int ing_dump_added(struct ing_dump_output *o, size_t bytes, struct ing_error *err)
{
	size_t i = o->next;
	o->next = i + 1 < o->count ? i + 1 : 0;
	o->lines++;
	o->bytes += bytes;
	return o->files[i].lines.len >= WRITE_BYTES ? write_lines(o, i, err) : 0;
}

int ing_dump_finish(struct ing_dump_output *o, struct ing_error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < o->count; i++)
		rc = write_lines(o, i, err);
	for (size_t i = 0; rc == 0 && o->folder != NULL && i < o->count; i++)
		rc = name_file(o, i, err);
	return rc;
}

void ing_dump_close(struct ing_dump_output *o)
{
	char path[PATH_BYTES];
	for (size_t i = 0; i < o->count; i++) {
		ing_buf_done(&o->files[i].lines);
		if (o->folder == NULL || o->files[i].fd < 0)
			continue;
		close(o->files[i].fd);
		(void)make_path(o, i, false, path);
		(void)unlink(path);
	}
	free(o->files);
	*o = (struct ing_dump_output){0};
}
