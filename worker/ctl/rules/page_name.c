/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * File names of saved pages.
 */
#include "worker/ctl/rules/page_name.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"

#define MAX_NAME_BYTES 120

char *ing_page_name(const char *url, bool is_xml)
{
	const char *s = strstr(url, "://");
	struct ing_buf name;
	ing_buf_init(&name, MAX_NAME_BYTES + 16);
	for (s = s != NULL ? s + 3 : url; *s != '\0' && name.len < MAX_NAME_BYTES; s++) {
		bool is_plain = isalnum((unsigned char)*s) || *s == '.';
		if (is_plain)
			ing_buf_add_char(&name, *s);
		else if (name.len > 0 && ing_buf_str(&name)[name.len - 1] != '-')
			ing_buf_add_char(&name, '-');
	}
	ing_buf_add_str(&name, is_xml ? ".xml" : ".html");
	return ing_buf_steal(&name);
}
