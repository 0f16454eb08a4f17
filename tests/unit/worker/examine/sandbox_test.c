/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each attempt is made by a child inside the sandbox, and must end as the table says. What an
 * attacker would try ends the process; what a library may try fails with an error number; what our
 * own work needs goes through.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/examine/child.h"
#include "worker/examine/sandbox.h"

#define KILLED (-1) /* by SIGSYS; an error number in sanitized builds */
#define PASSED 0

static int scratch_fd = -1;   /* a memfd, writable, with some bytes */
static char scratch_path[64]; /* a file that anybody may write */

/* Attempts return 0 when they got through and else the error number. */
static int result_of(long rc)
{
	return rc >= 0 ? 0 : errno;
}

static int try_socket_inet(void)
{
	return result_of(socket(AF_INET, SOCK_STREAM, 0));
}
static int try_socket_unix(void)
{
	return result_of(socket(AF_UNIX, SOCK_STREAM, 0));
}
static int try_connect(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/nonexistent"};
	return result_of(connect(0, (struct sockaddr *)&a, sizeof(a)));
}
static int try_bind(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = ""};
	return result_of(bind(0, (struct sockaddr *)&a, sizeof(a)));
}
static int try_sendmsg(void)
{
	struct msghdr m = {0};
	return result_of(sendmsg(0, &m, 0));
}
static int try_recvmsg(void)
{
	struct msghdr m = {0};
	int rc = result_of(recvmsg(scratch_fd, &m, 0));
	return rc == ENOTSOCK ? 0 : rc; /* the kernel looked at it */
}
static int try_execve(void)
{
	return result_of(execl("/bin/true", "true", (char *)NULL));
}
static int try_execveat(void)
{
	char *none[] = {NULL};
	return result_of(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0));
}
static int try_ptrace(void)
{
	return result_of(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}
static int try_read_memory(void)
{
	char c;
	struct iovec here = {&c, 1};
	struct iovec there = {&c, 1};
	return result_of(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}
static int try_kill(void)
{
	return result_of(kill(getppid(), 0));
}
static int try_pidfd(void)
{
	return result_of(syscall(SYS_pidfd_open, getppid(), 0));
}
static int try_write_open(void)
{
	return result_of(open(scratch_path, O_WRONLY));
}
static int try_read_write_open(void)
{
	return result_of(openat(AT_FDCWD, scratch_path, O_RDWR));
}
static int try_append_open(void)
{
	return result_of(open(scratch_path, O_WRONLY | O_APPEND));
}
static int try_create(void)
{
	return result_of(open("/tmp/ing-sandbox-test-new", O_RDONLY | O_CREAT, 0600));
}
static int try_truncating_open(void)
{
	return result_of(open(scratch_path, O_RDONLY | O_TRUNC));
}
static int try_tmpfile(void)
{
	return result_of(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}
static int try_reserved_mode_open(void)
{
	return result_of(open(scratch_path, O_ACCMODE));
}
static int try_openat2(void)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {.flags = O_WRONLY};
	return result_of(syscall(437, AT_FDCWD, scratch_path, &how, sizeof(how)));
}
static int try_unlink(void)
{
	return result_of(unlink(scratch_path));
}
static int try_rename(void)
{
	return result_of(rename(scratch_path, "/tmp/ing-sandbox-test-other"));
}
static int try_chmod(void)
{
	return result_of(chmod(scratch_path, 0777));
}
static int try_mkdir(void)
{
	return result_of(mkdir("/tmp/ing-sandbox-test-dir", 0700));
}
static int try_mount(void)
{
	return result_of(mount("none", "/tmp", "tmpfs", 0, NULL));
}
static int try_write_memfd(void)
{
	return result_of(write(scratch_fd, "x", 1));
}
static int try_pwrite_memfd(void)
{
	return result_of(pwrite(scratch_fd, "x", 1, 0));
}
static int try_truncate_memfd(void)
{
	return result_of(ftruncate(scratch_fd, 0));
}
static int try_map_shared_writable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, scratch_fd, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int try_map_write_exec(void)
{
	void *p = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int try_make_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return result_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
/* The body's own bytes as code: the descriptor that came with the question. */
static int try_map_body_exec(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, scratch_fd, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int try_map_body_exec_shared(void)
{
	void *p = mmap(NULL, 4096, PROT_EXEC, MAP_SHARED, scratch_fd, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int try_map_nothing_exec(void)
{
	void *p = mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? errno : 0;
}
static int try_make_body_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, scratch_fd, 0);
	return result_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}
static int try_pkey_executable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, scratch_fd, 0);
	return result_of(syscall(SYS_pkey_mprotect, p, 4096, PROT_READ | PROT_EXEC, -1));
}
/* After which every readable mapping would be executable. */
static int try_read_implies_exec(void)
{
	return result_of(personality(READ_IMPLIES_EXEC));
}
static int try_library(void)
{
	void *lib = dlopen("libanl.so.1", RTLD_NOW); /* nobody has it loaded */
	return lib != NULL ? 0 : EACCES;
}
static int try_shm(void)
{
	return result_of(shmget(IPC_PRIVATE, 4096, 0600));
}
static int try_unshare(void)
{
	return result_of(unshare(CLONE_NEWUSER));
}
static int try_thread(void)
{
	long rc = syscall(SYS_clone,
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0);
	if (rc == 0)
		syscall(SYS_exit, 0);
	return result_of(rc);
}
static int try_namespace_clone(void)
{
	long rc = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (rc == 0)
		_exit(0);
	return result_of(rc);
}
static int try_clone3(void)
{
	uint64_t args[8] = {0};
	return result_of(syscall(435, args, sizeof(args)));
}
static int try_dumpable(void)
{
	return result_of(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}
static int try_no_death_signal(void)
{
	return result_of(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
}
static int try_bpf(void)
{
	return result_of(syscall(SYS_bpf, 0, NULL, 0));
}
static int try_io_uring(void)
{
	return result_of(syscall(425, 1, NULL));
}
static int try_userfaultfd(void)
{
	return result_of(syscall(SYS_userfaultfd, 0));
}
static int try_setuid(void)
{
	return result_of(setuid(0));
}
static int try_raise_limit(void)
{
	struct rlimit r = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	return result_of(setrlimit(RLIMIT_FSIZE, &r));
}
static int try_limit_of_others(void)
{
	struct rlimit r;
	return result_of(prlimit(getppid(), RLIMIT_NOFILE, NULL, &r));
}
static int try_timer(void)
{
	struct itimerval off = {0};
	return result_of(setitimer(ITIMER_REAL, &off, NULL));
}

static int try_fork(void)
{
	pid_t pid = fork();
	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(3);
	int status = 0;
	if (wait4(pid, &status, 0, NULL) != pid)
		return errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0 : EIO;
}
static int try_pipe(void)
{
	int ends[2];
	char c = 0;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	return write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1 && c == 'x' ? 0 : EIO;
}
static int try_allocate(void)
{
	for (size_t bytes = 1; bytes <= (size_t)32 << 20; bytes *= 2) {
		char *p = malloc(bytes);
		if (p == NULL)
			return ENOMEM;
		memset(p, 1, bytes);
		free(p);
	}
	return 0;
}
static int try_map_body(void)
{
	const char *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, scratch_fd, 0);
	return p != MAP_FAILED && p[0] == 'b' ? 0 : EIO;
}
static int try_map_cache(void)
{
	const char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, scratch_fd, 0);
	return p != MAP_FAILED && p[0] == 'b' ? 0 : EIO;
}
static int try_read_fonts(void)
{
	DIR *dir = opendir("/usr/share/fonts");
	return dir != NULL && readdir(dir) != NULL ? 0 : errno;
}
static int try_read_passwd(void)
{
	return result_of(open("/etc/passwd", O_RDONLY));
}
#ifndef ING_SANITIZED
static int try_terabyte(void)
{
	/* Over the limit that the test sets: refused, not fatal. */
	void *p = mmap(NULL, (size_t)1 << 40, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? errno : 0;
}
#endif
static int try_too_many_files(void)
{
	int rc = 0;
	for (int i = 0; i < 100 && rc >= 0; i++)
		rc = dup(scratch_fd);
	return result_of(rc);
}
static int is_root(void)
{
	return geteuid() == 0 ? EPERM : 0;
}

struct attempt {
	const char *name;
	int (*run)(void);
	int examiner, pdf; /* PASSED, KILLED, or an error number */
};

static const struct attempt attempts[] = {
	{"fork", try_fork, EAGAIN, EAGAIN},
	{"pipe", try_pipe, KILLED, KILLED},
	{"allocate", try_allocate, PASSED, PASSED},
	{"map the body", try_map_body, PASSED, PASSED},
	{"map a font cache", try_map_cache, PASSED, PASSED},
	{"read fonts", try_read_fonts, PASSED, PASSED},
	{"not root any more", is_root, PASSED, PASSED},
	{"take a descriptor", try_recvmsg, PASSED, KILLED},
	{"set a timer", try_timer, KILLED, KILLED},
	{"internet socket", try_socket_inet, EACCES, EACCES},
	{"local socket", try_socket_unix, EACCES, EACCES},
	{"connect", try_connect, KILLED, KILLED},
	{"bind", try_bind, KILLED, KILLED},
	{"send a descriptor", try_sendmsg, KILLED, KILLED},
	{"execve", try_execve, KILLED, KILLED},
	{"execveat", try_execveat, KILLED, KILLED},
	{"ptrace", try_ptrace, KILLED, KILLED},
	{"read another's memory", try_read_memory, KILLED, KILLED},
	{"signal another", try_kill, EPERM, EPERM},
	{"pidfd of another", try_pidfd, KILLED, KILLED},
	{"limits of another", try_limit_of_others, KILLED, KILLED},
	{"open for writing", try_write_open, EACCES, EACCES},
	{"open for reading and writing", try_read_write_open, EACCES, EACCES},
	{"open for appending", try_append_open, EACCES, EACCES},
	{"create", try_create, EACCES, EACCES},
	{"truncate by open", try_truncating_open, EACCES, EACCES},
	{"nameless file", try_tmpfile, EACCES, EACCES},
	{"reserved open mode", try_reserved_mode_open, EACCES, EACCES},
	{"openat2", try_openat2, ENOSYS, ENOSYS},
	{"unlink", try_unlink, EACCES, EACCES},
	{"rename", try_rename, EACCES, EACCES},
	{"chmod", try_chmod, EACCES, EACCES},
	{"mkdir", try_mkdir, EACCES, EACCES},
	{"mount", try_mount, KILLED, KILLED},
	{"write to a memfd", try_write_memfd, EFBIG, EFBIG},
	{"pwrite to a memfd", try_pwrite_memfd, KILLED, KILLED},
	{"truncate a memfd", try_truncate_memfd, KILLED, KILLED},
	{"map a memfd for writing", try_map_shared_writable, KILLED, KILLED},
	{"map writable and executable", try_map_write_exec, KILLED, KILLED},
	{"make memory executable", try_make_executable, KILLED, KILLED},
	{"map the body as code", try_map_body_exec, EACCES, EACCES},
	{"map the body as shared code", try_map_body_exec_shared, EACCES, EACCES},
	{"map fresh memory as code", try_map_nothing_exec, EACCES, EACCES},
	{"make the body executable", try_make_body_executable, KILLED, KILLED},
	{"make it so by a protection key", try_pkey_executable, KILLED, KILLED},
	{"reading implies executing", try_read_implies_exec, KILLED, KILLED},
	{"load a library", try_library, EACCES, EACCES},
	{"shared memory", try_shm, KILLED, KILLED},
	{"unshare", try_unshare, KILLED, KILLED},
	{"thread", try_thread, EAGAIN, EAGAIN},
	{"clone into a namespace", try_namespace_clone, EAGAIN, EAGAIN},
	{"clone3", try_clone3, ENOSYS, ENOSYS},
	{"become dumpable", try_dumpable, KILLED, KILLED},
	{"outlive the parent", try_no_death_signal, KILLED, KILLED},
	{"bpf", try_bpf, KILLED, KILLED},
	{"io_uring", try_io_uring, KILLED, KILLED},
	{"userfaultfd", try_userfaultfd, KILLED, KILLED},
	{"setuid", try_setuid, KILLED, KILLED},
	{"raise a limit", try_raise_limit, EPERM, KILLED},
	{"hundred descriptors", try_too_many_files, EMFILE, EMFILE},
#ifndef ING_SANITIZED
	{"a terabyte", try_terabyte, ENOMEM, ENOMEM},
#endif
};

/* The exit code carries the result: 0 passed, an error number, or 250 and up for a sandbox that did
 * not close. */
static int run_attempt(const struct ing_sandbox *sb, enum ing_sandbox_level level, int (*run)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		struct ing_error err = {0};
		if (ing_sandbox_enter(sb, level, (size_t)512 << 20, &err) != 0)
			_exit(250);
		int rc = run();
		_exit(rc >= 0 && rc < 250 ? rc : 252);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : -WTERMSIG(status) - 1000;
	return WEXITSTATUS(status);
}

static unsigned run_table(const struct ing_sandbox *sb, enum ing_sandbox_level level)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(attempts); i++) {
		int want = level == ING_SANDBOX_PDF ? attempts[i].pdf : attempts[i].examiner;
		int got = run_attempt(sb, level, attempts[i].run);
#ifdef ING_SANITIZED
		if (want == KILLED && got != PASSED)
			continue; /* refused there with whatever number comes first */
#endif
		if (got != want) {
			print_error(
				"level %d: %s: %d, not %d\n", level, attempts[i].name, got, want);
			wrong++;
		}
	}
	return wrong;
}

static void make_scratch(void)
{
	scratch_fd = memfd_create("scratch", MFD_CLOEXEC);
	assert_int_equal(write(scratch_fd, "body", 4), 4);
	snprintf(scratch_path, sizeof(scratch_path), "/tmp/ing-sandbox-test-%d", (int)getpid());
	int fd = open(scratch_path, O_CREAT | O_EXCL | O_WRONLY, 0666);
	assert_true(fd >= 0);
	fchmod(fd, 0666);
	close(fd);
}

static void test_attempts(void **state)
{
	struct ing_sandbox *sb = NULL;
	struct ing_error err = {0};
	(void)state;
	make_scratch();
	if (ing_sandbox_new(&sb, &err) != 0)
		fail_msg("%s", err.msg);
	print_message("landlock %d\n", ing_sandbox_landlock(sb));
	unsigned wrong = run_table(sb, ING_SANDBOX_EXAMINER) + run_table(sb, ING_SANDBOX_PDF);
	unlink(scratch_path);
	close(scratch_fd);
	ing_sandbox_free(sb);
	assert_int_equal(wrong, 0);
}

/* What the fonts' folders do not hold cannot be read, where the kernel has Landlock. */
static void test_files_of_others(void **state)
{
	struct ing_sandbox *sb = NULL;
	(void)state;
	assert_int_equal(ing_sandbox_new(&sb, NULL), 0);
	bool landlocked = ing_sandbox_landlock(sb) > 0;
	int got = run_attempt(sb, ING_SANDBOX_EXAMINER, try_read_passwd);
	ing_sandbox_free(sb);
	assert_int_equal(got, landlocked ? EACCES : PASSED);
}

/* Close the sandbox in an ordinary user's child under a filter such as service managers set. */
static void run_under_filter(const struct sock_filter *filter, unsigned short count)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct sock_filter copy[64];
		struct ing_sandbox *sb = NULL;
		memcpy(copy, filter, sizeof(*filter) * count);
		struct sock_fprog outer = {.len = count, .filter = copy};
		if (geteuid() == 0 && (setgid(12345) != 0 || setuid(12345) != 0))
			_exit(4);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &outer, 0, 0) != 0)
			_exit(1);
		if (ing_sandbox_new(&sb, NULL) != 0)
			_exit(2);
		if (run_attempt(sb, ING_SANDBOX_EXAMINER, try_allocate) != PASSED ||
			run_attempt(sb, ING_SANDBOX_EXAMINER, try_fork) != EAGAIN ||
			run_attempt(sb, ING_SANDBOX_PDF, try_map_body) != EIO)
			_exit(3);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS_EQUAL(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))
