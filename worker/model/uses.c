/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page is asked by a hundred rules at most, and a rule is noted in a run, so the last entries are
 * looked at first and a list is enough.
 */
#include "worker/model/uses.h"

void ing_use(struct ing_uses *u, uint32_t rule, unsigned kinds)
{
	size_t i = u->count;
	while (i > 0 && u->items[i - 1].rule != rule)
		i--;
	if (i > 0) {
		u->items[i - 1].kinds |= kinds;
	} else if (u->count < ING_MAX_USES) {
		u->items[u->count++] = (struct ing_use){.rule = rule, .kinds = kinds};
	}
}
