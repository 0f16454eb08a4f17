/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc index: a line for each record that has a capture, sorted in byte order over all
 * files, in memory. Which records and which values: as cdxj-indexer has them, but for the media type
 * (common/record/README.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/net/http.h"
#include "common/net/surt.h"
#include "common/record/cdx.h"
#include "common/record/warc.h"
#include "common/record/warc_scan.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/warc/warc.h"

#define MAX_SURT_BYTES ((size_t)256 << 10)

struct index {
	bool cdxj;
	char **lines;
	size_t count, room;
	unsigned long left_out; /* records with a capture that no line can be made of */
};

/* A record's header as strings, heap; NULL: absent. */
struct fields {
	char *type, *url, *date, *content_type, *digest;
};

static char *field(const struct ing_ctl_warc_record *r, const char *name)
{
	const char *value;
	size_t bytes;
	if (!ing_warc_field(r->head, r->head_bytes, name, &value, &bytes))
		return NULL;
	char *copy = ing_alloc(bytes + 1);
	memcpy(copy, value, bytes);
	return copy;
}

static void free_fields(struct fields *f)
{
	free(f->type);
	free(f->url);
	free(f->date);
	free(f->content_type);
	free(f->digest);
}

static bool has_capture(const struct fields *f)
{
	if (f->type == NULL || f->url == NULL || f->date == NULL)
		return false;
	if (strcmp(f->type, "response") == 0 || strcmp(f->type, "revisit") == 0)
		return true;
	return (strcmp(f->type, "resource") == 0 || strcmp(f->type, "metadata") == 0) &&
	       (f->content_type == NULL || strcmp(f->content_type, "application/warc-fields") != 0);
}

/* 2026-11-22T18:40:12.345678Z → 20261122184012. False when there are not 14 digits. */
static bool digits_of(const char *date, char ret[15])
{
	size_t n = 0;
	for (; *date != '\0' && n < 14; date++) {
		if (*date >= '0' && *date <= '9')
			ret[n++] = *date;
	}
	ret[n] = '\0';
	return n == 14;
}

static void mimetype_of(
	const struct fields *f, const struct ing_http_head *http, char ret[ING_CDX_MIMETYPE_BYTES])
{
	if (strcmp(f->type, "revisit") == 0)
		snprintf(ret, ING_CDX_MIMETYPE_BYTES, "warc/revisit");
	else
		ing_cdx_mimetype(http != NULL ? http->content_type : f->content_type, ret);
}

static bool format_cdxj(const struct ing_cdx *line, struct ing_buf *out)
{
	json_t *o = json_object();
	ing_json_set_text(o, "url", line->url);
	ing_json_set_text(o, "mime", line->mimetype);
	if (line->status > 0)
		json_object_set_new(o, "status", json_sprintf("%d", line->status));
	json_object_set_new(o, "digest", json_sprintf("sha1:%s", line->sha1b32));
	json_object_set_new(o, "length", json_sprintf("%lld", (long long)line->csize));
	json_object_set_new(o, "offset", json_sprintf("%lld", (long long)line->offset));
	ing_json_set_text(o, "filename", line->filename);
	char *text = json_dumps(o, JSON_ENSURE_ASCII);
	bool good = text != NULL;
	if (good)
		ing_buf_printf(out, "%s %s %s\n", line->surt, line->datetime, text);
	free(text);
	json_decref(o);
	return good && !out->failed;
}

static void keep_line(struct index *x, struct ing_buf *line)
{
	if (x->count == x->room) {
		x->room = x->room > 0 ? 2 * x->room : 1024;
		x->lines = realloc(x->lines, x->room * sizeof(*x->lines));
		ing_must(x->lines != NULL);
	}
	x->lines[x->count] = strdup(ing_buf_str(line));
	ing_must(x->lines[x->count] != NULL);
	x->count++;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

static bool add_line(struct index *x, const struct ing_ctl_warc_record *r, const struct fields *f)
{
	char datetime[15];
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	struct ing_buf surt;
	struct ing_buf line;
	ing_buf_init(&surt, MAX_SURT_BYTES);
	ing_buf_init(&line, 2 * ING_CDX_MAX_BYTES);
	mimetype_of(f, r->http, mimetype);
	bool good = digits_of(f->date, datetime) && ing_surt(f->url, &surt);
	const struct ing_cdx cdx = {
		.surt = ing_buf_str(&surt),
		.datetime = datetime,
		.url = f->url,
		.mimetype = mimetype,
		.status = r->http != NULL ? r->http->status : 0,
		.sha1b32 = f->digest != NULL && strncasecmp(f->digest, "sha1:", 5) == 0
				   ? f->digest + 5
				   : r->payload_sha1b32,
		.csize = (int64_t)r->csize,
		.offset = (int64_t)r->offset,
		.filename = base_name(r->path),
	};
	good = good && (x->cdxj ? format_cdxj(&cdx, &line) : ing_cdx_format(&cdx, &line));
	if (good)
		keep_line(x, &line);
	ing_buf_done(&surt);
	ing_buf_done(&line);
	return good;
}

static void index_record(void *ctx, const struct ing_ctl_warc_record *r)
{
	struct index *x = ctx;
	struct fields f = {
		.type = field(r, "WARC-Type"),
		.url = field(r, "WARC-Target-URI"),
		.date = field(r, "WARC-Date"),
		.content_type = field(r, "Content-Type"),
		.digest = field(r, "WARC-Payload-Digest"),
	};
	if (has_capture(&f) && !add_line(x, r, &f)) {
		x->left_out++;
		ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC,
			"%s: offset %llu: no line can be made of its URL or date", r->path,
			(unsigned long long)r->offset);
	}
	free_fields(&f);
}

static int compare_lines(const void *a, const void *b)
{
	const char *const *x = a;
	const char *const *y = b;
	return strcmp(*x, *y);
}

static int index_file(struct index *x, const char *path)
{
	struct ing_warc_scan_state state;
	if (!ing_ctl_warc_walk(path, index_record, x, &state))
		return ING_CTL_ENVIRONMENT;
	if (state.damage == NULL)
		return ING_CTL_OK;
	return ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC,
		"%s: offset %llu: %s; what follows is not in the index", path,
		(unsigned long long)state.whole, state.damage);
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_warc_index(char **paths, int count, bool cdxj)
{
	struct index x = {.cdxj = cdxj};
	int code = ING_CTL_OK;
	for (int i = 0; i < count; i++) {
		int one = index_file(&x, paths[i]);
		code = ING_MAX(code, one);
	}
	if (x.count > 0)
		qsort(x.lines, x.count, sizeof(*x.lines), compare_lines);
	if (!cdxj)
		fputs(ING_CDX_HEADER, stdout);
	for (size_t i = 0; i < x.count; i++) {
		fputs(x.lines[i], stdout);
		free(x.lines[i]);
	}
	free(x.lines);
	return x.left_out > 0 ? ING_MAX(code, ING_CTL_NEGATIVE) : code;
}
