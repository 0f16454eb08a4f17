/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the kernel says of this process. Read on the endpoint's thread when somebody asks, because
 * counting descriptors takes the longer the more there are.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/io.h"
#include "worker/service/endpoint_priv.h"

static bool read_file(const char *path, char *ret, size_t ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, ret, ret_bytes - 1) : -1;
	if (fd >= 0)
		close(fd);
	ret[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static void measure_memory(struct ing_endpoint_stats *ret)
{
	char text[200];
	uint64_t pages, resident;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!read_file("/proc/self/statm", text, sizeof(text)) ||
		sscanf(text, "%" SCNu64 " %" SCNu64, &pages, &resident) != 2)
		return;
	ret->virtual_bytes = pages * page_bytes;
	ret->resident_bytes = resident * page_bytes;
}

/* Since Linux 6.2 the folder's size is their number. */
static uint64_t count_descriptors(void)
{
	struct stat st;
	if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
		return (uint64_t)st.st_size;
	DIR *folder = opendir("/proc/self/fd");
	uint64_t count = 0;
	if (folder == NULL)
		return 0;
	for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder))
		count += e->d_name[0] != '.';
	closedir(folder);
	return count - 1; /* the folder's own */
}

/* In the wall clock's time, of which the process' start has none but by way of the boot clock. */
static uint64_t started_ms(void)
{
	char text[1024];
	uint64_t ticks = 0;
	struct timespec wall, boot;
	if (!read_file("/proc/self/stat", text, sizeof(text)))
		return 0;
	const char *behind_name = strrchr(text, ')');
	if (behind_name == NULL)
		return 0;
	/* proc_pid_stat(5): starttime is field 22, the name is field 2. */
	const char *at = behind_name + 1;
	for (int field = 3; field <= 22 && *at != '\0'; field++) {
		at += strspn(at, " ");
		if (field == 22)
			sscanf(at, "%" SCNu64, &ticks);
		at += strcspn(at, " ");
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	uint64_t ticks_a_second = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t boot_ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000 -
			   ((uint64_t)boot.tv_sec * 1000 + (uint64_t)boot.tv_nsec / 1000000);
	return boot_ms + ticks * 1000 / ticks_a_second;
}

/* -------------------------------------------------------------------------------------------- */

void ing_endpoint_measure_process(struct ing_endpoint_stats *ret)
{
	/* Once: later the wall clock may be another. */
	static uint64_t started;
	struct rlimit limit = {0};
	if (started == 0)
		started = started_ms();
	measure_memory(ret);
	getrlimit(RLIMIT_NOFILE, &limit);
	ret->descriptors = count_descriptors();
	ret->max_descriptors = limit.rlim_cur;
	ret->started_ms = started;
	ret->built = 1;
}
