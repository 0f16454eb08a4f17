/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names are compared by their letters alone, without accents and case. Of very long lists, whose addresses are seldom
 * of people, nothing is changed: comparing is quadratic.
 */
#include "worker/document/publication/emails.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/data/unicode.h"

#define MAX_AUTHORS 500
#define MIN_NAME_BYTES 3 /* a shorter part of a name is in many addresses */
#define MAX_LETTERS_BYTES ((size_t)4096)

struct person {
	const char *words;    /* parts of the name in letters, each with a blank behind it */
	const char *initials; /* of the parts */
	const char *local;    /* letters of the address before its '@'; NULL: it has none */
};

static const char *letters_of(struct ing_arena *ar, const char *s, size_t bytes)
{
	struct ing_buf b;
	ing_buf_init(&b, MAX_LETTERS_BYTES);
	ing_unicode_letters(s, bytes, &b);
	const char *copy = ing_arena_strdup(ar, ing_buf_str(&b));
	ing_buf_done(&b);
	return copy;
}

static struct person person_of(struct ing_arena *ar, const struct ing_publication_author *a)
{
	static const char between[] = " .,-";
	struct person p = {0};
	struct ing_buf words, initials;
	ing_buf_init(&words, MAX_LETTERS_BYTES);
	ing_buf_init(&initials, 64);
	for (const char *s = a->name != NULL ? a->name : ""; *s != '\0';) {
		size_t n = strcspn(s, between);
		const char *letters = letters_of(ar, s, n);
		if (*letters != '\0') {
			ing_buf_printf(&words, "%s ", letters);
			ing_buf_add_char(&initials, *letters);
		}
		s += n;
		s += strspn(s, between);
	}
	p.words = ing_arena_strdup(ar, ing_buf_str(&words));
	p.initials = ing_arena_strdup(ar, ing_buf_str(&initials));
	ing_buf_done(&words);
	ing_buf_done(&initials);
	if (a->email != NULL)
		p.local = letters_of(ar, a->email, strcspn(a->email, "@"));
	return p;
}

/* Whether the address has a part of the name, or is its initials. */
static bool has_name(const char *local, const struct person *p)
{
	for (const char *s = p->words; *s != '\0';) {
		size_t n = strcspn(s, " ");
		if (n >= MIN_NAME_BYTES && memmem(local, strlen(local), s, n) != NULL)
			return true;
		s += n + (s[n] == ' ');
	}
	return strlen(p->initials) >= 2 && strcmp(local, p->initials) == 0;
}

static void drop(struct ing_publication_author *a)
{
	ing_freep(&a->email);
	a->corresponding = false;
}

/* The one other author whose name it has, and who has no address or the same; NONE: nobody, or several. */
static uint32_t owner_of(
	const struct ing_publication_found *p, const struct person *people, uint32_t holder)
{
	uint32_t owner = UINT32_MAX;
	for (uint32_t i = 0; i < p->author_count; i++) {
		const char *own = p->authors[i].email;
		if (i == holder || !has_name(people[holder].local, &people[i]) ||
			(own != NULL && strcmp(own, p->authors[holder].email) != 0))
			continue;
		if (owner != UINT32_MAX)
			return UINT32_MAX;
		owner = i;
	}
	return owner;
}

static void settle(struct ing_publication_found *p, struct person *people, uint32_t holder)
{
	struct ing_publication_author *from = &p->authors[holder];
	if (from->email == NULL || has_name(people[holder].local, &people[holder]))
		return;
	uint32_t owner = owner_of(p, people, holder);
	if (owner == UINT32_MAX)
		return;
	struct ing_publication_author *to = &p->authors[owner];
	if (to->email == NULL) {
		to->email = ing_strdup(from->email);
		people[owner].local = people[holder].local;
	}
	to->corresponding = true;
	drop(from);
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_settle_emails(struct ing_publication_found *p)
{
	if (p->author_count > MAX_AUTHORS)
		return;
	struct ing_arena ar;
	ing_arena_init(&ar);
	struct person *people = ing_arena_alloc(&ar, (p->author_count + 1) * sizeof(*people));
	for (uint32_t i = 0; i < p->author_count; i++)
		people[i] = person_of(&ar, &p->authors[i]);
	for (uint32_t i = 0; i < p->author_count; i++)
		settle(p, people, i);
	ing_arena_done(&ar);
}
