/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication: no document, but what many answers say of a paper. The job puts it together
 * (worker/job/pipeline_publication.c) and adds it to the result.
 */
#include "common/data/json.h"
#include "worker/artifact/artifact.h"

static void keep(struct ing_artifact *a, struct ing_findings *f)
{
	(void)a;
	(void)f;
}

static void add_to_result(const struct ing_artifact *a, json_t *result)
{
	(void)a;
	(void)result;
}

static bool is_something(const json_t *value)
{
	return value != NULL && !json_is_null(value) &&
	       !(json_is_array(value) && json_array_size(value) == 0);
}

/* The full text is most of it, then come abstract, terms and authors. */
static bool shrink_result(json_t *result)
{
	static const char *const parts[] = {"fulltext", "abstract", "go", "efo", "mesh", "authors",
		"corresp_author", "correspAuthor", "keywords"};
	json_t *publication = json_object_get(result, "publication");
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		if (!is_something(json_object_get(publication, parts[i])))
			continue;
		ing_json_set(publication, parts[i], NULL);
		if (i == 0)
			ing_json_set_bool(publication, "fulltext_dropped", true);
		return true;
	}
	return false;
}

static const struct ing_artifact_facts facts = {
	.keep = keep,
	.add_to_result = add_to_result,
	.shrink_result = shrink_result,
};

/* ---------------------------------------------------------------------------------------------- */

const struct ing_artifact_type ing_artifact_publication = {
	.is_assembled = true,
	.mimetypes = (const char *const[]){NULL},
	.link = ING_ARTIFACT_NO_LINK,
	.facts = &facts,
};
