/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status.def as an array.
 */
#include "worker/model/status.h"

#include <string.h>

#include "common/base/macros.h"

static const struct {
	const char *slug;
	const char *meaning;
	enum ing_status_retry retry;
	unsigned after_s;
	unsigned tries;
} statuses[ING_STATUS_COUNT_] = {
#define STATUS(name, slug, hit, retry, after_s, tries, meaning)                                    \
	[ING_STATUS_##name] = {slug, meaning, ING_STATUS_##retry, after_s, tries},
#include "worker/model/status.def"
#undef STATUS
};

/* -------------------------------------------------------------------------------------------- */

const char *ing_status_slug(enum ing_status st)
{
	ing_must((unsigned)st < ING_STATUS_COUNT_);
	return statuses[st].slug;
}

const char *ing_status_meaning(enum ing_status st)
{
	ing_must((unsigned)st < ING_STATUS_COUNT_);
	return statuses[st].meaning;
}

enum ing_status_retry ing_status_retry(enum ing_status st)
{
	ing_must((unsigned)st < ING_STATUS_COUNT_);
	return statuses[st].retry;
}

unsigned ing_status_retry_after_s(enum ing_status st)
{
	ing_must((unsigned)st < ING_STATUS_COUNT_);
	return statuses[st].after_s;
}

unsigned ing_status_tries(enum ing_status st)
{
	ing_must((unsigned)st < ING_STATUS_COUNT_);
	return statuses[st].tries;
}

int ing_status_from_slug(const char *slug)
{
	for (int i = 0; i < ING_STATUS_COUNT_; i++) {
		if (strcmp(statuses[i].slug, slug) == 0)
			return i;
	}
	return -1;
}
