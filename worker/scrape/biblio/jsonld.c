/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schema.org descriptions in <script type="application/ld+json">. All scripts of the page are
 * parsed, their objects queued (arrays, @graph and mainEntity expanded), and the object whose type
 * is most like a publication is used. An object with only an @id refers to the queued one with that
 * @id.
 */
#include "worker/scrape/biblio/biblio_priv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/biblio/biblio.h"
#include "worker/scrape/biblio/ident.h"
#include "common/data/json_lenient.h"

#define MAX_SCRIPT_BYTES ((size_t)1 << 20)
#define MAX_TOTAL_BYTES ((size_t)4 << 20)
#define MAX_SCRIPTS 64
#define MAX_DEPTH 64       /* of JSON; real descriptions have ten */
#define MAX_VALUES 100000  /* of all scripts; 1,000 references with authors have 20,000 */
#define MAX_OBJECTS 4096   /* looked at for the publication */
#define MAX_PARENTS 16     /* isPartOf: issue, volume, journal, each with a few twins */
#define MAX_IDENTIFIERS 50 /* of the publication */

struct graph {
	struct ing_biblio_ctx *ctx;
	json_t *roots;                  /* array of what was parsed */
	size_t bytes_left, values_left; /* of all scripts together */
	const json_t **queue;           /* MAX_OBJECTS at most; borrowed of roots */
	size_t count;
	json_t *by_id; /* made at the first reference */
	const json_t *best;
	int best_rank;
	json_t *out;
};

/* Rank of a type as a publication, 0: none; release_type if the type implies one. */
static const struct {
	const char *name;
	int rank;
	const char *release_type;
} kinds[] = {
	{"ScholarlyArticle", 4, NULL},
	{"MedicalScholarlyArticle", 4, NULL},
	{"Thesis", 4, "thesis"},
	{"Chapter", 4, "chapter"},
	{"Report", 3, "report"},
	{"Dataset", 3, "dataset"},
	{"Book", 3, "book"},
	{"SoftwareSourceCode", 3, "software"},
	{"SoftwareApplication", 2, "software"},
	{"Article", 2, NULL},
	{"TechArticle", 2, NULL},
	{"Review", 1, "review"},
	{"NewsArticle", 2, "article-newspaper"},
	{"ReportageNewsArticle", 2, "article-newspaper"},
	{"BlogPosting", 2, "post-weblog"},
	{"CreativeWork", 1, NULL},
};

/* --- reading JSON values --- */

static bool type_is(const json_t *type, const char *name)
{
	const char *s = json_string_value(type);
	if (s == NULL)
		return false;
	size_t bytes = strlen(s), n = strlen(name);
	if (bytes < n || strcmp(s + bytes - n, name) != 0)
		return false;
	return bytes == n || strchr("/#:", s[bytes - n - 1]) != NULL;
}

static bool has_type(const json_t *object, const char *name)
{
	const json_t *type = json_object_get(object, "@type"), *item;
	size_t i;
	if (!json_is_array(type))
		return type_is(type, name);
	json_array_foreach (type, i, item) {
		if (i < 16 && type_is(item, name))
			return true;
	}
	return false;
}

/* Returns the queued object that an object with only an @id refers to; any other object itself. */
static const json_t *resolve(struct graph *g, const json_t *value)
{
	const char *id = json_string_value(json_object_get(value, "@id"));
	if (id == NULL || json_object_size(value) > 1)
		return value;
	if (g->by_id == NULL) {
		g->by_id = json_object();
		for (size_t i = 0; i < g->count; i++) {
			const char *key = json_string_value(json_object_get(g->queue[i], "@id"));
			if (key != NULL && json_object_size(g->queue[i]) > 1)
				json_object_set_new_nocheck(
					g->by_id, key, json_integer((json_int_t)i));
		}
	}
	const json_t *index = json_object_get(g->by_id, id);
	return index == NULL ? value : g->queue[json_integer_value(index)];
}

