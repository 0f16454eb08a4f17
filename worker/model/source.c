/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Freeing answers.
 */
#include "worker/model/source.h"

#include <stdlib.h>

static void free_text(const void *text)
{
	union {
		const void *given;
		void *own;
	} u = {text};
	free(u.own);
}

/* -------------------------------------------------------------------------------------------- */

void ing_answer_free(struct ing_answer *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->message.header_count; i++) {
		free_text(a->message.headers[i].name);
		free_text(a->message.headers[i].value);
	}
	free_text(a->message.headers);
	free_text(a->message.key);
	free(a->message.value);
	free(a);
}
