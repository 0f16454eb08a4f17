/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of closing matters: identity first (it resets the death signal and needs system calls
 * that the filter refuses), then limits, Landlock (it needs no-new-privileges), and the filter
 * last.
 */
#include "worker/examine/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/examine/landlock.h"
#include "worker/examine/seccomp.h"

#define NOBODY 65534            /* the kernel's overflow id; owns nothing */
#define MAX_DESCRIPTORS 64      /* the socket, a body, a pipe, a font or two */
#define STACK_BYTES (8UL << 20) /* endless recursion ends here, and not at the memory limit */

struct ing_sandbox {
	struct sock_fprog filters[ING_SANDBOX_LEVELS_];
	int landlock_fd; /* -1: the kernel has none */
	int landlock_abi;
};

int ing_sandbox_new(struct ing_sandbox **ret, struct ing_error *err)
{
	struct ing_sandbox *sb = ing_alloc(sizeof(*sb));
	sb->landlock_fd = -1;
	for (int level = 0; level < ING_SANDBOX_LEVELS_; level++) {
		int rc = ing_seccomp_compile(
			(enum ing_sandbox_level)level, &sb->filters[level], err);
		if (rc != 0) {
			ing_sandbox_free(sb);
			return rc;
		}
	}
	sb->landlock_abi = ing_landlock_prepare(&sb->landlock_fd);
	*ret = sb;
	return 0;
}

void ing_sandbox_free(struct ing_sandbox *sb)
{
	if (sb == NULL)
		return;
	for (int level = 0; level < ING_SANDBOX_LEVELS_; level++)
		free(sb->filters[level].filter);
	if (sb->landlock_fd >= 0)
		close(sb->landlock_fd);
	free(sb);
}

int ing_sandbox_landlock(const struct ing_sandbox *sb)
{
	return sb->landlock_abi;
}

/* The soft limit, and the hard one with it, so that it cannot be raised again. */
static int lower_limit(
	__rlimit_resource_t resource, rlim_t value, const char *name, struct ing_error *err)
{
	struct rlimit now;
	if (getrlimit(resource, &now) != 0)
		return ing_error_sys(err, errno, "sandbox: %s", name);
	struct rlimit want = {
		.rlim_cur = ING_MIN(value, now.rlim_max), .rlim_max = ING_MIN(value, now.rlim_max)};
	if (setrlimit(resource, &want) != 0)
		return ing_error_sys(err, errno, "sandbox: %s", name);
	return 0;
}

static int lower_limits(size_t memory_bytes, struct ing_error *err)
{
	/* No byte into any regular file, be it a memfd; refused with EFBIG, because the signal is
	 * ignored. Pipes and sockets are no files in this sense. */
	signal(SIGXFSZ, SIG_IGN);
	int rc = lower_limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE", err);
	if (rc == 0)
		rc = lower_limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err);
	if (rc == 0)
		rc = lower_limit(RLIMIT_NOFILE, MAX_DESCRIPTORS, "RLIMIT_NOFILE", err);
	if (rc == 0)
		rc = lower_limit(RLIMIT_STACK, STACK_BYTES, "RLIMIT_STACK", err);
#ifndef ING_SANITIZED
	if (rc == 0 && memory_bytes > 0)
		rc = lower_limit(RLIMIT_AS, memory_bytes, "RLIMIT_AS", err);
#else
	(void)memory_bytes;
#endif
	return rc;
}

/* Service managers' filters may refuse capset() to those who have nothing to drop; capget() is free
 * to all. */
static int drop_capabilities(struct ing_error *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct has[2] = {0};
	const struct __user_cap_data_struct none[2] = {0};
	if (syscall(SYS_capget, &head, has) != 0)
		return ing_error_sys(err, errno, "sandbox: cannot read capabilities");
	if (memcmp(has, none, sizeof(has)) != 0 && syscall(SYS_capset, &head, none) != 0)
		return ing_error_sys(err, errno, "sandbox: cannot drop capabilities");
	return 0;
}

/* Root becomes nobody, where the user namespace maps that id; all capabilities are dropped. */
static int drop_identity(struct ing_error *err)
{
	if (geteuid() == 0) {
		bool unmapped = setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
				setresuid(NOBODY, NOBODY, NOBODY) != 0;
		if (unmapped && errno != EINVAL && errno != EPERM)
			return ing_error_sys(err, errno, "sandbox: cannot become nobody");
	}
	return drop_capabilities(err);
}

static int drop_rights(const struct ing_sandbox *sb, struct ing_error *err)
{
	int rc = drop_identity(err);
	if (rc != 0)
		return rc;
	/* After the change of identity, which resets it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		return ing_error_sys(err, errno, "sandbox: PR_SET_PDEATHSIG");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return ing_error_sys(err, errno, "sandbox: PR_SET_NO_NEW_PRIVS");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return ing_error_sys(err, errno, "sandbox: PR_SET_DUMPABLE");
	if (sb->landlock_fd >= 0 && ing_landlock_enter(sb->landlock_fd) != 0)
		return ing_error_sys(err, errno, "sandbox: landlock");
	return 0;
}

int ing_sandbox_enter(const struct ing_sandbox *sb, enum ing_sandbox_level level,
	size_t memory_bytes, struct ing_error *err)
{
	int rc = drop_rights(sb, err);
	if (rc == 0)
		rc = lower_limits(memory_bytes, err);
	if (rc != 0)
		return rc;
	/* prctl() and not seccomp(): service managers' filters know the former for longer. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &sb->filters[level], 0, 0) != 0)
		return ing_error_sys(err, errno, "sandbox: seccomp");
	return 0;
}

void ing_sandbox_limit_cpu(unsigned seconds)
{
	struct rusage used;
	struct rlimit limit;
	if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
		return;
	rlim_t now_s = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec +
		       2; /* both rounded up */
	limit.rlim_cur = ING_MIN(now_s + seconds, limit.rlim_max);
	setrlimit(RLIMIT_CPU, &limit);
}