/* A value taken as a list: its i-th member, NULL behind the last. */
static const json_t *item_of(struct graph *g, const json_t *value, size_t i)
{
	if (json_is_array(value))
		return resolve(g, json_array_get(value, i));
	return i == 0 && value != NULL && !json_is_null(value) ? resolve(g, value) : NULL;
}

/* Returns the text of a value: itself, an object's @value or name, the first of a list. */
static const json_t *text_of(struct graph *g, const json_t *value)
{
	static const char *const keys[] = {
		"@value", "name", "alternateName", "headline", "value", "text", "url", "@id"};
	for (int depth = 0; depth < 4 && value != NULL; depth++) {
		const json_t *first = item_of(g, value, 0), *next = NULL;
		if (json_is_string(first) || json_is_integer(first))
			return first;
		for (size_t i = 0; i < ING_ARRAY_LEN(keys) && next == NULL; i++)
			next = json_object_get(first, keys[i]);
		value = next;
	}
	return NULL;
}

static json_t *make_text(struct graph *g, const json_t *value)
{
	const json_t *text = text_of(g, value);
	char digits[32];
	if (json_is_string(text))
		return ing_biblio_string(g->ctx, json_string_value(text), json_string_length(text));
	if (!json_is_integer(text))
		return NULL;
	int n = snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, json_integer_value(text));
	return ing_biblio_clean_string(g->ctx, digits, (size_t)n);
}

/* Set a key of the result, if it is not set and the value is something. */
static void set_value(struct graph *g, const char *key, json_t *value)
{
	if (value != NULL && json_object_get(g->out, key) == NULL)
		json_object_set_new_nocheck(g->out, key, value);
	else
		json_decref(value);
}

static void set_text(struct graph *g, const char *key, const json_t *object, const char *name)
{
	if (json_object_get(g->out, key) == NULL)
		set_value(g, key, make_text(g, json_object_get(object, name)));
}

/* --- finding the publication --- */

static void enqueue(struct graph *g, const json_t *value)
{
	const json_t *item;
	size_t i;
	if (json_is_object(value) && g->count < MAX_OBJECTS)
		g->queue[g->count++] = value;
	json_array_foreach (value, i, item) {
		if (json_is_object(item) && g->count < MAX_OBJECTS)
			g->queue[g->count++] = item;
	}
}

static int rank_of(const json_t *object)
{
	int rank = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (kinds[i].rank > rank && has_type(object, kinds[i].name))
			rank = kinds[i].rank;
	}
	return rank;
}

static void find_publication(struct graph *g)
{
	static const char *const inner[] = {"@graph", "mainEntity", "mainEntityOfPage"};
	const json_t *root;
	size_t r;
	json_array_foreach (g->roots, r, root)
		enqueue(g, root);
	for (size_t i = 0; i < g->count; i++) {
		int rank = rank_of(g->queue[i]);
		if (rank > g->best_rank) {
			g->best_rank = rank;
			g->best = g->queue[i];
		}
		for (size_t k = 0; k < ING_ARRAY_LEN(inner); k++)
			enqueue(g, json_object_get(g->queue[i], inner[k]));
	}
}

static void read_script(struct graph *g, ing_node script)
{
	const struct ing_tree *t = g->ctx->v->tree;
	for (ing_node n = script + 1; n < t->nodes[script].end; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		if (node->kind != ING_NODE_DATA && node->kind != ING_NODE_TEXT &&
			node->kind != ING_NODE_CDATA)
			continue;
		if (node->text.bytes > g->bytes_left)
			return;
		g->bytes_left -= node->text.bytes;
		json_t *root = ing_json_parse_lenient(node->text.data, node->text.bytes,
			MAX_SCRIPT_BYTES, MAX_DEPTH, &g->values_left);
		if (root != NULL)
			json_array_append_new(g->roots, root);
	}
}

/* The type without its parameters is JSON-LD's. */
static bool is_jsonld(const char *type, size_t bytes)
{
	static const char want[] = "application/ld+json";
	while (bytes > 0 && (unsigned char)*type <= ' ') {
		type++;
		bytes--;
	}
	if (bytes < sizeof(want) - 1 || strncasecmp(type, want, sizeof(want) - 1) != 0)
		return false;
	char behind = type[sizeof(want) - 1];
	return (unsigned char)behind <= ' ' || behind == ';';
}

