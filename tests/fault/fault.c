/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A library for LD_PRELOAD that makes chosen system calls of a running program fail, or wait, or the
 * program die at them, by rules in a file that a test changes while the program runs. README.md has
 * the rules' form; libraries.c has the calls of libpq and librdkafka.
 *
 * What surprises: the rules' file is looked at before every call, so that rules hold for whatever
 * is called once the test has written them. Everything done in here goes by syscall(2), so that no
 * call of ours is one of those that we stand in front of; and what is written for the test goes
 * through a descriptor that is opened at the start, because later there may be none to be had.
 */
#include "tests/fault/fault.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAX_RULES 32
#define MAX_PATH 256
#define MAX_FILE 8192

enum action { FAIL, DELAY, STOP, KILL, KILL_AFTER, SEGV };

struct rule {
	char call[40];
	enum action action;
	int errnum;             /* of FAIL */
	unsigned long delay_ms; /* of DELAY */
	char path[MAX_PATH];    /* a prefix; "": any */
	char has[64];           /* of what was received; "": anything */
	unsigned long from, count, every;
	unsigned long seen; /* calls that it was about */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[MAX_RULES];
static size_t rule_count;
static char rules_path[4096];
static struct timespec changed;
static ino_t inode;
static int log_fd = -1;

static const struct {
	const char *name;
	int errnum;
} errors[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EMFILE", EMFILE},
	{"ENFILE", ENFILE}, {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EACCES", EACCES},
	{"EROFS", EROFS}, {"ENOBUFS", ENOBUFS}, {"ESTALE", ESTALE}, {"EINTR", EINTR}};

/* --- rules --- */

/* A test that says something else than it means must not pass. */
static void give_up(const char *why, const char *line)
{
	static const char before[] = "libingfault: ";
	(void)syscall(SYS_write, STDERR_FILENO, before, sizeof(before) - 1);
	(void)syscall(SYS_write, STDERR_FILENO, why, strlen(why));
	(void)syscall(SYS_write, STDERR_FILENO, ": ", 2);
	(void)syscall(SYS_write, STDERR_FILENO, line, strlen(line));
	(void)syscall(SYS_write, STDERR_FILENO, "\n", 1);
	_exit(99);
}

static const struct {
	const char *name;
	enum action action;
} actions[] = {{"DELAY", DELAY}, {"STOP", STOP}, {"KILL", KILL}, {"KILL_AFTER", KILL_AFTER},
	{"SEGV", SEGV}};

static void read_action(struct rule *r, const char *name, const char *line)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0) {
			r->action = actions[i].action;
			return;
		}
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0) {
			r->errnum = errors[i].errnum;
			return;
		}
	give_up("unknown error", line);
}

static void read_word(struct rule *r, const char *word, const char *line)
{
	if (strncmp(word, "path=", 5) == 0)
		snprintf(r->path, sizeof(r->path), "%s", word + 5);
	else if (strncmp(word, "has=", 4) == 0)
		snprintf(r->has, sizeof(r->has), "%s", word + 4);
	else if (strncmp(word, "from=", 5) == 0)
		r->from = strtoul(word + 5, NULL, 10);
	else if (strncmp(word, "count=", 6) == 0)
		r->count = strtoul(word + 6, NULL, 10);
	else if (strncmp(word, "every=", 6) == 0)
		r->every = strtoul(word + 6, NULL, 10);
	else if (strncmp(word, "delay=", 6) == 0)
		r->delay_ms = strtoul(word + 6, NULL, 10);
	else
		give_up("unknown word", line);
}

static void read_rule(char *line)
{
	char copy[512];
	char *at = NULL;
	snprintf(copy, sizeof(copy), "%s", line);
	const char *call = strtok_r(line, " ", &at);
	if (call == NULL || call[0] == '#')
		return;
	const char *error = strtok_r(NULL, " ", &at);
	if (error == NULL || rule_count == MAX_RULES)
		give_up("no rule", copy);
	struct rule *r = &rules[rule_count++];
	*r = (struct rule){.from = 1, .count = ~0ul, .every = 1};
	snprintf(r->call, sizeof(r->call), "%s", call);
	read_action(r, error, copy);
	for (const char *word = strtok_r(NULL, " ", &at); word != NULL;
		word = strtok_r(NULL, " ", &at))
		read_word(r, word, copy);
	if (r->from == 0 || r->every == 0)
		give_up("counts begin with 1", copy);
	if ((r->action == DELAY) != (r->delay_ms > 0))
		give_up("DELAY and delay= go together", copy);
}

