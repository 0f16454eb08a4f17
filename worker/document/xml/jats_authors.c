/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Corresponding authors. JATS marks them in several ways, and has their addresses beside their
 * names, in a note, or in running text for all of them together. Addresses that no markup gives to
 * an author go to the one whose name they resemble most.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/data/unicode.h"
#include "worker/document/xml/contacts.h"
#include "worker/document/xml/jats_priv.h"
#include "worker/model/found_publication.h"
#include "worker/scrape/biblio/ident.h"

#define MAX_CONTRIBS (ING_MAX_PUBLICATION_AUTHORS + 1) /* looked at: one too many is seen */
#define MAX_NOTES 50
#define MAX_XREFS 50 /* of one contributor */
#define MAX_POOL ING_MAX_CORRESPONDING_AUTHORS
#define MAX_NAME_BYTES 1000
#define MAX_NOTE_BYTES ((size_t)8 << 10)
#define MAX_NAME_PARTS 16

/* What one note, or the notes together, say of how to reach somebody. */
struct contact {
	const char *email, *phone, *uri;
	bool taken;
};

struct candidate {
	ing_node contrib;
	struct ing_author author;
	char *folded;   /* letters of the name, with blanks between its parts */
	char *joined;   /* the same without the blanks */
	char *initials; /* of the parts */
	size_t longest; /* bytes of the longest part */
};

/* A <corresp>, or a footnote to the authors. */
struct note {
	const char *id, *text; /* or NULL */
	struct contact *contacts;
	size_t count;
	bool corresp;
};

struct finder {
	const struct ing_tree *t;
	struct ing_arena *ar;
	ing_node meta;
	struct note notes[MAX_NOTES];
	size_t note_count;
	struct candidate candidates[ING_MAX_CORRESPONDING_AUTHORS];
	size_t count;
	struct contact pool[MAX_POOL];
	size_t pool_count;
};

/* --- what markup says --- */

static const char *text_of(const struct finder *f, ing_node n, size_t max_bytes)
{
	return ing_element_text_dup(f->t, n, f->ar, max_bytes);
}

/* An address from an element's link or text. */
static const char *email_of(const struct finder *f, ing_node n)
{
	const char *href = ing_tree_attr(f->t, n, "xlink:href", NULL);
	const char *text = text_of(f, n, ING_MAX_EMAIL_BYTES);
	const char *at = text, *email = text != NULL ? ing_contact_email(f->ar, &at) : NULL;
	if (email == NULL && href != NULL)
		email = ing_author_email(f->ar, href, strlen(href));
	return email;
}

static bool is_uri(const struct finder *f, ing_node n)
{
	return ing_tree_is(f->t, n, "uri") ||
	       (ing_tree_is(f->t, n, "ext-link") &&
		       ing_element_attr_is(f->t, n, "ext-link-type", "uri"));
}

static const char *uri_of(const struct finder *f, ing_node n)
{
	const char *href = ing_tree_attr(f->t, n, "xlink:href", NULL);
	return href != NULL && href[0] != '\0' ? href : text_of(f, n, MAX_NOTE_BYTES);
}

static bool has_email(const struct contact *list, size_t count, const char *email)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].email != NULL && strcasecmp(list[i].email, email) == 0)
			return true;
	return false;
}

static void add_email(struct contact *list, size_t *count, size_t max, const char *email)
{
	if (email != NULL && *count < max && !has_email(list, *count, email))
		list[(*count)++] = (struct contact){.email = email};
}

