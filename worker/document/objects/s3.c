/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Objects into a bucket: one PUT each, ENDPOINT/BUCKET/PREFIX/PATH, signed with AWS Signature Version 4 by
 * libcurl. The signature covers the SHA-256 of the content, which the server compares with what it has
 * received, so that nothing else can be stored under a digest that was right here.
 *
 * The keys are read before each attempt: a key that is changed on disk takes effect with the next
 * object, and a wrong one only has to be put right.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/key_file.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/net/http_client.h"
#include "worker/document/objects/s3_answer.h"

#define MAX_RUNNING 16
#define CONNECT_TIMEOUT_MS 10000
/* Some MiB at most; a server that accepts nothing for half a minute is away. */
#define STALL_TIMEOUT_MS 30000
#define TIMEOUT_MS 300000
#define MAX_KEY_BYTES 256
#define MAX_URL_BYTES 4096

struct s3 {
	struct ing_object_backend base;
	struct ing_http_client *client;
	char *sigv4;
	char *access_key_path, *secret_key_path;
};

struct s3_attempt {
	struct ing_object_attempt base;
	struct ing_http_client_request request;
	char access_key[MAX_KEY_BYTES], secret_key[MAX_KEY_BYTES];
	char content_type[96], digest[96];
	const char *fields[3];
	char *url;
};

static struct s3 *s3_of(const struct ing_object_attempt *a)
{
	return ING_CONTAINER(a->backend, struct s3, base);
}

/* --- in the pool --- */

static void compute_digest(struct ing_object *o)
{
	struct ing_digests d;
	if (o->sha256hex[0] != '\0')
		return;
	ing_digest(ING_DIGEST_SHA256, o->data, o->bytes, &d);
	ing_hex_encode(d.sha256, sizeof(d.sha256), o->sha256hex);
}

static bool take_key(struct ing_object_attempt *a, const char *name, const char *path,
	char ret_key[MAX_KEY_BYTES])
{
	int errnum = ing_key_file_read(path, ret_key, MAX_KEY_BYTES);
	if (errnum == 0)
		return true;
	ing_object_decide(a, ING_OBJECT_OUTCOME_DENIED, "%s: %.150s: %s", name, path,
		errnum == ENODATA ? "the file is empty" : strerror(errnum));
	return false;
}

static void prepare(struct ing_object_attempt *base)
{
	struct s3_attempt *a = ING_CONTAINER(base, struct s3_attempt, base);
	const struct s3 *s = s3_of(base);
	compute_digest(base->object);
	if (take_key(base, "s3.access_key_file", s->access_key_path, a->access_key))
		(void)take_key(base, "s3.secret_key_file", s->secret_key_path, a->secret_key);
}

/* --- on the loop --- */

static void on_answer(struct ing_http_client_request *r, struct ing_http_client_answer *answer)
{
	struct s3_attempt *a = ING_CONTAINER(r, struct s3_attempt, request);
	struct ing_object_verdict *verdict = &a->base.verdict;
	bool has_status =
		answer->end == ING_HTTP_CLIENT_ANSWERED || answer->end == ING_HTTP_CLIENT_TOO_LARGE;
	a->base.decided = true;
	verdict->retry_after_s = answer->retry_after_s;
	if (has_status && answer->status >= 200 && answer->status < 300)
		verdict->outcome = ING_OBJECT_OUTCOME_STORED;
	else if (has_status)
		ing_s3_answer_judge(answer->status, answer->data, (size_t)answer->bytes, verdict);
	else
		ing_object_decide(&a->base, ING_OBJECT_OUTCOME_AWAY, "%s", answer->detail);
	a->base.ended(&a->base);
}

static char *make_url(const struct s3 *s, const struct ing_object *o)
{
	char path[ING_DERIVED_PATH_BYTES];
	struct ing_buf url;
	ing_derived_path(o->kind, o->sha1hex, path);
	ing_buf_init(&url, 2 * MAX_URL_BYTES);
	ing_buf_printf(&url, "%s/%s", s->base.name, path);
	return ing_buf_steal(&url);
}

