/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * glibc has no wrappers, and the kernel headers of the oldest system we build on know only the
 * first rights, so the structures and numbers of later ABI versions are spelled out here
 * (linux/landlock.h, ABI 1 to 6).
 */
#include "worker/examine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/macros.h"

#ifndef SYS_landlock_create_ruleset
#	define SYS_landlock_create_ruleset 444 /* the same number on every architecture */
#	define SYS_landlock_add_rule 445
#	define SYS_landlock_restrict_self 446
#endif

#define CREATE_VERSION 1u
#define RULE_PATH_BENEATH 1
#define FS_EXECUTE (1ULL << 0)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_ABI_1 ((1ULL << 13) - 1) /* execute, write, read, remove, make … make_sym */
#define FS_REFER (1ULL << 13)       /* ABI 2 */
#define FS_TRUNCATE (1ULL << 14)    /* ABI 3 */
#define FS_IOCTL_DEV (1ULL << 15)   /* ABI 5 */
#define NET_BIND_CONNECT 3ULL       /* ABI 4: TCP */
#define SCOPE_ABSTRACT_SIGNAL 3ULL  /* ABI 6: abstract sockets, and signals to processes outside */

struct ruleset {
	uint64_t fs, net, scope;
};

struct path_rule {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* Fonts that a PDF names but does not carry, their tables and caches; poppler's character maps;
 * the C library's character set converters, which are loaded when they are first asked for. No
 * home folders: what a document says must not depend on who runs the worker. What is absent is
 * skipped. */
static const char *const readable[] = {
	"/etc/fonts",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/lib",
	"/lib64",
	"/usr/lib",
	"/usr/lib64",
	"/usr/local/share/fonts",
	"/usr/share/fontconfig",
	"/usr/share/fonts",
	"/usr/share/ghostscript",
	"/usr/share/misc",
	"/usr/share/poppler",
	"/usr/share/zoneinfo",
	"/var/cache/fontconfig",
};

static int query_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
}

/* An outer filter may end the process for a system call that it does not know, so a child asks
 * first. */
static int probe_version(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		int version = query_version();
		_exit(version > 0 ? ING_MIN(version, 255) : 0);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 0;
	return WEXITSTATUS(status);
}

static void allow_reading(int ruleset_fd, const char *path)
{
	struct path_rule rule = {.fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;
	if (rule.fd < 0)
		return;
	if (fstat(rule.fd, &st) == 0) {
		rule.allowed = S_ISDIR(st.st_mode) ? FS_READ_FILE | FS_READ_DIR : FS_READ_FILE;
		/* Should it fail, the folder stays closed: the safe side. */
		syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &rule, 0);
	}
	close(rule.fd);
}

int ing_landlock_prepare(int *ret_fd)
{
	*ret_fd = -1;
#ifdef ING_SANITIZED
	return 0;
#endif
	int abi = probe_version();
	if (abi <= 0)
		return 0;
	struct ruleset set = {.fs = FS_ABI_1};
	size_t set_bytes = offsetof(struct ruleset, net);
	if (abi >= 2)
		set.fs |= FS_REFER;
	if (abi >= 3)
		set.fs |= FS_TRUNCATE;
	if (abi >= 4) {
		set.net = NET_BIND_CONNECT;
		set_bytes = offsetof(struct ruleset, scope);
	}
	if (abi >= 5)
		set.fs |= FS_IOCTL_DEV;
	if (abi >= 6) {
		set.scope = SCOPE_ABSTRACT_SIGNAL;
		set_bytes = sizeof(set);
	}
	int fd = (int)syscall(SYS_landlock_create_ruleset, &set, set_bytes, 0);
	if (fd < 0)
		return 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(readable); i++)
		allow_reading(fd, readable[i]);
	*ret_fd = fd;
	return abi;
}

int ing_landlock_enter(int fd)
{
	return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}