/* Telephone numbers and links go to the addresses in turn. */
static void add_others(const struct finder *f, ing_node n, struct contact *list, size_t count)
{
	size_t phones = 0, uris = 0;
	for (ing_node i = n + 1; i < f->t->nodes[n].end; i++) {
		if (f->t->nodes[i].kind != ING_NODE_ELEMENT)
			continue;
		if (ing_tree_is(f->t, i, "phone") && phones < count)
			list[phones++].phone = text_of(f, i, ING_MAX_PHONE_BYTES);
		else if (is_uri(f, i) && uris < count)
			list[uris++].uri = uri_of(f, i);
	}
	const char *text = phones == 0 && count > 0 ? text_of(f, n, MAX_NOTE_BYTES) : NULL;
	if (text != NULL)
		list[0].phone = ing_contact_phone(f->ar, text);
}

/* The ways to reach somebody that stand below n; marked addresses before those in running text.
 * Returns their number. */
static size_t read_contacts(const struct finder *f, ing_node n, struct contact *list, size_t max)
{
	size_t count = 0;
	for (ing_node i = n; (i = ing_tree_next_named(f->t, i, n, "email")) != ING_NODE_NONE;)
		add_email(list, &count, max, email_of(f, i));
	const char *text = text_of(f, n, MAX_NOTE_BYTES), *at = text;
	while (text != NULL && *at != '\0')
		add_email(list, &count, max, ing_contact_email(f->ar, &at));
	add_others(f, n, list, count);
	return count;
}

static void fill_gaps(struct ing_author *a, const struct contact *c)
{
	a->email = a->email != NULL ? a->email : c->email;
	a->phone = a->phone != NULL ? a->phone : c->phone;
	a->uri = a->uri != NULL ? a->uri : c->uri;
}

/* --- who they are --- */

static const char *name_of(const struct finder *f, ing_node contrib)
{
	ing_node name = ing_element_below(f->t, contrib, "name");
	if (name == ING_NODE_NONE)
		name = ing_element_below(f->t, contrib, "string-name");
	if (name == ING_NODE_NONE)
		return text_of(f, ing_element_below(f->t, contrib, "collab"), MAX_NAME_BYTES);
	const char *given =
		text_of(f, ing_element_below(f->t, name, "given-names"), MAX_NAME_BYTES);
	const char *surname = text_of(f, ing_element_below(f->t, name, "surname"), MAX_NAME_BYTES);
	if (surname == NULL)
		return given != NULL ? given : text_of(f, name, MAX_NAME_BYTES);
	if (given == NULL)
		return surname;
	struct ing_buf both;
	ing_buf_init(&both, 2 * MAX_NAME_BYTES + 2);
	ing_buf_printf(&both, "%s %s", given, surname);
	const char *copy = ing_arena_strdup(f->ar, ing_buf_str(&both));
	ing_buf_done(&both);
	return copy;
}

static const char *orcid_of(const struct finder *f, ing_node contrib)
{
	ing_node n = contrib;
	while ((n = ing_tree_next_named(f->t, n, contrib, "contrib-id")) != ING_NODE_NONE) {
		const char *text = text_of(f, n, MAX_NAME_BYTES);
		if (text == NULL || !ing_element_attr_is(f->t, n, "contrib-id-type", "orcid"))
			continue;
		return ing_contact_orcid(f->ar, text);
	}
	return NULL;
}

static void add_candidate(struct finder *f, ing_node contrib)
{
	if (f->count == ING_ARRAY_LEN(f->candidates))
		return;
	struct candidate *c = &f->candidates[f->count++];
	c->contrib = contrib;
	c->author.name = name_of(f, contrib);
	c->author.orcid = orcid_of(f, contrib);
	struct contact own;
	if (read_contacts(f, contrib, &own, 1) > 0)
		fill_gaps(&c->author, &own);
}

/* The first xref of the contributor of this type (NULL: any) after n, whose own node starts it. */
static ing_node next_xref(const struct finder *f, ing_node contrib, ing_node n, const char *type)
{
	while ((n = ing_tree_next_named(f->t, n, contrib, "xref")) != ING_NODE_NONE)
		if (type == NULL || ing_element_attr_is(f->t, n, "ref-type", type))
			return n;
	return n;
}

