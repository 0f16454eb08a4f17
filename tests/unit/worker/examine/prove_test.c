/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether examiners can close their sandbox is found out before any is needed: under a filter that
 * refuses further filters, as a container's profile may have, and without one.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/examine/pool.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUALS(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)

/* Neither seccomp(2) nor prctl(PR_SET_SECCOMP). */
static void refuse_filters(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		EQUALS(SYS_seccomp, 3, 0),
		EQUALS(SYS_prctl, 0, 3),
		LOAD(args[0]),
		EQUALS(PR_SET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ING_ARRAY_LEN(code), .filter = code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		_exit(99);
}

static void a_sandbox_that_can_be_closed_is_proven(void **state)
{
	(void)state;
	struct ing_error err = {0};
	assert_int_equal(ing_pool_prove_sandbox(FAKE_EXAMINER, &err), 0);
}

/* In a child, because the filter stays for ever. */
static void a_filter_that_refuses_ours_is_named(void **state)
{
	(void)state;
	char said[512] = "";
	int ends[2];
	int status = 0;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ing_error err = {0};
		refuse_filters();
		int rc = ing_pool_prove_sandbox(FAKE_EXAMINER, &err);
		dprintf(ends[1], "%s", err.msg);
		_exit(rc == -ING_FAIL_SYSTEM ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	assert_int_equal(status, 0);
	assert_non_null(strstr(said, "sandbox: seccomp: Operation not permitted"));
	assert_non_null(strstr(said, "container"));
	assert_null(strchr(said, '\n'));
}

static void a_program_that_is_no_examiner_proves_nothing(void **state)
{
	(void)state;
	struct ing_error err = {0};
	assert_int_equal(ing_pool_prove_sandbox("/bin/false", &err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, "cannot close its sandbox"));
	ing_error_clear(&err);
	assert_int_equal(ing_pool_prove_sandbox("/nonexistent/examiner", &err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, "/nonexistent/examiner"));
	ing_error_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sandbox_that_can_be_closed_is_proven),
		cmocka_unit_test(a_filter_that_refuses_ours_is_named),
		cmocka_unit_test(a_program_that_is_no_examiner_proves_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
