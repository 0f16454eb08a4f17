/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A path is kept as it is written out, "/a/b", so that its last segment is what follows the last
 * slash; segments never hold one.
 */
#include "common/net/url_path.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"

struct path {
	struct ing_buf *out;
	size_t at; /* where it begins in out */
	size_t segments;
	bool file;
};

static bool is_drive(const char *s, size_t len, bool normal)
{
	return len == 2 && isalpha((unsigned char)s[0]) &&
	       (s[1] == ':' || (!normal && s[1] == '|'));
}

/* 1 for "." and 2 for "..", in any spelling. */
static int count_dots(const char *s, size_t len)
{
	int dots = 0;
	while (len > 0) {
		size_t n = 1;
		if (s[0] != '.') {
			if (len < 3 || strncasecmp(s, "%2e", 3) != 0)
				return 0;
			n = 3;
		}
		dots++;
		s += n;
		len -= n;
	}
	return dots <= 2 ? dots : 0;
}

static void shorten(struct path *p)
{
	if (p->segments == 0)
		return;
	char *start = p->out->data + p->at;
	size_t len = p->out->len - p->at;
	if (p->file && p->segments == 1 && is_drive(start + 1, len - 1, true))
		return;
	char *last = memrchr(start, '/', len);
	p->out->len = (size_t)(last - p->out->data);
	*last = '\0';
	p->segments--;
}

static void add_segment(struct path *p, const char *s, size_t len)
{
	static const char hex[] = "0123456789ABCDEF";
	bool drive = p->file && p->segments == 0 && is_drive(s, len, false);
	ing_buf_add_char(p->out, '/');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)(drive && i == 1 ? ':' : s[i]);
		if (c > ' ' && c < 0x7f && strchr("\"#<>?^`{}", c) == NULL) {
			ing_buf_add_char(p->out, (char)c);
		} else {
			const char escape[] = {'%', hex[c >> 4], hex[c & 15]};
			ing_buf_add(p->out, escape, sizeof(escape));
		}
	}
	p->segments++;
}

static void begin_path(struct path *p, const struct ing_url_path_start *start)
{
	const char *base = start->base;
	size_t len = start->base_len;
	size_t first = 1;
	while (first < len && base[first] != '/')
		first++;
	if (start->drive && len > 0 && is_drive(base + 1, first - 1, true)) {
		ing_buf_add(p->out, base, first);
		p->segments = 1;
	}
	if (!start->folder)
		return;
	ing_buf_add(p->out, base, len);
	for (size_t i = 0; i < len; i++)
		p->segments += base[i] == '/';
	if (!p->out->failed)
		shorten(p);
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_url_path(
	struct ing_buf *out, const struct ing_url_path_start *start, const char *text, size_t len)
{
	struct path p = {.out = out, .at = out->len, .file = start->file};
	begin_path(&p, start);
	for (size_t at = 0; !out->failed;) {
		size_t n = 0;
		while (at + n < len && text[at + n] != '/' &&
			!(start->special && text[at + n] == '\\'))
			n++;
		bool last = at + n == len;
		int dots = count_dots(text + at, n);
		if (dots == 2)
			shorten(&p);
		if (dots == 0)
			add_segment(&p, text + at, n);
		else if (last)
			add_segment(&p, "", 0);
		if (last)
			break;
		at += n + 1;
	}
	return p.segments;
}

bool ing_url_path_has_drive(const char *text, size_t len)
{
	return len >= 2 && is_drive(text, 2, false) &&
	       (len == 2 || strchr("/\\?#", text[2]) != NULL);
}
