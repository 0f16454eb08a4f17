/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Joins are left out when nothing is about them, and inner ones where only an answered request can be meant, so that
 * the server may begin at whichever table has fewer.
 */
#include "worker/store/requests/selection_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/pg.h"

#define LATER_CLASSES (ING_CLASS_RETRY_DUE | ING_CLASS_RETRY_LATER | ING_CLASS_ENDED)
#define ANSWERED_CLASSES (LATER_CLASSES | ING_CLASS_HIT)
#define MAX_LABELS 127 /* of a host name */

/* Of a row without a document (from before migration 9): rows with one URL are together all the same. */
#define DOCUMENT "coalesce(q.document, md5(q.ingest_type || E'\\t' || q.base_url)::uuid)"
#define REQUEST_ID                                                                                 \
	"coalesce(q.request_id, md5(q.link_source || E'\\t' || q.link_source_id || E'\\t' ||"      \
	" q.ingest_type || E'\\t' || q.base_url)::uuid)"

static void add_array(struct ing_buf *out, const struct ing_words *words, const char *type)
{
	struct ing_buf array;
	ing_buf_init(&array, out->max);
	ing_pg_add_array(&array, words->words, words->count);
	ing_pg_add_literal(out, ing_buf_str(&array));
	out->failed = out->failed || array.failed;
	ing_buf_printf(out, "::%s[]", type);
	ing_buf_done(&array);
}

static void add_any(
	const struct ing_selection_writer *w, const char *column, const struct ing_words *words)
{
	if (words->count == 0)
		return;
	ing_buf_printf(w->out, " AND %s = ANY (", column);
	add_array(w->out, words, "text");
	ing_buf_add_char(w->out, ')');
}

/* --- hosts and all below them --- */

static size_t label_count(const char *host)
{
	size_t n = 1;
	for (; *host != '\0'; host++)
		n += *host == '.';
	return n;
}

/* The last labels of q.host, for those words that have so many. */
static void add_below(
	const struct ing_selection_writer *w, const struct ing_words *words, size_t labels)
{
	const char **some = ing_alloc(words->count * sizeof(*some));
	struct ing_words of = {some, 0};
	for (size_t i = 0; i < words->count; i++)
		if (label_count(words->words[i]) == labels)
			some[of.count++] = words->words[i];
	for (size_t i = labels; i > 0; i--)
		ing_buf_printf(w->out, "split_part(q.host, '.', -%zu)%s", i,
			i > 1 ? " || '.' || " : " = ANY (");
	add_array(w->out, &of, "text");
	ing_buf_add_char(w->out, ')');
	free(some);
}

/* "(… OR …)", a comparison for each number of labels that the words have. */
static void add_domains(const struct ing_selection_writer *w, const struct ing_words *words)
{
	bool has[MAX_LABELS + 1] = {false};
	const char *between = "(";
	for (size_t i = 0; i < words->count; i++) {
		size_t n = label_count(words->words[i]);
		has[ING_MIN(n, (size_t)MAX_LABELS)] = true;
	}
	for (size_t n = 1; n <= MAX_LABELS; n++) {
		if (!has[n])
			continue;
		ing_buf_add_str(w->out, between);
		add_below(w, words, n);
		between = " OR ";
	}
	ing_buf_add_char(w->out, ')');
}

static void add_hosts(const struct ing_selection_writer *w)
{
	const struct ing_selection *s = w->s;
	add_any(w, "q.host", &s->hosts);
	add_any(w, "q.doi_prefix", &s->doi_prefixes);
	if (s->domains.count > 0) {
		ing_buf_add_str(w->out, " AND ");
		add_domains(w, &s->domains);
	}
	if (s->without_hosts.count > 0) {
		ing_buf_add_str(w->out, " AND (q.host IS NULL OR NOT ");
		add_domains(w, &s->without_hosts);
		ing_buf_add_char(w->out, ')');
	}
}

/* --- what came of a request --- */

/* As only_new has it. */
static bool is_never_asked(const struct ing_selection_writer *w)
{
	return w->s->classes == ING_CLASS_NEVER_ASKED && w->s->lost_after_s == 0;
}

static bool is_new_only(const struct ing_selection_writer *w)
{
	return w->s->only_new || is_never_asked(w);
}

static unsigned classes_of(const struct ing_selection_writer *w)
{
	return is_never_asked(w) ? 0 : w->s->classes;
}

static bool must_have_result(const struct ing_selection_writer *w)
{
	const struct ing_selection *s = w->s;
	return s->statuses.count > 0 || s->terminal_codes.count > 0 || s->result_age_from_s != 0 ||
	       s->result_age_to_s != 0 ||
	       (s->classes != 0 && (s->classes & ~(unsigned)ANSWERED_CLASSES) == 0);
}

static bool needs_result(const struct ing_selection_writer *w)
{
	return must_have_result(w) || w->s->attempts_below != 0 || classes_of(w) != 0 ||
	       w->s->lost_only || w->s->not_queued;
}

