/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Under PrivateUsers= of systemd all users but root and the service's own are shown as one, the
 * overflow user. So a user that is named must be in the map of the user namespace, and one that is
 * shown must be as well: otherwise naming nobody would name everybody.
 */
#include "worker/service/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/macros.h"

#define MAX_USERS 64
#define MAX_GROUPS 65536 /* NGROUPS_MAX of Linux */
#define MAX_RANGES 340   /* of a user namespace's map */

struct range {
	unsigned long first, count;
};

struct ing_peers {
	int diag_fd; /* -1: a UNIX socket is asked */
	gid_t gid;
	uid_t users[MAX_USERS + 2];
	size_t count;
	struct range mapped[MAX_RANGES];
	size_t mapped_count;
};

/* --- the users who may --- */

/* Without a map, as on a kernel without user namespaces, all users are themselves. */
static void read_map(struct ing_peers *p)
{
	unsigned long inside, outside, count;
	FILE *file = fopen("/proc/self/uid_map", "re");
	while (file != NULL && p->mapped_count < MAX_RANGES &&
		fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
		p->mapped[p->mapped_count++] = (struct range){inside, count};
	if (file != NULL)
		fclose(file);
	if (p->mapped_count == 0)
		p->mapped[p->mapped_count++] = (struct range){0, UINT32_MAX};
}

static bool is_mapped(const struct ing_peers *p, uid_t user)
{
	for (size_t i = 0; i < p->mapped_count; i++)
		if (user >= p->mapped[i].first && user - p->mapped[i].first < p->mapped[i].count)
			return true;
	return false;
}

static bool find_user(const char *name, uid_t *ret)
{
	if (strspn(name, "0123456789") == strlen(name)) {
		unsigned long number = strtoul(name, NULL, 10);
		*ret = (uid_t)number;
		return number < UINT32_MAX;
	}
	const struct passwd *found = getpwnam(name);
	if (found != NULL)
		*ret = found->pw_uid;
	return found != NULL;
}

static int add_user(struct ing_peers *p, const char *name, struct ing_error *err)
{
	uid_t user;
	if (p->count == ING_ARRAY_LEN(p->users))
		return ing_error_set(
			err, ING_FAIL_CONFIG, "metrics.users: more than %d users", MAX_USERS);
	if (!find_user(name, &user))
		return ing_error_set(
			err, ING_FAIL_CONFIG, "metrics.users: there is no user %s", name);
	if (!is_mapped(p, user))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"metrics.users: %s is not in this process' user namespace, so its connections "
			"look like anybody's: set PrivateUsers=no in the unit",
			name);
	p->users[p->count++] = user;
	return 0;
}

static int add_users(struct ing_peers *p, char *const *users, struct ing_error *err)
{
	int rc = 0;
	read_map(p);
	p->users[p->count++] = 0;
	p->users[p->count++] = geteuid();
	for (size_t i = 0; rc == 0 && users != NULL && users[i] != NULL; i++)
		rc = add_user(p, users[i], err);
	return rc;
}

static bool may(const struct ing_peers *p, uid_t user)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->users[i] == user)
			return is_mapped(p, user);
	return false;
}

/* --- TCP: the other end's socket --- */

