/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sort in memory: `ingestctl run` is for files of requests, and a million captures index to 300
 * MB.
 */
#include "worker/ctl/cdx_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/record/cdx.h"

#define MAX_INDEX_BYTES ((size_t)8 << 30)

static int read_all(const char *path, struct ing_buf *ret, struct ing_error *err)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return errno == ENOENT ? 0 : ing_error_sys(err, errno, "%s", path);
	size_t n;
	do {
		char *to = ing_buf_reserve(ret, 1 << 16);
		n = to != NULL ? fread(to, 1, 1 << 16, f) : 0;
		if (n > 0)
			ing_buf_commit(ret, n);
	} while (n > 0);
	int failed = ferror(f) ? errno : 0;
	fclose(f);
	if (failed != 0)
		return ing_error_sys(err, failed, "%s", path);
	if (ret->failed)
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "%s: too large to sort in memory", path);
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const char *const *x = a;
	const char *const *y = b;
	return strcmp(*x, *y);
}

/* Splits in place; returns an array on the heap. Header lines are left out. */
static char **split_lines(char *text, size_t *ret_count)
{
	size_t count = 0;
	for (const char *c = text; *c != '\0'; c++)
		count += *c == '\n';
	char **lines = ing_alloc((count + 1) * sizeof(*lines));
	count = 0;
	for (char *line = text; *line != '\0';) {
		char *end = strchr(line, '\n');
		if (end == NULL)
			break; /* cut off by a crash; its capture is in the WARC */
		*end = '\0';
		if (line[0] != ' ' && line[0] != '\0')
			lines[count++] = line;
		line = end + 1;
	}
	*ret_count = count;
	return lines;
}

static int write_all(const char *path, char **lines, size_t count, struct ing_error *err)
{
	FILE *f = fopen(path, "we");
	if (f == NULL)
		return ing_error_sys(err, errno, "%s", path);
	fputs(ING_CDX_HEADER, f);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(lines[i], lines[i - 1]) == 0)
			continue;
		fputs(lines[i], f);
		fputc('\n', f);
	}
	bool good = fflush(f) == 0 && !ferror(f) && fsync(fileno(f)) == 0;
	int saved = errno;
	if (fclose(f) != 0 && good) {
		good = false;
		saved = errno;
	}
	return good ? 0 : ing_error_sys(err, saved, "%s", path);
}

/* -------------------------------------------------------------------------------------------- */

int ing_cdx_index_sort(const char *dir, struct ing_error *err)
{
	char path[4096];
	char sorted[4100];
	int n = snprintf(path, sizeof(path), "%s/index.cdx", dir);
	if (n < 0 || (size_t)n >= sizeof(path))
		return ing_error_set(err, ING_FAIL_USAGE, "%s: path too long", dir);
	snprintf(sorted, sizeof(sorted), "%s.new", path);
	struct ing_buf text;
	ing_buf_init(&text, MAX_INDEX_BYTES);
	int rc = read_all(path, &text, err);
	if (rc == 0 && text.len > 0) {
		size_t count;
		char **lines = split_lines(text.data, &count);
		qsort(lines, count, sizeof(*lines), compare_lines);
		rc = write_all(sorted, lines, count, err);
		free(lines);
		if (rc == 0 && rename(sorted, path) != 0)
			rc = ing_error_sys(err, errno, "%s", path);
	}
	ing_buf_done(&text);
	return rc;
}
