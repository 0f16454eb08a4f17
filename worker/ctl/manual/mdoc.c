/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables of verbs as parts of ingestctl(1). A synopsis is cut into words, each of which is an option, a value or itself;
 * the texts are set by usage_text.
 */
#include "worker/ctl/manual/manual.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/usage_text.h"
#include "worker/ctl/verbs.h"

#define MAX_GROUPS 16 /* of options with a name */

struct page {
	struct ing_buf *out;
	const struct ing_options *named[MAX_GROUPS]; /* those whose section is still to come */
	size_t named_count;
};

/* --- one line of macros --- */

static bool is_value_char(char c)
{
	return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* The next piece of a synopsis: an option, a value in capitals, a word, or one sign. Its bytes. */
static size_t piece_bytes(const char *at)
{
	size_t n = 0;
	if (strncmp(at, "--", 2) == 0 && islower((unsigned char)at[2])) {
		for (n = 2; islower((unsigned char)at[n]) || at[n] == '-'; n++)
			;
	} else if (isupper((unsigned char)*at)) {
		while (is_value_char(at[n]))
			n++;
	} else if (islower((unsigned char)*at)) {
		while (islower((unsigned char)at[n]) || at[n] == '-')
			n++;
	} else if (strncmp(at, "...", 3) == 0) {
		n = 3;
	} else if (strncmp(at, "--", 2) == 0) {
		n = 2;
	}
	return n > 0 ? n : 1;
}

static void add_piece(struct ing_buf *to, const char *at, size_t n)
{
	if (n > 2 && at[0] == '-')
		ing_buf_printf(to, "Fl Fl %.*s", (int)n - 2, at + 2);
	else if (isupper((unsigned char)*at))
		ing_buf_printf(to, "Ar %.*s", (int)n, at);
	else if (islower((unsigned char)*at))
		ing_buf_printf(to, "Cm %.*s", (int)n, at);
	else if (*at == '[' || *at == ']')
		ing_buf_add_str(to, *at == '[' ? "Oo" : "Oc");
	else if (*at == '|')
		ing_buf_add_char(to, '|');
	else if (*at == '-')
		ing_buf_add_str(to, n == 2 ? "Cm \\-\\-" : "Cm \\-");
	else
		ing_buf_printf(to, "No %s%.*s", *at == '.' || *at == ':' ? "\\&" : "", (int)n, at);
}

/* "[--out DIR]... FILE|-" as macros on one line, which begins with a request. */
static void add_macros(struct ing_buf *to, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	const char *between = "";
	while (text < end) {
		size_t n = piece_bytes(text);
		ing_buf_add_str(to, between);
		add_piece(to, text, n);
		text += n;
		size_t blanks = strspn(text, " ");
		text += blanks;
		between = blanks > 0 ? " " : " Ns ";
	}
}

static void add_form(struct ing_buf *to, const struct ing_usage *u, const char *form, size_t bytes)
{
	ing_buf_printf(to, ".Ic %s\n", u->name);
	if (bytes == 0)
		return;
	ing_buf_add_char(to, '.');
	add_macros(to, form, bytes);
	ing_buf_add_char(to, '\n');
}

static void add_forms(
	struct ing_buf *to, const struct ing_usage *u, const char *before, const char *behind)
{
	for (const char *form = u->synopsis; form != NULL;) {
		size_t bytes = strcspn(form, "\n");
		ing_buf_add_str(to, before);
		add_form(to, u, form, bytes);
		ing_buf_add_str(to, behind);
		form = form[bytes] == '\n' ? form + bytes + 1 : NULL;
	}
}

/* --- parts of a verb --- */

static void add_text(struct ing_buf *to, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	ing_buf_add_str(to, ".Pp\n");
	ing_usage_add_mdoc(to, text);
}

/* With a capital, unless the first word is one that stands for itself ("pdf, html …"), and a full stop. */
static void make_sentence(struct ing_buf *text)
{
	size_t n = strspn(ing_buf_str(text), "abcdefghijklmnopqrstuvwxyz-");
	if (n > 0 && n < text->len && text->data[n] == ' ')
		text->data[0] = (char)toupper((unsigned char)text->data[0]);
	static const char ellipsis[] = "…";
	size_t last = sizeof(ellipsis) - 1;
	bool ends = text->len > 0 && text->data[text->len - 1] == '.';
	ends |= text->len >= last && strcmp(text->data + text->len - last, ellipsis) == 0;
	if (!ends)
		ing_buf_add_char(text, '.');
}

/* " (explain, top)" */
static void add_of(const char *of, struct ing_buf *to)
{
	ing_buf_add_str(to, " (");
	for (; *of != '\0'; of++)
		ing_buf_add_str(to, *of == ' ' ? ", " : (char[]){*of, '\0'});
	ing_buf_add_char(to, ')');
}

static void add_option(struct ing_buf *to, const struct ing_option *o, bool says_of)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
	ing_buf_add_str(to, ".It ");
	if (o->letter != '\0')
		ing_buf_printf(to, "Fl %c , ", o->letter);
	ing_buf_printf(to, "Fl Fl %s", o->name);
	if (o->value != NULL) {
		ing_buf_add_str(to, " Ar \\&");
		ing_usage_add_escaped(to, o->value);
	}
	ing_buf_add_char(to, '\n');
	ing_usage_add_option_text(o, &text);
	if (says_of && o->of != NULL)
		add_of(o->of, &text);
	make_sentence(&text);
	ing_usage_add_mdoc(to, ing_buf_str(&text));
	ing_buf_done(&text);
}