static bool fill_id(int fd, struct inet_diag_req_v2 *ret)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_bytes = sizeof(here), there_bytes = sizeof(there);
	if (getsockname(fd, (struct sockaddr *)&here, &here_bytes) != 0 ||
		getpeername(fd, (struct sockaddr *)&there, &there_bytes) != 0)
		return false;
	*ret = (struct inet_diag_req_v2){
		.sdiag_family = (uint8_t)there.ss_family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_states = UINT32_MAX,
		.id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE},
	};
	/* Seen from the other end, whose socket is looked for. */
	if (there.ss_family == AF_INET) {
		const struct sockaddr_in *from = (struct sockaddr_in *)&there;
		const struct sockaddr_in *to = (struct sockaddr_in *)&here;
		ret->id.idiag_sport = from->sin_port;
		ret->id.idiag_dport = to->sin_port;
		memcpy(ret->id.idiag_src, &from->sin_addr, sizeof(from->sin_addr));
		memcpy(ret->id.idiag_dst, &to->sin_addr, sizeof(to->sin_addr));
		return true;
	}
	const struct sockaddr_in6 *from = (struct sockaddr_in6 *)&there;
	const struct sockaddr_in6 *to = (struct sockaddr_in6 *)&here;
	ret->id.idiag_sport = from->sin6_port;
	ret->id.idiag_dport = to->sin6_port;
	memcpy(ret->id.idiag_src, &from->sin6_addr, sizeof(from->sin6_addr));
	memcpy(ret->id.idiag_dst, &to->sin6_addr, sizeof(to->sin6_addr));
	return there.ss_family == AF_INET6;
}

/* A socket that nobody has open any more belongs to root for the kernel; it has no inode either. */
static bool ask_owner(int diag_fd, int fd, uid_t *ret)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 id;
	} request = {
		.head = {.nlmsg_len = sizeof(request),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
	};
	union {
		struct nlmsghdr head;
		char bytes[4096];
	} answer;
	struct inet_diag_msg found;
	if (!fill_id(fd, &request.id) ||
		send(diag_fd, &request, sizeof(request), 0) != sizeof(request))
		return false;
	/* The kernel has answered within send(). */
	ssize_t got = recv(diag_fd, &answer, sizeof(answer), MSG_DONTWAIT);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(found)) ||
		answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	memcpy(&found, NLMSG_DATA(&answer.head), sizeof(found));
	*ret = found.idiag_uid;
	return found.idiag_inode != 0;
}

/* What an earlier question may have left is not this one's answer. */
static void empty(int diag_fd)
{
	char bytes[4096];
	while (recv(diag_fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
}

static int open_diag(struct ing_peers *p, struct ing_error *err)
{
	p->diag_fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (p->diag_fd >= 0)
		return 0;
	return ing_error_sys(err, errno,
		"metrics.listen: who connects over TCP cannot be asked of the kernel (allow "
		"AF_NETLINK in the unit's RestrictAddressFamilies=, or use unix:PATH): netlink");
}

/* --- UNIX --- */

static bool is_in_group(int fd, gid_t gid)
{
	gid_t few[64], *groups = few;
	socklen_t bytes = sizeof(few);
	int rc = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes);
	if (rc != 0 && errno == ERANGE && bytes <= MAX_GROUPS * sizeof(gid_t)) {
		groups = ing_alloc(bytes);
		rc = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes);
	}
	bool found = false;
	for (size_t i = 0; rc == 0 && !found && i < bytes / sizeof(gid_t); i++)
		found = groups[i] == gid;
	if (groups != few)
		free(groups);
	return found;
}

static bool may_by_credentials(const struct ing_peers *p, int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	return may(p, peer.uid) || peer.gid == p->gid || is_in_group(fd, p->gid);
}

/* -------------------------------------------------------------------------------------------- */

int ing_peers_new(char *const *users, gid_t gid, struct ing_peers **ret, struct ing_error *err)
{
	struct ing_peers *p = ing_alloc(sizeof(*p));
	*p = (struct ing_peers){.diag_fd = -1, .gid = gid};
	int rc = add_users(p, users, err);
	if (rc == 0 && gid == (gid_t)-1)
		rc = open_diag(p, err);
	if (rc != 0)
		ing_peers_free(p);
	else
		*ret = p;
	return rc;
}

bool ing_peers_allow(struct ing_peers *p, int fd)
{
	uid_t user;
	if (p->diag_fd < 0)
		return may_by_credentials(p, fd);
	empty(p->diag_fd);
	return ask_owner(p->diag_fd, fd, &user) && may(p, user);
}

void ing_peers_free(struct ing_peers *p)
{
	if (p == NULL)
		return;
	if (p->diag_fd >= 0)
		close(p->diag_fd);
	free(p);
}
