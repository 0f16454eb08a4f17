/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests wait in a list, have an easy handle while they run, and are put into a third list when they
 * have ended: done() is called from there, when no function of curl is on the stack. A request refers to its
 * transfer, which is freed when it is reported or cancelled.
 *
 * A handle is new for each request: against a handshake or a body of some KiB that costs little, and
 * nothing of one request can be left for the next. Connections belong to the multi handle.
 */
#include "common/net/http_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "common/base/io.h"
#include "common/net/multi.h"

/* How much of a body curl asks for at once. */
#define UPLOAD_BYTES (64L << 10)
/* How long a server may take to say that it wants the body. */
#define EXPECT_TIMEOUT_MS 300L

/* A body on its way. */
struct source {
	const struct ing_http_client_body *body;
	struct ing_http_transfer *transfer;
	uint64_t at;
};

struct ing_http_transfer {
	struct ing_http_transfer *prev, *next; /* of one of the client's lists */
	struct ing_http_transfer **list;
	struct ing_http_client *client;
	struct ing_http_client_request *request;
	CURL *easy;
	struct curl_slist *fields;
	curl_mime *mime;
	struct source body;
	struct source *parts;
	struct ing_buf data; /* of the answer */
	int fd;
	uint64_t bytes;
	uint64_t began_ms;
	bool too_large;
	bool repeated;   /* after a kept connection that turned out to be closed */
	int local_errno; /* of this machine; 0: none */
	CURLcode rc;
	char curl_error[CURL_ERROR_SIZE];
};

struct ing_http_client {
	struct ing_multi *multi;
	struct ing_http_client_settings settings;
	char *user_agent, *ca_file;
	struct ing_http_transfer *waiting, *running, *ended;
	unsigned waiting_count, running_count;
	bool reporting;
	uv_idle_t *kick; /* begins what was put, reports what ended without curl */
};

static void move_to(struct ing_http_transfer *t, struct ing_http_transfer **list)
{
	struct ing_http_client *c = t->client;
	if (t->list != NULL)
		DL_DELETE(*t->list, t);
	c->waiting_count -= t->list == &c->waiting;
	c->running_count -= t->list == &c->running;
	t->list = list;
	if (list != NULL)
		DL_APPEND(*list, t);
	c->waiting_count += list == &c->waiting;
	c->running_count += list == &c->running;
}

/* --- what is sent --- */

static size_t read_source(char *buffer, size_t one, size_t count, void *arg)
{
	struct source *s = arg;
	size_t bytes = ING_MIN(one * count, s->body->bytes - s->at);
	if (bytes == 0)
		return 0;
	if (s->body->data != NULL) {
		memcpy(buffer, (const char *)s->body->data + s->at, bytes);
	} else {
		ssize_t n = pread(s->body->fd, buffer, bytes, (off_t)(s->body->offset + s->at));
		if (n <= 0) {
			s->transfer->local_errno =
				n < 0 ? errno : EIO; /* shorter than it was said */
			return CURL_READFUNC_ABORT;
		}
		bytes = (size_t)n;
	}
	s->at += bytes;
	return bytes;
}

