/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/ctl/requests/selection_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/nearest.h"
#include "common/base/utf8.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/since.h"
#include "worker/model/ingest_type.h"
#include "worker/model/status.h"

#define MAX_LARGE_LINE 4096
#define MAX_LARGE_HOSTS 1000000

static void push_word(struct ing_words *words, const char *word)
{
	/* The selection only borrows them, so it has them as const. */
	const char **all = (const char **)(uintptr_t)words->words;
	bool full = (words->count & (words->count - 1)) == 0;
	if (full)
		all = ing_realloc(all, ING_MAX(2 * words->count, (size_t)1) * sizeof(*all));
	all[words->count++] = ing_strdup(word);
	words->words = all;
}

static int refuse_word(
	const char *what, const char *word, const struct ing_nearest *n, struct ing_error *err)
{
	if (n != NULL && n->best != NULL)
		return ing_error_set(err, ING_FAIL_USAGE,
			"there is no %s \"%s\"; did you mean \"%s\"?", what, word, n->best);
	return ing_error_set(err, ING_FAIL_USAGE, "there is no %s \"%s\"", what, word);
}

static const struct {
	const char *name;
	enum ing_request_class one;
} classes[] = {
	{"never-asked", ING_CLASS_NEVER_ASKED},
	{"queued", ING_CLASS_QUEUED},
	{"retry-due", ING_CLASS_RETRY_DUE},
	{"retry-later", ING_CLASS_RETRY_LATER},
	{"ended", ING_CLASS_ENDED},
	{"hit", ING_CLASS_HIT},
};

static bool read_age(const char *text, size_t bytes, int64_t *ret_s)
{
	char age[64];
	struct ing_since since;
	*ret_s = 0;
	if (bytes == 0)
		return true;
	snprintf(age, sizeof(age), "%.*s", (int)ING_MIN(bytes, sizeof(age) - 1), text);
	if (bytes >= sizeof(age) || !ing_since_parse(age, &since) || !since.is_ago)
		return false;
	*ret_s = since.ago_s;
	return true;
}

/* The first word of each line; # begins a comment. */
static int add_large(struct ing_words *words, const char *path, const struct ing_buf *line,
	unsigned number, struct ing_error *err)
{
	static const char blank[] = " \t\r\f\v";
	char word[ING_SELECTION_WORD_BYTES + 2];
	const char *text = ing_buf_str(line);
	text += strspn(text, blank);
	size_t bytes = strcspn(text, " \t\r\f\v#");
	if (line->failed || strlen(ing_buf_str(line)) != line->len ||
		bytes > ING_SELECTION_WORD_BYTES)
		return ing_error_set(err, ING_FAIL_USAGE, "%s:%u: no line of text", path, number);
	if (bytes == 0)
		return 0;
	snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
	int rc = ing_selection_add_word(words, word, ing_selection_host, err);
	if (rc != 0)
		ing_error_context(err, "%s:%u", path, number);
	return rc;
}