#define SKIP_UNLESS_SET(bits, skip) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (skip))
#define VERDICT(value) BPF_STMT(BPF_RET | BPF_K, (value))

/* MemoryDenyWriteExecute=yes: no mapping both writable and executable, none made executable
 * later. */
static void test_under_write_execute_denied(void **state)
{
	static const struct sock_filter filter[] = {
		LOAD(nr),
		SKIP_UNLESS_EQUAL(SYS_mprotect, 3),
		LOAD(args[2]),
		SKIP_UNLESS_SET(PROT_EXEC, 6),
		VERDICT(SECCOMP_RET_ERRNO | EPERM),
		SKIP_UNLESS_EQUAL(SYS_mmap, 4),
		LOAD(args[2]),
		SKIP_UNLESS_SET(PROT_EXEC, 2),
		SKIP_UNLESS_SET(PROT_WRITE, 1),
		VERDICT(SECCOMP_RET_ERRNO | EPERM),
		VERDICT(SECCOMP_RET_ALLOW),
	};
	(void)state;
	run_under_filter(filter, ING_ARRAY_LEN(filter));
}

/* SystemCallFilter=@system-service ~@privileged of managers that know neither seccomp(2) nor
 * Landlock: such calls kill. */
static void test_under_service_filter(void **state)
{
	static const struct sock_filter filter[] = {
		LOAD(nr),
		SKIP_UNLESS_EQUAL(SYS_seccomp, 1),
		VERDICT(SECCOMP_RET_KILL_PROCESS),
		SKIP_UNLESS_EQUAL(444, 1), /* landlock_create_ruleset */
		VERDICT(SECCOMP_RET_KILL_PROCESS),
		SKIP_UNLESS_EQUAL(SYS_capset, 1),
		VERDICT(SECCOMP_RET_KILL_PROCESS),
		VERDICT(SECCOMP_RET_ALLOW),
	};
	(void)state;
	run_under_filter(filter, ING_ARRAY_LEN(filter));
}

