/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shared by the pool, the zygote and the examiners, who use both ends of the same sockets.
 */
#include "worker/examine/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union one_fd { /* aligned for its header */
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

ssize_t ing_fd_send(int sock, const void *data, size_t bytes, int fd)
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
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t ing_fd_recv(int sock, void *data, size_t bytes, int *ret_fd)
{
	struct iovec iov = {.iov_base = data, .iov_len = bytes};
	union one_fd control = {0};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	*ret_fd = -1;
	ssize_t n;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return n;
	struct cmsghdr *c =
		CMSG_FIRSTHDR(&m); /* there is room for one; the kernel closes any others */
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	return n;
}
