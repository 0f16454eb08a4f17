/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page or a PDF by the rules of webpages.yaml.
 */
#include "worker/document/publication/readers.h"

void ing_webpage_read(const struct ing_publication_body *body, struct ing_webpage_found *ret)
{
	ret->read = body->scraper != NULL || body->pdf != NULL;
}