static void send_put(struct ing_object_attempt *base)
{
	struct s3_attempt *a = ING_CONTAINER(base, struct s3_attempt, base);
	struct s3 *s = s3_of(base);
	const struct ing_object *o = base->object;
	snprintf(a->content_type, sizeof(a->content_type), "Content-Type: %s",
		ing_derived_row(o->kind)->content_type);
	snprintf(a->digest, sizeof(a->digest), "x-amz-content-sha256: %s", o->sha256hex);
	a->fields[0] = a->content_type;
	a->fields[1] = a->digest;
	a->url = make_url(s, o);
	a->request = (struct ing_http_client_request){
		.method = "PUT",
		.url = a->url,
		.fields = a->fields,
		.body = {.data = o->data, .bytes = o->bytes},
		.sigv4 = s->sigv4,
		.access_key = a->access_key,
		.secret_key = a->secret_key,
		.max_answer_bytes = ING_S3_MAX_ANSWER_BYTES,
		.timeout_ms = TIMEOUT_MS,
		.stall_timeout_ms = STALL_TIMEOUT_MS,
		.done = on_answer,
	};
	ing_http_client_put(s->client, &a->request);
}

static void stop(struct ing_object_attempt *base)
{
	ing_http_client_cancel(&ING_CONTAINER(base, struct s3_attempt, base)->request);
}

static struct ing_object_attempt *new_attempt(struct ing_object_backend *b, struct ing_object *o)
{
	(void)b;
	(void)o;
	struct s3_attempt *a = ing_alloc(sizeof(*a));
	return &a->base;
}

static void free_attempt(struct ing_object_attempt *base)
{
	struct s3_attempt *a = ING_CONTAINER(base, struct s3_attempt, base);
	free(a->url);
	explicit_bzero(a->secret_key, sizeof(a->secret_key));
	free(a);
}

static void free_s3(struct ing_object_backend *b)
{
	struct s3 *s = ING_CONTAINER(b, struct s3, base);
	ing_http_client_free(s->client);
	free(s->sigv4);
	free(s->access_key_path);
	free(s->secret_key_path);
	free(s->base.name);
	free(s);
}

static char *make_name(const struct ing_objects_settings *settings)
{
	struct ing_buf name;
	size_t bytes = strlen(settings->endpoint);
	while (bytes > 0 && settings->endpoint[bytes - 1] == '/')
		bytes--;
	ing_buf_init(&name, MAX_URL_BYTES);
	ing_buf_printf(&name, "%.*s/%s", (int)bytes, settings->endpoint, settings->bucket);
	if (settings->prefix[0] != '\0')
		ing_buf_printf(&name, "/%s", settings->prefix);
	return ing_buf_steal(&name);
}

/* -------------------------------------------------------------------------------------------- */

int ing_object_s3_new(uv_loop_t *loop, const struct ing_objects_settings *settings,
	const char *user_agent, struct ing_object_backend **ret, struct ing_error *err)
{
	struct s3 *s = ing_alloc(sizeof(*s));
	int rc = ing_http_client_new(loop,
		&(struct ing_http_client_settings){.user_agent = user_agent,
			.ca_file = settings->ca_file,
			.max_transfers = MAX_RUNNING,
			.connect_timeout_ms = CONNECT_TIMEOUT_MS},
		&s->client, err);
	if (rc != 0) {
		free(s);
		return rc;
	}
	s->base = (struct ing_object_backend){
		.name = make_name(settings),
		.max_running = MAX_RUNNING,
		.new_attempt = new_attempt,
		.prepare = prepare,
		.send = send_put,
		.stop = stop,
		.free_attempt = free_attempt,
		.free = free_s3,
	};
	s->access_key_path = ing_key_file_path(settings->access_key_file);
	s->secret_key_path = ing_key_file_path(settings->secret_key_file);
	struct ing_buf sigv4;
	ing_buf_init(&sigv4, MAX_URL_BYTES);
	ing_buf_printf(&sigv4, "aws:amz:%s:s3", settings->region);
	s->sigv4 = ing_buf_steal(&sigv4);
	*ret = &s->base;
	return 0;
}