/* The zygote of an ordinary user gives no less of a sandbox than root's. */
static void test_as_ordinary_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip(); /* the other tests were it */
	pid_t pid = fork();
	if (pid == 0) {
		struct ing_sandbox *sb = NULL;
		make_scratch();
		if (setgid(12345) != 0 || setuid(12345) != 0 || ing_sandbox_new(&sb, NULL) != 0)
			_exit(100);
		unsigned wrong = run_table(sb, ING_SANDBOX_EXAMINER);
		_exit(wrong > 90 ? 90 : (int)wrong);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(scratch_path, sizeof(scratch_path), "/tmp/ing-sandbox-test-%d", (int)pid);
	unlink(scratch_path);
	assert_int_equal(status, 0);
}

static volatile bool spinning = true;

static int spin(void)
{
	ing_sandbox_limit_cpu(0);
	while (spinning)
		;
	return 0;
}

static void test_cpu_limit(void **state)
{
	struct ing_sandbox *sb = NULL;
	(void)state;
	assert_int_equal(ing_sandbox_new(&sb, NULL), 0);
	assert_int_equal(run_attempt(sb, ING_SANDBOX_EXAMINER, spin), -SIGXCPU - 1000);
	ing_sandbox_free(sb);
}

static int oom_score(void)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return (int)strtol(text, NULL, 10);
}

