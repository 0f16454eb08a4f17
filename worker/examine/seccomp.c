/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two lists of the same shape. A call that is on neither list ends the process (SIGSYS): no library
 * that we load makes it, so the process is not running our code any more. Calls that libraries try
 * and can do without (write a font cache, query the terminal, look up a user through a socket) fail
 * with an error number instead.
 *
 * What an examiner may do more than a reader of PDFs is in a list of its own.
 */
#include "worker/examine/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#	define PR_SET_VMA 0x53564d41
#endif

#ifdef ING_SANITIZED
#	define REFUSED SCMP_ACT_ERRNO(EPERM)
#else
#	define REFUSED SCMP_ACT_KILL_PROCESS
#endif

/* The bit of its own; its use needs write access anyhow. */
#define TMPFILE (__O_TMPFILE & ~O_DIRECTORY)
#define SECCOMP_API_KILL_PROCESS 3 /* libseccomp's number for "since Linux 4.14" */
#define WRITE_EXEC (PROT_WRITE | PROT_EXEC)

struct rule {
	int number;
	uint32_t action;
	unsigned count; /* of conditions, all of which must hold */
	struct scmp_arg_cmp when[2];
};

#define ALLOW(name)                                                                                \
	{                                                                                          \
		SCMP_SYS(name), SCMP_ACT_ALLOW, 0,                                                 \
		{                                                                                  \
			{                                                                          \
				0, 0, 0, 0                                                         \
			}                                                                          \
		}                                                                                  \
	}
