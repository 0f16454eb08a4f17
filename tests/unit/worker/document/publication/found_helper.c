/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Findings as lines.
 */
#include "found_helper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/examine/proto_parts.h"
#include "worker/examine/wire.h"
#include "worker/model/limits.h"

static struct ing_buf out;

static void add_terms(const struct ing_publication_offer *o)
{
	for (uint32_t i = 0; i < o->term_count; i++) {
		const struct ing_publication_term *t = &o->terms[i];
		ing_buf_printf(&out, "%s%s%s", i > 0 ? "; " : "", t->term, t->major ? "*" : "");
		if (t->count > 0)
			ing_buf_printf(&out, " =%u", t->count);
		if (t->uri != NULL)
			ing_buf_printf(&out, " <%s>", t->uri);
	}
}

static void add_author(const struct ing_publication_author *a)
{
	const char *const all[] = {a->name, a->orcid, a->email, a->phone, a->uri};
	const char *between = "author ";
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++) {
		if (all[i] == NULL)
			continue;
		ing_buf_printf(&out, "%s%s", between, all[i]);
		between = ", ";
	}
	ing_buf_printf(&out, "%s\n", a->corresponding ? " *" : "");
}

static void add_field(const char *name, const char *value)
{
	if (value != NULL)
		ing_buf_printf(&out, "%s %s\n", name, value);
}

static void add_flags(unsigned flags)
{
	static const char *const names[] = {"oa", "not-oa", "preprint", "has-xml", "has-mined",
		"has-pdf", "in-epmc", "manuscript"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if ((flags & (1u << i)) != 0)
			ing_buf_printf(&out, "%s\n", names[i]);
}

static const char *lines_of(const struct ing_publication_found *p)
{
	if (out.max == 0)
		ing_buf_init(&out, (size_t)64 << 20);
	ing_buf_clear(&out);
	assert_non_null(p->status);
	if (strcmp(p->status, "success") != 0)
		ing_buf_printf(
			&out, "%s: %s\n", p->status, p->error_msg != NULL ? p->error_msg : "");
	for (uint32_t i = 0; i < p->offer_count; i++) {
		const struct ing_publication_offer *o = &p->offers[i];
		ing_buf_printf(&out, "%s %s ", ing_part_name((enum ing_part_key)o->part),
			ing_part_type_name((enum ing_part_type)o->type));
		if (o->text != NULL)
			ing_buf_add_str(&out, o->text);
		else
			add_terms(o);
		ing_buf_add_char(&out, '\n');
	}
	for (uint32_t i = 0; i < p->link_count; i++)
		ing_buf_printf(&out, "link %s %s\n",
			ing_part_type_name((enum ing_part_type)p->links[i].type), p->links[i].url);
	for (uint32_t i = 0; i < p->author_count; i++)
		add_author(&p->authors[i]);
	add_field("journal", p->journal_title);
	add_field("date", p->pub_date);
	add_field("licence", p->licence);
	add_field("publisher", p->publisher);
	add_field("openalex", p->openalex_id);
	if (p->citations >= 0)
		ing_buf_printf(&out, "cited %lld\n", (long long)p->citations);
	add_flags(p->flags);
	return ing_buf_str(&out);
}

/* As it comes from an examiner: what its message does not take is no finding. */
static void send(const struct ing_publication_found *p, struct ing_publication_found *ret)
{
	struct ing_buf b;
	struct ing_wire w;
	ing_buf_init(&b, ING_MAX_REPLY_BYTES);
	ing_proto_put_publication(&b, p);
	*ret = (struct ing_publication_found){.citations = -1};
	ing_wire_init(&w, b.data, b.len);
	ing_proto_get_publication(&w, ret);
	assert_true(ing_wire_end(&w));
	ing_buf_done(&b);
}

/* -------------------------------------------------------------------------------------------- */

const char *found_lines(const struct ing_publication_found *found)
{
	struct ing_publication_found sent;
	send(found, &sent);
	const char *lines = lines_of(&sent);
	ing_publication_found_done(&sent);
	return lines;
}

const char *read_lines(
	const struct ing_publication_ask *ask, const char *body, size_t bytes, const char *mimetype)
{
	struct ing_publication_found found = {.citations = -1};
	char *copy = ing_strndup(body, bytes); /* of its length: overruns are seen */
	const struct ing_publication_body b = {
		.mimetype = mimetype != NULL ? mimetype : "text/xml", .data = copy, .bytes = bytes};
	ing_publication_read(ask, &b, &found);
	const char *lines = found_lines(&found);
	ing_publication_found_done(&found);
	free(copy);
	return lines;
}

void check_readings(enum ing_publication_reader reader, enum ing_part_type type,
	const char *mimetype, const struct reading_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ing_publication_ask ask = cases[i].ask;
		ask.reader = reader;
		ask.type = type;
		const char *lines =
			read_lines(&ask, cases[i].body, strlen(cases[i].body), mimetype);
		if (strcmp(lines, cases[i].want) != 0)
			fail_msg("%s:\n%s--- is not ---\n%s", cases[i].name, lines, cases[i].want);
	}
}

void assert_found(const char *name, const struct ing_publication_found *p, const char *want)
{
	const char *lines = found_lines(p);
	if (strcmp(lines, want) != 0)
		fail_msg("%s:\n%s--- is not ---\n%s", name, lines, want);
}