static int seek_source(void *arg, curl_off_t offset, int origin)
{
	struct source *s = arg;
	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > s->body->bytes)
		return CURL_SEEKFUNC_FAIL;
	s->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static void set_body(struct ing_http_transfer *t)
{
	const struct ing_http_client_request *r = t->request;
	t->body = (struct source){.body = &r->body, .transfer = t};
	curl_easy_setopt(t->easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(t->easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BYTES);
	curl_easy_setopt(t->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->body.bytes);
	curl_easy_setopt(t->easy, CURLOPT_READFUNCTION, read_source);
	curl_easy_setopt(t->easy, CURLOPT_READDATA, &t->body);
	curl_easy_setopt(t->easy, CURLOPT_SEEKFUNCTION, seek_source);
	curl_easy_setopt(t->easy, CURLOPT_SEEKDATA, &t->body);
	curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void set_parts(struct ing_http_transfer *t)
{
	const struct ing_http_client_request *r = t->request;
	t->mime = curl_mime_init(t->easy);
	t->parts = ing_alloc(r->part_count * sizeof(*t->parts));
	ing_must(t->mime != NULL);
	for (size_t i = 0; i < r->part_count; i++) {
		const struct ing_http_client_part *given = &r->parts[i];
		curl_mimepart *part = curl_mime_addpart(t->mime);
		ing_must(part != NULL);
		t->parts[i] = (struct source){.body = &given->body, .transfer = t};
		curl_mime_name(part, given->name);
		curl_mime_filename(part, given->filename);
		curl_mime_type(part, given->content_type);
		curl_mime_data_cb(part, (curl_off_t)given->body.bytes, read_source, seek_source,
			NULL, &t->parts[i]);
	}
	curl_easy_setopt(t->easy, CURLOPT_MIMEPOST, t->mime);
	curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void set_method(struct ing_http_transfer *t)
{
	const struct ing_http_client_request *r = t->request;
	if (r->part_count > 0)
		set_parts(t);
	else if (r->body.bytes > 0 || strcmp(r->method, "PUT") == 0 ||
		 strcmp(r->method, "POST") == 0)
		set_body(t);
	else if (strcmp(r->method, "HEAD") == 0)
		curl_easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
	else
		curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void add_field(struct ing_http_transfer *t, const char *field)
{
	struct curl_slist *list = curl_slist_append(t->fields, field);
	ing_must(list != NULL);
	t->fields = list;
}

static void set_fields(struct ing_http_transfer *t)
{
	for (const char *const *f = t->request->fields; f != NULL && *f != NULL; f++)
		add_field(t, *f);
	/* It would make curl wait for servers that do not know it. A field of the request's own comes
	 * first, and then counts. curl 7.88 signs a field that is taken away like this, although it does not
	 * send it. */
	if (t->request->sigv4 == NULL)
		add_field(t, "Expect:");
	curl_easy_setopt(t->easy, CURLOPT_EXPECT_100_TIMEOUT_MS, EXPECT_TIMEOUT_MS);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields);
}

/* --- what is received --- */

static bool open_answer(struct ing_http_transfer *t)
{
	if (!t->request->answer_to_fd || t->fd >= 0)
		return true;
	t->fd = memfd_create("answer", MFD_CLOEXEC);
	if (t->fd >= 0)
		return true;
	t->local_errno = errno;
	ing_fd_shortage_note(errno);
	return false;
}

static size_t on_answer(char *data, size_t one, size_t bytes, void *arg)
{
	struct ing_http_transfer *t = arg;
	(void)one;
	if (bytes > t->request->max_answer_bytes - t->bytes) {
		t->too_large = true;
		return 0;
	}
	if (!open_answer(t))
		return 0;
	if (t->fd < 0)
		ing_buf_add(&t->data, data, bytes);
	else
		t->local_errno = ing_write_all(t->fd, data, bytes);
	t->bytes += bytes;
	return t->local_errno == 0 ? bytes : 0;
}

static curl_socket_t on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *sa)
{
	struct ing_http_transfer *t = arg;
	(void)purpose;
	curl_socket_t fd = socket(sa->family, sa->socktype | SOCK_CLOEXEC, sa->protocol);
	if (fd >= 0)
		return fd;
	if (ing_fd_shortage_note(errno) || errno == ENOBUFS || errno == ENOMEM)
		t->local_errno = errno;
	return CURL_SOCKET_BAD;
}

/* --- a transfer --- */

static void set_sigv4(struct ing_http_transfer *t)
{
	const struct ing_http_client_request *r = t->request;
	if (r->sigv4 == NULL)
		return;
	curl_easy_setopt(t->easy, CURLOPT_AWS_SIGV4, r->sigv4);
	curl_easy_setopt(t->easy, CURLOPT_USERNAME, r->access_key);
	curl_easy_setopt(t->easy, CURLOPT_PASSWORD, r->secret_key);
}

static void set_limits(struct ing_http_transfer *t)
{
	const struct ing_http_client_request *r = t->request;
	curl_easy_setopt(
		t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)t->client->settings.connect_timeout_ms);
	curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
	curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(
		t->easy, CURLOPT_LOW_SPEED_TIME, (long)((r->stall_timeout_ms + 999) / 1000));
}

static void set_connection(struct ing_http_transfer *t)
{
	const struct ing_http_client *c = t->client;
	CURL *easy = t->easy;
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* Who cancels does not wait for a name server. */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* not NULL: that would ask the environment */
	curl_easy_setopt(easy, CURLOPT_USERAGENT, c->user_agent);
	if (c->ca_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
		curl_easy_setopt(easy, CURLOPT_CAINFO, c->ca_file);
	}
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
}

static void begin(struct ing_http_transfer *t)
{
	move_to(t, &t->client->running);
	t->began_ms = ing_now_ms();
	t->easy = curl_easy_init();
	ing_must(t->easy != NULL);
	set_connection(t);
	curl_easy_setopt(t->easy, CURLOPT_URL, t->request->url);
	set_method(t);
	set_fields(t);
	set_sigv4(t);
	set_limits(t);
	curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->curl_error);
	curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_answer);
	curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	ing_multi_add(t->client->multi, t->easy);
}

