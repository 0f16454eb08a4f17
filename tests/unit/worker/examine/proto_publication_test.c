/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an answer says of a publication, and a page as a web page, in an examiner's messages: what is put
 * comes back; what an honest examiner could not send is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/examine/proto.h"
#include "worker/examine/proto_parts.h"
#include "worker/examine/wire.h"
#include "worker/model/limits.h"

static char *repeat(char c, size_t count)
{
	char *s = ing_alloc(count + 1);
	memset(s, c, count);
	return s;
}

static void offer(struct ing_publication_found *p, enum ing_part_key part, const char *text)
{
	ing_publication_offer_text(p, part, ING_PART_TYPE_CITATION, text, strlen(text));
}

static void fill(struct ing_publication_found *p)
{
	*p = (struct ing_publication_found){.status = ing_strdup("success"),
		.journal_title = ing_strdup("Annalen für Prüfungen"),
		.pub_date = ing_strdup("2020-02-29"),
		.licence = ing_strdup("https://creativecommons.org/licenses/by/4.0/"),
		.publisher = ing_strdup("P & Q"),
		.openalex_id = ing_strdup("W2741809807"),
		.flags = ING_PUBLICATION_OA | ING_PUBLICATION_MANUSCRIPT,
		.citations = 0};
	offer(p, ING_PART_DOI, "10.1000/A%B");
	offer(p, ING_PART_TITLE, "Grüße");
	struct ing_publication_term *terms = ing_alloc(2 * sizeof(*terms));
	terms[0] = (struct ing_publication_term){
		.term = ing_strdup("Humans"), .uri = ing_strdup("D006801"), .major = true};
	terms[1] = (struct ing_publication_term){.term = ing_strdup("PCR"), .count = 7};
	ing_publication_offer_list(p, ING_PART_MESH, ING_PART_TYPE_PUBMED_XML, terms, 2);
	ing_publication_add_link(p, "https://example.org/a.pdf", ING_PART_TYPE_PDF_OADOI);
	ing_publication_add_author(
		p, (struct ing_publication_author){.name = ing_strdup("Ana Müller"),
			   .orcid = ing_strdup("https://orcid.org/0000-0002-1825-0097"),
			   .email = ing_strdup("a@example.org"),
			   .phone = ing_strdup("+49 30 1"),
			   .uri = ing_strdup("https://example.org/ana"),
			   .corresponding = true});
	ing_publication_add_author(
		p, (struct ing_publication_author){.name = ing_strdup("B. Other")});
}

static int decode(const struct ing_buf *b, size_t bytes, struct ing_publication_found *ret)
{
	struct ing_wire w;
	*ret = (struct ing_publication_found){.citations = -1};
	ing_wire_init(&w, b->data, bytes);
	ing_proto_get_publication(&w, ret);
	if (ing_wire_end(&w))
		return 0;
	ing_publication_found_done(ret);
	return -1;
}

static void encode(struct ing_buf *b, const struct ing_publication_found *p)
{
	ing_buf_init(b, ING_MAX_REPLY_BYTES);
	ing_proto_put_publication(b, p);
	assert_false(b->failed);
}

static void check_author(const struct ing_publication_author *a)
{
	assert_string_equal(a->name, "Ana Müller");
	assert_string_equal(a->orcid, "https://orcid.org/0000-0002-1825-0097");
	assert_string_equal(a->email, "a@example.org");
	assert_string_equal(a->phone, "+49 30 1");
	assert_string_equal(a->uri, "https://example.org/ana");
	assert_true(a->corresponding);
}

