/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * uses.h - what each rule did on a page, so that a rule that has rotted shows: it is applied and
 * never matches.
 *
 * A rule's number is its place in the loaded set (rules.h has the names). Only rules that were
 * about the page are noted: their URL gate, if any, was open, or (FAILED alone) an expression about
 * URLs met its limit, so that it could not be told. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ing_use_kind {
	ING_USE_APPLIED = 1, /* was tried */
	ING_USE_MATCHED = 2, /* gave something */
	ING_USE_FAILED = 4,  /* met a limit: regular expression, budget */
	ING_USE_NEXT = 8,    /* gave the next hop that was taken */
	ING_USE_ALL = 15,
};

struct ing_use {
	uint32_t rule;
	uint32_t kinds; /* enum ing_use_kind bits */
};

#define ING_MAX_USES 512 /* of a page; what is more is not noted */

struct ing_uses {
	struct ing_use items[ING_MAX_USES];
	size_t count;
};

/* Adds bits to the rule's entry. */
void ing_use(struct ing_uses *u, uint32_t rule, unsigned kinds);
