/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row as the line that it came from (worker/model/request_row.h is the other way). Texts are copied, not parsed: jsonb
 * has checked them, and has numbers that no parser here would keep.
 */
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json_text.h"
#include "worker/store/requests/selection.h"

struct member {
	const char *name; /* with its quotation marks, as jsonb writes it */
	size_t name_bytes;
	const char *value;
	size_t value_bytes;
};

static const char *string_end(const char *s)
{
	for (s++; *s != '"' && *s != '\0'; s++)
		if (*s == '\\' && s[1] != '\0')
			s++;
	return *s == '"' ? s + 1 : s;
}

/* Behind the value that begins here. */
static const char *value_end(const char *s)
{
	int depth = 0;
	while (*s != '\0') {
		if (*s == '"') {
			s = string_end(s);
			continue;
		}
		if (depth == 0 && (*s == ',' || *s == '}'))
			return s;
		depth += (*s == '{' || *s == '[') - (*s == '}' || *s == ']');
		s++;
	}
	return s;
}

/* The member that begins at *at, which moves behind it. */
static bool next_member(const char **at, struct member *ret)
{
	const char *s = *at + strspn(*at, "{, ");
	if (*s != '"')
		return false;
	ret->name = s;
	s = string_end(s);
	ret->name_bytes = (size_t)(s - ret->name);
	s += strspn(s, ": ");
	ret->value = s;
	s = value_end(s);
	ret->value_bytes = (size_t)(s - ret->value);
	*at = s;
	return true;
}

static bool is_named(const struct member *m, const char *name)
{
	size_t bytes = strlen(name);
	return m->name_bytes == bytes + 2 && memcmp(m->name + 1, name, bytes) == 0;
}

static bool is_null(const struct member *m)
{
	return m->value_bytes == 4 && memcmp(m->value, "null", 4) == 0;
}

struct line {
	struct ing_buf *out;
	bool begun;
	bool derived;   /* base_url was not given */
	bool alias;     /* ingest_type stands among the other members */
	bool catalogue; /* there is a member from which release_ident was taken */
};

static void add_name(struct line *line, const char *name)
{
	ing_buf_add_str(line->out, line->begun ? ",\"" : "{\"");
	ing_buf_add_str(line->out, name);
	ing_buf_add(line->out, "\":", 2);
	line->begun = true;
}

static void add_text(struct line *line, const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	add_name(line, name);
	ing_json_add_text(line->out, value, strlen(value));
}

static void add_member(struct line *line, const struct member *m)
{
	ing_buf_add_char(line->out, line->begun ? ',' : '{');
	ing_buf_add(line->out, m->name, m->name_bytes);
	ing_buf_add_char(line->out, ':');
	ing_buf_add(line->out, m->value, m->value_bytes);
	line->begun = true;
}

static void look_for_identity(struct line *line, const char *json)
{
	struct member m;
	while (next_member(&json, &m)) {
		line->derived = line->derived || (is_named(&m, "base_url") && is_null(&m));
		line->alias = line->alias || is_named(&m, "ingest_type");
		line->catalogue = line->catalogue || is_named(&m, "fatcat");
	}
}

/* Whether the line has it from elsewhere. */
static bool is_repeated(const struct line *line, const struct member *m, bool force_recrawl)
{
	static const char *const columns[] = {"base_url", "link_source", "link_source_id",
		"ingest_request_source", "release_stage", "created"};
	for (size_t i = 0; i < ING_ARRAY_LEN(columns); i++)
		if (is_named(m, columns[i]))
			return true;
	return (force_recrawl && is_named(m, "force_recrawl")) ||
	       (line->catalogue && is_named(m, "release_ident"));
}

/* -------------------------------------------------------------------------------------------- */

bool ing_stored_request_line(const struct ing_stored_request *q, bool force_recrawl,
	bool with_created, struct ing_buf *out)
{
	struct line line = {.out = out};
	struct member m;
	const char *json = q->request_json != NULL ? q->request_json : "";
	look_for_identity(&line, json);
	if (!line.alias)
		add_text(&line, "ingest_type", q->ingest_type);
	if (!line.derived)
		add_text(&line, "base_url", q->base_url);
	add_text(&line, "link_source", q->link_source);
	add_text(&line, "link_source_id", q->link_source_id);
	add_text(&line, "ingest_request_source", q->ingest_request_source);
	add_text(&line, "release_stage", q->release_stage);
	while (next_member(&json, &m))
		if (!is_repeated(&line, &m, force_recrawl))
			add_member(&line, &m);
	if (force_recrawl) {
		add_name(&line, "force_recrawl");
		ing_buf_add_str(out, "true");
	}
	if (with_created)
		add_text(&line, "created", q->created);
	return ing_buf_add_char(out, '}');
}
