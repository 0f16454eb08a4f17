/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Properties of elements' names for text functions: a constant table, sorted for a binary search,
 * which is made once for each distinct name of a page.
 */
#include "common/markup/tree_priv.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 10 /* bytes of the longest name below */

#define B ING_NAME_BLOCK
#define I ING_NAME_INLINE
#define P ING_NAME_PRESERVE
#define BREAK ING_NAME_BREAK
#define MARGIN ING_NAME_MARGIN
#define VERBATIM ING_NAME_VERBATIM

/* A name that is not here is neither block nor inline, and <xmp> is such a name. */
static const struct entry {
	char name[LONGEST + 1];
	uint8_t flags;
} table[] = {
	{"a", I},
	{"abbr", I},
	{"acronym", I},
	{"address", B | I},
	{"applet", B},
	{"area", I},
	{"article", B},
	{"aside", B},
	{"audio", B},
	{"b", I},
	{"base", I},
	{"basefont", I},
	{"bdi", I},
	{"bdo", I},
	{"bgsound", I},
	{"big", I},
	{"blockquote", B | MARGIN},
	{"body", B | MARGIN},
	{"br", I | BREAK},
	{"button", I},
	{"canvas", B},
	{"caption", B},
	{"center", B},
	{"cite", I},
	{"code", I},
	{"col", B},
	{"colgroup", B},
	{"command", I},
	{"data", I},
	{"datalist", I},
	{"dd", B},
	{"del", B | I},
	{"details", B},
	{"device", I},
	{"dfn", I},
	{"dir", B | MARGIN},
	{"div", B},
	{"dl", B | MARGIN},
	{"dt", B},
	{"em", I},
	{"embed", I},
	{"fieldset", B | MARGIN},
	{"figcaption", B},
	{"figure", B | MARGIN},
	{"font", I},
	{"footer", B},
	{"form", B | MARGIN},
	{"frame", B},
	{"frameset", B},
	{"h1", B | I | MARGIN},
	{"h2", B | I | MARGIN},
	{"h3", B | I | MARGIN},
	{"h4", B | I | MARGIN},
	{"h5", B | I | MARGIN},
	{"h6", B | I | MARGIN},
	{"head", B},
	{"header", B},
	{"hgroup", B},
	{"hr", B | MARGIN},
	{"html", B},
	{"i", I},
	{"iframe", I},
	{"img", I},
	{"input", I},
	{"ins", B | I},
	{"kbd", I},
	{"keygen", I},
	{"label", I},
	{"legend", I},
	{"li", B | I},
	{"link", B},
	{"listing", B | MARGIN},
	{"main", B},
	{"map", I},
	{"mark", I},
	{"marquee", B},
	{"math", B},
	{"menu", B | MARGIN},
	{"menuitem", I},
	{"meta", B},
	{"meter", I},
	{"nav", B},
	{"nobr", I},
	{"noframes", B},
	{"noscript", B},
	{"object", I},
	{"ol", B | MARGIN},
	{"optgroup", I},
	{"option", I},
	{"output", I},
	{"p", B | I | MARGIN},
	{"param", I},
	{"plaintext", B | P | MARGIN | VERBATIM},
	{"pre", B | I | P | MARGIN | VERBATIM},
	{"progress", I},
	{"q", I},
	{"rb", I},
	{"rp", I},
	{"rt", I},
	{"rtc", I},
	{"ruby", I},
	{"s", I},
	{"samp", I},
	{"script", B | I},
	{"section", B},
	{"select", I},
	{"small", I},
	{"source", I},
	{"span", I},
	{"strike", I},
	{"strong", I},
	{"style", B | I},
	{"sub", I},
	{"summary", I},
	{"sup", I},
	{"svg", B},
	{"table", B},
	{"tbody", B},
	{"td", B | I},
	{"template", B},
	{"textarea", I | P | VERBATIM},
	{"tfoot", B},
	{"th", B | I},
	{"thead", B},
	{"time", I},
	{"title", B | I | P},
	{"tr", B},
	{"track", I},
	{"tt", I},
	{"u", I},
	{"ul", B | MARGIN},
	{"var", I},
	{"video", B},
	{"wbr", I},
	{"xmp", MARGIN},
};

static int compare_name(const void *a, const void *b)
{
	return strcmp(a, ((const struct entry *)b)->name);
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_tree_name_flags(const char *lower, size_t bytes)
{
	char name[LONGEST + 1];
	if (bytes > LONGEST)
		return 0;
	memcpy(name, lower, bytes);
	name[bytes] = '\0';
	const struct entry *e =
		bsearch(name, table, ING_ARRAY_LEN(table), sizeof(table[0]), compare_name);
	return e != NULL ? e->flags : 0;
}
