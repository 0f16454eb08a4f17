/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flock(2), which the kernel releases with the process.
 */
#include "worker/service/instance_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/folder.h"

#define MAX_PATH_BYTES 4096

int ing_instance_lock(const char *dir, const char *instance, int *ret_fd, struct ing_error *err)
{
	char path[MAX_PATH_BYTES];
	int rc = ing_folder_make(dir, "state.dir", err);
	if (rc != 0)
		return rc;
	int n = snprintf(path, sizeof(path), "%s/%s.lock", dir, instance);
	if (n < 0 || (size_t)n >= sizeof(path))
		return ing_error_set(err, ING_FAIL_CONFIG, "state.dir: path too long");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return ing_error_sys(err, errno, "state.dir: cannot open %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		*ret_fd = fd;
		return 0;
	}
	rc = errno == EWOULDBLOCK
		     ? ing_error_set(err, ING_FAIL_LOCKED,
			       "instance %s: another worker of this name is running (it holds %s)",
			       instance, path)
		     : ing_error_sys(err, errno, "state.dir: cannot lock %s", path);
	close(fd);
	return rc;
}