/* The request is not under way any more. */
static void free_transfer(struct ing_http_transfer *t)
{
	if (t->list == &t->client->running)
		ing_multi_remove(t->client->multi, t->easy);
	move_to(t, NULL);
	t->request->transfer = NULL;
	curl_easy_cleanup(t->easy);
	curl_mime_free(t->mime);
	curl_slist_free_all(t->fields);
	free(t->parts);
	ing_buf_done(&t->data);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

/* --- the end --- */

/* Before any byte of the request was sent. */
static bool is_of_connecting(const struct ing_http_transfer *t)
{
	curl_off_t ready_us = 0;
	switch (t->rc) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CIPHER:
		return true;
	case CURLE_OPERATION_TIMEDOUT:
		curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &ready_us);
		return ready_us == 0;
	default:
		return false;
	}
}

static enum ing_http_client_end end_of(const struct ing_http_transfer *t)
{
	if (t->rc == CURLE_OK)
		return ING_HTTP_CLIENT_ANSWERED;
	if (t->too_large)
		return ING_HTTP_CLIENT_TOO_LARGE;
	if (t->local_errno != 0)
		return ING_HTTP_CLIENT_LOCAL;
	if (is_of_connecting(t))
		return ING_HTTP_CLIENT_CONNECT;
	return t->rc == CURLE_OPERATION_TIMEDOUT ? ING_HTTP_CLIENT_TIMEOUT : ING_HTTP_CLIENT_BROKEN;
}

static const char *detail_of(const struct ing_http_transfer *t, enum ing_http_client_end end)
{
	if (end == ING_HTTP_CLIENT_ANSWERED)
		return "";
	if (end == ING_HTTP_CLIENT_TOO_LARGE)
		return "the answer is too large";
	if (end == ING_HTTP_CLIENT_LOCAL)
		return strerror(t->local_errno);
	return t->curl_error[0] != '\0' ? t->curl_error : curl_easy_strerror(t->rc);
}

/* Also an empty body has a descriptor, or a string. */
static void complete(struct ing_http_transfer *t)
{
	if (t->rc == CURLE_OK && !open_answer(t))
		t->rc = CURLE_OUT_OF_MEMORY;
	if (!t->request->answer_to_fd && t->data.data == NULL)
		ing_buf_add_str(&t->data, "");
}

/* done() may put the same request again, so that the transfer is freed before. */
static void report(struct ing_http_transfer *t)
{
	struct ing_http_client_request *r = t->request;
	complete(t);
	struct ing_http_client_answer a = {.end = end_of(t), .bytes = t->bytes, .fd = t->fd};
	char *type = NULL;
	long status = 0;
	curl_off_t retry_after_s = 0;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
	char detail[CURL_ERROR_SIZE];
	snprintf(detail, sizeof(detail), "%s", detail_of(t, a.end));
	char *content_type = type != NULL ? ing_strdup(type) : NULL;
	a.status = (unsigned)status;
	a.content_type = content_type;
	a.retry_after_s = (unsigned)ING_MIN(retry_after_s, (curl_off_t)UINT32_MAX);
	a.detail = detail;
	a.took_ms = ing_now_ms() - t->began_ms;
	t->fd = -1;
	if (!r->answer_to_fd)
		a.data = ing_buf_steal(&t->data);
	free_transfer(t);
	r->done(r, &a);
	free(a.data);
	free(content_type);
	if (a.fd >= 0)
		close(a.fd);
}

/* Whether a kept connection was closed by the server while the request was being written to it. (When it had been written,
 * curl does the same by itself.) */
static bool met_closed_connection(const struct ing_http_transfer *t)
{
	long status = 0, connects = 0;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
	return t->rc == CURLE_SEND_ERROR && connects == 0 && status == 0 && !t->repeated;
}

