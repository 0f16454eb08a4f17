/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page is drawn by cairo at the size that is kept: that costs less than drawing it large and
 * making it smaller, and poppler filters images as it scales them down. The picture may be of any
 * size in points; its pixels are few. libjpeg reports errors by a function that must not return.
 */
#include "worker/document/pdf_thumbnail.h"

#include <endian.h>
#include <math.h>
#include <poppler.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>

#include "common/base/macros.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

#define JPEG_QUALITY 75 /* the default of most encoders: 4 to 10 KB for a page of text */

/* How cairo lays out a pixel of CAIRO_FORMAT_RGB24, a 32-bit word. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#	define CAIRO_PIXEL JCS_EXT_BGRX
#else
#	define CAIRO_PIXEL JCS_EXT_XRGB
#endif

#ifdef ING_SANITIZED
/* fontconfig has offsets in place of pointers, which a leak checker does not follow. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif

struct jpeg_errors {
	struct jpeg_error_mgr mgr; /* first: libjpeg hands a pointer to it back */
	jmp_buf failed;
};

static void fail_jpeg(j_common_ptr info)
{
	struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
	longjmp(errors->failed, 1);
}

static void ignore_message(j_common_ptr info)
{
	(void)info;
}

static void write_rows(struct jpeg_compress_struct *jpeg, cairo_surface_t *surface)
{
	unsigned char *pixels = cairo_image_surface_get_data(surface);
	size_t stride = (size_t)cairo_image_surface_get_stride(surface);
	while (jpeg->next_scanline < jpeg->image_height) {
		JSAMPROW row = pixels + jpeg->next_scanline * stride;
		jpeg_write_scanlines(jpeg, &row, 1);
	}
}

/* *out is on the heap in any case, unless it is NULL. */
static bool compress(cairo_surface_t *surface, unsigned char **out, unsigned long *ret_bytes)
{
	struct jpeg_compress_struct jpeg = {0};
	struct jpeg_errors errors;
	jpeg.err = jpeg_std_error(&errors.mgr);
	errors.mgr.error_exit = fail_jpeg;
	errors.mgr.output_message = ignore_message;
	if (setjmp(errors.failed) != 0) {
		jpeg_destroy_compress(&jpeg);
		return false;
	}
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, out, ret_bytes);
	jpeg.image_width = (JDIMENSION)cairo_image_surface_get_width(surface);
	jpeg.image_height = (JDIMENSION)cairo_image_surface_get_height(surface);
	jpeg.input_components = 4;
	jpeg.in_color_space = CAIRO_PIXEL;
	jpeg_set_defaults(&jpeg);
	jpeg_set_quality(&jpeg, JPEG_QUALITY, TRUE);
	jpeg_start_compress(&jpeg, TRUE);
	write_rows(&jpeg, surface);
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	return true;
}

/* Returns a surface whose status may be bad. */
static cairo_surface_t *draw(PopplerPage *page, int width, int height, double scale)
{
	cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
	cairo_t *cr = cairo_create(surface);
	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_paint(cr);
	cairo_scale(cr, scale, scale);
	poppler_page_render(page, cr);
	cairo_destroy(cr);
	cairo_surface_flush(surface);
	return surface;
}

static int pixels(double points, int most)
{
	return ING_MAX(1, ING_MIN(most, (int)lround(points)));
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pdf_thumbnail_draw(struct _PopplerPage *page, struct ing_pdf_thumbnail *ret)
{
	double width = 0;
	double height = 0;
	poppler_page_get_size(page, &width, &height);
	if (!(isfinite(width) && isfinite(height) && width > 0 && height > 0))
		return false;
	double scale = fmin(1, fmin(ING_THUMBNAIL_WIDTH / width, ING_THUMBNAIL_HEIGHT / height));
	cairo_surface_t *surface = draw(page, pixels(width * scale, ING_THUMBNAIL_WIDTH),
		pixels(height * scale, ING_THUMBNAIL_HEIGHT), scale);
	unsigned char *jpeg = NULL;
	unsigned long bytes = 0;
	bool good = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS &&
		    compress(surface, &jpeg, &bytes) && bytes >= ING_MIN_THUMBNAIL_BYTES &&
		    bytes <= ING_MAX_THUMBNAIL_BYTES;
	cairo_surface_destroy(surface);
	if (!good) {
		free(jpeg);
		return false;
	}
	*ret = (struct ing_pdf_thumbnail){.data = (char *)jpeg, .bytes = bytes};
	return true;
}