/* A foot note's usual identifiers: "fn1" anywhere, or "N" and hexadecimal digits. */
static bool is_note_id(const char *rid)
{
	if (rid == NULL)
		return false;
	for (const char *s = rid; (s = strcasestr(s, "fn")) != NULL; s += 2)
		if (s[2] >= '0' && s[2] <= '9')
			return true;
	bool digits = (*rid == 'n' || *rid == 'N') && rid[1] != '\0';
	return digits && rid[1 + strspn(rid + 1, "0123456789abcdefABCDEFxX.")] == '\0';
}

static bool is_marked(const struct finder *f, ing_node contrib)
{
	return ing_element_attr_is(f->t, contrib, "corresp", "yes") ||
	       next_xref(f, contrib, contrib, "corresp") != ING_NODE_NONE;
}

static bool has_note(const struct finder *f, ing_node contrib)
{
	if (next_xref(f, contrib, contrib, "author-notes") == ING_NODE_NONE)
		return false;
	for (ing_node n = contrib; (n = next_xref(f, contrib, n, NULL)) != ING_NODE_NONE;)
		if (is_note_id(ing_tree_attr(f->t, n, "rid", NULL)))
			return true;
	return false;
}

static const struct note *note_of(const struct finder *f, const char *id)
{
	for (size_t i = 0; id != NULL && i < f->note_count; i++)
		if (f->notes[i].id != NULL && strcmp(f->notes[i].id, id) == 0)
			return &f->notes[i];
	return NULL;
}

/* Whether a note on correspondence has the surname, or the contributor refers to one. */
static bool is_in_note(const struct finder *f, ing_node contrib)
{
	const char *surname =
		text_of(f, ing_element_below(f->t, contrib, "surname"), MAX_NAME_BYTES);
	for (size_t i = 0; i < f->note_count && surname != NULL; i++)
		if (f->notes[i].corresp && f->notes[i].text != NULL &&
			strstr(f->notes[i].text, surname) != NULL)
			return true;
	ing_node n = contrib;
	for (size_t left = MAX_XREFS; left > 0; left--) {
		n = next_xref(f, contrib, n, NULL);
		if (n == ING_NODE_NONE)
			break;
		const struct note *note = note_of(f, ing_tree_attr(f->t, n, "rid", NULL));
		if (note != NULL && note->corresp)
			return true;
	}
	return false;
}

static void find_candidates(struct finder *f)
{
	static bool (*const tests[])(const struct finder *, ing_node) = {
		is_marked, has_note, is_in_note};
	for (size_t i = 0; i < ING_ARRAY_LEN(tests) && f->count == 0; i++) {
		ing_node n = f->meta;
		for (size_t seen = 0; seen < MAX_CONTRIBS; seen++) {
			n = ing_tree_next_named(f->t, n, f->meta, "contrib");
			if (n == ING_NODE_NONE)
				break;
			if (tests[i](f, n))
				add_candidate(f, n);
			n = f->t->nodes[n].end - 1; /* the members of a group are not looked at */
		}
	}
}

/* --- who has which address --- */

static void add_notes(struct finder *f, const char *name)
{
	ing_node n = f->meta;
	while (f->note_count < MAX_NOTES &&
		(n = ing_tree_next_named(f->t, n, f->meta, name)) != ING_NODE_NONE) {
		struct note *note = &f->notes[f->note_count++];
		struct contact found[MAX_POOL];
		note->count = read_contacts(f, n, found, MAX_POOL);
		note->contacts = ing_arena_alloc(f->ar, (note->count + 1) * sizeof(*found));
		memcpy(note->contacts, found, note->count * sizeof(*found));
		note->id = ing_tree_attr(f->t, n, "id", NULL);
		note->text = text_of(f, n, MAX_NOTE_BYTES);
		note->corresp = strcmp(name, "corresp") == 0;
		n = f->t->nodes[n].end - 1;
	}
}

