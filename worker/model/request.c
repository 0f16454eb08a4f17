/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Limits on size and nesting are checked before the bytes are parsed.
 */
#include "worker/model/request.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "common/net/url_mask.h"
#include "worker/model/limits.h"
#include "worker/model/part_type.h"

#define MAX_EXPECT_MIMETYPES 64
#define MAX_QUOTED_BYTES 40 /* of a bad value, in a message about it */

static int load(const char *json, size_t bytes, json_t **ret, struct ing_error *err)
{
	if (bytes > ING_MAX_REQUEST_BYTES)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "request: longer than %zu bytes",
			ING_MAX_REQUEST_BYTES);
	if (!ing_utf8_valid(json, bytes))
		return ing_error_set(err, ING_FAIL_ENCODING, "request: not valid UTF-8");
	static const struct ing_json_limits limits = {
		.depth = ING_MAX_REQUEST_DEPTH, .flags = ING_JSON_NUL};
	struct ing_error parse_err = {0};
	json_t *root = ing_json_parse(json, bytes, &limits, &parse_err);
	if (root == NULL)
		return ing_error_at(err, parse_err.code, parse_err.line, parse_err.column,
			"request: %s", parse_err.msg);
	if (!json_is_object(root)) {
		json_decref(root);
		return ing_error_set(err, ING_FAIL_INVALID, "request: not a JSON object");
	}
	*ret = root;
	return 0;
}

/* A string field without U+0000; NULL when absent or null. */
static int get_string(json_t *obj, const char *name, const char **ret, struct ing_error *err)
{
	*ret = NULL;
	json_t *v = json_object_get(obj, name);
	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return ing_error_set(err, ING_FAIL_INVALID, "%s: not a string", name);
	const char *s = json_string_value(v);
	if (strlen(s) != json_string_length(v))
		return ing_error_set(err, ING_FAIL_INVALID, "%s: contains U+0000", name);
	*ret = s;
	return 0;
}

/* Errors quote the request, and are logged and sent in the headers of dead letters. */
static int mask_error(int rc, struct ing_error *err)
{
	struct ing_buf masked;
	if (rc == 0 || err == NULL)
		return rc;
	ing_buf_init(&masked, sizeof(err->msg) * 4);
	if (ing_url_mask_text(err->msg, strlen(err->msg), &masked))
		snprintf(err->msg, sizeof(err->msg), "%s", ing_buf_str(&masked));
	ing_buf_done(&masked);
	return rc;
}

static int read_type(struct ing_request *r, struct ing_error *err)
{
	const char *name;
	int rc = get_string(r->json, "ingest_type", &name, err);
	if (rc != 0)
		return rc;
	if (name == NULL)
		return ing_error_set(err, ING_FAIL_INVALID, "ingest_type: missing");
	r->type_alias = ing_ingest_type_alias(name);
	if (ing_ingest_type_find(name, &r->type))
		return 0;
	return ing_error_set(err, ING_FAIL_INVALID, "ingest_type: \"%.*s\" is none of%s",
		(int)ing_utf8_cut(name, strlen(name), MAX_QUOTED_BYTES), name,
		ing_ingest_type_names);
}

/* Of the members as received: before an alias or a base_url is replaced. */
static void compute_key(struct ing_request *r)
{
	ing_request_key(ing_json_get_text(r->json, "ingest_type"),
		ing_json_get_text(r->json, "base_url"), ing_json_get_text(r->json, "link_source"),
		ing_json_get_text(r->json, "link_source_id"), r->key);
}

/* Percent-encodes everything that would end or change the path of a URL. */
static void add_path_text(struct ing_buf *to, const char *s)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		if (c <= 0x20 || c >= 0x7f || strchr("\"#%<>?\\^`{|}", c) != NULL)
			ing_buf_printf(to, "%%%02X", c);
		else
			ing_buf_add_char(to, (char)c);
	}
}

static const char *skip_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncasecmp(s, prefix, n) == 0 ? s + n : s;
}

/* An identifier that a request may start from, and its address. */
struct start_id {
	const char *id, *strip, *url, *tail;
};

