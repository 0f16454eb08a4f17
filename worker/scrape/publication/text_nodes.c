/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An abstract alone is no reason to leave out the rest of a page.
 */
#include "worker/scrape/publication/text_nodes.h"

#include "worker/scrape/publication/extract.h"

/* Two lists in document order as one. */
static const ing_node *merge_nodes(const struct ing_view *v, const ing_node *a, const ing_node *b,
	size_t b_count, size_t *a_count)
{
	size_t i = 0, k = 0, n = 0;
	ing_node *all = ing_arena_alloc(v->arena, (*a_count + b_count) * sizeof(*all));
	while (i < *a_count || k < b_count) {
		if (k == b_count || (i < *a_count && a[i] <= b[k])) {
			k += k < b_count && a[i] == b[k];
			all[n++] = a[i++];
		} else {
			all[n++] = b[k++];
		}
	}
	*a_count = n;
	return all;
}

/* -------------------------------------------------------------------------------------------- */

const ing_node *ing_text_nodes(const struct ing_view *v, const struct ing_journal_site *site,
	const struct ing_webpage_rule *webpage, size_t *ret_count)
{
	*ret_count = 0;
	if (site == NULL && (webpage == NULL || !webpage->keys[ING_WEBPAGE_CONTENT].given))
		return NULL;
	if (site == NULL)
		return ing_extract_nodes(v,
			ing_extraction_of_webpage(&webpage->keys[ING_WEBPAGE_CONTENT]), ret_count);
	const ing_node *nodes = ing_extract_nodes(
		v, ing_extraction_of_journal(site, ING_JOURNAL_FULLTEXT), ret_count);
	if (*ret_count == 0)
		return NULL;
	size_t count;
	const ing_node *abstract =
		ing_extract_nodes(v, ing_extraction_of_journal(site, ING_JOURNAL_ABSTRACT), &count);
	return count > 0 ? merge_nodes(v, nodes, abstract, count, ret_count) : nodes;
}
