/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers of services in JSON, in the forms in which they come: what is found in each, and what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "found_helper.h"
#include "worker/document/publication/readers.h"

struct answer {
	const char *name;
	enum ing_publication_reader reader;
	enum ing_part_type type;
	const char *doi; /* that is asked for */
	const char *body, *want;
};

static void read_answer(
	const struct answer *a, const char *body, size_t bytes, struct ing_publication_found *found)
{
	const struct ing_publication_ask ask = {
		.reader = a->reader, .type = a->type, .doi = a->doi};
	const struct ing_publication_body b = {.url = "https://api.example/x",
		.mimetype = "application/json",
		.data = body,
		.bytes = bytes};
	*found = (struct ing_publication_found){.citations = -1};
	ing_publication_read(&ask, &b, found);
}

#define CROSSREF ING_READ_CROSSREF, ING_PART_TYPE_CROSSREF
#define DATACITE ING_READ_DATACITE, ING_PART_TYPE_DATACITE
#define OPENALEX ING_READ_OPENALEX, ING_PART_TYPE_OPENALEX
#define BIORXIV ING_READ_BIORXIV, ING_PART_TYPE_BIORXIV
#define DOAJ ING_READ_DOAJ, ING_PART_TYPE_DOAJ
#define UNPAYWALL ING_READ_UNPAYWALL, ING_PART_TYPE_OADOI