static void repeat(struct ing_http_transfer *t)
{
	t->repeated = true;
	t->rc = CURLE_OK;
	t->curl_error[0] = '\0';
	t->body.at = 0; /* parts are rewound by curl */
	curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
	move_to(t, &t->client->running);
	ing_multi_add(t->client->multi, t->easy);
}

static void begin_some(struct ing_http_client *c)
{
	while (c->waiting != NULL && c->running_count < c->settings.max_transfers)
		begin(c->waiting);
}

static void on_ended(void *ctx, CURL *easy, CURLcode rc)
{
	struct ing_http_client *c = ctx;
	char *private = NULL;
	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
	struct ing_http_transfer *t = (void *)private;
	t->rc = rc;
	ing_multi_remove(c->multi, easy);
	move_to(t, &c->ended);
}

static void on_idle(void *ctx)
{
	struct ing_http_client *c = ctx;
	while (c->ended != NULL) {
		if (met_closed_connection(c->ended))
			repeat(c->ended);
		else
			report(c->ended);
	}
	begin_some(c);
}

static void on_kick(uv_idle_t *kick)
{
	uv_idle_stop(kick);
	begin_some(kick->data);
}

/* -------------------------------------------------------------------------------------------- */

int ing_http_client_new(struct uv_loop_s *loop, const struct ing_http_client_settings *settings,
	struct ing_http_client **ret, struct ing_error *err)
{
	ing_must(settings->max_transfers > 0);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return ing_error_set(err, ING_FAIL_SYSTEM, "curl_global_init() failed");
	struct ing_http_client *c = ing_alloc(sizeof(*c));
	c->settings = *settings;
	c->user_agent = ing_strdup(settings->user_agent);
	c->ca_file = settings->ca_file != NULL ? ing_strdup(settings->ca_file) : NULL;
	struct ing_multi_user user = {.done = on_ended, .idle = on_idle, .ctx = c};
	c->multi = ing_multi_new(loop, settings->max_transfers, &user);
	c->kick = ing_alloc(sizeof(*c->kick));
	ing_must(uv_idle_init(loop, c->kick) == 0);
	c->kick->data = c;
	*ret = c;
	return 0;
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

void ing_http_client_free(struct ing_http_client *c)
{
	if (c == NULL)
		return;
	struct ing_http_transfer **lists[] = {&c->waiting, &c->running, &c->ended};
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++)
		while (*lists[i] != NULL)
			free_transfer(*lists[i]);
	ing_multi_free(c->multi);
	uv_close((uv_handle_t *)c->kick, free_handle);
	free(c->user_agent);
	free(c->ca_file);
	free(c);
	curl_global_cleanup();
}

void ing_http_client_put(struct ing_http_client *c, struct ing_http_client_request *r)
{
	ing_must(r->transfer == NULL);
	struct ing_http_transfer *t = ing_alloc(sizeof(*t));
	t->client = c;
	t->request = r;
	t->fd = -1;
	ing_buf_init(&t->data, r->max_answer_bytes);
	r->transfer = t;
	move_to(t, &c->waiting);
	uv_idle_start(c->kick, on_kick);
}

void ing_http_client_cancel(struct ing_http_client_request *r)
{
	if (r->transfer == NULL)
		return;
	struct ing_http_client *c = r->transfer->client;
	free_transfer(r->transfer);
	if (c->waiting != NULL)
		uv_idle_start(c->kick, on_kick);
}

unsigned ing_http_client_running(const struct ing_http_client *c)
{
	return c->running_count;
}

unsigned ing_http_client_waiting(const struct ing_http_client *c)
{
	return c->waiting_count;
}

const char *ing_http_client_end_name(enum ing_http_client_end end)
{
	static const char *const names[ING_HTTP_CLIENT_ENDS_] = {
		[ING_HTTP_CLIENT_ANSWERED] = "answered",
		[ING_HTTP_CLIENT_CONNECT] = "connect",
		[ING_HTTP_CLIENT_TIMEOUT] = "timeout",
		[ING_HTTP_CLIENT_BROKEN] = "broken",
		[ING_HTTP_CLIENT_TOO_LARGE] = "too-large",
		[ING_HTTP_CLIENT_LOCAL] = "local",
	};
	return names[end];
}
