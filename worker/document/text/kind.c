/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kinds of elements by name: a constant table, sorted for a binary search that is made once for each
 * distinct name of a page.
 */
#include "worker/document/text/kind.h"

#include <string.h>

#include "common/base/macros.h"

#define LONGEST 10 /* bytes of the longest name below */
#define B ING_KIND_BLOCK
#define X ING_KIND_DROPPED

static const struct entry {
	char name[LONGEST + 1];
	uint32_t kind;
} table[] = {
	{"a", ING_KIND_LINK},
	{"address", B},
	{"applet", X},
	{"area", X},
	{"article", B | ING_KIND_SEMANTIC},
	{"aside", B | ING_KIND_CHROME},
	{"audio", X},
	{"blockquote", B | ING_KIND_QUOTE},
	{"body", B | ING_KIND_PAGE},
	{"br", ING_KIND_BREAK},
	{"button", X},
	{"canvas", X},
	{"caption", B},
	{"center", B},
	{"datalist", X},
	{"dd", B | ING_KIND_ITEM},
	{"details", B},
	{"dialog", B | X},
	{"dir", B | ING_KIND_LIST},
	{"div", B},
	{"dl", B | ING_KIND_LIST},
	{"dt", B | ING_KIND_ITEM},
	{"embed", X},
	{"fieldset", B | ING_KIND_FORM},
	{"figcaption", B | ING_KIND_CAPTION},
	{"figure", B},
	{"footer", B | ING_KIND_CHROME},
	{"form", B | ING_KIND_FORM},
	{"frame", X},
	{"frameset", X},
	{"h1", B | ING_KIND_HEADING},
	{"h2", B | ING_KIND_HEADING},
	{"h3", B | ING_KIND_HEADING},
	{"h4", B | ING_KIND_HEADING},
	{"h5", B | ING_KIND_HEADING},
	{"h6", B | ING_KIND_HEADING},
	{"head", B | X},
	{"header", B},
	{"hr", B},
	{"html", B | ING_KIND_PAGE},
	{"iframe", X},
	{"img", X},
	{"input", X},
	{"legend", B},
	{"li", B | ING_KIND_ITEM},
	{"link", X},
	{"listing", B | ING_KIND_PRE | ING_KIND_QUOTE},
	{"main", B | ING_KIND_SEMANTIC},
	{"map", X},
	{"menu", B | ING_KIND_LIST},
	{"meta", X},
	{"meter", X},
	{"nav", B | ING_KIND_CHROME},
	{"noembed", X},
	{"noframes", X},
	{"noscript", X},
	{"ol", B | ING_KIND_LIST},
	{"optgroup", X},
	{"option", X},
	{"output", X},
	{"p", B | ING_KIND_PARAGRAPH},
	{"param", X},
	{"plaintext", B | ING_KIND_PRE},
	{"pre", B | ING_KIND_PRE | ING_KIND_QUOTE},
	{"progress", X},
	{"rp", X},
	{"script", X},
	{"section", B},
	{"select", X},
	{"source", X},
	{"style", X},
	{"summary", B},
	{"svg", X},
	{"table", B | ING_KIND_TABLE},
	{"tbody", B},
	{"td", B | ING_KIND_CELL},
	{"template", X},
	{"textarea", X},
	{"tfoot", B},
	{"th", B | ING_KIND_CELL},
	{"thead", B},
	{"title", X},
	{"tr", B},
	{"track", X},
	{"ul", B | ING_KIND_LIST},
	{"video", X},
	{"xmp", B | ING_KIND_PRE | ING_KIND_QUOTE},
};

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_kind_of_name(const char *lower, size_t bytes)
{
	size_t low = 0;
	size_t high = ING_ARRAY_LEN(table);
	if (bytes > LONGEST)
		return 0;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(lower, table[mid].name);
		if (order == 0)
			return table[mid].kind;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return 0;
}