/* False when the file cannot be opened just now. */
static bool read_rules(void)
{
	char text[MAX_FILE];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, rules_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	long bytes = syscall(SYS_read, fd, text, sizeof(text) - 1);
	(void)syscall(SYS_close, fd);
	if (bytes < 0)
		return false;
	text[bytes] = '\0';
	rule_count = 0;
	char *at = NULL;
	for (char *line = strtok_r(text, "\n", &at); line != NULL; line = strtok_r(NULL, "\n", &at))
		read_rule(line);
	return true;
}

/* Under the lock. */
static void look_again(void)
{
	struct stat st;
	if (rules_path[0] == '\0' || fstatat(AT_FDCWD, rules_path, &st, 0) != 0)
		return;
	if (st.st_ino == inode && st.st_mtim.tv_sec == changed.tv_sec &&
		st.st_mtim.tv_nsec == changed.tv_nsec)
		return;
	if (!read_rules())
		return; /* no descriptor to be had, perhaps: the next look may go better */
	inode = st.st_ino;
	changed = st.st_mtim;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("ING_FAULT_RULES");
	char log_path[4096 + 8];
	if (path == NULL || strlen(path) >= sizeof(rules_path))
		return;
	snprintf(rules_path, sizeof(rules_path), "%s", path);
	snprintf(log_path, sizeof(log_path), "%s.log", path);
	log_fd = (int)syscall(
		SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	pthread_mutex_lock(&lock);
	look_again();
	pthread_mutex_unlock(&lock);
}

/* --- deciding --- */

/* What the call that is being decided about has received. */
static _Thread_local struct {
	const void *bytes;
	size_t count;
} received;

static bool has_received(const struct rule *r)
{
	return received.bytes != NULL &&
	       memmem(received.bytes, received.count, r->has, strlen(r->has)) != NULL;
}

static bool matches(const struct rule *r, const char *call, int fd, const char *path)
{
	char of_fd[MAX_PATH] = "";
	if (strcmp(r->call, call) != 0)
		return false;
	if (r->has[0] != '\0' && !has_received(r))
		return false;
	if (r->path[0] == '\0')
		return true;
	if (path == NULL && fd >= 0) {
		char link[64];
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		long bytes = syscall(SYS_readlinkat, AT_FDCWD, link, of_fd, sizeof(of_fd) - 1);
		if (bytes > 0)
			of_fd[bytes] = '\0';
		path = of_fd;
	}
	return path != NULL && strncmp(path, r->path, strlen(r->path)) == 0;
}

static const char *name_of(enum action action)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (actions[i].action == action)
			return actions[i].name;
	return NULL;
}

static void note(const struct rule *r)
{
	char line[128], number[16];
	snprintf(number, sizeof(number), "%d", r->errnum);
	int bytes = snprintf(line, sizeof(line), "%s %s\n", r->call,
		r->action == FAIL ? number : name_of(r->action));
	if (log_fd >= 0 && bytes > 0)
		(void)syscall(SYS_write, log_fd, line, (size_t)bytes);
}

/* As kill from outside. With SIGKILL nothing of the program runs any more. */
static void signal_self(int signum)
{
	(void)syscall(SYS_kill, syscall(SYS_getpid), signum);
}

static void wait_ms(unsigned long ms)
{
	struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
	while (syscall(SYS_nanosleep, &left, &left) != 0 && errno == EINTR)
		;
}

static volatile uintptr_t nowhere = 16;
/* The call after which this thread ends the program: not one that is made inside it. */
static _Thread_local const char *dies_after;

void after_call(const char *call)
{
	if (dies_after != NULL && strcmp(dies_after, call) == 0)
		signal_self(SIGKILL);
}

