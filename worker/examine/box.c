/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The box is mapped before it is sealed: F_SEAL_FUTURE_WRITE leaves mappings that are there, and
 * refuses write(2) and others. As it cannot shrink either, writing to it never ends in SIGBUS.
 */
#include "worker/examine/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/model/limits.h"

#define BOX_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

/* A file is read by the examiner: the loop must not wait for a disk. It has been opened for reading
 * only, which tells one on a tmpfs from a memfd. What is sealed can be had by anyone. */
static bool is_to_be_copied(int fd, size_t bytes)
{
	if (bytes == 0 || bytes > ING_MAX_MEMORY_BODY_BYTES)
		return false;
	int flags = fcntl(fd, F_GETFL);
	int seals = fcntl(fd, F_GET_SEALS);
	return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && seals >= 0 &&
	       (seals & F_SEAL_WRITE) == 0;
}

int ing_exam_box_init(struct ing_exam_box *box)
{
	*box = (struct ing_exam_box){.fd = memfd_create("box", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	if (box->fd < 0)
		return -1;
	void *data = MAP_FAILED;
	if (ftruncate(box->fd, (off_t)ING_MAX_MEMORY_BODY_BYTES) == 0)
		data = mmap(NULL, ING_MAX_MEMORY_BODY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			box->fd, 0);
	if (data != MAP_FAILED)
		box->data = data;
	if (data == MAP_FAILED || fcntl(box->fd, F_ADD_SEALS, BOX_SEALS) != 0) {
		int errnum = errno;
		ing_exam_box_done(box);
		errno = errnum;
		return -1;
	}
	return 0;
}

void ing_exam_box_done(struct ing_exam_box *box)
{
	if (box->data != NULL)
		munmap(box->data, ING_MAX_MEMORY_BODY_BYTES);
	if (box->fd >= 0)
		close(box->fd);
	*box = (struct ing_exam_box){.fd = -1};
}

int ing_exam_box_fill(struct ing_exam_box *box, int body_fd, size_t bytes)
{
	size_t done = 0;
	if (!is_to_be_copied(body_fd, bytes))
		return body_fd;
	while (done < bytes) {
		ssize_t n = pread(body_fd, (char *)box->data + done, bytes - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return box->fd;
}