static const struct answer answers[] = {
	{"Unpaywall: an open work", UNPAYWALL, "10.1093/NAR/GKW199",
		"{\"doi\":\"10.1093/nar/gkw199\",\"doi_url\":\"https://doi.org/10.1093/nar/gkw199\","
		"\"title\":\"A &amp; B of <i>E. coli</i>\",\"genre\":\"journal-article\",\"is_paratext\":false,"
		"\"published_date\":\"2016-03-21\",\"year\":2016,\"journal_name\":\"Nucleic Acids Research\","
		"\"journal_issns\":\"0305-1048,1362-4962\",\"journal_is_oa\":false,\"publisher\":\"OUP\","
		"\"is_oa\":true,\"oa_status\":\"hybrid\",\"has_repository_copy\":true,"
		"\"best_oa_location\":{\"license\":\"cc-by\",\"url\":\"https://p.example/x.pdf\"},"
		"\"oa_locations\":["
		"{\"url\":\"https://p.example/x.pdf\",\"url_for_pdf\":\"https://p.example/x.pdf\","
		"\"url_for_landing_page\":\"https://doi.org/10.1093/nar/gkw199\",\"license\":\"cc-by\"},"
		"{\"url\":\"https://r.example/1\",\"url_for_pdf\":null,"
		"\"url_for_landing_page\":\"https://r.example/1\"},"
		"{\"url\":\"ftp://r.example/2\",\"url_for_pdf\":\"not a url\",\"url_for_landing_page\":3},"
		"7],\"z_authors\":[{\"given\":\"Ada\",\"family\":\"Byron\",\"sequence\":\"first\","
		"\"ORCID\":\"http://orcid.org/0000-0002-1825-0097\"},{\"raw_author_name\":\"Bo Lee\","
		"\"is_corresponding\":true},{\"affiliation\":[]}]}",
		"title oadoi A & B of E. coli\n"
		"link link_oadoi https://doi.org/10.1093/nar/gkw199\n"
		"link pdf_oadoi https://p.example/x.pdf\n"
		"link link_oadoi https://r.example/1\n"
		"author Ada Byron, https://orcid.org/0000-0002-1825-0097\n"
		"author Bo Lee *\n"
		"journal Nucleic Acids Research\ndate 2016-03-21\nlicence cc-by\npublisher OUP\noa\n"},
	{"Unpaywall: a closed one, dates that are a year, no journal", UNPAYWALL, "10.1/X",
		"{\"doi\":\"10.1/x\",\"title\":null,\"is_oa\":false,\"journal_name\":\"null\","
		"\"published_date\":\"1999-01-01\",\"best_oa_location\":null,\"oa_locations\":[],"
		"\"z_authors\":null}",
		"not-oa\n"},
	{"Unpaywall: none", UNPAYWALL, "10.1/X",
		"{\"HTTP_status_code\":404,\"error\":true,\"message\":\"'10.1/x' is an invalid doi.\"}",
		"no-record: '10.1/x' is an invalid doi.\n"},
	{"Unpaywall: another work", UNPAYWALL, "10.1/X", "{\"doi\":\"10.1/y\",\"title\":\"Y\"}",
		"wrong-record: it is about 10.1/y\n"},
	{"Unpaywall: a version of the work", UNPAYWALL, "10.1/X.1",
		"{\"doi\":\"10.1/x.1.v2\",\"title\":\"Title\"}", "title oadoi Title\n"},
	{"Unpaywall: no record at all", UNPAYWALL, "10.1/X", "{}",
		"bad-answer: the record has no \"doi\"\n"},

	{"Crossref: an article", CROSSREF, "10.1093/NAR/GKW199",
		"{\"status\":\"ok\",\"message-type\":\"work\",\"message-version\":\"1.0.0\",\"message\":{"
		"\"DOI\":\"10.1093/nar/gkw199\",\"type\":\"journal-article\",\"title\":[\"A &amp; B\"],"
		"\"subtitle\":[\"more of it\"],\"container-title\":[\"Nucleic Acids Research\"],"
		"\"publisher\":\"OUP\",\"subject\":[\"Genetics\"],\"is-referenced-by-count\":36,"
		"\"abstract\":\"<jats:title>Abstract</jats:title><jats:p>One &lt; two.</jats:p>"
		"<jats:p>Three.</jats:p>\","
		"\"published-print\":{\"date-parts\":[[2016,7,8]]},"
		"\"published-online\":{\"date-parts\":[[2016,3,21]]},"
		"\"issued\":{\"date-parts\":[[2016,3,21]]},\"created\":{\"date-parts\":[[2015,1,1]]},"
		"\"author\":[{\"given\":\"Ada\",\"family\":\"Byron\",\"sequence\":\"first\","
		"\"ORCID\":\"http://orcid.org/0000-0002-1825-0097\"},{\"name\":\"A Consortium\"},{}],"
		"\"license\":[{\"URL\":\"http://x.example/tdm\",\"content-version\":\"tdm\","
		"\"delay-in-days\":0},{\"URL\":\"http://creativecommons.org/licenses/by/4.0/\","
		"\"content-version\":\"vor\",\"delay-in-days\":0}],"
		"\"link\":[{\"URL\":\"http://p.example/1.pdf\",\"content-type\":\"application/pdf\","
		"\"intended-application\":\"text-mining\"},{\"URL\":\"http://p.example/2.pdf\","
		"\"content-type\":\"unspecified\",\"intended-application\":\"similarity-checking\"},"
		"{\"URL\":\"https://api.elsevier.com/content/article/PII:1?httpAccept=text/xml\","
		"\"content-type\":\"text/xml\",\"intended-application\":\"text-mining\"},"
		"{\"URL\":\"http://p.example/3.pdf?x\",\"content-type\":\"unspecified\","
		"\"intended-application\":\"text-mining\"},{\"URL\":\"http://p.example/4.xml\","
		"\"content-type\":\"text/xml\"},{\"URL\":\"http://p.example/5\","
		"\"content-type\":\"image/png\"}],\"reference\":[{\"DOI\":\"10.9/ref\"}]}}",
		"doi crossref 10.1093/NAR/GKW199\ntitle crossref A & B : more of it\n"
		"abstract crossref One < two.\n\nThree.\n"
		"link pdf_crossref http://p.example/1.pdf\nlink pdf_crossref http://p.example/3.pdf?x\n"
		"link link_crossref http://p.example/4.xml\n"
		"author Ada Byron, https://orcid.org/0000-0002-1825-0097\nauthor A Consortium\n"
		"journal Nucleic Acids Research\ndate 2016-03-21\n"
		"licence http://creativecommons.org/licenses/by/4.0/\npublisher OUP\ncited 36\noa\n"},
	{"Crossref: a preprint under an embargoed licence", CROSSREF, "10.1101/1",
		"{\"message\":{\"DOI\":\"10.1101/1\",\"type\":\"posted-content\",\"subtype\":\"preprint\","
		"\"title\":[],\"posted\":{\"date-parts\":[[2020,5,17]]},\"license\":[{\"URL\":"
		"\"http://creativecommons.org/licenses/by/4.0/\",\"content-version\":\"vor\","
		"\"delay-in-days\":365}],\"is-referenced-by-count\":-1}}",
		"doi crossref 10.1101/1\ndate 2020-05-17\n"
		"licence http://creativecommons.org/licenses/by/4.0/\npreprint\n"},
	{"Crossref: another work", CROSSREF, "10.1/X", "{\"message\":{\"DOI\":\"10.1/y\"}}",
		"wrong-record: it is about 10.1/y\n"},
	{"Crossref: a list of works", CROSSREF, "10.1/X", "{\"message\":{\"items\":[]}}",
		"bad-answer: there is no \"message\" with a \"DOI\"\n"},
	{"DataCite: a record of Zenodo", DATACITE, "10.5281/ZENODO.1",
		"{\"data\":{\"id\":\"10.5281/zenodo.1\",\"type\":\"dois\",\"attributes\":{"
		"\"doi\":\"10.5281/zenodo.1\",\"titles\":[{\"title\":\"Sub\",\"titleType\":\"Subtitle\"},"
		"{\"title\":\"\\u00dcber\",\"titleType\":\"TranslatedTitle\"},{\"title\":\"On &lt;i&gt;x&lt;/i&gt;\"}],"
		"\"creators\":[{\"name\":\"Byron, Ada\",\"givenName\":\"Ada\",\"familyName\":\"Byron\","
		"\"nameIdentifiers\":[{\"nameIdentifier\":\"https://orcid.org/0000-0002-1825-0097\","
		"\"nameIdentifierScheme\":\"ORCID\"}]},{\"name\":\"A Lab\",\"nameType\":\"Organizational\"}],"
		"\"publisher\":{\"name\":\"Zenodo\"},\"container\":{\"title\":\"J. of X\"},"
		"\"publicationYear\":2020,\"dates\":[{\"date\":\"2020\",\"dateType\":\"Issued\"},"
		"{\"date\":\"2020-05-17\",\"dateType\":\"Available\"}],"
		"\"subjects\":[{\"subject\":\"a\"},{\"subject\":\"b\"},{\"subject\":\"a\"}],"
		"\"descriptions\":[{\"description\":\"<p>One.</p>\",\"descriptionType\":\"Abstract\"},"
		"{\"description\":\"toc\",\"descriptionType\":\"TableOfContents\"},"
		"{\"description\":\"Two.\",\"descriptionType\":\"Abstract\"}],"
		"\"rightsList\":[{\"rights\":\"CC\",\"rightsUri\":\"https://creativecommons.org/licenses/by/4.0/legalcode\"}],"
		"\"types\":{\"resourceTypeGeneral\":\"Preprint\"},\"url\":\"https://zenodo.org/record/1\","
		"\"contentUrl\":[\"https://zenodo.org/record/1/files/a.pdf\",\"https://zenodo.org/x\"],"
		"\"citationCount\":3}}}",
		"doi datacite 10.5281/ZENODO.1\ntitle datacite On x : Sub\nkeywords datacite a; b\n"
		"abstract datacite One.\n\nTwo.\n"
		"link pdf_datacite https://zenodo.org/record/1/files/a.pdf\n"
		"link link_datacite https://zenodo.org/x\n"
		"author Ada Byron, https://orcid.org/0000-0002-1825-0097\nauthor A Lab\n"
		"journal J. of X\ndate 2020-05-17\n"
		"licence https://creativecommons.org/licenses/by/4.0/legalcode\npublisher Zenodo\n"
		"cited 3\noa\npreprint\n"},
	{"DataCite: an older form", DATACITE, "10.1/X",
		"{\"data\":{\"attributes\":{\"doi\":\"10.1/x\",\"publisher\":\"P\",\"rightsList\":[],"
		"\"contentUrl\":null,\"titles\":[{\"title\":\"T\",\"titleType\":null}]}}}",
		"doi datacite 10.1/X\ntitle datacite T\npublisher P\n"},
	{"DataCite: none", DATACITE, "10.1/X",
		"{\"errors\":[{\"status\":\"404\",\"title\":\"The resource you are looking for doesn't exist.\"}]}",
		"no-record: The resource you are looking for doesn't exist.\n"},
	{"OpenAlex: a work", OPENALEX, "10.1/X",
		"{\"id\":\"https://openalex.org/W1\",\"doi\":\"https://doi.org/10.1/x\",\"title\":\"A <i>b</i>\","
		"\"display_name\":\"no\",\"publication_date\":\"2016-03-21\",\"type\":\"article\","
		"\"ids\":{\"openalex\":\"https://openalex.org/W1\",\"doi\":\"https://doi.org/10.1/x\","
		"\"pmid\":\"https://pubmed.ncbi.nlm.nih.gov/27001\",\"pmcid\":"
		"\"https://www.ncbi.nlm.nih.gov/pmc/articles/4987/\"},"
		"\"primary_location\":{\"is_oa\":true,\"license\":\"cc-by\",\"source\":{\"display_name\":\"J\","
		"\"host_organization_name\":\"P\"},\"pdf_url\":\"https://p.example/1.pdf\"},"
		"\"open_access\":{\"is_oa\":true,\"oa_status\":\"gold\"},\"cited_by_count\":12,"
		"\"keywords\":[{\"display_name\":\"guess\"}],"
		"\"mesh\":[{\"descriptor_ui\":\"D1\",\"descriptor_name\":\"Mice\",\"qualifier_ui\":\"Q1\","
		"\"is_major_topic\":true},{\"descriptor_ui\":\"D1\",\"descriptor_name\":\"Mice\","
		"\"qualifier_ui\":\"\",\"is_major_topic\":false},{\"descriptor_ui\":\"D2\","
		"\"descriptor_name\":\"Rats\",\"qualifier_ui\":null,\"is_major_topic\":true},{\"descriptor_ui\":\"D3\",\"descriptor_name\":\"Dogs\",\"qualifier_ui\":\"\",\"is_major_topic\":true}],"
		"\"authorships\":[{\"author\":{\"display_name\":\"Ada Byron\","
		"\"orcid\":\"https://orcid.org/0000-0002-1825-0097\"},\"raw_author_name\":\"A. Byron\","
		"\"is_corresponding\":true},{\"author\":{\"display_name\":\"Bo\"}}],"
		"\"abstract_inverted_index\":{\"the\":[0,3],\"tide\":[1],\"of\":[2],\"sea\":[4],\"x\":[-1,99999999]}}",
		"pmid openalex 27001\npmcid openalex PMC4987\ndoi openalex 10.1/X\ntitle openalex A b\n"
		"mesh openalex Mice <D1>; Rats* <D2>; Dogs* <D3>\nabstract openalex the tide of the sea\n"
		"author A. Byron, https://orcid.org/0000-0002-1825-0097 *\nauthor Bo\n"
		"journal J\ndate 2016-03-21\nlicence cc-by\npublisher P\nopenalex W1\n"
		"cited 12\noa\n"},
	{"OpenAlex: none", OPENALEX, "10.1/X", "{\"error\":\"404 Not Found\",\"message\":\"…\"}",
		"no-record: 404 Not Found\n"},
	{"OpenAlex: a date that is known to the year", OPENALEX, "10.1/X",
		"{\"id\":\"https://openalex.org/W1\",\"publication_date\":\"2016-01-01\"}",
		"openalex W1\n"},
	{"OpenAlex: another work", OPENALEX, "10.1/X",
		"{\"id\":\"https://openalex.org/W1\",\"doi\":\"https://doi.org/10.1/y\"}",
		"wrong-record: it is about https://doi.org/10.1/y\n"},
	{"bioRxiv: the last version", BIORXIV, "10.1101/2020.03.10.986042",
		"{\"messages\":[{\"status\":\"ok\",\"category\":\"all\"}],\"collection\":["
		"{\"doi\":\"10.1101/2020.03.10.986042\",\"title\":\"Draft\",\"version\":\"1\",\"date\":\"2020-03-12\"},"
		"{\"doi\":\"10.1101/2020.03.10.986042\",\"title\":\"Final\",\"version\":\"10\",\"date\":\"2020-05-01\","
		"\"authors\":\"Byron, A.; Lee, B. C.;  Consortium\",\"author_corresponding\":\"Bo Lee\","
		"\"type\":\"new results\",\"license\":\"cc_by\",\"category\":\"ecology\",\"abstract\":\"One.\","
		"\"jatsxml\":\"https://b.example/content/early/2020/05/01/2020.03.10.986042.source.xml\","
		"\"published\":\"10.1038/x\",\"server\":\"bioRxiv\"},"
		"{\"doi\":\"10.1101/2020.03.10.986042\",\"title\":\"Second\",\"version\":\"2\"}]}",
		"doi biorxiv 10.1101/2020.03.10.986042\ntitle biorxiv Final\nabstract biorxiv One.\n"
		"link link_biorxiv https://b.example/content/early/2020/05/01/2020.03.10.986042.source.xml\n"
		"link pdf_biorxiv https://b.example/content/early/2020/05/01/2020.03.10.986042.full.pdf\n"
		"author A. Byron\nauthor Bo Lee *\nauthor Consortium\n"
		"journal bioRxiv\ndate 2020-05-01\nlicence cc_by\noa\npreprint\n"},
	{"bioRxiv: a corresponding author whom the list has not", BIORXIV, "10.1101/1",
		"{\"collection\":[{\"doi\":\"10.1101/1\",\"version\":1,\"authors\":\"Byron, A.;\","
		"\"author_corresponding\":\"Cy Doe\",\"license\":\"cc_no\",\"jatsxml\":\"https://b.example/x\"}]}",
		"doi biorxiv 10.1101/1\nauthor A. Byron\nauthor Cy Doe *\nlicence cc_no\npreprint\n"},
	{"bioRxiv: none", BIORXIV, "10.1101/1",
		"{\"messages\":[{\"status\":\"no posts found\"}],\"collection\":[]}",
		"no-record: no posts found\n"},
	{"DOAJ: the article with the DOI", DOAJ, "10.1/X",
		"{\"total\":2,\"page\":1,\"pageSize\":10,\"results\":[{\"bibjson\":{\"identifier\":"
		"[{\"type\":\"doi\",\"id\":\"10.1/y\"}],\"title\":\"Y\"}},{\"id\":\"a\",\"bibjson\":{\"identifier\":"
		"[{\"type\":\"eissn\",\"id\":\"1234-5678\"},{\"type\":\"DOI\",\"id\":\"10.1/x\"}],"
		"\"title\":\"X\",\"abstract\":\"One.\",\"keywords\":[\"a\",\"b\"],\"journal\":{\"title\":\"J\","
		"\"publisher\":\"P\"},\"author\":[{\"name\":\"Ada Byron\","
		"\"orcid_id\":\"https://orcid.org/0000-0002-1825-0097\"}],\"year\":\"2020\",\"month\":\"5\","
		"\"link\":[{\"type\":\"fulltext\",\"url\":\"https://j.example/1\",\"content_type\":\"HTML\"},"
		"{\"type\":\"fulltext\",\"url\":\"https://j.example/1/pdf\",\"content_type\":\"PDF\"},"
		"{\"type\":\"fulltext\",\"url\":\"https://j.example/2.pdf\"},"
		"{\"type\":\"homepage\",\"url\":\"https://j.example/\"}]}}]}",
		"doi doaj 10.1/X\ntitle doaj X\nkeywords doaj a; b\nabstract doaj One.\n"
		"link link_doaj https://j.example/1\nlink pdf_doaj https://j.example/1/pdf\n"
		"link pdf_doaj https://j.example/2.pdf\n"
		"author Ada Byron, https://orcid.org/0000-0002-1825-0097\njournal J\npublisher P\noa\n"},
	{"DOAJ: none", DOAJ, "10.1/X", "{\"total\":0,\"results\":[]}", "no-record: no article\n"},
	{"DOAJ: only another article", DOAJ, "10.1/X",
		"{\"results\":[{\"bibjson\":{\"identifier\":[{\"type\":\"doi\",\"id\":\"10.1/y\"}]}}]}",
		"wrong-record: it is about 10.1/y\n"},
};

