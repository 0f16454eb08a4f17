/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_thumbnail.h - a picture of a page. One thread.
 */
#pragma once
#include <stdbool.h>

struct _PopplerPage;
struct ing_pdf_thumbnail;

/* Draw the page as large as it is in points, or smaller so that it fits into ING_THUMBNAIL_WIDTH
 * times ING_THUMBNAIL_HEIGHT pixels with its aspect kept, as JPEG. Returns false when that cannot be
 * done or makes less than ING_MIN_THUMBNAIL_BYTES. A hostile page may take all time and memory. */
bool ing_pdf_thumbnail_draw(struct _PopplerPage *page, struct ing_pdf_thumbnail *ret);
