/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * box.h - memory that the worker shares with one examiner, for the bodies that it gets.
 *
 * A body that the worker keeps in a memfd is copied here, one after the other, and the examiner gets
 * the box's descriptor with each question. So it never has one of memory that another body may be
 * written to, or that anything else is read from. It cannot write to the box, nor make it longer or
 * shorter; what it may find there besides are bodies that it has had already. Loop thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

struct ing_exam_box {
	int fd; /* -1: none */
	void *data;
};

/* Returns 0, or -1 with errno. */
int ing_exam_box_init(struct ing_exam_box *box) ING_MUST_CHECK;
void ing_exam_box_done(struct ing_exam_box *box);
/* Copies the body if it is in a memfd that can be written and has ING_MAX_MEMORY_BODY_BYTES at most. Returns the descriptor to be passed on, that of the box
 * or body_fd itself; -1 when the body cannot be read. */
int ing_exam_box_fill(struct ing_exam_box *box, int body_fd, size_t bytes);