static void check_filled(const struct ing_publication_found *g)
{
	assert_string_equal(g->status, "success");
	assert_null(g->error_msg);
	assert_string_equal(g->journal_title, "Annalen für Prüfungen");
	assert_string_equal(g->pub_date, "2020-02-29");
	assert_string_equal(g->licence, "https://creativecommons.org/licenses/by/4.0/");
	assert_string_equal(g->publisher, "P & Q");
	assert_string_equal(g->openalex_id, "W2741809807");
	assert_int_equal(g->flags, ING_PUBLICATION_OA | ING_PUBLICATION_MANUSCRIPT);
	assert_int_equal(g->citations, 0);
	assert_int_equal(g->offer_count, 3);
	assert_int_equal(g->offers[0].part, ING_PART_DOI);
	assert_int_equal(g->offers[0].type, ING_PART_TYPE_CITATION);
	assert_string_equal(g->offers[0].text, "10.1000/A%B");
	assert_string_equal(g->offers[1].text, "Grüße");
	assert_null(g->offers[2].text);
	assert_int_equal(g->offers[2].term_count, 2);
	assert_string_equal(g->offers[2].terms[0].uri, "D006801");
	assert_true(g->offers[2].terms[0].major);
	assert_null(g->offers[2].terms[1].uri);
	assert_int_equal(g->offers[2].terms[1].count, 7);
	assert_int_equal(g->link_count, 1);
	assert_string_equal(g->links[0].url, "https://example.org/a.pdf");
	assert_int_equal(g->links[0].type, ING_PART_TYPE_PDF_OADOI);
	assert_int_equal(g->author_count, 2);
	check_author(&g->authors[0]);
	assert_null(g->authors[1].email);
	assert_false(g->authors[1].corresponding);
}

static void comes_back_in_a_reply(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	ing_findings_init(&f);
	memcpy(f.file.mimetype, "text/xml", sizeof("text/xml"));
	fill(&f.publication);
	f.webpage = (struct ing_webpage_found){.read = true,
		.rule = ing_strdup("^x"),
		.title = ing_strdup("T"),
		.content = ing_strdup("C"),
		.license = ing_strdup("L"),
		.language = ing_strdup("en, de")};
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&b, &f);
	assert_int_equal(ing_proto_get_reply(
				 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &g),
		0);
	check_filled(&g.publication);
	assert_true(g.webpage.read);
	assert_string_equal(g.webpage.rule, "^x");
	assert_string_equal(g.webpage.title, "T");
	assert_string_equal(g.webpage.content, "C");
	assert_string_equal(g.webpage.license, "L");
	assert_string_equal(g.webpage.language, "en, de");
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

static void is_refused_when_cut(void **state)
{
	struct ing_publication_found p, g;
	struct ing_buf b;
	(void)state;
	fill(&p);
	encode(&b, &p);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(decode(&b, n, &g), -1);
	ing_publication_found_done(&p);
	ing_buf_done(&b);
}

static bool is_sound(const struct ing_publication_found *p)
{
	bool good = p->flags < 2 * ING_PUBLICATION_MANUSCRIPT && p->citations >= -1;
	for (uint32_t i = 0; i < p->offer_count; i++) {
		const struct ing_publication_offer *o = &p->offers[i];
		good = good && o->part < ING_PARTS_ && o->type < ING_PART_TYPES_;
		good = good && ing_part_is_list((enum ing_part_key)o->part) == (o->text == NULL);
		good = good && (o->text == NULL ? o->term_count > 0 : o->text[0] != '\0');
		for (uint32_t k = 0; k < o->term_count; k++)
			good = good && o->terms[k].term != NULL && o->terms[k].term[0] != '\0';
	}
	for (uint32_t i = 0; i < p->link_count; i++)
		good = good && ing_proto_is_sendable_url(p->links[i].url) &&
		       p->links[i].type < ING_PART_TYPES_;
	for (uint32_t i = 0; i < p->author_count; i++)
		good = good &&
		       (p->authors[i].uri == NULL || ing_proto_is_sendable_url(p->authors[i].uri));
	return good;
}

/* Every byte set to every value: decoded or refused, but never believed into nonsense. */
static void is_sound_with_a_wrong_byte(void **state)
{
	struct ing_publication_found p, g;
	struct ing_buf b;
	size_t decoded = 0;
	(void)state;
	fill(&p);
	encode(&b, &p);
	for (size_t i = 0; i < b.len; i++) {
		char was = b.data[i];
		for (unsigned v = 0; v < 256; v++) {
			b.data[i] = (char)(uint8_t)v;
			if (decode(&b, b.len, &g) != 0)
				continue;
			decoded++;
			assert_true(is_sound(&g));
			ing_publication_found_done(&g);
		}
		b.data[i] = was;
	}
	assert_true(decoded > b.len);
	ing_publication_found_done(&p);
	ing_buf_done(&b);
}