static void answers_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		struct ing_publication_found found;
		read_answer(&answers[i], answers[i].body, strlen(answers[i].body), &found);
		assert_found(answers[i].name, &found, answers[i].want);
		ing_publication_found_done(&found);
	}
}

/* Whatever is cut or of another kind gives a status and no offer, from every reader. */
static void what_is_no_answer_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *body, *status;
	} bad[] = {{"", "bad-answer"}, {"<html>502</html>", "bad-answer"}, {"[]", "bad-answer"},
		{"{\"doi\":", "bad-answer"}, {"{\"doi\":\"\xff\"}", "bad-answer"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		for (size_t j = 0; j < ING_ARRAY_LEN(bad); j++) {
			struct ing_publication_found found;
			read_answer(&answers[i], bad[j].body, strlen(bad[j].body), &found);
			assert_string_equal(found.status, bad[j].status);
			assert_non_null(found.error_msg);
			assert_int_equal(found.offer_count + found.link_count, 0);
			ing_publication_found_done(&found);
		}
	}
}

/* Members of another type than they should have. */
static void members_of_other_types_are_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		/* Each text is a number, then each object a list. */
		static const char *const from[] = {":\"", ":{", ":["};
		static const char *const to[] = {":7,\"z", ":[{", ":{\"q\":["};
		for (size_t k = 0; k < ING_ARRAY_LEN(from); k++) {
			const char *body = answers[i].body, *at = body;
			while ((at = strstr(at, from[k])) != NULL) {
				struct ing_publication_found found;
				struct ing_buf b;
				ing_buf_init(&b, 1 << 20);
				ing_buf_printf(&b, "%.*s%s%s", (int)(at - body), body, to[k],
					at + strlen(from[k]));
				read_answer(&answers[i], ing_buf_str(&b), b.len, &found);
				assert_non_null(found.status);
				ing_publication_found_done(&found);
				ing_buf_done(&b);
				at++;
			}
		}
	}
}

