/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Other threads set one flag; the rest of the state is the loop thread's. A probe creates some
 * descriptors and closes them: nothing else shows that the limit was raised, or that the system has
 * descriptors again. Another thread may run out during a probe, and reports that.
 */
#include "common/base/fd_shortage.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/macros.h"

#define SPARE 32 /* some transfers' worth */
#define PROBE_EVERY_MS 100
#define HOLD_MS 1000
#define HOLD_MAX_MS 30000
#define CALM_MS 60000 /* without a shortage: the next one is held for HOLD_MS again */

static atomic_bool noted;
static struct {
	bool is_short;
	unsigned hold_ms;
	uint64_t since_ms, probed_ms, over_ms;
} watch;

static bool can_be_had(void)
{
	int fds[SPARE];
	int count = 0;
	while (count < SPARE) {
		fds[count] = eventfd(0, EFD_CLOEXEC);
		if (fds[count] < 0)
			break;
		count++;
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return count == SPARE;
}

static void begin_shortage(uint64_t now_ms)
{
	bool again = watch.over_ms != 0 && now_ms - watch.over_ms < CALM_MS;
	watch.hold_ms = again ? ING_MIN(watch.hold_ms * 2, (unsigned)HOLD_MAX_MS) : HOLD_MS;
	watch.is_short = true;
	watch.since_ms = watch.probed_ms = now_ms;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_fd_shortage_note(int errnum)
{
	if (errnum != EMFILE && errnum != ENFILE)
		return false;
	atomic_store(&noted, true);
	return true;
}

bool ing_fd_shortage(void)
{
	if (!watch.is_short && !atomic_load_explicit(&noted, memory_order_relaxed))
		return false;
	uint64_t now = ing_now_ms();
	atomic_store(&noted, false);
	if (!watch.is_short) {
		begin_shortage(now);
		return true;
	}
	bool over = now - watch.since_ms >= watch.hold_ms;
	if (!over && now - watch.probed_ms >= PROBE_EVERY_MS) {
		watch.probed_ms = now;
		over = can_be_had();
	}
	watch.is_short = !over;
	watch.over_ms = now;
	return watch.is_short;
}
