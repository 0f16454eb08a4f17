/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The script's words become what an examiner would have found.
 */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"

const struct ing_publication_settings script_settings = {
	.europepmc_url = "https://epmc.test/rest",
	.annotations_url = "https://annotations.test/api",
	.eutils_url = "https://eutils.test/eutils",
	.pmc_url = "https://pmc.test",
	.pubmed_url = "https://pubmed.test",
	.doi_url = "https://doi.test",
	.unpaywall_url = "https://unpaywall.test/v2",
	.crossref_url = "https://crossref.test",
	.datacite_url = "https://datacite.test",
	.openalex_url = "",
	.arxiv_url = "https://arxiv.test/api",
	.biorxiv_url = "https://biorxiv.test",
	.doaj_url = "https://doaj.test/api",
	.email = "a@b.example",
	.tool = "tool",
	.ncbi_api_key = "",
	.openalex_api_key = "",
	.deadline_ms = 60000,
	.quick_ms = 1000,
	.max_links = 10,
};

static const struct {
	const char *name;
	unsigned flag;
} flags[] = {{"+oa", ING_PUBLICATION_OA}, {"+not-oa", ING_PUBLICATION_NOT_OA},
	{"+preprint", ING_PUBLICATION_PREPRINT}, {"+xml", ING_PUBLICATION_HAS_XML},
	{"+mined", ING_PUBLICATION_HAS_MINED}, {"+manuscript", ING_PUBLICATION_MANUSCRIPT}};

static void replace(char *s, char from, char to)
{
	for (; *s != '\0'; s++)
		if (*s == from)
			*s = to;
}

/* The type behind the last '@' of a word, which is cut there. */
static enum ing_part_type cut_type(char *word, enum ing_part_type type)
{
	char *at = strrchr(word, '@');
	if (at == NULL || ing_part_type_of_name(at + 1) == ING_PART_TYPES_)
		return type;
	type = ing_part_type_of_name(at + 1);
	*at = '\0';
	return type;
}

static void offer_list(struct ing_publication_found *f, enum ing_part_key key,
	enum ing_part_type type, const char *text, unsigned long count)
{
	struct ing_publication_term *terms = ing_alloc((count + 1) * sizeof(*terms));
	for (unsigned long i = 0; i < count; i++) {
		char term[100];
		snprintf(term, sizeof(term), "%s%lu", text, i);
		terms[i] = (struct ing_publication_term){
			.term = ing_strdup(term), .count = 1, .uri = ing_strdup("http://t.test/1")};
	}
	ing_publication_offer_list(f, key, type, terms, (uint32_t)count);
}

static bool read_offer(struct ing_publication_found *f, char *word, enum ing_part_type type)
{
	size_t n = strcspn(word, "=*");
	char name[32];
	snprintf(name, sizeof(name), "%.*s", (int)n, word);
	enum ing_part_key key = ing_part_of_name(name);
	if (word[n] == '\0' || key == ING_PARTS_)
		return false;
	type = cut_type(word, type);
	char *value = word + n + 1;
	unsigned long count = word[n] == '*' ? strtoul(value, NULL, 10) : 0;
	if (ing_part_is_list(key)) {
		offer_list(f, key, type, "term", count);
		return true;
	}
	replace(value, '_', ' ');
	if (count > 0) {
		value = ing_alloc(count + 1);
		memset(value, 'x', count);
	}
	ing_publication_offer_text(f, key, type, value, strlen(value));
	if (count > 0)
		free(value);
	return true;
}

static char *value_of(char *word, const char *name)
{
	size_t n = strlen(name);
	return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static void add_author(struct ing_publication_found *f, char *value, bool corresponding)
{
	char *email = strchr(value, '/');
	if (email != NULL)
		*email++ = '\0';
	replace(value, '_', ' ');
	ing_publication_add_author(f,
		(struct ing_publication_author){.name = *value != '\0' ? ing_strdup(value) : NULL,
			.email = email != NULL ? ing_strdup(email) : NULL,
			.corresponding = corresponding});
}

static void read_text(char **field, const char *value)
{
	free(*field);
	*field = ing_strdup(value);
}

static void read_word(char *word, const struct ing_assembly_ask *ask,
	struct ing_publication_found *f, struct ing_assembly_answer *answer)
{
	char *v;
	if (read_offer(f, word, ask->read.type))
		return;
	for (size_t i = 0; i < ING_ARRAY_LEN(flags); i++)
		if (strcmp(word, flags[i].name) == 0)
			f->flags |= flags[i].flag;
	if ((v = value_of(word, "link")) != NULL) {
		enum ing_part_type type = cut_type(v, ask->read.type);
		ing_publication_add_link(f, v, type);
	} else if ((v = value_of(word, "author")) != NULL) {
		add_author(f, v, false);
	} else if ((v = value_of(word, "corresp")) != NULL) {
		add_author(f, v, true);
	} else if ((v = value_of(word, "journal")) != NULL) {
		read_text(&f->journal_title, v);
	} else if ((v = value_of(word, "date")) != NULL) {
		read_text(&f->pub_date, v);
	} else if ((v = value_of(word, "licence")) != NULL) {
		read_text(&f->licence, v);
	} else if ((v = value_of(word, "openalex")) != NULL) {
		read_text(&f->openalex_id, v);
	} else if ((v = value_of(word, "cited")) != NULL) {
		f->citations = strtol(v, NULL, 10);
	} else if ((v = value_of(word, "final")) != NULL) {
		answer->final_url = v;
	} else if (strcmp(word, "!fail") == 0) {
		answer->status = ING_STATUS_READ_TIMEOUT;
		answer->transient = true;
	} else if (strcmp(word, "!404") == 0) {
		answer->status = ING_STATUS_TERMINAL_BAD_STATUS;
		answer->http_status = 404;
	} else if (*word == '!') {
		read_text(&f->status, word + 1);
	}
}

/* The script's answer for a URL, or NULL. */
static const char *find_answer(const struct script_answer *answers, size_t count, const char *url)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(url, answers[i].url) != NULL)
			return answers[i].says;
	return NULL;
}