static void an_answer_that_is_too_large_is_not_parsed(void **state)
{
	(void)state;
	size_t bytes = (size_t)9 << 20;
	char *body = malloc(bytes);
	struct ing_publication_found found;
	assert_non_null(body);
	memset(body, ' ', bytes);
	read_answer(&answers[0], body, bytes, &found);
	assert_string_equal(found.status, "too-large");
	ing_publication_found_done(&found);
	free(body);
}

static void a_byte_order_mark_is_passed_over(void **state)
{
	(void)state;
	static const char body[] = "\xef\xbb\xbf{\"doi\":\"10.1/x\",\"title\":\"Title\"}";
	struct ing_publication_found found;
	read_answer(&answers[1], body, sizeof(body) - 1, &found);
	assert_found("mark", &found, "title oadoi Title\n");
	ing_publication_found_done(&found);
}

#define FEED(inner)                                                                                        \
	"<?xml version='1.0' encoding='UTF-8'?><feed xmlns='http://www.w3.org/2005/Atom'>"                 \
	"<title type='html'>ArXiv Query</title><opensearch:totalResults>1</opensearch:totalResults>" inner \
	"</feed>"
#define ENTRY                                                                                       \
	"<entry><id>http://arxiv.org/abs/2101.00001v12</id><updated>2022-01-01T00:00:00Z</updated>" \
	"<published>2021-01-02T18:00:00Z</published><title>On $x$\n  &amp; y</title>"               \
	"<summary>  One.\nTwo.\n\nThree.</summary><author><name>Ada Byron</name></author>"          \
	"<author><name>Bo Lee</name><arxiv:affiliation>X</arxiv:affiliation></author>"              \
	"<arxiv:doi>10.1038/x</arxiv:doi><link title='doi' href='http://dx.doi.org/10.1038/x' "     \
	"rel='related'/><link href='http://arxiv.org/abs/2101.00001v12' rel='alternate' "           \
	"type='text/html'/><link title='pdf' href='http://arxiv.org/pdf/2101.00001v12' "            \
	"rel='related' type='application/pdf'/><category term='cs.DL'/></entry>"
