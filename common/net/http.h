/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http.h - the head of an HTTP/1 response (RFC 9112): collected as it arrives, kept to the byte, and
 * parsed for the few fields that are needed.
 *
 * Interim answers (1xx but 101) are dropped when the next head begins; what comes after the final
 * head (trailers) is only counted. One thread at a time. Input is hostile: all memory is bounded by
 * the two limits given.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

enum ing_http_state {
	ING_HTTP_EMPTY,     /* no whole status line of a final answer yet */
	ING_HTTP_OPEN,      /* in the middle of a head; for an input that ends here: cut short */
	ING_HTTP_DONE,      /* a whole final head is there */
	ING_HTTP_BAD,       /* not HTTP/1; see why */
	ING_HTTP_TOO_LARGE, /* over a limit; see why */
};

struct ing_http_head {
	enum ing_http_state state;
	const char *why; /* static words for BAD and TOO_LARGE, else NULL */

	/* The final head with its blank line, exact, but for one change: a Transfer-Encoding field
	 * is called X-Archive-Orig-Transfer-Encoding, because the body kept beside it has no
	 * transfer coding any more. */
	struct ing_buf raw;
	int status; /* 100 to 999, once DONE */
	/* Field values without white space around them, folds and stray CRs replaced by a space
	 * (RFC 9112 5.2); bytes over 0x7f as they came. NULL when the field is absent. Owned; may
	 * be taken. */
	char *location;          /* the first one */
	char *content_type;      /* the last one that is not empty, as browsers decide */
	char *content_encoding;  /* all, joined by ", " */
	char *transfer_encoding; /* all, joined by ", " */
	char *retry_after;       /* the first one */
	char *date;              /* the first one */
	int64_t content_length;  /* -1: absent, no number, or too large a one */
	const char *bad_length; /* static words: Content-Length values that differ, or one that does
				not fit (RFC 9112 6.3: the framing cannot be trusted); else NULL */
	bool set_cookie;        /* at least one Set-Cookie */

	/* private */
	size_t max_bytes, seen_bytes; /* over all heads of one answer, interim ones and trailers
					 included */
	unsigned max_fields, seen_fields;
	size_t line_start; /* in raw */
	int field;         /* the one the next folded line would continue */
	struct ing_buf value;
};

void ing_http_head_init(struct ing_http_head *h, size_t max_bytes, unsigned max_fields);
void ing_http_head_done(struct ing_http_head *h); /* zero-initialised is fine */
/* More bytes of the head, cut anywhere. False once the state is BAD or TOO_LARGE: give up. */
bool ing_http_head_add(struct ing_http_head *h, const void *data, size_t bytes);

/* More bytes of trailer fields. They are only counted, because libcurl keeps each of them. Returns
 * false once they and the head are over a limit. */
bool ing_http_head_add_trailer(struct ing_http_head *h, const void *data, size_t bytes);

/* The memory that it uses, in bytes: buffers as allocated, and field values. */
size_t ing_http_head_memory(const struct ing_http_head *h);

/* True when removing this transfer coding takes no more than undoing chunks: "chunked" or
 * "identity" in any number and case. A server may send no other to a client that sent no TE
 * (RFC 9112 7.4). */
bool ing_http_coding_is_plain(const char *transfer_encoding);
