/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words by exchange of a pointer.
 */
#include "common/base/note.h"

#include <stdlib.h>

#include "common/base/macros.h"

/* -------------------------------------------------------------------------------------------- */

void ing_note_set(struct ing_note *n, const char *words)
{
	free(atomic_exchange(&n->fresh, ing_strdup(words)));
}

const char *ing_note_get(struct ing_note *n)
{
	char *fresh = atomic_exchange(&n->fresh, NULL);
	if (fresh != NULL) {
		free(n->kept);
		n->kept = fresh;
	}
	return n->kept != NULL ? n->kept : "";
}

void ing_note_done(struct ing_note *n)
{
	free(atomic_exchange(&n->fresh, NULL));
	free(n->kept);
	n->kept = NULL;
}
