/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of words. A long page, or one with the record of an article, is not taken for an error or a
 * login, whatever words it has.
 */
#include "worker/scrape/publication/page_signs.h"

#include <ctype.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/needles.h"

#define MAX_TEXT_BYTES ((size_t)64 << 10) /* of a short page, that is searched for words */
#define MAX_HEADINGS 60
#define MAX_HEADING_BYTES 120
#define ERROR_WORDS 250 /* more is no error message */
#define LOGIN_WORDS 250
#define PART_WORDS 700    /* a figure or a table with its caption */
#define PAYWALL_WORDS 900 /* an abstract, what is cited, prices */
#define ABSTRACT_WORDS 700
#define ISSUE_WORDS 3000

/* Of a page's title or first heading, in lower case, at its beginning. */
static const char *const errors[] = {"404", "410 ", "400 bad", "500 ", "502 ", "503 ", "504 ",
	"error 4", "error 5", "error:", "http 404", "page not found", "not found", "file not found",
	"internal server error", "service unavailable", "bad gateway", "bad request", "sorry, ",
	"page cannot be found", "the page cannot be found", "the page you", "page missing",
	"article not found", "document not found", "doi not found", "resource not found",
	"seite nicht gefunden", "page introuvable", "page non trouv", "p\xc3\xa1gina no encontrada",
	"pagina no encontrada", "p\xc3\xa1gina n\xc3\xa3o encontrada", "pagina non trovata",
	"strona nie zosta", "sayfa bulunamad"};
/* Anywhere in them. */
static const char *const error_parts[] = {"page not found", "404 not found", "error 404",
	"404 error", "could not be found", "can't be found", "cannot be found", "does not exist",
	"no longer available", "an error has occurred", "an error occurred"};

static const char *const logins[] = {"log in", "login", "log-in", "sign in", "sign-in", "signin",
	"authentication required", "authorization required", "anmelden", "anmeldung", "einloggen",
	"connexion", "se connecter", "iniciar sesi", "acceder", "entrar", "accedi", "zaloguj",
	"members only", "member login"};

/* In the text of an article's page, in lower case. */
static const char *const paywalls[] = {"buy this article", "purchase this article", "buy article",
	"purchase article", "buy article pdf", "purchase pdf", "purchase access",
	"rent this article", "rent or buy article", "get access to the full version",
	"get full access to this article", "get full text access",
	"access through your institution", "access via your institution", "log in to check access",
	"subscribe to read", "subscribe to continue", "subscription required",
	"you do not have access", "you don't have access", "you are not logged in with access",
	"does not have access to this", "to access the full text", "to view the full text, please",
	"full text access required", "preview of subscription content", "this is a preview of",
	"unlock this article", "pay per view", "pay-per-view", "24 hours access",
	"sign in to view full", "institutional login to access", "zugang zum volltext kaufen",
	"acheter cet article"};

/* Of a heading, in lower case, whole. */
static const char *const abstracts[] = {"abstract", "summary", "zusammenfassung",
	"r\xc3\xa9sum\xc3\xa9", "resumen", "resumo", "riassunto", "streszczenie", "\xc3\xb6z",
	"\xc3\xb6zet", "\xd0\xb0\xd0\xbd\xd0\xbd\xd0\xbe\xd1\x82\xd0\xb0\xd1\x86\xd0\xb8\xd1\x8f",
	"\xe6\x91\x98\xe8\xa6\x81", "\xec\xb4\x88\xeb\xa1\x9d"};
/* Of a heading, with a number or more words around them. */
static const char *const body_headings[] = {"introduction", "background", "methods",
	"materials and methods", "methodology", "results", "discussion", "conclusion",
	"conclusions", "einleitung", "introducci\xc3\xb3n", "introdu\xc3\xa7\xc3\xa3o",
	"introduzione", "m\xc3\xa9todos", "resultados", "ergebnisse", "case report",
	"case presentation"};