/* --- what an examiner that was taken over might send --- */

static void set(char **field, const char *value)
{
	free(*field);
	*field = value != NULL ? ing_strdup(value) : NULL;
}

static void odd_date(struct ing_publication_found *p)
{
	set(&p->pub_date, "2020-13-01");
}
static void odd_openalex(struct ing_publication_found *p)
{
	set(&p->openalex_id, "W1/..");
}
static void odd_link(struct ing_publication_found *p)
{
	set(&p->links[0].url, "file:///etc/passwd");
}
static void odd_uri(struct ing_publication_found *p)
{
	set(&p->authors[0].uri, "javascript:alert(1)");
}
static void odd_orcid(struct ing_publication_found *p)
{
	set(&p->authors[0].orcid, "0000-0002-1825-0097");
}
static void empty_term(struct ing_publication_found *p)
{
	set(&p->offers[2].terms[1].term, "");
}
static void many_citations(struct ing_publication_found *p)
{
	p->citations = INT64_MAX;
}
static void strange_flags(struct ing_publication_found *p)
{
	p->flags = 1u << 30;
}
static void long_term(struct ing_publication_found *p)
{
	free(p->offers[2].terms[0].term);
	p->offers[2].terms[0].term = repeat('t', 100000);
}
static void text_as_a_list(struct ing_publication_found *p)
{
	p->offers[0].part = ING_PART_EFO;
}
static void type_of_no_kind(struct ing_publication_found *p)
{
	p->offers[1].type = ING_PART_TYPES_;
}

/* What cannot be sent is left out, and the rest is there. */
static void leaves_out_what_is_odd(void **state)
{
	static const struct {
		const char *name;
		void (*spoil)(struct ing_publication_found *p);
		const char *status;
		uint32_t offers, links;
	} cases[] = {
		{"date of no month", odd_date, "success", 3, 1},
		{"id of a path", odd_openalex, "success", 3, 1},
		{"link to a file", odd_link, "success", 3, 0},
		{"author's script", odd_uri, "success", 3, 1},
		{"ORCID that is no URL", odd_orcid, "success", 3, 1},
		{"term of no text", empty_term, "success", 3, 1},
		{"more citations than there are papers", many_citations, "success", 3, 1},
		{"unknown flags", strange_flags, "success", 3, 1},
		{"term of a whole text", long_term, "success", 3, 1},
		{"text as a list", text_as_a_list, "too-large", 2, 1},
		{"type of no kind", type_of_no_kind, "too-large", 2, 1},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_publication_found p, g;
		struct ing_buf b;
		fill(&p);
		cases[i].spoil(&p);
		encode(&b, &p);
		if (decode(&b, b.len, &g) != 0)
			fail_msg("%s: refused", cases[i].name);
		if (strcmp(g.status, cases[i].status) != 0 || g.offer_count != cases[i].offers ||
			g.link_count != cases[i].links || !is_sound(&g))
			fail_msg("%s: %s, %u offers, %u links", cases[i].name, g.status,
				g.offer_count, g.link_count);
		ing_publication_found_done(&g);
		ing_publication_found_done(&p);
		ing_buf_done(&b);
	}
}

/* --- the largest --- */

static void add_big_offers(struct ing_publication_found *p)
{
	char *text = repeat('x', ING_MAX_PUBLICATION_TEXT_BYTES);
	for (unsigned i = 0; i < 5; i++)
		offer(p, ING_PART_FULLTEXT, text);
	free(text);
}

static void add_big_authors(struct ing_publication_found *p)
{
	for (uint32_t i = p->author_count; i < ING_MAX_PUBLICATION_AUTHORS; i++)
		ing_publication_add_author(
			p, (struct ing_publication_author){.name = repeat('a', 900)});
}

