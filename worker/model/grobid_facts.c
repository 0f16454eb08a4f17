/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The life of GROBID's facts.
 */
#include "worker/model/grobid_facts.h"

#include <stdlib.h>

void ing_grobid_facts_done(struct ing_grobid_facts *f)
{
	free(f->status);
	free(f->error_msg);
	free(f->version);
	free(f->fatcat_release);
	free(f->metadata_json);
	*f = (struct ing_grobid_facts){0};
}