#define ALLOW_IF(name, ...)                                                                        \
	{                                                                                          \
		SCMP_SYS(name), SCMP_ACT_ALLOW, 1,                                                 \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define ALLOW_IF2(name, ...)                                                                       \
	{                                                                                          \
		SCMP_SYS(name), SCMP_ACT_ALLOW, 2,                                                 \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define DENY(name, number)                                                                         \
	{                                                                                          \
		SCMP_SYS(name), SCMP_ACT_ERRNO(number), 0,                                         \
		{                                                                                  \
			{                                                                          \
				0, 0, 0, 0                                                         \
			}                                                                          \
		}                                                                                  \
	}
#define DENY_IF(name, number, ...)                                                                 \
	{                                                                                          \
		SCMP_SYS(name), SCMP_ACT_ERRNO(number), 1,                                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define IS(arg, value)                                                                             \
	{                                                                                          \
		arg, SCMP_CMP_EQ, value, 0                                                         \
	}
#define BITS(arg, mask, value)                                                                     \
	{                                                                                          \
		arg, SCMP_CMP_MASKED_EQ, mask, value                                               \
	} /* of the mask, exactly these */

/* openat() for reading passes; each way to write is refused by a rule of its own, so that no two
 * rules can hold for one call. */
#define OPEN_RULES(name, flags)                                                                    \
	ALLOW_IF(name, BITS(flags, O_ACCMODE | O_CREAT | O_TRUNC | TMPFILE, 0)),                   \
		DENY_IF(name, EACCES, BITS(flags, O_ACCMODE, O_WRONLY)),                           \
		DENY_IF(name, EACCES, BITS(flags, O_ACCMODE, O_RDWR)),                             \
		DENY_IF(name, EACCES, BITS(flags, O_ACCMODE, O_ACCMODE)),                          \
		DENY_IF(name, EACCES, BITS(flags, O_ACCMODE | O_CREAT, O_CREAT)),                  \
		DENY_IF(name, EACCES, BITS(flags, O_ACCMODE | O_CREAT | O_TRUNC, O_TRUNC))

/* Both levels. */
static const struct rule common_rules[] = {
	/* memory; never executable, never shared and writable */
	ALLOW(brk),
	ALLOW(madvise),
	ALLOW(mremap),
	ALLOW(munmap),
	ALLOW_IF2(mmap, BITS(2, WRITE_EXEC, 0), BITS(3, MAP_SHARED, MAP_SHARED)),
	ALLOW_IF2(mmap, BITS(2, WRITE_EXEC, 0), BITS(3, MAP_SHARED, 0)),
	ALLOW_IF2(mmap, BITS(2, WRITE_EXEC, PROT_WRITE), BITS(3, MAP_SHARED, 0)),
	/* A library that is opened only now, or code out of the body's descriptor. */
	DENY_IF(mmap, EACCES, BITS(2, WRITE_EXEC, PROT_EXEC)),
	ALLOW_IF(mprotect, BITS(2, PROT_EXEC, 0)),
	/* descriptors already there */
	ALLOW(close),
	ALLOW(close_range),
	ALLOW(dup),
	ALLOW(eventfd2),
	ALLOW(fadvise64),
	ALLOW(fstat),
	ALLOW(fstatfs),
	ALLOW(getdents64),
	ALLOW(lseek),
	ALLOW(poll),
	ALLOW(ppoll),
	ALLOW(pread64),
	ALLOW(read),
	ALLOW(readv),
	ALLOW(write),
	ALLOW(writev),
	ALLOW_IF(fcntl, IS(1, F_DUPFD_CLOEXEC)),
	ALLOW_IF(fcntl, IS(1, F_GETFD)),
	ALLOW_IF(fcntl, IS(1, F_GETFL)),
	ALLOW_IF(fcntl, IS(1, F_SETFD)),
	DENY_IF(fcntl, EACCES, IS(1, F_SETLK)),
	DENY_IF(fcntl, EACCES, IS(1, F_SETLKW)),
	DENY(ioctl, ENOTTY),
	/* names, for reading */
	ALLOW(access),
	ALLOW(faccessat),
	ALLOW(faccessat2),
	ALLOW(getcwd),
	ALLOW(lstat),
	ALLOW(newfstatat),
	ALLOW(readlink),
	ALLOW(readlinkat),
	ALLOW(stat),
	ALLOW(statfs),
	ALLOW(statx),
	OPEN_RULES(open, 1),
	OPEN_RULES(openat, 2),
	DENY(openat2, ENOSYS),
	/* names, for writing */
	DENY(chmod, EACCES),
	DENY(creat, EACCES),
	DENY(fchmod, EACCES),
	DENY(fchmodat, EACCES),
	DENY(link, EACCES),
	DENY(linkat, EACCES),
	DENY(mkdir, EACCES),
	DENY(mkdirat, EACCES),
	DENY(rename, EACCES),
	DENY(renameat, EACCES),
	DENY(renameat2, EACCES),
	DENY(symlink, EACCES),
	DENY(symlinkat, EACCES),
	DENY(unlink, EACCES),
	DENY(unlinkat, EACCES),
	DENY(utimensat, EACCES),
	/* itself and the time */
	ALLOW(clock_getres),
	ALLOW(clock_gettime),
	ALLOW(clock_nanosleep),
	ALLOW(exit),
	ALLOW(exit_group),
	ALLOW(futex),
	ALLOW(getegid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getpid),
	ALLOW(getppid),
	ALLOW(getrandom),
	ALLOW(getrusage),
	ALLOW(gettid),
	ALLOW(gettimeofday),
	ALLOW(getuid),
	ALLOW(nanosleep),
	ALLOW(restart_syscall),
	ALLOW(rt_sigaction),
	ALLOW(rt_sigprocmask),
	ALLOW(rt_sigreturn),
	ALLOW(sched_getaffinity),
	ALLOW(sched_yield),
	ALLOW(sigaltstack),
	ALLOW(sysinfo),
	ALLOW(time),
	ALLOW(uname),
	DENY_IF(prctl, EINVAL, IS(0, PR_SET_VMA)),
	/* Signals to oneself cannot be told from signals to others. abort() then ends by a trap
	   instead. */
	DENY(kill, EPERM),
	DENY(tgkill, EPERM),
	DENY(tkill, EPERM),
	/* The name service asks its cache daemon, loggers ask theirs. */
	DENY(socket, EACCES),
	/* Neither threads nor processes: a thread pool does not come up, a fork fails. The C
	   library asks for the former again after ENOSYS. */
	DENY(clone3, ENOSYS),
	DENY(clone, EAGAIN),
#ifdef ING_SANITIZED
	ALLOW(pipe),
	ALLOW(sched_getparam),
#endif
};

/* What is more at the level of an examiner. */
static const struct rule examiner_rules[] = {
	ALLOW(recvmsg),
	ALLOW_IF(prlimit64, IS(0, 0)), /* of itself; hard limits only go down */
	ALLOW(getrlimit),
	ALLOW(setrlimit),
};

/* A timer of its own CPU time ends a reader that takes too long for what is not worth it. */
static const struct rule pdf_rules[] = {
	ALLOW_IF(setitimer, IS(0, ITIMER_PROF)),
	ALLOW_IF2(prlimit64, IS(0, 0), IS(2, 0)),
	ALLOW(getrlimit),
};

static int add_rules(scmp_filter_ctx ctx, const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* What the filter does by itself cannot be added (sanitized builds). */
		if (rules[i].action == REFUSED)
			continue;
		int rc = seccomp_rule_add_array(
			ctx, rules[i].action, rules[i].number, rules[i].count, rules[i].when);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* The library writes programs to descriptors only. Returns 0 or a negative error number. */
static int export_filter(scmp_filter_ctx ctx, struct sock_fprog *ret)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct stat st;
	int rc = seccomp_export_bpf(ctx, fd);
	if (rc == 0 && fstat(fd, &st) != 0)
		rc = -errno;
	if (rc == 0) {
		size_t bytes = (size_t)st.st_size;
		void *filter = ing_alloc(bytes);
		ing_must(bytes > 0 && bytes % sizeof(struct sock_filter) == 0);
		if (pread(fd, filter, bytes, 0) == (ssize_t)bytes) {
			ret->filter = filter;
			ret->len = (unsigned short)(bytes / sizeof(struct sock_filter));
		} else {
			free(filter);
			rc = -EIO;
		}
	}
	close(fd);
	return rc;
}

int ing_seccomp_compile(enum ing_sandbox_level level, struct sock_fprog *ret, struct ing_error *err)
{
	/* Every kernel we run on knows these actions. Asking it takes seccomp(2), which service
	 * managers' filters refuse or punish, so the library is told instead. */
	seccomp_api_set(SECCOMP_API_KILL_PROCESS);
	scmp_filter_ctx ctx = seccomp_init(REFUSED);
	if (ctx == NULL)
		return ing_error_set(
			err, ING_FAIL_SYSTEM, "sandbox: this architecture has no seccomp");
	bool first = level == ING_SANDBOX_EXAMINER;
	int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (rc == 0)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* binary tree */
	if (rc == 0)
		rc = add_rules(ctx, common_rules, ING_ARRAY_LEN(common_rules));
	if (rc == 0 && first)
		rc = add_rules(ctx, examiner_rules, ING_ARRAY_LEN(examiner_rules));
	if (rc == 0 && !first)
		rc = add_rules(ctx, pdf_rules, ING_ARRAY_LEN(pdf_rules));
	if (rc == 0)
		rc = export_filter(ctx, ret);
	seccomp_release(ctx);
	if (rc != 0)
		return ing_error_sys(err, -rc, "sandbox: cannot compile the system call filter");
	return 0;
}
