/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two units at most: whoever reads it wants to know how bad it is.
 */
#include "worker/service/duration.h"

#include <inttypes.h>

#include "common/base/buf.h"

/* -------------------------------------------------------------------------------------------- */

void ing_duration_add(uint64_t ms, struct ing_buf *out)
{
	uint64_t s = ms / 1000;
	if (ms < 1000)
		ing_buf_printf(out, "%" PRIu64 " ms", ms);
	else if (s < 120)
		ing_buf_printf(out, "%" PRIu64 " s", s);
	else if (s < 7200)
		ing_buf_printf(out, "%" PRIu64 " min", s / 60);
	else if (s < 172800)
		ing_buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		ing_buf_printf(out, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
}
