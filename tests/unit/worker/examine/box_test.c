/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an examiner gets in place of a body that the worker keeps in memory, and what it cannot do with
 * that.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/examine/box.h"
#include "worker/model/limits.h"

static struct ing_exam_box box;

static int setup(void **state)
{
	(void)state;
	return ing_exam_box_init(&box);
}

static int teardown(void **state)
{
	(void)state;
	ing_exam_box_done(&box);
	ing_exam_box_done(&box); /* again does no harm */
	return 0;
}

static int memfd_of(const char *text)
{
	int fd = memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void assert_holds(const char *text)
{
	char got[64];
	assert_int_equal(pread(box.fd, got, strlen(text), 0), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

static void a_body_in_memory_is_copied(void **state)
{
	(void)state;
	int fd = memfd_of("a first body");
	assert_int_equal(ing_exam_box_fill(&box, fd, 12), box.fd);
	assert_holds("a first body");
	assert_int_equal(pwrite(fd, "another body", 12, 0), 12);
	assert_holds("a first body"); /* not before it is that body's turn */
	assert_int_equal(ing_exam_box_fill(&box, fd, 7), box.fd);
	assert_holds("another");
	assert_int_equal(ing_exam_box_fill(&box, fd, 13), -1); /* it has no such byte */
	close(fd);
}

static void the_largest_body_fits(void **state)
{
	(void)state;
	size_t bytes = ING_MAX_MEMORY_BODY_BYTES;
	char *body = malloc(bytes), *got = malloc(bytes);
	int fd = memfd_of("");
	assert_true(body != NULL && got != NULL);
	for (size_t i = 0; i < bytes; i++)
		body[i] = (char)(i * 7 + i / 4096);
	assert_int_equal(write(fd, body, bytes), bytes);
	assert_int_equal(ing_exam_box_fill(&box, fd, bytes), box.fd);
	assert_int_equal(pread(box.fd, got, bytes, 0), bytes);
	assert_memory_equal(got, body, bytes);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(ing_exam_box_fill(&box, fd, bytes + 1), fd);
	close(fd);
	free(body);
	free(got);
}

static int reader_of(int fd)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* A file of a tmpfs differs from a memfd in nothing but how it was opened. */
static void others_are_passed_as_they_are(void **state)
{
	char path[] = "box-test.XXXXXX";
	(void)state;
	int sealed = memfd_of("body"), memory = memfd_of("body"), file = mkstemp(path);
	int readers[] = {reader_of(memory), reader_of(file)};
	assert_true(file >= 0);
	unlink(path);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(ing_exam_box_fill(&box, sealed, 4), sealed);
	for (size_t i = 0; i < 2; i++) {
		assert_true(readers[i] >= 0);
		assert_int_equal(ing_exam_box_fill(&box, readers[i], 4), readers[i]);
		close(readers[i]);
	}
	assert_int_equal(ing_exam_box_fill(&box, -1, 0), -1);
	close(sealed);
	close(memory);
	close(file);
	assert_int_equal(ing_exam_box_fill(&box, file, 4), file); /* sending says what it is */
}

static void an_examiner_can_only_read_it(void **state)
{
	(void)state;
	int fd = memfd_of("body");
	assert_int_equal(ing_exam_box_fill(&box, fd, 4), box.fd);
	assert_int_equal(pwrite(box.fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(box.fd, 1), -1);
	assert_int_equal(ftruncate(box.fd, (off_t)ING_MAX_MEMORY_BODY_BYTES + 1), -1);
	assert_int_equal(
		fallocate(box.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), -1);
	assert_int_equal(fcntl(box.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_ptr_equal(
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, box.fd, 0), MAP_FAILED);
	char *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, box.fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_int_equal(mprotect(mapped, 4096, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(madvise(mapped, 4096, MADV_REMOVE), -1);
	munmap(mapped, 4096);
	assert_holds("body");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_body_in_memory_is_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(the_largest_body_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(others_are_passed_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(an_examiner_can_only_read_it, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
