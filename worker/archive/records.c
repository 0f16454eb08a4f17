/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which fields a record of ours has. See records.h.
 */
#include "worker/archive/records.h"

#include <stdio.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/base32.h"
#include "worker/archive/archive.h"
#include "worker/archive/bodies.h"
#include "worker/model/exchange.h"

#define MAX_INFO_BYTES ((size_t)16 << 10)

static const char *truncated_word(enum ing_truncated t)
{
	switch (t) {
	case ING_TRUNC_LENGTH:
		return "length";
	case ING_TRUNC_TIME:
		return "time";
	case ING_TRUNC_DISCONNECT:
		return "disconnect";
	case ING_TRUNC_UNSPECIFIED:
		return "unspecified";
	case ING_TRUNC_NONE:
		break;
	}
	return NULL;
}

/* What the records of an exchange have in common. `other`: the record that was written with this one. */
static struct ing_warc_head head_of(const struct ing_archive_file *to,
	const struct ing_exchange *ex, const char *type, const char *id, const char *other)
{
	return (struct ing_warc_head){
		.type = type,
		.id = id,
		.date = ex->started,
		.target_uri = ex->url,
		.ip = ex->ip,
		.concurrent_to = other,
		.warcinfo_id = to->warcinfo_id,
	};
}

/* -------------------------------------------------------------------------------------------- */

int ing_archive_write_warcinfo(
	struct ing_archive_file *to, const struct ing_archive_conf *conf, struct ing_error *err)
{
	struct ing_buf info;
	ing_buf_init(&info, MAX_INFO_BYTES);
	ing_warc_fields_add(&info, "software", conf->software);
	ing_warc_fields_add(&info, "format", "WARC File Format 1.1");
	ing_warc_fields_add(&info, "conformsTo",
		"http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/");
	ing_warc_fields_add(&info, "robots", conf->robots);
	ing_warc_fields_add(&info, "hostname", conf->hostname);
	ing_warc_fields_add(&info, "http-header-user-agent", conf->user_agent);
	ing_warc_make_id(to->warcinfo_id);
	const struct ing_warc_head head = {
		.type = "warcinfo",
		.id = to->warcinfo_id,
		.date = ing_wall_now(),
		.filename = ing_warc_file_name(to->file),
		.content_type = "application/warc-fields",
	};
	const struct ing_warc_block block = {.head = ing_buf_str(&info), .head_bytes = info.len};
	struct ing_warc_place place;
	int rc = ing_warc_file_add(to->file, &head, &block, &place, err);
	ing_buf_done(&info);
	return rc;
}

int ing_archive_write_request(const struct ing_archive_file *to, const struct ing_exchange *ex,
	const char *id, const char *response_id, struct ing_error *err)
{
	struct ing_warc_head head = head_of(to, ex, "request", id, response_id);
	head.content_type = "application/http;msgtype=request";
	const struct ing_warc_block block = {
		.head = ex->request.data, .head_bytes = ex->request.len};
	struct ing_warc_place place;
	return ing_warc_file_add(to->file, &head, &block, &place, err);
}

int ing_archive_write_response(const struct ing_archive_file *to,
	const struct ing_archive_body *body, const char *id, const char *request_id,
	struct ing_warc_place *ret, struct ing_error *err)
{
	const struct ing_exchange *ex = body->item->exchange;
	struct ing_warc_head head = head_of(to, ex, "response", id, request_id);
	head.truncated = truncated_word(ex->truncated);
	head.content_type = "application/http;msgtype=response";
	const struct ing_warc_block block = {
		.head = ex->response.data,
		.head_bytes = ex->response.len,
		.body = body->data,
		.body_fd = ex->body_fd,
		.body_bytes = ex->body_fd >= 0 ? ex->body_bytes : 0,
		.has_payload = true,
		.digests = body->ready ? &body->digests : NULL,
	};
	return ing_warc_file_add(to->file, &head, &block, ret, err);
}

int ing_archive_write_revisit(const struct ing_archive_file *to, const struct ing_exchange *ex,
	const char *id, const char *request_id, const struct ing_archive_original *original,
	struct ing_warc_place *ret, struct ing_error *err)
{
	char refers_to[ING_WARC_ID_BYTES];
	char sha1b32[33];
	snprintf(refers_to, sizeof(refers_to), "<urn:uuid:%s>", original->record_id);
	ing_base32_encode(original->payload_sha1, sizeof(original->payload_sha1), sha1b32);
	struct ing_warc_head head = head_of(to, ex, "revisit", id, request_id);
	head.profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
	head.refers_to = refers_to;
	head.refers_to_target_uri = original->url;
	head.refers_to_date = original->record_date;
	head.truncated = "length";
	head.content_type = "application/http;msgtype=response";
	head.payload_sha1b32 = sha1b32;
	const struct ing_warc_block block = {
		.head = ex->response.data, .head_bytes = ex->response.len};
	return ing_warc_file_add(to->file, &head, &block, ret, err);
}