static void read_scripts(struct graph *g)
{
	const struct ing_tree *t = g->ctx->v->tree;
	uint32_t count = 0, name = ing_tree_find_name(t, "script", 6);
	const ing_node *scripts = name == UINT32_MAX ? NULL : ing_tree_named(t, name, &count);
	uint32_t type_name = ing_tree_find_name(t, "type", 4);
	size_t seen = 0;
	for (uint32_t i = 0; i < count && seen < MAX_SCRIPTS; i++) {
		const struct ing_tree_attr *type =
			type_name == UINT32_MAX ? NULL : ing_tree_attr_of(t, scripts[i], type_name);
		if (type == NULL || !is_jsonld(type->value, type->bytes))
			continue;
		seen++;
		read_script(g, scripts[i]);
	}
}

/* --- what it says --- */

typedef bool find_f(const char *s, size_t bytes, struct ing_buf *ret);

static bool find_whole_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_ident_doi(s, bytes, false, ret);
}

static bool set_identifier(
	struct graph *g, const char *key, find_f *find, const char *s, size_t bytes)
{
	struct ing_buf id;
	ing_buf_init(&id, 4096);
	bool found = bytes <= 4096 && find(s, bytes, &id);
	if (found)
		set_value(g, key, ing_biblio_clean_string(g->ctx, id.data, id.len));
	ing_buf_done(&id);
	return found;
}

/* One identifier: a string, a PropertyValue, a URL. */
static void read_identifier(struct graph *g, const json_t *value)
{
	const json_t *given = json_object_get(value, "value");
	const json_t *text = text_of(g, given != NULL ? given : value);
	const char *kind = json_string_value(text_of(g, json_object_get(value, "propertyID")));
	const char *s = json_string_value(text);
	size_t bytes = json_string_length(text);
	if (s == NULL)
		return;
	if (set_identifier(g, "doi", find_whole_doi, s, bytes) ||
		set_identifier(g, "pmcid", ing_ident_pmcid, s, bytes))
		return;
	if (kind != NULL && strcasestr(kind, "pmid") != NULL)
		set_identifier(g, "pmid", ing_ident_pmid, s, bytes);
	else if (strncasecmp(s, "pmid", 4) == 0)
		set_identifier(g, "pmid", ing_ident_pmid_in, s, bytes);
}

static void read_identifiers(struct graph *g, const json_t *object)
{
	static const char *const keys[] = {"identifier", "sameAs", "@id", "url"};
	json_t *raw = json_array();
	for (size_t k = 0; k < ING_ARRAY_LEN(keys); k++) {
		const json_t *value = json_object_get(object, keys[k]), *item;
		for (size_t i = 0; i < MAX_IDENTIFIERS; i++) {
			item = item_of(g, value, i);
			if (item == NULL)
				break;
			read_identifier(g, item);
			const json_t *given = json_object_get(item, "value");
			if (k == 0)
				ing_biblio_append(raw, make_text(g, given != NULL ? given : item));
		}
	}
	set_value(g, "raw_identifiers", json_array_size(raw) > 0 ? json_incref(raw) : NULL);
	json_decref(raw);
}

/* The identifiers of a person: an ORCID iD among them. */
static void read_orcid(struct graph *g, json_t *contrib, const json_t *person)
{
	static const char *const keys[] = {"identifier", "sameAs", "@id", "url"};
	for (size_t k = 0; k < ING_ARRAY_LEN(keys); k++) {
		const json_t *value = json_object_get(person, keys[k]), *item;
		for (size_t i = 0; i < 20 && (item = item_of(g, value, i)) != NULL; i++) {
			const json_t *given = json_object_get(item, "value");
			const json_t *text = text_of(g, given != NULL ? given : item);
			if (json_is_string(text))
				ing_contrib_set_orcid(g->ctx, contrib, json_string_value(text),
					json_string_length(text));
		}
	}
}

