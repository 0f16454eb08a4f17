/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run into a folder of its own, and what its one result says.
 */
#include "worker/ctl/rules/page_fetch.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/ctl/self_run.h"
#include "worker/model/limits.h"

#define MAX_PRINTED_BYTES ((size_t)1 << 20)
#define MAX_RESULT_BYTES ((size_t)64 << 20)
#define MAX_OPEN_FOLDERS 16

static char *join(const char *dir, const char *name)
{
	struct ing_buf path;
	ing_buf_init(&path, 65536);
	ing_buf_printf(&path, "%s/%s", dir, name);
	return ing_buf_steal(&path);
}

static int make_dir(struct ing_page_record *ret, struct ing_error *err)
{
	const char *tmp = getenv("TMPDIR");
	ret->dir = join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "ingestctl-page.XXXXXX");
	if (mkdtemp(ret->dir) != NULL)
		return 0;
	int rc = ing_error_sys(err, errno, "%s", ret->dir);
	free(ING_TAKE(ret->dir));
	return rc;
}

static char *request_line(const char *url)
{
	json_t *o = json_object();
	ing_json_set_text(o, "ingest_type", "webpage");
	ing_json_set_text(o, "base_url", url);
	ing_json_set_bool(o, "force_recrawl", true);
	char *line = ing_json_dump(o, NULL);
	json_decref(o);
	return line;
}

static int run(const struct ing_ctl *ctl, const char *dir, const char *url, struct ing_error *err)
{
	const char *const args[] = {"run", "--quiet", "--out", dir, "-", NULL};
	struct ing_buf printed;
	int code = 0;
	if (strlen(url) > ING_MAX_URL_BYTES)
		return ing_error_set(err, ING_FAIL_INVALID, "the URL is too long");
	char *line = request_line(url);
	ing_buf_init(&printed, MAX_PRINTED_BYTES);
	int rc = ing_ctl_run_self(ctl, args, line, &printed, &code, err);
	ing_buf_done(&printed);
	free(line);
	if (rc == 0 && code > ING_CTL_NEGATIVE)
		rc = ing_error_set(err, ING_FAIL_SYSTEM, "the run has failed");
	return rc;
}

static json_t *read_result(const char *dir)
{
	char *path = join(dir, "results.jsonl");
	struct ing_buf text;
	bool ok = ing_ctl_read_file("page", path, MAX_RESULT_BYTES, &text);
	free(path);
	json_t *result =
		ok ? ing_json_parse(ing_buf_str(&text), text.len, &ing_json_own, NULL) : NULL;
	if (ok)
		ing_buf_done(&text);
	return result;
}

static int take_place(const json_t *result, struct ing_page_record *ret, struct ing_error *err)
{
	const json_t *cdx = json_object_get(result, "cdx");
	const char *name = ing_json_get_text(cdx, "warc_path");
	if (name == NULL) {
		const char *status = ing_json_get_text(result, "status");
		const char *words = ing_json_get_text(result, "error_message");
		return ing_error_set(err, ING_FAIL_INVALID, "%s%s%s",
			status != NULL ? status : "no result", words != NULL ? ": " : "",
			words != NULL ? words : "");
	}
	char *warcs = join(ret->dir, "warc");
	ret->warc = join(warcs, name);
	free(warcs);
	ret->offset = (uint64_t)ing_json_get_number(cdx, "warc_offset");
	ret->url = ing_strdup(ing_json_get_text(cdx, "url"));
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_page_fetch(const struct ing_ctl *ctl, const char *url, struct ing_page_record *ret,
	struct ing_error *err)
{
	*ret = (struct ing_page_record){0};
	int rc = make_dir(ret, err);
	if (rc == 0)
		rc = run(ctl, ret->dir, url, err);
	if (rc != 0)
		return rc;
	json_t *result = read_result(ret->dir);
	if (result == NULL)
		return ing_error_set(err, ING_FAIL_SYSTEM, "the run has left no result");
	rc = take_place(result, ret, err);
	json_decref(result);
	return rc;
}

void ing_page_record_done(struct ing_page_record *r)
{
	if (r->dir != NULL)
		(void)nftw(r->dir, remove_one, MAX_OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
	free(r->dir);
	free(r->warc);
	free(r->url);
	*r = (struct ing_page_record){0};
}
