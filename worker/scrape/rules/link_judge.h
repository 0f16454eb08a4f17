/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * link_judge.h - whether a link to a PDF leads to the document that its page is about: by the link's
 * words, its file's name, the place where it stands, and the page's title and identifiers. A wrong
 * document in an archive is worse than none, so doubt decides against a link.
 *
 * For entries of links.yaml whose selector is wide (`judge: true`), and for the guess among all links
 * of a page (links_guess.h). All memory is the view's. One thread.
 */
#pragma once
#include <limits.h>
#include "worker/scrape/rules/link_words.h"
#include "worker/scrape/view.h"

#define ING_LINK_MAX_IDS 4

struct ing_link_judge { /* what the page says of its document; made by ing_link_judge_new() */
	const struct ing_view *v;
	const char *title;                 /* folded; " " when unknown */
	const char *title_letters;         /* the same without spaces */
	const char *ids[ING_LINK_MAX_IDS]; /* letters and digits in lower case */
	size_t id_count;
	const char *doi;  /* what follows its slash, in the same form; NULL */
	bool has_record;  /* of an article, in <meta> elements or JSON-LD */
	bool is_contents; /* a list of documents, by its URL */
	ing_node heading; /* the page's <h1>, or NONE */
	ing_node main;    /* its <main> or <article>, or NONE */
};

#define ING_LINK_NEVER INT_MIN

struct ing_link_judgement {
	int score;    /* the higher, the likelier; NEVER: it does not lead to the page's document */
	bool another; /* its words are those of another document */
	bool doubtful; /* they could be, but the page's title has them, too */
	bool identity; /* its words or its URL name the page's title, DOI or number */
	enum ing_link_label label;
};

/* The view must live as long. */
const struct ing_link_judge *ing_link_judge_new(const struct ing_view *v);
/* Judge the link that an element makes to an absolute URL. */
struct ing_link_judgement ing_link_judge(
	const struct ing_link_judge *j, ing_node n, const char *url);
/* The words of a link, folded: its text, or what stands for it. */
const char *ing_link_label(const struct ing_link_judge *j, ing_node n);
