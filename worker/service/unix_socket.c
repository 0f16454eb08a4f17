/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making, naming and removing the socket's file.
 */
#include "worker/service/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/macros.h"

static int open_folder(struct ing_unix_socket *s, struct ing_error *err)
{
	const char *slash = strrchr(s->path, '/');
	s->name = slash != NULL ? slash + 1 : s->path;
	char *folder = slash == NULL      ? ing_strdup(".")
		       : slash == s->path ? ing_strdup("/")
					  : ing_strndup(s->path, (size_t)(slash - s->path));
	s->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = s->folder < 0 ? ing_error_sys(err, errno, "%s: cannot make the socket", s->path)
			       : 0;
	free(folder);
	return rc;
}

/* Bind it to a new name in the folder, and only then give it the one that clients know. */
static int bind_it(struct ing_unix_socket *s, int fd, mode_t mode, struct ing_error *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	char name[32];
	struct stat st;
	snprintf(name, sizeof(name), ".%ld.sock~", (long)getpid());
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/%s", s->folder, name);
	if (fstatat(s->folder, s->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISSOCK(st.st_mode))
		return ing_error_set(
			err, ING_FAIL_SYSTEM, "%s: is there already, and is no socket", s->path);
	unlinkat(s->folder, name, 0); /* of a process that died here, its number being ours now */
	if (bind(fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		return ing_error_sys(err, errno, "%s: cannot make the socket", s->path);
	if (fchmodat(s->folder, name, mode, 0) != 0 ||
		fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		renameat(s->folder, name, s->folder, s->name) != 0) {
		int rc = ing_error_sys(err, errno, "%s: cannot make the socket", s->path);
		unlinkat(s->folder, name, 0);
		return rc;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->gid = st.st_gid;
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_unix_socket_init(struct ing_unix_socket *s, const char *path, mode_t mode, int *ret_fd,
	struct ing_error *err)
{
	*s = (struct ing_unix_socket){.folder = -1, .path = ing_strdup(path)};
	int fd = -1;
	int rc = open_folder(s, err);
	if (rc == 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		rc = fd < 0 ? ing_error_sys(err, errno, "%s: cannot make a socket", path)
			    : bind_it(s, fd, mode, err);
	}
	if (rc == 0) {
		*ret_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	ing_unix_socket_done(s);
	return rc;
}

bool ing_unix_socket_answers(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int file = open(path, O_PATH | O_CLOEXEC);
	int fd = file < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool answers = false;
	if (fd >= 0) {
		snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", file);
		/* EAGAIN: somebody listens, whose queue is full. */
		answers = connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ||
			  errno == EAGAIN;
		close(fd);
	}
	if (file >= 0)
		close(file);
	return answers;
}

void ing_unix_socket_done(struct ing_unix_socket *s)
{
	struct stat st;
	if (s->folder >= 0) {
		if (s->ino != 0 && fstatat(s->folder, s->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			st.st_dev == s->dev && st.st_ino == s->ino)
			unlinkat(s->folder, s->name, 0);
		close(s->folder);
	}
	s->folder = -1;
	free(ING_TAKE(s->path));
}