#define ENTRY_LINES                                                                                \
	"doi arxiv 10.48550/ARXIV.2101.00001\ntitle arxiv On $x$ & y\n"                            \
	"abstract arxiv One. Two. Three.\nlink link_arxiv http://arxiv.org/abs/2101.00001v12\n"    \
	"link pdf_arxiv http://arxiv.org/pdf/2101.00001v12\nauthor Ada Byron\nauthor Bo Lee\n"     \
	"date 2021-01-02\npublisher arXiv\noa\npreprint\n"

static void arxiv_is_read(void **state)
{
	(void)state;
	static const struct reading_case cases[] = {
		{"an entry", FEED(ENTRY), ENTRY_LINES, {.doi = "10.48550/ARXIV.2101.00001"}},
		{"a version of it", FEED(ENTRY), ENTRY_LINES,
			{.doi = "10.48550/arXiv.2101.00001v3"}},
		{"by the DOI of what was published", FEED(ENTRY), ENTRY_LINES,
			{.doi = "10.1038/X"}},
		{"another paper", FEED(ENTRY), "wrong-record: it is about 2101.00001\n",
			{.doi = "10.48550/ARXIV.2101.00002"}},
		{"a longer number", FEED(ENTRY), "wrong-record: it is about 2101.00001\n",
			{.doi = "10.48550/ARXIV.2101.000011"}},
		{"an old identifier",
			FEED("<entry><id>http://arxiv.org/abs/hep-th/9901001v1</id>"
			     "<title>T</title></entry>"),
			"doi arxiv 10.48550/ARXIV.HEP-TH/9901001\ntitle arxiv T\npublisher arXiv\noa\n"
			"preprint\n",
			{.doi = "10.48550/ARXIV.HEP-TH/9901001"}},
		{"none", FEED(""), "no-record: no entry\n", {.doi = NULL}},
		{"an error",
			FEED("<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_x</id>"
			     "<title>Error</title><summary>incorrect id format for x</summary></entry>"),
			"no-record: incorrect id format for x\n", {.doi = NULL}},
		{"an identifier that is too long",
			FEED("<entry><id>http://arxiv.org/abs/"
			     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</id>"
			     "<title>T</title></entry>"),
			"no-record: no entry\n", {.doi = NULL}},
		{"no feed", "<html/>", "bad-answer: the root is not <feed>\n", {.doi = NULL}},
	};
	check_readings(ING_READ_ARXIV, ING_PART_TYPE_ARXIV, NULL, cases, ING_ARRAY_LEN(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(arxiv_is_read),
		cmocka_unit_test(what_is_no_answer_is_said),
		cmocka_unit_test(members_of_other_types_are_nothing),
		cmocka_unit_test(an_answer_that_is_too_large_is_not_parsed),
		cmocka_unit_test(a_byte_order_mark_is_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