static bool starts_with_any(const char *s, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(s, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static bool has_any(const char *s, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(s, words[i]) != NULL)
			return true;
	return false;
}

/* ASCII letters in lower case, in place. */
static const char *lower(const struct ing_view *v, const char *s, size_t max_bytes)
{
	char *copy = ing_arena_strndup(v->arena, s, ING_MIN(strlen(s), max_bytes));
	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 0x20);
	return copy;
}

static const char *first_heading(const struct ing_view *v)
{
	ing_node n = ing_tree_next_named(v->tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "h1");
	return n != ING_NODE_NONE ? lower(v, ing_view_text(v, n, 400), 400) : "";
}

static bool has_password_field(const struct ing_view *v)
{
	ing_node n = ING_NODE_DOCUMENT;
	while ((n = ing_tree_next_named(v->tree, n, ING_NODE_DOCUMENT, "input")) != ING_NODE_NONE)
		if (ing_tree_attr_has_word(v->tree, n, "type", "password"))
			return true;
	return false;
}

static bool is_error(const struct ing_view *v, const char *title, const char *heading)
{
	if (v->word_count > ERROR_WORDS)
		return false;
	return starts_with_any(title, errors, ING_ARRAY_LEN(errors)) ||
	       starts_with_any(heading, errors, ING_ARRAY_LEN(errors)) ||
	       has_any(title, error_parts, ING_ARRAY_LEN(error_parts)) ||
	       has_any(heading, error_parts, ING_ARRAY_LEN(error_parts));
}

static bool is_login(const struct ing_view *v, const char *title, const char *heading)
{
	return v->word_count <= LOGIN_WORDS && has_password_field(v) &&
	       (starts_with_any(title, logins, ING_ARRAY_LEN(logins)) ||
		       starts_with_any(heading, logins, ING_ARRAY_LEN(logins)));
}

static const char *path_of(const char *url)
{
	const char *host = strstr(url, "://");
	return host != NULL ? strchr(host + 3, '/') : NULL;
}

/* What stands behind `part` where the path has it, at s or later, with a digit or a path's end behind it. */
static const char *behind_part(const char *s, const char *part, bool number)
{
	size_t bytes = strlen(part);
	for (; s != NULL && (s = strstr(s, part)) != NULL; s++) {
		char next = s[bytes];
		if (number ? isdigit((unsigned char)next) != 0
			   : next == '\0' || strchr("/?#.-_", next) != NULL)
			return s + bytes;
	}
	return NULL;
}

static bool path_has(const char *url, const char *part, bool number)
{
	return behind_part(path_of(url), part, number) != NULL;
}

/* "_1/", as in /62/suppl_1/a9: an article in a supplement of a journal, of which it is no part. A DOI is no
 * number. */
static bool is_issue_number(const char *s)
{
	if (*s == '\0' || strchr("_-/", *s) == NULL)
		return false;
	size_t digits = strspn(s + 1, "0123456789");
	return digits > 0 && s[1 + digits] == '/';
}

static bool is_supplement(const char *url, const char *title)
{
	static const char *const parts[] = {"/suppl", "/supplement", "/supplementary",
		"/suppl_file", "/supplementary-material", "/supplementary-information",
		"/supporting-information", "/suppdata", "/supp"};
	static const char *const titles[] = {"supplementary ", "supplemental ",
		"supporting information", "supplement to", "additional file"};
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++)
		for (const char *s = path_of(url); (s = behind_part(s, parts[i], false)) != NULL;)
			if (!is_issue_number(s))
				return true;
	return starts_with_any(title, titles, ING_ARRAY_LEN(titles));
}

