/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The requests go into a file without a name, in memory: of a million identifiers 150 MB.
 */
#include "worker/ctl/publication/ids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "worker/ctl/ctl.h"
#include "worker/model/limits.h"
#include "worker/publication/assembly.h"

#define MAX_ID_BYTES 65536 /* of a line */

struct reader {
	struct ing_ask_ids *ids;
	const char *file; /* NULL: the command line */
	struct ing_arena arena;
};

/* --- a request --- */

static bool add_line(struct ing_ask_ids *ids, const json_t *request)
{
	size_t bytes;
	char *text = ing_json_dump(request, &bytes);
	text[bytes] = '\n';
	bool good = write(ids->fd, text, bytes + 1) == (ssize_t)(bytes + 1);
	if (!good)
		(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, ids->verb, "the list of requests: %s",
			strerror(errno));
	free(text);
	return good;
}

static void keep_name(struct ing_ask_ids *ids, const char *name)
{
	if ((ids->count & (ids->count + 1)) == 0)
		ids->names = ing_realloc(ids->names, (2 * ids->count + 2) * sizeof(*ids->names));
	ids->names[ids->count] = ing_strdup(name);
}

/* What all have, its number, and where it starts. */
static bool add_request(
	struct ing_ask_ids *ids, const char *name, const struct ing_assembly_request *start)
{
	json_t *request = json_object();
	json_object_update(request, (json_t *)(uintptr_t)ids->members);
	ing_json_set_text(request, "ingest_type", ids->pages ? "webpage" : "publication");
	ing_json_set_count(request, ING_ASK_NUMBER, ids->count);
	if (start->url != NULL)
		ing_json_set_text(request, "base_url", start->url);
	json_t *ext_ids = json_object();
	if (start->pmid != NULL)
		ing_json_set_text(ext_ids, "pmid", start->pmid);
	if (start->pmcid != NULL)
		ing_json_set_text(ext_ids, "pmcid", start->pmcid);
	if (start->doi != NULL)
		ing_json_set_text(ext_ids, "doi", start->doi);
	if (json_object_size(ext_ids) > 0)
		ing_json_set(request, "ext_ids", ext_ids);
	else
		json_decref(ext_ids);
	keep_name(ids, name);
	bool good = add_line(ids, request);
	ids->count++;
	json_decref(request);
	return good;
}

/* --- an identifier --- */

static bool is_url(const char *s)
{
	return strncasecmp(s, "http://", 7) == 0 || strncasecmp(s, "https://", 8) == 0;
}

/* Into *start, which keeps what it has and the word does not. */
static bool parse_word(struct reader *r, const char *word, struct ing_assembly_request *start,
	struct ing_error *err)
{
	struct ing_assembly_request one = {.only = ING_PUBLICATION_RESOURCES_};
	if (r->ids->pages) {
		if (!is_url(word)) {
			ing_error_set(err, ING_FAIL_INVALID, "%s: no http or https URL", word);
			return false;
		}
		start->url = word;
		return true;
	}
	if (ing_assembly_parse_id(word, &r->arena, &one, err) != 0)
		return false;
	start->url = one.url != NULL ? one.url : start->url;
	start->pmid = one.pmid != NULL ? one.pmid : start->pmid;
	start->pmcid = one.pmcid != NULL ? one.pmcid : start->pmcid;
	start->doi = one.doi != NULL ? one.doi : start->doi;
	return true;
}

static char *trim(char *s)
{
	s += strspn(s, " \r\t");
	size_t end = strlen(s);
	while (end > 0 && strchr(" \r\t", s[end - 1]) != NULL)
		end--;
	s[end] = '\0';
	return s;
}

/* One identifier, or three between tabs. */
static bool parse_line(
	struct reader *r, char *line, struct ing_assembly_request *start, struct ing_error *err)
{
	*start = (struct ing_assembly_request){.only = ING_PUBLICATION_RESOURCES_};
	bool any = false;
	for (char *rest = line, *word; (word = strsep(&rest, "\t")) != NULL;) {
		word = trim(word);
		if (*word == '\0')
			continue;
		if (!parse_word(r, word, start, err))
			return false;
		any = true;
	}
	if (!any)
		ing_error_set(err, ING_FAIL_INVALID, "no identifier");
	return any;
}

/* --- a file --- */

static bool take_line(void *ctx, const struct ing_buf *line, unsigned long number)
{
	struct reader *r = ctx;
	struct ing_ask_ids *ids = r->ids;
	struct ing_error err = {0};
	struct ing_assembly_request start = {.only = ING_PUBLICATION_RESOURCES_};
	const char *text = ing_buf_str(line);
	bool good = !line->failed && strlen(text) == line->len && ing_utf8_valid(text, line->len);
	if (good && (*text == '#' || text[strspn(text, " \t\r")] == '\0'))
		return true;
	char *name = ing_strdup(good ? text : "");
	char *copy = ing_strdup(name);
	if (!good)
		ing_error_set(&err, ING_FAIL_INVALID, "no identifier");
	good = good && parse_line(r, copy, &start, &err);
	if (good) {
		good = add_request(ids, trim(name), &start);
	} else {
		ids->bad++;
		fprintf(stderr, "ingestctl %s: %s:%lu: ", ids->verb, r->file, number);
		ing_ctl_print_harmless(err.msg);
		fputc('\n', stderr);
	}
	free(name);
	free(copy);
	ing_arena_done(&r->arena);
	ing_arena_init(&r->arena);
	return good;
}

static bool read_file(struct reader *r, const char *path)
{
	r->file = strcmp(path, "-") == 0 ? "stdin" : path;
	int code = ing_ctl_batch(r->ids->verb, path, MAX_ID_BYTES, take_line, r);
	return code == ING_CTL_OK || code == ING_CTL_NEGATIVE;
}

static bool read_word(struct reader *r, const char *word)
{
	struct ing_error err = {0};
	struct ing_assembly_request start = {.only = ING_PUBLICATION_RESOURCES_};
	if (strcmp(word, "-") == 0)
		return read_file(r, word);
	if (ing_utf8_valid(word, strlen(word)) && parse_word(r, word, &start, &err))
		return add_request(r->ids, word, &start);
	if (access(word, F_OK) == 0)
		return read_file(r, word);
	if (err.msg[0] == '\0')
		ing_error_set(&err, ING_FAIL_INVALID, "no identifier");
	(void)ing_ctl_fail(
		ING_CTL_USAGE, r->ids->verb, "%s, and there is no file of that name", err.msg);
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_ask_ids_read(struct ing_ask_ids *ids, char *const *words, size_t count)
{
	struct reader r = {.ids = ids};
	ids->fd = memfd_create("requests", MFD_CLOEXEC);
	if (ids->fd < 0) {
		(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, ids->verb, "the list of requests: %s",
			strerror(errno));
		return false;
	}
	bool good = true;
	ing_arena_init(&r.arena);
	for (size_t i = 0; i < count && good; i++)
		good = read_word(&r, words[i]);
	ing_arena_done(&r.arena);
	return good && lseek(ids->fd, 0, SEEK_SET) == 0;
}

void ing_ask_ids_done(struct ing_ask_ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		free(ids->names[i]);
	free(ING_TAKE(ids->names));
	if (ids->fd >= 0)
		close(ids->fd);
	ids->fd = -1;
	ids->count = 0;
}
