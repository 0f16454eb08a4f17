/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sites have their own words for the type of a work: "Research Article", "Text.Serial.Journal",
 * "info:eu-repo/semantics/doctoralThesis". Letters and digits are compared, without words that only
 * name a vocabulary.
 */
#include "worker/scrape/biblio/biblio_priv.h"

#include <string.h>

#include "common/base/macros.h"

#define MAX_PHRASE_BYTES 64 /* longer is no type's name */

/* Phrases divided by '|', with one at both ends. A line a type, so that a word is easy to add. */
static const struct {
	const char *type;
	const char *phrases;
} types[] = {
	{"article-journal",
		"|research article|article|articles|journal article|journalarticle|original article|"
		"original research|original research article|original paper|original investigation|"
		"original contribution|original articles|research paper|research|research papers|"
		"regular article|full length article|full paper|scholarly article|"
		"peer reviewed article|serial journal|serial|brief report|brief communication|"
		"short communication|rapid communication|short report|research note|case report|"
		"case study|clinical trial|methods|method|methods article|methodology|technical note|"
		"data descriptor|data paper|artículo|artigo|artigo original|artículo original|"
		"article original|articulo|originalarbeit|статья|научная статья|makale|"
		"araştırma makalesi|"},
	{"review", "|review|review article|reviews|reviewarticle|systematic review|mini review|"
		   "literature review|revisão|revisión|übersichtsarbeit|"},
	{"review-book", "|book review|bookreview|book reviews|"},
	{"paper-conference",
		"|conference paper|conferencepaper|conference article|proceedings article|"
		"proceedings paper|inproceedings|conference proceeding|conference proceedings|"
		"conferenceobject|conference object|conference item|conferenceitem|"
		"conference or workshop item|conference contribution|contribution to conference|"
		"paper conference|"},
	{"chapter", "|chapter|book chapter|bookchapter|book part|bookpart|book section|inbook|"
		    "incollection|section of book|contribution to book|capítulo de livro|"},
	{"book", "|book|books|edited book|libro|livro|buch|"},
	{"thesis",
		"|thesis|theses|doctoral thesis|doctoralthesis|thesis doctoral|thesis masters|"
		"phd thesis|phdthesis|master thesis|masters thesis|masterthesis|mastersthesis|"
		"bachelor thesis|bachelorthesis|dissertation|dissertations|doctoral dissertation|"
		"electronic thesis or dissertation|thesis or dissertation|tesis|tese|dissertação|"
		"thèse|diplomarbeit|tesis doctoral|"},
	{"report",
		"|report|reports|technical report|technicalreport|techreport|research report|"
		"working paper|workingpaper|discussion paper|policy brief|annual report|informe|"},
	{"dataset", "|dataset|datasets|data set|data|"},
	{"software", "|software|computer program|softwaresourcecode|"},
	{"article", "|preprint|preprints|posted content|postedcontent|article preprint|eprint|"},
	{"editorial", "|editorial|editorials|editorial material|editorial note|éditorial|"},
	{"letter", "|letter|letters|letter to the editor|letters to the editor|correspondence|"},
	{"abstract", "|abstract|abstracts|meeting abstract|conference abstract|"},
	{"article-newspaper", "|news|news article|newsarticle|news item|newspaper article|"},
	{"post-weblog", "|blog post|blogposting|blog|"},
	{"peer_review", "|peer review|referee report|decision letter|"},
	{"interview", "|interview|interviews|"},
	{"patent", "|patent|"},
	{"entry", "|encyclopedia entry|reference entry|dictionary entry|"},
};

/* Words in front of which nothing is said about the type. */
static const char *const vocabularies[] = {
	"info eu repo semantics ",
	"http purl org eprint type ",
	"http purl org dc dcmitype ",
	"http purl org coar resource type ",
	"http schema org ",
	"https schema org ",
	"dctypes ",
	"text ",
};

static size_t normalise(const char *s, size_t bytes, char *out)
{
	size_t len = 0;
	bool space = false;
	for (size_t i = 0; i < bytes; i++) {
		char c = s[i];
		bool upper = c >= 'A' && c <= 'Z';
		if (!upper && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
			(unsigned char)c < 0x80) {
			space = true;
			continue;
		}
		if (len + 2 > MAX_PHRASE_BYTES)
			return 0;
		if (space && len > 0)
			out[len++] = ' ';
		space = false;
		out[len++] = (char)(upper ? c | 0x20 : c);
	}
	return len;
}

const char *ing_release_type(const char *raw, size_t bytes)
{
	char phrase[MAX_PHRASE_BYTES + 2];
	size_t len = normalise(raw, bytes, phrase + 1), skip = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(vocabularies) && len > 0; i++) {
		size_t n = strlen(vocabularies[i]);
		if (len > n && memcmp(phrase + 1, vocabularies[i], n) == 0) {
			skip = n;
			break;
		}
	}
	if (len == 0)
		return NULL;
	phrase[skip] = phrase[len + 1] = '|';
	for (size_t i = 0; i < ING_ARRAY_LEN(types); i++) {
		if (memmem(types[i].phrases, strlen(types[i].phrases), phrase + skip,
			    len + 2 - skip) != NULL)
			return types[i].type;
	}
	return NULL;
}