/* A page with one figure or table: nature.com's, Atypon's, HighWire's, PMC's addresses. */
static bool is_component(const char *url, const char *title)
{
	static const char *const parts[] = {"/figures/", "/figure/", "/tables/", "/table/",
		"/figure/f", "/table/t", "/figure/fig", "/figures/fig", "/table/tbl", "/f", "/t"};
	static const char *const titles[] = {"figure ", "fig. ", "fig ", "table ", "tab. "};
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		bool is_short = strlen(parts[i]) == 2;
		if (path_has(url, parts[i], true) &&
			(!is_short || strstr(url, ".expansion") != NULL))
			return true;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(titles); i++) {
		size_t n = strlen(titles[i]);
		if (strncmp(title, titles[i], n) == 0 && isdigit((unsigned char)title[n]))
			return true;
	}
	return false;
}

/* Of "2.1 " or "iv. " in front of a heading. */
static size_t number_bytes(const char *s)
{
	size_t roman = strspn(s, "ivx");
	if (roman > 0 && s[roman] == '.')
		return roman + 1 + strspn(s + roman + 1, " ");
	return strspn(s, "0123456789. ");
}

/* Whether one of the page's headings, less its number, is one of the words. */
static bool has_heading(
	const struct ing_view *v, const char *const *words, size_t count, bool numbered)
{
	static const char *const names[] = {"h1", "h2", "h3", "h4", "h5"};
	unsigned seen = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		ing_node n = ING_NODE_DOCUMENT;
		while ((n = ing_tree_next_named(v->tree, n, ING_NODE_DOCUMENT, names[i])) !=
				ING_NODE_NONE &&
			seen++ < MAX_HEADINGS) {
			const char *s =
				lower(v, ing_view_text(v, n, MAX_HEADING_BYTES), MAX_HEADING_BYTES);
			s += numbered ? number_bytes(s) : 0;
			size_t bytes = strcspn(s, ":.");
			for (size_t k = 0; k < count; k++)
				if (strlen(words[k]) == bytes && strncmp(s, words[k], bytes) == 0)
					return true;
		}
	}
	return false;
}

static bool is_abstract(const struct ing_view *v, const struct ing_page_scope_input *in)
{
	if (!in->has_title || v->word_count > ABSTRACT_WORDS ||
		has_heading(v, body_headings, ING_ARRAY_LEN(body_headings), true))
		return false;
	return path_has(v->url != NULL ? v->url : "", "/abstract", false) ||
	       path_has(v->url != NULL ? v->url : "", "/abs", false) ||
	       has_heading(v, abstracts, ING_ARRAY_LEN(abstracts), false);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_page_sign(const struct ing_view *v, const struct ing_page_scope_input *in)
{
	const char *url = v->url != NULL ? lower(v, v->url, 2000) : "";
	const char *title = v->title != NULL ? lower(v, v->title, 400) : "";
	if (v->word_count > PART_WORDS)
		return NULL;
	const char *heading = first_heading(v);
	if (!in->has_title && is_error(v, title, heading))
		return "errorpage";
	if (!in->has_title && is_login(v, title, heading))
		return "blocked-login";
	if (is_supplement(url, title))
		return "supplement";
	return is_component(url, title) ? "component" : NULL;
}

bool ing_page_is_paywall(const struct ing_view *v, const struct ing_page_scope_input *in)
{
	if (!in->has_title || v->word_count > PAYWALL_WORDS)
		return false;
	const char *text = ing_view_text(v, ing_tree_body(v->tree), MAX_TEXT_BYTES);
	text = lower(v, text, MAX_TEXT_BYTES);
	return ing_needles_in(text, strlen(text), paywalls, ING_ARRAY_LEN(paywalls)) != 0;
}

const char *ing_page_part_sign(const struct ing_view *v, const struct ing_page_scope_input *in)
{
	const char *url = v->url != NULL ? lower(v, v->url, 2000) : "";
	if (is_abstract(v, in))
		return "article-abstract";
	bool is_issue = !in->has_title && v->word_count > ISSUE_WORDS &&
			(path_has(url, "/issue", false) || path_has(url, "/issues", false) ||
				path_has(url, "/toc", false));
	return is_issue ? "issue-fulltext" : NULL;
}
