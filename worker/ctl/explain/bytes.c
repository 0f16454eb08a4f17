/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the bytes are: for each capture the WARC file, if this machine has it, with its record read and
 * its digests compared; for the document the objects that are made of it.
 */
#include "worker/ctl/explain/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/record/warc_read.h"
#include "worker/conf/conf.h"
#include "worker/model/derived.h"

#define PATH_BYTES ((size_t)8192)

static int open_in(const char *dir, const char *name, struct ing_buf *path)
{
	static const char *const ends[] = {"", ".open"};
	for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++) {
		ing_buf_clear(path);
		if (!ing_buf_printf(path, "%s/%s%s", dir, name, ends[i]))
			return -1;
		int fd = open(ing_buf_str(path), O_RDONLY | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT)
			return fd;
	}
	return -1;
}

/* Service units give each instance a folder of its own, with its WARC files in warc/. */
static int open_of_instances(const char *state_dir, const char *name, struct ing_buf *path)
{
	static const char *const patterns[] = {"/*/warc", "/../*/warc"};
	int fd = -1;
	for (size_t i = 0; i < ING_ARRAY_LEN(patterns) && fd < 0; i++) {
		glob_t found = {0};
		ing_buf_clear(path);
		ing_buf_add_str(path, state_dir);
		ing_buf_add_str(path, patterns[i]);
		if (glob(ing_buf_str(path), GLOB_NOSORT, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc && fd < 0; k++)
				fd = open_in(found.gl_pathv[k], name, path);
		globfree(&found);
	}
	return fd;
}

static int open_warc(const struct ing_explain *e, const char *name, struct ing_buf *path)
{
	int fd = -1;
	for (char *const *dir = e->warc_dirs; *dir != NULL && fd < 0; dir++)
		fd = open_in(*dir, name, path);
	if (fd < 0 && e->conf->warc.dir[0] != '\0')
		fd = open_in(e->conf->warc.dir, name, path);
	if (fd < 0)
		fd = open_of_instances(e->conf->state_dir, name, path);
	return fd;
}

struct record {
	json_t *capture;
	uint64_t bytes;
};

static void add_header(json_t *capture, const char *head, const char *name, const char *member)
{
	const char *line = strcasestr(head, name);
	if (line == NULL)
		return;
	line += strlen(name);
	line += strspn(line, " \t");
	ing_json_set(capture, member, ing_json_textn(line, strcspn(line, "\r\n")));
}

static void take_head(void *ctx, const char *head, size_t head_bytes)
{
	struct record *r = ctx;
	char *text = ing_strndup(head, head_bytes);
	add_header(r->capture, text, "\nWARC-Type:", "record_type");
	add_header(r->capture, text, "\nWARC-Record-ID:", "record_id");
	add_header(r->capture, text, "\nWARC-Refers-To-Target-URI:", "refers_to");
	free(text);
}

static void take_block(void *ctx, const void *data, size_t bytes, size_t payload_bytes)
{
	struct record *r = ctx;
	(void)data;
	(void)bytes;
	r->bytes += payload_bytes;
}

/* A name that a row has is no path: it must not lead elsewhere. */
static bool is_name(const char *name)
{
	return name != NULL && name[0] != '.' && strchr(name, '/') == NULL;
}

static void look(const struct ing_explain *e, json_t *capture)
{
	static const struct ing_warc_read_user user = {.head = take_head, .block = take_block};
	const char *name = ing_json_get_text(capture, "warc_path");
	struct record r = {.capture = capture};
	struct ing_error err = {0};
	struct ing_buf path;
	if (!is_name(name))
		return;
	ing_buf_init(&path, PATH_BYTES);
	int fd = open_warc(e, name, &path);
	ing_json_set_text(capture, "file", fd >= 0 ? ing_buf_str(&path) : NULL);
	if (fd >= 0) {
		int rc = ing_warc_read(fd, (uint64_t)ing_json_get_number(capture, "warc_offset"),
			(uint64_t)ing_json_get_number(capture, "warc_csize"), &user, &r, &err);
		ing_json_set_bool(capture, "whole", rc == 0);
		ing_json_set_count(capture, "payload_bytes", r.bytes);
		ing_json_set_text(capture, "fault", rc != 0 ? err.msg : NULL);
		close(fd);
	}
	ing_buf_done(&path);
}

/* --- objects --- */

/* Which of them there are goes by what the tables say of the document. */
static bool is_kept(const json_t *document, enum ing_derived_kind kind)
{
	const json_t *pdf = json_object_get(document, "pdf");
	const json_t *html = json_object_get(document, "html");
	const char *mimetype = ing_json_get_text(document, "mimetype");
	switch (kind) {
	case ING_DERIVED_PDF_TEXT:
		return json_is_object(pdf) && ing_json_get_number(pdf, "word_count") > 0;
	case ING_DERIVED_THUMBNAIL:
		return ing_json_get_true(pdf, "has_page0_thumbnail");
	case ING_DERIVED_HTML_TEI:
		return ing_json_get_true(html, "has_teixml");
	case ING_DERIVED_GROBID_TEI:
		return ing_json_get_number(json_object_get(document, "grobid"), "status_code") ==
		       200;
	case ING_DERIVED_JATS:
		return mimetype != NULL && strstr(mimetype, "jats") != NULL;
	default:
		return false;
	}
}

static void add_objects(struct ing_explain *e)
{
	const json_t *document = ing_explain_get(e, "document");
	const struct ing_objects_settings *s = &e->conf->objects;
	const char *sha1 = ing_json_get_text(document, "sha1hex");
	json_t *list = json_array();
	ing_json_set(e->life, "objects", list);
	if (sha1 == NULL || (s->endpoint[0] == '\0' && s->dir[0] == '\0'))
		return;
	for (int i = 0; i < ING_DERIVED_; i++) {
		char path[ING_DERIVED_PATH_BYTES];
		struct ing_buf whole;
		if (!is_kept(document, (enum ing_derived_kind)i))
			continue;
		ing_derived_path((enum ing_derived_kind)i, sha1, path);
		ing_buf_init(&whole, PATH_BYTES);
		if (s->dir[0] != '\0')
			ing_buf_printf(&whole, "%s/%s", s->dir, path);
		else
			ing_buf_printf(
				&whole, "%s/%s/%s%s", s->endpoint, s->bucket, s->prefix, path);
		ing_json_append(list, ing_json_text(ing_buf_str(&whole)));
		ing_buf_done(&whole);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_bytes(struct ing_explain *e)
{
	json_t *captures = ing_explain_get(e, "captures");
	for (size_t i = 0; i < json_array_size(captures); i++)
		look(e, json_array_get(captures, i));
	add_objects(e);
}
