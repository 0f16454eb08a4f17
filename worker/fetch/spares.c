/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Used last in, first out: what was written last is in the processor's cache, perhaps.
 */
#include "worker/fetch/spares.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/macros.h"

void ing_spares_init(struct ing_spares *s, size_t max_bytes)
{
	s->count = 0;
	s->bytes = 0;
	s->max_bytes = max_bytes;
}

void ing_spares_done(struct ing_spares *s)
{
	while (s->count > 0)
		close(s->fds[--s->count]);
	s->bytes = 0;
	s->max_bytes = 0;
}

int ing_spares_take(struct ing_spares *s)
{
	if (s->count == 0)
		return memfd_create("body", MFD_CLOEXEC);
	s->bytes -= s->sizes[--s->count];
	return s->fds[s->count];
}

void ing_spares_give(struct ing_spares *s, int fd)
{
	struct stat st;
	if (s->count == ING_SPARES_MAX || fstat(fd, &st) != 0 ||
		(size_t)st.st_size > s->max_bytes - s->bytes) {
		close(fd);
		return;
	}
	s->fds[s->count] = fd;
	s->sizes[s->count++] = (size_t)st.st_size;
	s->bytes += (size_t)st.st_size;
}