static const struct start_id document_starts[] = {
	{"doi", "doi:", "https://doi.org/", ""},
	{"arxiv", "arxiv:", "https://arxiv.org/abs/", ""},
	{"pmcid", "", "https://www.ncbi.nlm.nih.gov/pmc/articles/", "/"},
	{NULL, NULL, NULL, NULL},
};

/* In the order in which identifiers are a publication's name. */
static const struct start_id publication_starts[] = {
	{"pmid", "pmid:", "https://pubmed.ncbi.nlm.nih.gov/", "/"},
	{"pmcid", "PMC", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC", "/"},
	{"doi", "doi:", "https://doi.org/", ""},
	{"arxiv", "arxiv:", "https://arxiv.org/abs/", ""},
	{NULL, NULL, NULL, NULL},
};

static int get_ext_ids(const struct ing_request *r, json_t **ret, struct ing_error *err)
{
	*ret = json_object_get(r->json, "ext_ids");
	if (*ret != NULL && !json_is_null(*ret) && !json_is_object(*ret))
		return ing_error_set(err, ING_FAIL_INVALID, "ext_ids: not an object");
	return 0;
}

static void set_base_url(struct ing_request *r, const struct start_id *start, const char *id)
{
	struct ing_buf url;
	ing_buf_init(&url, 4 * ING_MAX_REQUEST_BYTES);
	ing_buf_add_str(&url, start->url);
	add_path_text(&url, skip_prefix(id, start->strip));
	ing_buf_add_str(&url, start->tail);
	ing_json_set_text(r->json, "base_url", ing_buf_str(&url));
	ing_buf_done(&url);
	r->base_url = ing_json_get_text(r->json, "base_url");
	ing_must(r->base_url != NULL);
	r->derived = true;
}

/* Without a base_url, the address of the first identifier is used. */
static int derive_base_url(struct ing_request *r, struct ing_error *err)
{
	bool is_publication = r->type == ING_INGEST_PUBLICATION;
	const struct start_id *start = is_publication ? publication_starts : document_starts;
	json_t *ids;
	int rc = get_ext_ids(r, &ids, err);
	for (; rc == 0 && start->id != NULL; start++) {
		const char *id;
		rc = get_string(ids, start->id, &id, err);
		if (rc != 0 || id == NULL || id[0] == '\0')
			continue;
		set_base_url(r, start, id);
		return 0;
	}
	if (rc != 0)
		return rc;
	return ing_error_set(err, ING_FAIL_INVALID,
		"base_url: missing, and ext_ids has no %sdoi, arxiv or pmcid to start from",
		is_publication ? "pmid, " : "");
}

/* --- publications --- */

static int get_id(json_t *ids, const char *name, const char **ret, struct ing_error *err)
{
	int rc = get_string(ids, name, ret, err);
	if (rc == 0 && *ret != NULL && (*ret)[0] == '\0')
		*ret = NULL;
	return rc;
}

/* A list of names of parts as bits; 0 when it is absent or empty. */
static int read_parts(json_t *json, const char *name, unsigned *ret, struct ing_error *err)
{
	json_t *v = json_object_get(json, name);
	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_array(v))
		return ing_error_set(err, ING_FAIL_INVALID, "%s: not a list", name);
	for (size_t i = 0; i < json_array_size(v); i++) {
		const char *part = json_string_value(json_array_get(v, i));
		enum ing_part_key key = part != NULL ? ing_part_of_name(part) : ING_PARTS_;
		if (key == ING_PARTS_)
			return ing_error_set(err, ING_FAIL_INVALID,
				"%s: entry %zu is no part of a publication", name, i + 1);
		*ret |= 1u << key;
	}
	return 0;
}