static void fill_pool(struct finder *f)
{
	for (size_t i = 0; i < f->note_count; i++)
		for (size_t k = 0; k < f->notes[i].count && f->notes[i].corresp; k++) {
			const struct contact *c = &f->notes[i].contacts[k];
			if (f->pool_count < MAX_POOL &&
				!has_email(f->pool, f->pool_count, c->email))
				f->pool[f->pool_count++] = *c;
		}
}

static void take_from_pool(struct finder *f, const char *email)
{
	for (size_t i = 0; i < f->pool_count; i++)
		if (strcasecmp(f->pool[i].email, email) == 0)
			f->pool[i].taken = true;
}

/* A note that the contributor refers to gives an address if it has just one. */
static void read_own_notes(struct finder *f, struct candidate *c)
{
	ing_node n = c->contrib;
	for (size_t left = MAX_XREFS; left > 0 && c->author.email == NULL; left--) {
		n = next_xref(f, c->contrib, n, NULL);
		if (n == ING_NODE_NONE)
			return;
		const struct note *note = note_of(f, ing_tree_attr(f->t, n, "rid", NULL));
		if (note != NULL && note->count == 1)
			fill_gaps(&c->author, &note->contacts[0]);
	}
}

static char *letters_of(const struct finder *f, const char *s, size_t bytes)
{
	struct ing_buf b;
	ing_buf_init(&b, 4 * MAX_NAME_BYTES);
	ing_unicode_letters(s, bytes, &b);
	char *copy = ing_arena_strdup(f->ar, ing_buf_str(&b));
	ing_buf_done(&b);
	return copy;
}

/* Where the next part of a name begins: names are divided by blanks, dots and hyphens. */
static size_t part_bytes(const char *s)
{
	size_t n = 0;
	while (s[n] != '\0' && strchr(" .-", s[n]) == NULL &&
		strncmp(s + n, "\xe2\x80\x90", 3) != 0)
		n++;
	return n;
}

static void fold_name(const struct finder *f, struct candidate *c)
{
	struct ing_buf folded, initials;
	ing_buf_init(&folded, 8 * MAX_NAME_BYTES);
	ing_buf_init(&initials, MAX_NAME_PARTS);
	size_t parts = 0;
	for (const char *s = c->author.name; s != NULL && *s != '\0';) {
		size_t n = part_bytes(s);
		char *letters = letters_of(f, s, n);
		if (letters[0] != '\0' && parts++ < MAX_NAME_PARTS) {
			ing_buf_printf(&folded, "%s%s", folded.len > 0 ? " " : "", letters);
			ing_buf_add_char(&initials, letters[0]);
			c->longest = ING_MAX(c->longest, strlen(letters));
		}
		s += n;
		s += *s == '\xe2' ? 3 : *s != '\0';
	}
	c->folded = ing_arena_strdup(f->ar, ing_buf_str(&folded));
	c->initials = ing_arena_strdup(f->ar, ing_buf_str(&initials));
	c->joined = letters_of(f, c->folded, strlen(c->folded));
	ing_buf_done(&folded);
	ing_buf_done(&initials);
}

/* Whether a part of the name, less its last `less` bytes, is in the address; one letter is no
 * part. */
static bool part_matches(const char *folded, const char *local, size_t less)
{
	for (const char *s = folded; *s != '\0';) {
		size_t n = strcspn(s, " ");
		if (n > less + 1 && memmem(local, strlen(local), s, n - less) != NULL)
			return true;
		s += n + (s[n] == ' ');
	}
	return false;
}

/* Passes go from what is surest to what is hardly likely. */
static bool name_matches(const struct candidate *c, const char *local, size_t pass)
{
	if (pass == 0)
		return c->joined[0] != '\0' && strcmp(c->joined, local) == 0;
	if (pass == 2)
		return strlen(c->initials) >= 2 && strcmp(c->initials, local) == 0;
	return part_matches(c->folded, local, pass == 1 ? 0 : pass - 2);
}