static json_t *join_name(struct graph *g, const json_t *person)
{
	const json_t *given = text_of(g, json_object_get(person, "givenName"));
	const json_t *family = text_of(g, json_object_get(person, "familyName"));
	char name[1024];
	if (!json_is_string(given) || !json_is_string(family))
		return make_text(g, json_is_string(family) ? family : given);
	int n = snprintf(name, sizeof(name), "%.500s %.500s", json_string_value(given),
		json_string_value(family));
	size_t bytes = 0; /* %.500s may cut a character */
	for (size_t step; bytes < (size_t)n; bytes += step) {
		step = ing_utf8_sequence(name + bytes, (size_t)n - bytes);
		if (step == 0)
			break;
	}
	return ing_biblio_string(g->ctx, name, bytes);
}

static json_t *read_person(struct graph *g, const json_t *person)
{
	const char *link = json_string_value(person);
	bool is_link = link != NULL && strncasecmp(link, "http", 4) == 0;
	if (is_link || (link == NULL && !json_is_object(person)))
		return NULL;
	json_t *name = json_is_object(person) && json_object_get(person, "name") == NULL
			       ? join_name(g, person)
			       : make_text(g, person);
	if (name == NULL)
		return NULL;
	json_t *c = ing_contrib_new(g->ctx, name), *part;
	if (c == NULL)
		return NULL;
	static const char *const parts[][2] = {
		{"given_name", "givenName"}, {"surname", "familyName"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		part = make_text(g, json_object_get(person, parts[i][1]));
		if (part != NULL)
			json_object_set_new_nocheck(c, parts[i][0], part);
	}
	ing_contrib_split_name(g->ctx, c);
	if (!json_is_object(person))
		return c;
	const json_t *places = json_object_get(person, "affiliation"), *place;
	for (size_t i = 0; i < 20 && (place = item_of(g, places, i)) != NULL; i++) {
		const json_t *text = text_of(g, place);
		if (json_is_string(text))
			ing_contrib_add_affiliation(
				g->ctx, c, json_string_value(text), json_string_length(text));
	}
	read_orcid(g, c, person);
	const json_t *email = text_of(g, json_object_get(person, "email"));
	if (json_is_string(email))
		ing_contrib_set_email(
			g->ctx, c, json_string_value(email), json_string_length(email));
	return c;
}

static void read_people(struct graph *g, const json_t *object)
{
	static const char *const keys[] = {"author", "creator"};
	json_t *list = json_array();
	for (size_t k = 0; k < ING_ARRAY_LEN(keys) && json_array_size(list) == 0; k++) {
		const json_t *people = json_object_get(object, keys[k]), *person;
		for (size_t i = 0; (person = item_of(g, people, i)) != NULL; i++) {
			json_t *c = read_person(g, person);
			if (c != NULL && !ing_biblio_append(list, c))
				break;
		}
	}
	set_value(g, "contribs", json_array_size(list) > 0 ? json_incref(list) : NULL);
	json_decref(list);
}

static void read_lists(struct graph *g, const json_t *object)
{
	json_t *keywords = json_array(), *references = json_array();
	const json_t *values = json_object_get(object, "keywords"), *item, *text;
	for (size_t i = 0; (item = item_of(g, values, i)) != NULL; i++) {
		text = text_of(g, item);
		if (json_is_string(text))
			ing_biblio_append_split(g->ctx, keywords, json_string_value(text),
				json_string_length(text));
	}
	values = json_object_get(object, "citation");
	for (size_t i = 0; (item = item_of(g, values, i)) != NULL; i++) {
		json_t *reference = make_text(g, item);
		if (reference != NULL && !ing_biblio_append(references, reference))
			break;
	}
	set_value(g, "keywords", json_array_size(keywords) > 0 ? json_incref(keywords) : NULL);
	set_value(g, "raw_references",
		json_array_size(references) > 0 ? json_incref(references) : NULL);
	json_decref(keywords);
	json_decref(references);
}

/* "123-130", with any dash. */
static void read_pages(struct graph *g, const json_t *object)
{
	set_text(g, "first_page", object, "pageStart");
	set_text(g, "last_page", object, "pageEnd");
	const json_t *text = text_of(g, json_object_get(object, "pagination"));
	const char *s = json_string_value(text);
	if (s == NULL)
		return;
	size_t bytes = json_string_length(text), first = 0, behind;
	while (first < bytes && s[first] != '-' && (unsigned char)s[first] != 0xE2)
		first++;
	behind = first;
	while (behind < bytes && (s[behind] == '-' || (unsigned char)s[behind] >= 0x80))
		behind++;
	set_value(g, "first_page", ing_biblio_string(g->ctx, s, first));
	set_value(g, "last_page", ing_biblio_string(g->ctx, s + behind, bytes - behind));
}

static bool is_container(const json_t *object)
{
	static const char *const names[] = {"Periodical", "Journal", "Book", "BookSeries",
		"CreativeWorkSeries", "Newspaper", "Collection", "DataCatalog"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (has_type(object, names[i]))
			return true;
	}
	return false;
}

/* Issue, volume and journal: what each of them says about where the work was published. */
static void read_containers(struct graph *g, const json_t *object)
{
	const json_t *chain[MAX_PARENTS] = {object};
	size_t count = 1;
	for (size_t i = 0; i < count; i++) {
		const json_t *at = chain[i], *parents = json_object_get(at, "isPartOf"), *parent;
		set_text(g, "issue", at, "issueNumber");
		set_text(g, "volume", at, "volumeNumber");
		set_text(g, "container_issn", at, "issn");
		set_text(g, "isbn", at, "isbn");
		if (i > 0 && is_container(at))
			set_text(g, "container_name", at, "name");
		if (i > 0 && (has_type(at, "Periodical") || has_type(at, "Journal")))
			set_value(g, "in_periodical", json_true());
		set_text(g, "publisher", at, "publisher");
		for (size_t k = 0; count < MAX_PARENTS && (parent = item_of(g, parents, k)) != NULL;
			k++) {
			if (json_is_object(parent))
				chain[count++] = parent;
		}
	}
}

static void read_type(struct graph *g, const json_t *object)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (kinds[i].rank != g->best_rank || !has_type(object, kinds[i].name))
			continue;
		const char *type = kinds[i].release_type;
		/* an article of a journal is one that says so */
		if (type == NULL && kinds[i].rank > 1 && json_object_get(g->out, "in_periodical"))
			type = "article-journal";
		if (type != NULL)
			set_value(g, "release_type", json_string_nocheck(type));
	}
	json_object_del(g->out, "in_periodical");
}