static int read_wanted(struct ing_request *r, struct ing_error *err)
{
	const unsigned all = (1u << ING_PARTS_) - 1;
	unsigned parts = 0;
	unsigned not_parts = 0;
	int rc = read_parts(r->json, "parts", &parts, err);
	if (rc == 0)
		rc = read_parts(r->json, "not_parts", &not_parts, err);
	if (rc != 0)
		return rc;
	unsigned wanted = (parts != 0 ? parts : all) & ~not_parts;
	if (wanted == 0)
		return ing_error_set(err, ING_FAIL_INVALID, "not_parts: no part is left");
	r->publication.parts = wanted != all ? wanted : 0;
	return 0;
}

static int read_resource(struct ing_request *r, struct ing_error *err)
{
	static const char *const names[] = {
#define RESOURCE(id, name, reader, type) name,
#include "worker/model/publication_resource.def"
	};
	const char *name;
	int rc = get_string(r->json, "resource", &name, err);
	if (rc != 0 || name == NULL)
		return rc;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			r->publication.resource = name;
	if (r->publication.resource == NULL)
		return ing_error_set(err, ING_FAIL_INVALID, "resource: there is no \"%.*s\"",
			(int)ing_utf8_cut(name, strlen(name), MAX_QUOTED_BYTES), name);
	return 0;
}

/* The members of these names are other types' own business. */
static int read_publication(struct ing_request *r, struct ing_error *err)
{
	struct ing_request_publication *p = &r->publication;
	json_t *quick = json_object_get(r->json, "quick");
	json_t *ids;
	if (r->type != ING_INGEST_PUBLICATION)
		return 0;
	int rc = get_ext_ids(r, &ids, err);
	if (rc == 0)
		rc = get_id(ids, "pmid", &p->pmid, err);
	if (rc == 0)
		rc = get_id(ids, "pmcid", &p->pmcid, err);
	if (rc == 0)
		rc = get_id(ids, "doi", &p->doi, err);
	if (rc == 0)
		rc = get_id(ids, "arxiv", &p->arxiv, err);
	if (rc == 0)
		rc = read_wanted(r, err);
	if (rc == 0)
		rc = read_resource(r, err);
	if (rc != 0)
		return rc;
	p->quick = json_is_true(quick);
	if (quick != NULL && !json_is_null(quick) && !json_is_boolean(quick))
		return ing_error_set(err, ING_FAIL_INVALID, "quick: neither true nor false");
	return 0;
}

static int read_mimetypes(struct ing_request *r, struct ing_error *err)
{
	json_t *v = json_object_get(r->json, "expect_mimetypes");
	if (v == NULL || json_is_null(v))
		return 0;
	size_t n = json_is_string(v) ? 1 : json_array_size(v);
	if ((!json_is_string(v) && !json_is_array(v)) || n > MAX_EXPECT_MIMETYPES)
		return ing_error_set(err, ING_FAIL_INVALID,
			"expect_mimetypes: not a list of at most %d strings", MAX_EXPECT_MIMETYPES);
	const char **list = ing_alloc((n + 1) * sizeof(*list));
	r->expect_mimetypes = list;
	for (size_t i = 0; i < n; i++) {
		list[i] = json_string_value(json_is_string(v) ? v : json_array_get(v, i));
		if (list[i] == NULL)
			return ing_error_set(err, ING_FAIL_INVALID,
				"expect_mimetypes: entry %zu is not a string", i + 1);
	}
	if (n == 0) {
		free(list);
		r->expect_mimetypes = NULL;
	}
	return 0;
}

static int read_hash(
	json_t *obj, const char *name, size_t digits, const char **ret, struct ing_error *err)
{
	const char *s;
	int rc = get_string(obj, name, &s, err);
	if (rc != 0 || s == NULL)
		return rc;
	if (strlen(s) != digits || strspn(s, "0123456789abcdefABCDEF") != digits)
		return ing_error_set(
			err, ING_FAIL_INVALID, "expect_hash.%s: not %zu hex digits", name, digits);
	*ret = s;
	return 0;
}

