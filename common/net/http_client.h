/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http_client.h - HTTP requests to services of our own (an object store, GROBID), on the loop.
 *
 * Not for the web: there is no politeness, no guard of addresses, no archive (worker/fetch has those).
 * No proxy, no redirects, no cookies, no ~/.netrc; HTTP/1.1, connections are kept and used again.
 *
 * A request is embedded in its owner, who fills in the members down to done() and calls
 * ing_http_client_put(). What they point to is borrowed until done(). Requests over max_transfers
 * wait in the order in which they came; waiting counts against no timeout. done() is called once, on
 * the loop, never from inside a call, when the whole answer is there or there will be none; in it, the
 * request may be put again or freed, and others put or cancelled. After ing_http_client_cancel() it is
 * not called.
 *
 * Nothing is retried here, but for one case: a kept connection that turns out to be closed before any byte of
 * the answer came is replaced by a new one. So a request may reach the server twice.
 *
 * Bodies are read while they are sent, never copied as a whole: from memory, or with pread() from a
 * descriptor, 64 KiB at a time. pread() runs on the loop, so the file should be one that was just
 * written (a memfd, a spooled body). Its offset is neither used nor moved.
 *
 * Thread: the loop's. Owns the multi handle and its connections. Names are looked up by threads of
 * curl.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"

struct uv_loop_s;
struct ing_http_client;
struct ing_http_transfer;

struct ing_http_client_settings {
	const char *user_agent;
	const char *ca_file;         /* PEM; NULL: the system's */
	unsigned max_transfers;      /* side by side; at least 1 */
	unsigned connect_timeout_ms; /* lookup, TCP and TLS */
};

/* How a request ended. The texts of ing_http_client_end_name() are in the comments. */
enum ing_http_client_end {
	ING_HTTP_CLIENT_ANSWERED, /* "answered": the whole answer is there, of whatever status */
	ING_HTTP_CLIENT_CONNECT, /* "connect": no such name, no connection (in time), TLS failed: the
				    * request was not sent */
	ING_HTTP_CLIENT_TIMEOUT,   /* "timeout": timeout_ms or stall_timeout_ms */
	ING_HTTP_CLIENT_BROKEN,    /* "broken": the connection ended early, or it was no HTTP */
	ING_HTTP_CLIENT_TOO_LARGE, /* "too-large": the answer is over max_answer_bytes */
	ING_HTTP_CLIENT_LOCAL,     /* "local": this machine: the body cannot be read, no memory or
				    * descriptor for the answer */
	ING_HTTP_CLIENT_ENDS_
};

/* Bytes to send. */
struct ing_http_client_body {
	const void *data; /* or NULL: */
	int fd;           /* from here */
	uint64_t offset;
	uint64_t bytes; /* 0: none, and the others do not matter */
};

/* A part of multipart/form-data. */
struct ing_http_client_part {
	const char *name;
	const char *filename;     /* or NULL */
	const char *content_type; /* or NULL */
	struct ing_http_client_body body;
};

/* Of done(). What is not taken is freed after it. */
struct ing_http_client_answer {
	enum ing_http_client_end end;
	/* 0: no head of an answer came. Also of TIMEOUT, BROKEN and TOO_LARGE, whose body is cut. */
	unsigned status;
	const char *content_type; /* its field, or NULL */
	unsigned retry_after_s;   /* of Retry-After, seconds or date; 0: none */
	/* Its body, as sent (no coding is asked for). data is NUL-terminated, "" when it is empty;
	 * heap; done() may take it with ING_TAKE(). With answer_to_fd it is NULL. */
	char *data;
	uint64_t bytes;
	int fd; /* with answer_to_fd: a memfd, else -1; done() may take it and leave -1 */
	const char *detail; /* words for a log or error_message, when it is not ANSWERED; else "" */
	uint64_t took_ms;   /* without the time that it waited for its turn */
};

struct ing_http_client_request {
	const char *method; /* GET, HEAD, PUT, POST, DELETE … */
	const char *url;    /* http or https, already encoded; sent as it is */
	/* "Name: value"; NULL-terminated, or NULL. Replaces those that are sent by default: User-Agent,
	 * Accept, Content-Type of parts. No Expect is sent unless "Expect: 100-continue" is here (worth it
	 * where a server refuses large bodies early), or it is signed with sigv4 and over 1 MiB. */
	const char *const *fields;
	/* Sent with Content-Length; or, when there are parts, these as multipart/form-data. Of PUT and
	 * POST it may be empty; of GET and HEAD it has to be. */
	struct ing_http_client_body body;
	const struct ing_http_client_part *parts;
	size_t part_count;
	/* AWS Signature Version 4, what CURLOPT_AWS_SIGV4 takes ("aws:amz:REGION:s3"), with the keys; NULL:
	 * none. The digest of the body is the caller's: a field "x-amz-content-sha256: …". */
	const char *sigv4, *access_key, *secret_key;
	uint64_t max_answer_bytes; /* of its body */
	bool answer_to_fd;         /* its body goes to a memfd; else to memory */
	unsigned timeout_ms;       /* from its turn to its last byte; 0: none */
	/* No byte sent or received for so long, the server's thinking included; rounded up to seconds;
	 * 0: none. */
	unsigned stall_timeout_ms;
	void (*done)(struct ing_http_client_request *r, struct ing_http_client_answer *a);

	/* The client's own; zero-initialise. */
	struct ing_http_transfer *transfer; /* NULL: it is not under way */
};

/* settings is not kept. */
int ing_http_client_new(struct uv_loop_s *loop, const struct ing_http_client_settings *settings,
	struct ing_http_client **ret, struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine. Requests that are under way are dropped: done() is not called. Not from inside done(). The
 * loop must turn once more for libuv to close the handles. */
void ing_http_client_free(struct ing_http_client *c);
void ing_http_client_put(struct ing_http_client *c, struct ing_http_client_request *r);
/* Fine for one that is not under way. The connection is closed. */
void ing_http_client_cancel(struct ing_http_client_request *r);
unsigned ing_http_client_running(const struct ing_http_client *c);
unsigned ing_http_client_waiting(const struct ing_http_client *c);
const char *ing_http_client_end_name(enum ing_http_client_end end);