static void read_publication(struct graph *g, const json_t *object)
{
	static const char *const texts[][2] = {{"title", "headline"}, {"title", "name"},
		{"subtitle", "alternativeHeadline"}, {"abstract", "abstract"},
		{"abstract", "description"}, {"lang", "inLanguage"}, {"date", "datePublished"},
		{"date", "dateCreated"}, {"date", "copyrightYear"}};
	const json_t *language = item_of(g, json_object_get(object, "inLanguage"), 0);
	set_text(g, "lang", language, "alternateName"); /* its code, rather than its name */
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		set_text(g, texts[i][0], object, texts[i][1]);
	const json_t *license = item_of(g, json_object_get(object, "license"), 0);
	if (json_object_get(license, "url") != NULL) /* rather than its name */
		set_text(g, "license", license, "url");
	set_text(g, "license", object, "license");
	read_identifiers(g, object);
	read_containers(g, object);
	read_pages(g, object);
	read_type(g, object);
	read_people(g, object);
	read_lists(g, object);
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_jsonld_read(struct ing_biblio_ctx *ctx)
{
	struct graph g = {.ctx = ctx,
		.roots = json_array(),
		.bytes_left = MAX_TOTAL_BYTES,
		.values_left = MAX_VALUES};
	read_scripts(&g);
	if (json_array_size(g.roots) > 0) {
		g.queue = ing_arena_alloc(ctx->v->arena, MAX_OBJECTS * sizeof(*g.queue));
		find_publication(&g);
	}
	if (g.best != NULL) {
		g.out = json_object();
		read_publication(&g, g.best);
	}
	json_decref(g.by_id);
	json_decref(g.roots);
	return g.out;
}