static int read_hashes(struct ing_request *r, struct ing_error *err)
{
	static const char *const names[][3] = {
		{"md5", "sha1", "sha256"}, {"md5hex", "sha1hex", "sha256hex"}};
	json_t *v = json_object_get(r->json, "expect_hash");
	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_object(v))
		return ing_error_set(err, ING_FAIL_INVALID,
			"expect_hash: not an object with md5, sha1 or sha256");
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		int rc = read_hash(v, names[i][0], 32, &r->expect_md5, err);
		if (rc == 0)
			rc = read_hash(v, names[i][1], 40, &r->expect_sha1, err);
		if (rc == 0)
			rc = read_hash(v, names[i][2], 64, &r->expect_sha256, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int read_existing(struct ing_request *r, struct ing_error *err)
{
	json_t *force = json_object_get(r->json, "force_recrawl");
	json_t *age = json_object_get(r->json, "skip_existing_max_age_ms");
	r->force_recrawl = json_is_true(force);
	r->skip_existing_max_age_ms = -1;
	if (force != NULL && !json_is_null(force) && !json_is_boolean(force))
		return ing_error_set(
			err, ING_FAIL_INVALID, "force_recrawl: neither true nor false");
	if (age == NULL || json_is_null(age))
		return 0;
	if (!json_is_integer(age) || json_integer_value(age) < 0)
		return ing_error_set(err, ING_FAIL_INVALID,
			"skip_existing_max_age_ms: not an integer of 0 or more");
	r->skip_existing_max_age_ms = json_integer_value(age);
	return 0;
}

static int read_fields(struct ing_request *r, struct ing_error *err)
{
	int rc = read_type(r, err);
	if (rc == 0)
		rc = get_string(r->json, "base_url", &r->base_url, err);
	if (rc == 0)
		rc = get_string(r->json, "link_source", &r->link_source, err);
	if (rc == 0)
		rc = get_string(r->json, "link_source_id", &r->link_source_id, err);
	if (rc == 0)
		rc = get_string(r->json, "ingest_request_source", &r->ingest_request_source, err);
	if (rc == 0)
		rc = get_string(r->json, "release_stage", &r->release_stage, err);
	if (rc == 0)
		rc = read_mimetypes(r, err);
	if (rc == 0)
		rc = read_hashes(r, err);
	if (rc == 0)
		rc = read_existing(r, err);
	if (rc == 0)
		rc = read_publication(r, err);
	if (rc != 0)
		return rc;
	compute_key(r);
	if (r->base_url == NULL)
		rc = derive_base_url(r, err);
	else if (r->base_url[0] == '\0')
		rc = ing_error_set(err, ING_FAIL_INVALID, "base_url: empty");
	if (rc != 0)
		return rc;
	ing_json_set_text(r->json, "ingest_type", ing_ingest_type_name(r->type));
	r->ingest_type = ing_json_get_text(r->json, "ingest_type");
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_request_key(const char *ingest_type, const char *base_url, const char *link_source,
	const char *link_source_id, char ret[41])
{
	const char *const parts[] = {ingest_type, base_url, link_source, link_source_id};
	struct ing_buf id;
	ing_buf_init(&id, SIZE_MAX / 8);
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		if (i > 0)
			ing_buf_add_char(&id, '\t');
		ing_buf_add_str(&id, parts[i] != NULL ? parts[i] : "");
	}
	ing_must(!id.failed);
	struct ing_digests d;
	ing_digest(ING_DIGEST_SHA1, ing_buf_str(&id), id.len, &d);
	ing_hex_encode(d.sha1, sizeof(d.sha1), ret);
	ing_buf_done(&id);
}

int ing_request_parse(
	const char *json, size_t bytes, struct ing_request **ret, struct ing_error *err)
{
	json_t *root = NULL;
	int rc = load(json, bytes, &root, err);
	if (rc != 0)
		return mask_error(rc, err);
	struct ing_request *r = ing_alloc(sizeof(*r));
	r->json = root;
	rc = read_fields(r, err);
	if (rc != 0) {
		ing_request_free(r);
		return mask_error(rc, err);
	}
	*ret = r;
	return 0;
}

void ing_request_free(struct ing_request *r)
{
	if (r == NULL)
		return;
	json_decref(r->json);
	free(r->expect_mimetypes);
	free(r);
}