static bool needs_queue(const struct ing_selection_writer *w)
{
	return (classes_of(w) & ~(unsigned)ING_CLASS_HIT) != 0 || w->s->lost_only ||
	       w->s->not_queued;
}

/* Requests of a list all have a document. */
static bool may_lack_document(const struct ing_selection_writer *w)
{
	return w->scope->unfilled_requests && w->scope->list_count == 0;
}

static void add_result_join(const struct ing_selection_writer *w, bool outer)
{
	ing_buf_add_str(w->out, outer ? " LEFT JOIN " : " JOIN ");
	if (may_lack_document(w) || w->scope->unfilled_results)
		ing_buf_add_str(w->out, "ingest_file_result r ON r.ingest_type = q.ingest_type AND"
					" r.base_url = q.base_url");
	else
		ing_buf_add_str(w->out,
			"(SELECT r.* FROM ingest_file_result r WHERE NOT EXISTS (SELECT FROM"
			" ingest_file_result b WHERE b.document = r.document AND"
			" (b.hit, b.updated, b.base_url) > (r.hit, r.updated, r.base_url)))"
			" r ON r.document = q.document");
}

static void add_new(const struct ing_selection_writer *w)
{
	ing_buf_add_str(w->out,
		" AND NOT EXISTS (SELECT FROM document_queued n WHERE n.document = q.document)"
		" AND NOT EXISTS (SELECT FROM ingest_file_result n WHERE n.document = q.document)");
	if (may_lack_document(w) || w->scope->unfilled_results)
		ing_buf_add_str(w->out,
			" AND NOT EXISTS (SELECT FROM ingest_file_result n WHERE"
			" n.ingest_type = q.ingest_type AND n.base_url = q.base_url)");
}

static void add_queued(const struct ing_selection_writer *w)
{
	ing_buf_add_str(w->out, "(" ING_SELECTION_IS_QUEUED);
	if (w->s->lost_after_s != 0)
		ing_buf_printf(w->out, " AND d.queued > now() - %" PRId64 " * interval '1 second'",
			w->s->lost_after_s);
	ing_buf_add_char(w->out, ')');
}

static void add_classes(const struct ing_selection_writer *w)
{
	static const struct {
		unsigned one;
		const char *sql; /* and queued, or not */
	} conditions[] = {
		{ING_CLASS_NEVER_ASKED, "r.status IS NULL AND NOT "},
		{ING_CLASS_QUEUED, ""},
		{ING_CLASS_RETRY_DUE, ING_SELECTION_IS_DUE " AND NOT "},
		{ING_CLASS_RETRY_LATER, ING_SELECTION_IS_LATER " AND NOT "},
		{ING_CLASS_ENDED, ING_SELECTION_IS_ENDED " AND NOT "},
		{ING_CLASS_HIT, "r.hit"},
	};
	const char *between = " AND (";
	for (size_t i = 0; i < ING_ARRAY_LEN(conditions); i++) {
		if ((classes_of(w) & conditions[i].one) == 0)
			continue;
		ing_buf_printf(w->out, "%s(%s", between, conditions[i].sql);
		if (conditions[i].one != ING_CLASS_HIT)
			add_queued(w);
		ing_buf_add_char(w->out, ')');
		between = " OR ";
	}
	if (classes_of(w) != 0)
		ing_buf_add_char(w->out, ')');
	if (w->s->lost_only)
		ing_buf_add_str(w->out, " AND " ING_SELECTION_IS_QUEUED);
	if (w->s->not_queued) {
		ing_buf_add_str(w->out, " AND NOT ");
		add_queued(w);
	}
}

static void add_age(
	const struct ing_selection_writer *w, const char *column, int64_t from_s, int64_t to_s)
{
	if (from_s != 0)
		ing_buf_printf(w->out, " AND %s <= now() - %" PRId64 " * interval '1 second'",
			column, from_s);
	if (to_s != 0)
		ing_buf_printf(w->out, " AND %s > now() - %" PRId64 " * interval '1 second'",
			column, to_s);
}

static void add_moment(const struct ing_selection_writer *w, const char *op, int64_t ms)
{
	if (ms != 0)
		ing_buf_printf(
			w->out, " AND q.created %s to_timestamp(%" PRId64 " / 1000.0)", op, ms);
}

static void add_conditions(const struct ing_selection_writer *w)
{
	const struct ing_selection *s = w->s;
	add_any(w, "q.ingest_type", &s->types);
	add_any(w, "q.ingest_request_source", &s->sources);
	add_any(w, "q.link_source", &s->link_sources);
	add_hosts(w);
	add_moment(w, ">=", s->created_from_ms);
	add_moment(w, "<", s->created_to_ms);
	add_age(w, "q.created", s->request_age_from_s, s->request_age_to_s);
	add_any(w, "r.status", &s->statuses);
	if (s->terminal_codes.count > 0) {
		ing_buf_add_str(w->out, " AND r.terminal_status_code = ANY (");
		add_array(w->out, &s->terminal_codes, "integer");
		ing_buf_add_char(w->out, ')');
	}
	add_age(w, "r.updated", s->result_age_from_s, s->result_age_to_s);
	if (s->attempts_below != 0)
		ing_buf_printf(w->out,
			" AND coalesce(r.attempts, (r.status IS NOT NULL)::integer) < %u",
			s->attempts_below);
	add_classes(w);
	if (is_new_only(w))
		add_new(w);
}

