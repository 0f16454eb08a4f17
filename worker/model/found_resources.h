/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_resources.h - what a page or a style sheet refers to, as an examiner found it (findings.h).
 */
#pragma once
#include <stdint.h>

/* Of one page or style sheet; further ones are counted only. */
#define ING_MAX_RESOURCES 200

struct ing_resource_found {
	char *url;    /* absolute, http(s) */
	uint8_t type; /* enum ing_resource_type */
};

enum ing_resource_type {
	ING_RESOURCE_SCRIPT,
	ING_RESOURCE_STYLESHEET,
	ING_RESOURCE_IMAGE,
	ING_RESOURCE_MEDIA,
	ING_RESOURCE_SUBDOCUMENT,
	ING_RESOURCE_FONT,
	ING_RESOURCE_OTHER,
	ING_RESOURCE_TYPES_
};

struct ing_resources_found {
	struct ing_resource_found *items; /* in document order, no URL twice; heap */
	uint32_t count;                   /* at most ING_MAX_RESOURCES */
	uint32_t total;                   /* with those that were left out for the limit */
	uint32_t filtered;                /* left out by filter lists, beside those */
};

void ing_resources_found_done(struct ing_resources_found *r); /* safe on a zeroed one */
