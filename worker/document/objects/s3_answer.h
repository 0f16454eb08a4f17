/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * s3_answer.h - what a server's answer to a PUT means: its status, and the Code and Message of the XML
 * document that comes with an error. Pure; any bytes are fine.
 */
#pragma once
#include <stddef.h>
#include "worker/document/objects/backend.h"

/* Servers' errors are some hundred bytes. */
#define ING_S3_MAX_ANSWER_BYTES ((size_t)64 << 10)

/* body: of an answer that is no success; may be cut, or NULL. */
void ing_s3_answer_judge(
	unsigned status, const char *body, size_t bytes, struct ing_object_verdict *ret);
