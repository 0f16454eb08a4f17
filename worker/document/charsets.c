/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A converter stays loaded while a descriptor for it is open, so they are opened and never closed.
 */
#include "worker/document/charsets.h"

#include <iconv.h>

#include "common/base/macros.h"

const char *const ing_charsets[] = {
	/* poppler asks for these alone: ING_PDF_CHARSETS */
	"UTF-8", "UTF-16", "UTF-16LE", "UTF-16BE", "ISO-8859-1",
	/* other Unicode */
	"UTF-32", "UTF-32LE", "UTF-32BE", "UTF-7", "UCS-2", "UCS-4", "US-ASCII",
	/* Latin and neighbours */
	"ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7",
	"ISO-8859-8", "ISO-8859-9", "ISO-8859-10", "ISO-8859-11", "ISO-8859-13", "ISO-8859-14",
	"ISO-8859-15", "ISO-8859-16", "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252",
	"WINDOWS-1253", "WINDOWS-1254", "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257",
	"WINDOWS-1258", "CP437", "CP850", "CP852", "CP866", "CP874", "TIS-620", "KOI8-R", "KOI8-U",
	"MACINTOSH", "MAC-CYRILLIC", "IBM037", "IBM1047",
	/* Chinese, Japanese, Korean */
	"GB2312", "GBK", "GB18030", "BIG5", "BIG5-HKSCS", "EUC-TW", "EUC-JP", "ISO-2022-JP",
	"SHIFT_JIS", "CP932", "EUC-KR", "CP949", "ISO-2022-KR", "ISO-2022-CN"};
const size_t ing_charset_count = ING_ARRAY_LEN(ing_charsets);

void ing_charsets_warm(size_t count)
{
	static iconv_t kept[ING_ARRAY_LEN(ing_charsets)]; /* never used, nor closed */
	for (size_t i = 0; i < ING_MIN(count, ing_charset_count); i++) {
		if (kept[i] == NULL)
			kept[i] = iconv_open("UTF-8", ing_charsets[i]); /* loads both ways */
	}
}