static void assign(struct finder *f, struct candidate *c, char *const *locals, size_t pass)
{
	for (size_t i = 0; i < f->pool_count && c->author.email == NULL; i++) {
		if (f->pool[i].taken || !name_matches(c, locals[i], pass))
			continue;
		fill_gaps(&c->author, &f->pool[i]);
		f->pool[i].taken = true;
	}
}

static void assign_pool(struct finder *f)
{
	char **locals = ing_arena_alloc(f->ar, (f->pool_count + 1) * sizeof(*locals));
	size_t longest = 0;
	for (size_t i = 0; i < f->pool_count; i++)
		locals[i] = letters_of(f, f->pool[i].email, strcspn(f->pool[i].email, "@"));
	for (size_t i = 0; i < f->count; i++) {
		fold_name(f, &f->candidates[i]);
		longest = ING_MAX(longest, f->candidates[i].longest);
	}
	longest = ING_MIN(longest, (size_t)100);
	for (size_t pass = 0; pass <= longest; pass++)
		for (size_t i = 0; i < f->count; i++)
			assign(f, &f->candidates[i], locals, pass);
}

static bool is_anybody(const struct ing_author *a)
{
	return a->name != NULL || a->orcid != NULL || a->email != NULL || a->phone != NULL ||
	       a->uri != NULL;
}

static bool is_author(const struct finder *f, ing_node contrib)
{
	const char *type = ing_tree_attr(f->t, contrib, "contrib-type", NULL);
	return type == NULL || strcasecmp(type, "author") == 0 || strcasecmp(type, "collab") == 0;
}

/* Candidates are in the order of the document, too. */
static void list_all(const struct finder *f, struct ing_jats *ret)
{
	struct ing_jats_author *all = ing_arena_alloc(f->ar, MAX_CONTRIBS * sizeof(*all));
	size_t count = 0, next = 0;
	ing_node n = f->meta;
	for (size_t seen = 0; seen < MAX_CONTRIBS; seen++) {
		n = ing_tree_next_named(f->t, n, f->meta, "contrib");
		if (n == ING_NODE_NONE)
			break;
		struct ing_jats_author a = {0};
		a.corresponding = next < f->count && f->candidates[next].contrib == n;
		if (a.corresponding)
			a.is = f->candidates[next++].author;
		else if (is_author(f, n))
			a.is = (struct ing_author){.name = name_of(f, n), .orcid = orcid_of(f, n)};
		if (is_anybody(&a.is))
			all[count++] = a;
		n = f->t->nodes[n].end - 1;
	}
	ret->authors = all;
	ret->author_count = count;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_authors ing_jats_authors(
	const struct ing_tree *t, ing_node article_meta, struct ing_arena *ar, struct ing_jats *ret)
{
	struct finder *f = ing_arena_alloc(ar, sizeof(*f));
	f->t = t;
	f->ar = ar;
	f->meta = article_meta;
	add_notes(f, "corresp");
	add_notes(f, "fn");
	find_candidates(f);
	fill_pool(f);
	if (f->count == 1 && f->pool_count == 1)
		fill_gaps(&f->candidates[0].author, &f->pool[0]);
	for (size_t i = 0; i < f->count; i++) {
		read_own_notes(f, &f->candidates[i]);
		if (f->candidates[i].author.email != NULL)
			take_from_pool(f, f->candidates[i].author.email);
	}
	assign_pool(f);
	list_all(f, ret);
	struct ing_author *items = ing_arena_alloc(ar, (f->count + 1) * sizeof(*items));
	size_t count = 0;
	for (size_t i = 0; i < f->count; i++) {
		const struct ing_author *a = &f->candidates[i].author;
		if (is_anybody(a))
			items[count++] = *a;
	}
	return (struct ing_authors){.items = items, .count = count};
}