/* Offers that do not fit go, from the first that does not on those that still do stay; and it is said. */
static void fits_into_a_reply_whatever_it_is(void **state)
{
	struct ing_findings f, g;
	struct ing_buf b;
	(void)state;
	ing_findings_init(&f);
	memcpy(f.file.mimetype, "text/xml", sizeof("text/xml"));
	fill(&f.publication);
	add_big_offers(&f.publication);
	add_big_authors(&f.publication);
	offer(&f.publication, ING_PART_ABSTRACT, "short");
	f.xml.status = ing_strdup("success");
	f.xml.jats_xml = repeat('j', ING_MAX_JATS_BYTES);
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&b, &f);
	assert_false(b.failed);
	assert_int_equal(ing_proto_get_reply(
				 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &g),
		0);
	assert_string_equal(g.publication.status, "too-large");
	assert_int_equal(g.publication.offer_count, 3 + 1 + 1);
	assert_string_equal(g.publication.offers[4].text, "short");
	assert_in_range(g.publication.author_count, 2000, 2400);
	ing_findings_done(&g);
	ing_findings_done(&f);
	ing_buf_done(&b);
}

/* --- the question --- */

static void is_asked_for(void **state)
{
	const struct ing_publication_ask ask = {.reader = ING_READ_DOAJ,
		.type = ING_PART_TYPE_DOAJ,
		.pmid = "1",
		.doi = "10.1/A B",
		.parts = 1u << ING_PART_TITLE};
	struct ing_exam_request q = {
		.url = "http://a/", .want = ING_WANT_PUBLICATION, .publication = &ask};
	struct ing_proto_request o;
	struct ing_buf b;
	(void)state;
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_EXAM_REQUEST_BYTES);
	ing_proto_put_request(&b, &q, 1, 2);
	const char *payload = b.data + ING_PROTO_HEAD_BYTES;
	size_t bytes = b.len - ING_PROTO_HEAD_BYTES;
	assert_int_equal(ing_proto_get_request(payload, bytes, &o), 0);
	const struct ing_publication_ask *got = o.q.publication;
	assert_int_equal(got->reader, ING_READ_DOAJ);
	assert_int_equal(got->type, ING_PART_TYPE_DOAJ);
	assert_string_equal(got->pmid, "1");
	assert_null(got->pmcid);
	assert_string_equal(got->doi, "10.1/A B");
	assert_int_equal(got->parts, 1u << ING_PART_TITLE);
	ing_proto_request_done(&o);
	for (size_t n = 0; n < bytes; n++)
		assert_int_equal(ing_proto_get_request(payload, n, &o), -ING_FAIL_INVALID);
	/* Somebody must say how to read it. */
	q.publication = NULL;
	ing_buf_clear(&b);
	ing_proto_put_request(&b, &q, 1, 2);
	assert_int_equal(ing_proto_get_request(
				 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &o),
		-ING_FAIL_INVALID);
	ing_buf_done(&b);
}

static void is_asked_for_with_a_wrong_byte(void **state)
{
	const struct ing_publication_ask ask = {
		.reader = ING_READ_PAGE, .type = ING_PART_TYPE_DOI, .pmid = "1", .doi = "10.1/A"};
	struct ing_buf b;
	(void)state;
	ing_buf_init(&b, 1000);
	ing_proto_put_publication_ask(&b, &ask);
	for (size_t i = 0; i < b.len; i++) {
		char was = b.data[i];
		for (unsigned v = 0; v < 256; v++) {
			struct ing_proto_publication_ask got = {0};
			struct ing_wire w;
			b.data[i] = (char)(uint8_t)v;
			ing_wire_init(&w, b.data, b.len);
			if (ing_proto_get_publication_ask(&w, &got))
				assert_true(got.ask.reader < ING_PUBLICATION_READERS_ &&
					    got.ask.type < ING_PART_TYPES_);
			free(got.pmid);
			free(got.pmcid);
			free(got.doi);
		}
		b.data[i] = was;
	}
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_in_a_reply),
		cmocka_unit_test(is_refused_when_cut),
		cmocka_unit_test(is_sound_with_a_wrong_byte),
		cmocka_unit_test(leaves_out_what_is_odd),
		cmocka_unit_test(fits_into_a_reply_whatever_it_is),
		cmocka_unit_test(is_asked_for),
		cmocka_unit_test(is_asked_for_with_a_wrong_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
