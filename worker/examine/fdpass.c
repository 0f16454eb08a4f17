/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by the pool, the zygote and the examiners, who use both ends of the same sockets.
 */
#include "worker/examine/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union one_fd { /* aligned for its header; CMSG_SPACE() has room for a second one */
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* The number of descriptors in a message; each is in *ret_fds, which has room for what fits. */
static size_t take_fds(struct msghdr *m, int *ret_fds)
{
	size_t count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret_fds + count, CMSG_DATA(c), n * sizeof(int));
		count += n;
	}
	return count;
}

ssize_t ing_fd_send(int sock, const void *data, size_t bytes, int flags, int fd)
{
	char *from = NULL;
	memcpy(&from, &data, sizeof(from)); /* struct iovec has no const */
	struct iovec iov = {.iov_base = from, .iov_len = bytes};
	union one_fd control = {0};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	ssize_t n;
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t ing_fd_recv(int sock, void *data, size_t bytes, int flags, int *ret_fd)
{
	struct iovec iov = {.iov_base = data, .iov_len = bytes};
	union one_fd control = {0};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	if (ret_fd != NULL)
		*ret_fd = -1;
	ssize_t n;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return n;
	/* Two would fit where one was asked for, and the kernel has closed what does not fit. */
	int fds[sizeof(control) / sizeof(int)];
	size_t count = take_fds(&m, fds);
	if (count == 1 && (m.msg_flags & MSG_CTRUNC) == 0 && ret_fd != NULL && n > 0) {
		*ret_fd = fds[0];
		return n;
	}
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	if (count > 0 || (m.msg_flags & MSG_CTRUNC) != 0) {
		errno = EPROTO;
		return -1;
	}
	return n;
}