static int read_large(struct ing_words *words, const char *path, FILE *f, struct ing_error *err)
{
	struct ing_buf line;
	int rc = 0;
	ing_buf_init(&line, MAX_LARGE_LINE);
	for (unsigned n = 1; rc == 0 && ing_ctl_read_line(f, &line); n++) {
		rc = add_large(words, path, &line, n, err);
		if (rc == 0 && words->count > MAX_LARGE_HOSTS)
			rc = ing_error_set(err, ING_FAIL_USAGE, "%s: more than %d hosts", path,
				MAX_LARGE_HOSTS);
	}
	if (rc == 0 && ferror(f))
		rc = ing_error_sys(err, errno, "%s", path);
	ing_buf_done(&line);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_selection_type(const char *word, char *to, struct ing_error *err)
{
	enum ing_ingest_type type;
	if (!ing_ingest_type_find(word, &type))
		return ing_error_set(
			err, ING_FAIL_USAGE, "\"%s\" is none of%s", word, ing_ingest_type_names);
	snprintf(to, ING_SELECTION_WORD_BYTES, "%s", ing_ingest_type_name(type));
	return 0;
}

int ing_selection_status(const char *word, char *to, struct ing_error *err)
{
	(void)to;
	if (ing_status_from_slug(word) >= 0)
		return 0;
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_nearest_try(&n, ing_status_slug((enum ing_status)i));
	return refuse_word("status", word, &n, err);
}

int ing_selection_http_status(const char *word, char *to, struct ing_error *err)
{
	uint64_t n;
	if (!ing_ctl_number(word, 999, &n) || n < 100)
		return ing_error_set(
			err, ING_FAIL_USAGE, "\"%s\" is no HTTP status (100 to 999)", word);
	snprintf(to, ING_SELECTION_WORD_BYTES, "%" PRIu64, n);
	return 0;
}

/* As ing_fact_host() has them; a whole URL is more than a host. */
int ing_selection_host(const char *word, char *to, struct ing_error *err)
{
	char url[ING_SELECTION_WORD_BYTES + 16];
	char host[ING_URL_HOST_BYTES];
	snprintf(url, sizeof(url), "http://%s/", word);
	ing_fact_host(url, host);
	if (host[0] == '\0' || host[0] == '.' || strpbrk(word, "/?#@\\*% \t\r\n") != NULL ||
		(word[0] != '[' && strchr(word, ':') != NULL))
		return ing_error_set(err, ING_FAIL_USAGE, "\"%s\" is no host", word);
	snprintf(to, ING_SELECTION_WORD_BYTES, "%s", host);
	return 0;
}

int ing_selection_doi_prefix(const char *word, char *to, struct ing_error *err)
{
	char doi[ING_SELECTION_WORD_BYTES + 8];
	char prefix[ING_DOI_PREFIX_BYTES];
	size_t bytes = strcspn(word, "/");
	snprintf(doi, sizeof(doi), "%.*s/x", (int)bytes, word);
	ing_doi_prefix(doi, prefix);
	if (prefix[0] == '\0' || (word[bytes] == '/' && word[bytes + 1] != '\0'))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is no DOI prefix, which is like 10.1234", word);
	snprintf(to, ING_SELECTION_WORD_BYTES, "%s", prefix);
	return 0;
}

int ing_selection_add_word(struct ing_words *words, const char *word, ing_selection_word_f *read,
	struct ing_error *err)
{
	char form[ING_SELECTION_WORD_BYTES + 1];
	size_t bytes = strlen(word);
	if (bytes == 0)
		return ing_error_set(err, ING_FAIL_USAGE, "an empty word");
	if (bytes > ING_SELECTION_WORD_BYTES)
		return ing_error_set(
			err, ING_FAIL_USAGE, "longer than %d bytes", ING_SELECTION_WORD_BYTES);
	if (!ing_utf8_valid(word, bytes))
		return ing_error_set(err, ING_FAIL_USAGE, "not valid UTF-8");
	memcpy(form, word, bytes + 1);
	int rc = read != NULL ? read(word, form, err) : 0;
	if (rc == 0)
		push_word(words, form);
	return rc;
}

/* Commas between them. */
int ing_selection_add_words(struct ing_words *words, const char *value, ing_selection_word_f *read,
	struct ing_error *err)
{
	char *copy = ing_strdup(value);
	char *rest = copy;
	int rc = 0;
	for (char *word; rc == 0 && (word = strsep(&rest, ",")) != NULL;)
		rc = ing_selection_add_word(words, word, read, err);
	free(copy);
	return rc;
}

int ing_selection_add_hosts(struct ing_words *words, const char *path, struct ing_error *err)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return ing_error_sys(err, errno, "%s", path);
	int rc = read_large(words, path, f, err);
	fclose(f);
	return rc;
}

void ing_selection_free_words(struct ing_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free((void *)(uintptr_t)words->words[i]);
	free((void *)(uintptr_t)words->words);
	*words = (struct ing_words){0};
}

int ing_selection_class(const char *word, unsigned *ret, struct ing_error *err)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (size_t i = 0; i < ING_ARRAY_LEN(classes); i++) {
		if (strcmp(word, classes[i].name) == 0) {
			*ret = classes[i].one;
			return 0;
		}
		ing_nearest_try(&n, classes[i].name);
	}
	return refuse_word("class", word, &n, err);
}

/* 0 is no condition, so the first moment of 1970 is the one after it. */
int ing_selection_moment(const char *value, int64_t *ret_ms, struct ing_error *err)
{
	struct ing_since since;
	if (!ing_since_parse(value, &since))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is neither a date or time (UTC) like 2026-11-21 or 2026-11-21T11:00:00,"
			" nor so long ago like 90s, 30m, 12h, 7d, 2w",
			value);
	int64_t s = since.is_ago ? (int64_t)ing_wall_now().tv_sec - since.ago_s : since.at_s;
	*ret_ms = s > 0 ? s * 1000 : 1;
	return 0;
}

/* "A..B", "A..", "..B". */
int ing_selection_ages(const char *value, int64_t *ret_min, int64_t *ret_max, struct ing_error *err)
{
	int64_t min;
	int64_t max;
	const char *dots = strstr(value, "..");
	if (dots != NULL && strcmp(value, "..") != 0 &&
		read_age(value, (size_t)(dots - value), &min) &&
		read_age(dots + 2, strlen(dots + 2), &max) && (dots[2] == '\0' || max > min)) {
		*ret_min = min;
		*ret_max = max;
		return 0;
	}
	return ing_error_set(err, ING_FAIL_USAGE,
		"\"%s\" is no age like 8h..7d, 8h.. (at least) or ..7d (less than); units are s, m, h, d, w",
		value);
}

/* Digits, and perhaps a dot and digits: what strtod() takes beside them is not meant. */
int ing_selection_percent(const char *value, double *ret, struct ing_error *err)
{
	size_t digits = strspn(value, "0123456789");
	size_t bytes = digits;
	if (digits > 0 && value[digits] == '.')
		bytes = digits + 1 + strspn(value + digits + 1, "0123456789");
	if (value[bytes] == '%')
		bytes++;
	double share = bytes > 0 && bytes < 40 && value[bytes] == '\0' ? strtod(value, NULL) : 0;
	if (!(share > 0 && share <= 100))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is no percentage above 0 and up to 100", value);
	*ret = share;
	return 0;
}
