/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernel sizes the table by the highest descriptor there has been, and never shrinks it: a
 * duplicate at the wanted height, closed again, is enough.
 */
#include "common/base/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/macros.h"

void ing_descriptors_reserve(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	if (r.rlim_cur < r.rlim_max) {
		rlim_t was = r.rlim_cur;
		r.rlim_cur = r.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &r) != 0)
			r.rlim_cur = was;
	}
	/* Any descriptor will do; when there is none, this process has other worries. */
	int fd = open("/", O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	int high = fcntl(fd, F_DUPFD_CLOEXEC,
		(int)ING_MIN(r.rlim_cur, (rlim_t)ING_DESCRIPTORS_RESERVED) - 1);
	if (high >= 0)
		close(high);
	close(fd);
}