int fault(const char *call, int fd, const char *path)
{
	int errnum = 0;
	unsigned long delay_ms = 0;
	bool found = false, stops = false, crashes = false;
	int saved = errno;
	pthread_mutex_lock(&lock);
	look_again();
	for (size_t i = 0; i < rule_count && !found; i++) {
		struct rule *r = &rules[i];
		if (!matches(r, call, fd, path))
			continue;
		unsigned long n = ++r->seen;
		if (n < r->from || n - r->from >= r->count || (n - r->from) % r->every != 0)
			continue;
		found = true;
		note(r);
		if (r->action == KILL)
			signal_self(SIGKILL);
		stops = r->action == STOP;
		crashes = r->action == SEGV;
		dies_after = r->action == KILL_AFTER ? call : NULL;
		errnum = r->errnum;
		delay_ms = r->delay_ms;
	}
	pthread_mutex_unlock(&lock);
	if (stops)
		signal_self(SIGSTOP);
	if (crashes)
		*(volatile int *)nowhere = 0;
	if (delay_ms > 0)
		wait_ms(delay_ms);
	errno = saved;
	return errnum;
}

/* --- the calls --- */

STAND_IN(ssize_t, read, fd, (int fd, void *to, size_t bytes), (fd, to, bytes))
STAND_IN(ssize_t, write, fd, (int fd, const void *from, size_t bytes), (fd, from, bytes))
STAND_IN(ssize_t, pread, fd, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
STAND_IN(ssize_t, pwrite, fd, (int fd, const void *from, size_t bytes, off_t at),
	(fd, from, bytes, at))
STAND_IN(ssize_t, writev, fd, (int fd, const struct iovec *parts, int count), (fd, parts, count))
STAND_IN(ssize_t, sendfile, out, (int out, int in, off_t *at, size_t bytes), (out, in, at, bytes))
STAND_IN(int, fsync, fd, (int fd), (fd))
STAND_IN(int, fdatasync, fd, (int fd), (fd))
STAND_IN(int, ftruncate, fd, (int fd, off_t bytes), (fd, bytes))
STAND_IN(int, fstatvfs, fd, (int fd, struct statvfs *ret), (fd, ret))
STAND_IN(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))
STAND_IN(int, socket, -1, (int domain, int type, int protocol), (domain, type, protocol))
STAND_IN(int, socketpair, -1, (int domain, int type, int protocol, int ret[2]),
	(domain, type, protocol, ret))
STAND_IN(int, renameat2, -1,
	(int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
	(from_dir, from, to_dir, to, flags))
STAND_IN(int, accept4, fd, (int fd, struct sockaddr *from, socklen_t *bytes, int flags),
	(fd, from, bytes, flags))

/* Decided about when it has its bytes. */
EXPORT ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
	static __typeof__(&recv) real;
	if (real == NULL)
		real = REAL(recv);
	ssize_t got = real(fd, to, bytes, flags);
	received.bytes = to;
	received.count = got > 0 ? (size_t)got : 0;
	int errnum = fault("recv", fd, NULL);
	received.bytes = NULL;
	if (errnum == 0)
		return got;
	errno = errnum;
	return -1;
}

EXPORT int statvfs(const char *path, struct statvfs *ret)
{
	int errnum = fault("statvfs", -1, path);
	if (errnum == 0)
		return REAL(statvfs)(path, ret);
	errno = errnum;
	return -1;
}

/* open and openat are one call to the rules. Paths are as they are given. */
#define STAND_IN_OPEN(name, before, arguments)                                                     \
	EXPORT int name before                                                                     \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {                  \
			va_list ap;                                                                \
			va_start(ap, flags);                                                       \
			mode = va_arg(ap, mode_t);                                                 \
			va_end(ap);                                                                \
		}                                                                                  \
		int errnum = fault("open", -1, path);                                              \
		if (errnum == 0)                                                                   \
			return REAL(name) arguments;                                               \
		errno = errnum;                                                                    \
		return -1;                                                                         \
	}

STAND_IN_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
STAND_IN_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
STAND_IN_OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
STAND_IN_OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

EXPORT int pthread_create(
	pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int errnum = fault("pthread_create", -1, NULL);
	return errnum != 0 ? errnum : REAL(pthread_create)(ret, attr, run, arg);
}