struct open_ask {
	struct ing_assembly_ask ask;
	char url[4096];
	int64_t time_ms;
};

static void answer_one(struct script_run *run, const struct open_ask *open, const char *says)
{
	struct ing_publication_found f = {.citations = -1, .status = ing_strdup("success")};
	struct ing_assembly_answer answer = {.status = ING_STATUS_SUCCESS,
		.http_status = 200,
		.final_url = open->url,
		.time_ms = open->time_ms,
		.found = &f};
	char *words = ing_strdup(says != NULL ? says : "!404"), *save = NULL;
	for (char *w = strtok_r(words, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		read_word(w, &open->ask, &f, &answer);
	if (answer.status != ING_STATUS_SUCCESS)
		answer.found = NULL;
	ing_assembly_answer(run->assembly, open->ask.id, &answer);
	ing_publication_found_done(&f);
	free(words);
}

static void note(char *text, size_t bytes, const char *word, char end)
{
	size_t n = strlen(text);
	snprintf(text + n, bytes - n, "%s%c", word, end);
}

/* -------------------------------------------------------------------------------------------- */

void script_run(struct script_run *run, const struct ing_publication_settings *settings,
	const struct ing_assembly_request *request, const struct script_answer *answers,
	size_t count, enum script_order order)
{
	static struct open_ask open[64];
	unsigned open_count = 0;
	uint64_t elapsed_ms = 0;
	*run = (struct script_run){.assembly = ing_assembly_new(settings, request)};
	for (;;) {
		bool more = order == SCRIPT_IN_TURN ? open_count == 0 : true;
		struct ing_assembly_ask ask;
		while (more && ing_assembly_next(run->assembly, elapsed_ms, &ask)) {
			ing_must(open_count < ING_ARRAY_LEN(open));
			note(run->asked, sizeof(run->asked),
				ing_publication_resource_name(ask.resource), ' ');
			note(run->urls, sizeof(run->urls), ask.url, '\n');
			open[open_count].ask = ask;
			open[open_count].time_ms = 1600000000000 + ask.id;
			snprintf(open[open_count++].url, sizeof(open->url), "%s", ask.url);
			more = order != SCRIPT_IN_TURN;
		}
		run->most_at_once = ING_MAX(run->most_at_once, open_count);
		if (open_count == 0)
			break;
		unsigned which = order == SCRIPT_REVERSED ? open_count - 1 : 0;
		struct open_ask one = open[which];
		memmove(&open[which], &open[which + 1], (open_count - which - 1) * sizeof(*open));
		open_count--;
		answer_one(run, &one, find_answer(answers, count, one.url));
		elapsed_ms += 100;
	}
	ing_must(ing_assembly_is_over(run->assembly));
}

void script_parts(const struct ing_assembly *a, char *ret, size_t bytes)
{
	json_t *all = ing_assembly_json(a);
	*ret = '\0';
	for (unsigned key = 0; key < ING_PARTS_; key++) {
		const char *name = ing_part_name((enum ing_part_key)key);
		const json_t *part = json_object_get(all, name);
		size_t n = strlen(ret);
		if (json_is_null(part))
			continue;
		if (key <= ING_PART_DOI)
			snprintf(ret + n, bytes - n, "%s:%s/%s ", name,
				ing_json_get_text(part, "type"),
				ing_json_get_text(part, "content"));
		else
			snprintf(ret + n, bytes - n, "%s:%s/%d ", name,
				ing_json_get_text(part, "type"),
				(int)ing_json_get_number(part, "size"));
	}
	json_decref(all);
}