static void remember(struct page *p, const struct ing_options *group)
{
	for (size_t i = 0; i < p->named_count; i++)
		if (p->named[i] == group)
			return;
	ing_must(p->named_count < MAX_GROUPS);
	p->named[p->named_count++] = group;
}

static void add_options(struct page *p, const struct ing_usage *u)
{
	const struct ing_option *o;
	const struct ing_options *group = NULL;
	const struct ing_options *told = NULL;
	bool begun = false;
	for (size_t i = 0; (o = ing_usage_option(u, i, &group)) != NULL; i++) {
		if (o->text == NULL || (group != NULL && group->name != NULL))
			continue;
		ing_buf_add_str(p->out, begun ? "" : ".Bl -tag -width Ds\n");
		begun = true;
		add_option(p->out, o, u->below != NULL);
	}
	ing_buf_add_str(p->out, begun ? ".El\n" : "");
	for (size_t i = 0; (o = ing_usage_option(u, i, &group)) != NULL; i++) {
		if (group == NULL || group->name == NULL || group == told)
			continue;
		told = group;
		remember(p, group);
		ing_buf_printf(p->out, ".Pp\nThe options of\n.Sx %s\napply, too.\n", group->name);
	}
}

static void add_exits(struct ing_buf *to, const struct ing_usage *u)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
	ing_usage_add_exits(u, &text);
	add_text(to, ing_buf_str(&text));
	ing_buf_done(&text);
}

static bool is_part(const struct ing_usage *u)
{
	return u->parent != NULL;
}

/* The verbs below one that share its options, as a list. */
static void add_parts(struct ing_buf *to, const struct ing_usage *u)
{
	bool begun = false;
	for (const struct ing_usage *const *b = u->below; b != NULL && *b != NULL; b++) {
		if (!is_part(*b))
			continue;
		ing_buf_add_str(to, begun ? "" : ".Bl -tag -width Ds\n");
		begun = true;
		add_forms(to, *b, ".It Xo\n", ".Xc\n");
		ing_usage_add_mdoc(to, (*b)->text != NULL ? (*b)->text : (*b)->summary);
		add_text(to, (*b)->details);
		if ((*b)->exits[0] != NULL)
			add_exits(to, *b);
	}
	ing_buf_add_str(to, begun ? ".El\n" : "");
}

static void add_verb(struct page *p, const struct ing_usage *u)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
	ing_usage_add_text(u, &text);
	ing_buf_printf(p->out, ".Ss %s\n", u->name);
	if (u->synopsis != NULL) {
		ing_buf_add_str(p->out, ".Bl -item -compact\n");
		add_forms(p->out, u, ".It\n.Nm\n", "");
		ing_buf_add_str(p->out, ".El\n");
		add_text(p->out, ing_buf_str(&text));
	} else {
		ing_usage_add_mdoc(p->out, ing_buf_str(&text));
	}
	add_text(p->out, u->details);
	add_parts(p->out, u);
	add_options(p, u);
	add_text(p->out, u->notes);
	add_exits(p->out, u);
	ing_buf_done(&text);
	for (const struct ing_usage *const *b = u->below; b != NULL && *b != NULL; b++)
		if (!is_part(*b))
			add_verb(p, *b);
}

static void add_named(struct page *p)
{
	for (size_t i = 0; i < p->named_count; i++) {
		const struct ing_options *group = p->named[i];
		struct ing_buf notes;
		ing_buf_init(&notes, ING_MANUAL_MAX_BYTES);
		ing_buf_printf(p->out, ".Ss %s\n", group->name);
		if (group->title != NULL)
			ing_usage_add_mdoc(p->out, group->title);
		ing_buf_add_str(p->out, ".Bl -tag -width Ds\n");
		for (const struct ing_option *o = group->rows; o->name != NULL; o++)
			add_option(p->out, o, false);
		ing_buf_add_str(p->out, ".El\n");
		ing_usage_add_notes(group, &notes);
		add_text(p->out, ing_buf_str(&notes));
		ing_buf_done(&notes);
	}
	p->named_count = 0;
}

static void add_upper(struct ing_buf *to, const char *text)
{
	for (; *text != '\0'; text++)
		ing_buf_add_char(to, (char)toupper((unsigned char)*text));
}

static void add_example(void *ctx, const struct ing_usage *u)
{
	struct ing_buf *to = ctx;
	if (u->examples == NULL)
		return;
	ing_buf_add_str(to, to->len > 0 ? ".Pp\n" : "");
	ing_usage_add_mdoc(to, u->examples);
}

/* -------------------------------------------------------------------------------------------- */

void ing_manual_add_verbs(struct ing_buf *to)
{
	struct page p = {.out = to};
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++) {
		if (v->group != NULL) {
			add_named(&p);
			ing_buf_add_str(to, ".Sh ");
			add_upper(to, v->group);
			ing_buf_add_char(to, '\n');
		}
		add_verb(&p, v->usage);
	}
	add_named(&p);
}

void ing_manual_add_examples(struct ing_buf *to)
{
	ing_verbs_walk(add_example, to);
}