/* --- slices --- */

/* The first document of a slice: documents are evenly spread, so a slice is a range of them. */
static void add_edge(const struct ing_selection_writer *w, const char *op, unsigned slice)
{
	unsigned __int128 whole = ~(unsigned __int128)0;
	unsigned __int128 edge = whole / w->s->slices * slice;
	ing_buf_printf(w->out, " AND %s %s '%016" PRIx64 "%016" PRIx64 "'::uuid",
		may_lack_document(w) ? DOCUMENT : "q.document", op, (uint64_t)(edge >> 64),
		(uint64_t)edge);
}

static void add_slice(const struct ing_selection_writer *w)
{
	if (w->s->slices < 2)
		return;
	if (w->s->slice > 1)
		add_edge(w, ">=", w->s->slice - 1);
	if (w->s->slice < w->s->slices)
		add_edge(w, "<", w->s->slice);
}

/* --- lists --- */

static void add_list_ids(const struct ing_selection_writer *w)
{
	const char *between = "'{";
	for (size_t i = 0; i < w->scope->list_count; i++) {
		ing_buf_printf(w->out, "%s%d", between, w->scope->list_ids[i]);
		between = ",";
	}
	ing_buf_add_str(w->out, "}'::integer[]");
}

static void add_priorities(const struct ing_selection_writer *w)
{
	ing_buf_add_str(w->out, "CASE list_id");
	for (size_t i = 0; i < w->scope->list_count; i++)
		ing_buf_printf(
			w->out, " WHEN %d THEN %d", w->scope->list_ids[i], w->scope->priorities[i]);
	ing_buf_add_str(w->out, " END AS priority");
}

static const char *place_of(const struct ing_selection_writer *w)
{
	return w->scope->has_members && !ing_selection_priorities_differ(w) ? "q.place" : "q.ctid";
}

static void add_source(const struct ing_selection_writer *w)
{
	struct ing_buf *out = w->out;
	if (ing_selection_priorities_differ(w)) {
		ing_buf_add_str(out,
			"ingest_request q JOIN (SELECT request_id, max(priority) AS priority"
			" FROM (SELECT request_id, ");
		add_priorities(w);
		ing_buf_add_str(out, " FROM ingest_request WHERE list_id = ANY (");
		add_list_ids(w);
		ing_buf_add_str(out, ") UNION ALL SELECT request_id, ");
		add_priorities(w);
		ing_buf_add_str(out, " FROM request_list_member WHERE list_id = ANY (");
		add_list_ids(w);
		ing_buf_add_str(out, ")) l GROUP BY request_id) l ON l.request_id = q.request_id");
	} else if (w->scope->has_members) {
		ing_buf_add_str(
			out, "(SELECT ctid AS place, * FROM ingest_request WHERE list_id = ANY (");
		add_list_ids(w);
		ing_buf_add_str(out, ") UNION ALL SELECT ctid AS place, * FROM ingest_request WHERE"
				     " (list_id IS NULL OR list_id <> ALL (");
		add_list_ids(w);
		ing_buf_add_str(out, ")) AND request_id IN (SELECT m.request_id FROM"
				     " request_list_member m WHERE m.list_id = ANY (");
		add_list_ids(w);
		ing_buf_add_str(out, "))) q");
	} else {
		ing_buf_add_str(out, "ingest_request q");
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_selection_add_rows(const struct ing_selection_writer *w)
{
	ing_buf_add_str(w->out, " FROM ");
	add_source(w);
	if (w->by_result || needs_result(w))
		add_result_join(w, !must_have_result(w));
	if (w->by_result || needs_queue(w))
		ing_buf_add_str(w->out, " LEFT JOIN document_queued d ON d.document = q.document");
	ing_buf_add_str(w->out, " WHERE true");
	if (w->scope->list_count > 0 && !w->scope->has_members &&
		!ing_selection_priorities_differ(w)) {
		ing_buf_add_str(w->out, " AND q.list_id = ANY (");
		add_list_ids(w);
		ing_buf_add_char(w->out, ')');
	}
	add_conditions(w);
	add_slice(w);
}

bool ing_selection_priorities_differ(const struct ing_selection_writer *w)
{
	const struct ing_selection_scope *scope = w->scope;
	for (size_t i = 1; i < scope->list_count; i++)
		if (scope->priorities[i] != scope->priorities[0])
			return true;
	return false;
}

void ing_selection_add_key(const struct ing_selection_writer *w)
{
	if (w->s->random)
		ing_buf_printf(w->out, "uuid_hash_extended(%s, %" PRId64 ")",
			may_lack_document(w) ? REQUEST_ID : "q.request_id", (int64_t)w->s->seed);
	else
		ing_buf_add_str(w->out, place_of(w));
}