/* Returns 0, or which of the scores is wrong. */
static int fork_by_likelihood(bool ordinary_user)
{
	struct ing_child_conf conf = {0};
	int status = 0;
	/* A change of identity leaves /proc/self to root without the second call. */
	if (ordinary_user && (setgid(12345) != 0 || setuid(12345) != 0 ||
				     prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0))
		return 1;
	ing_child_raise_oom_score(&conf);
	if (oom_score() != 900)
		return 2;
	pid_t pid = ing_child_fork(&conf);
	if (pid == 0)
		_exit(oom_score() == 1000 ? 0 : 1);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 3;
	return oom_score() == 900 ? 0 : 4;
}

/* When memory is short, forks of the zygote are ended before the zygote, and it before the worker. */
static void test_forks_are_ended_first(void **state)
{
	(void)state;
	for (int ordinary_user = 0; ordinary_user < 2; ordinary_user++) {
		if (ordinary_user && geteuid() != 0)
			continue; /* the first one was it */
		int status = 0;
		pid_t pid = fork();
		if (pid == 0)
			_exit(fork_by_likelihood(ordinary_user));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first, before libseccomp has learnt anything about the kernel */
		cmocka_unit_test(test_under_service_filter),
		cmocka_unit_test(test_under_write_execute_denied),
		cmocka_unit_test(test_attempts),
		cmocka_unit_test(test_files_of_others),
		cmocka_unit_test(test_as_ordinary_user),
		cmocka_unit_test(test_cpu_limit),
		cmocka_unit_test(test_forks_are_ended_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
