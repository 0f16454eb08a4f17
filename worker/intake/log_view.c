/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A partition's log, as it was and as it is.
 */
#include "worker/intake/log_view.h"

struct ing_log_verdict ing_log_judge(int64_t position, bool staked, const struct ing_log_view *view)
{
	struct ing_log_verdict v = {.state = ING_LOG_UNKNOWN};
	if (!view->has_committed || !view->has_ends)
		return v;
	v.start = view->low;
	int64_t at = position >= 0 ? position : view->committed;
	if (view->committed < 0 && staked) {
		v.state = ING_LOG_ANEW;
	} else if (at < 0) { /* a new group */
		v.state = ING_LOG_GOES_ON;
	} else if (at > view->high) {
		v.state = ING_LOG_SHORTER;
	} else if (at < view->low) {
		v.state = ING_LOG_CUT;
		v.lost = view->low - at;
	} else {
		v.state = ING_LOG_GOES_ON;
		v.start = at;
	}
	return v;
}
