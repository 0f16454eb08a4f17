/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The way of a robots.txt, from the bytes that a server sends to a verdict: content codings off and
 * parsed as an examiner does, sent to the worker and read there, asked about a URL.
 * "Content-Encoding LF agent LF URL LF body"; an agent that begins with "!" means that the body was
 * cut. What the worker has is what the parser said, and of a body that was not decoded there is
 * nothing.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/robots.h"
#include "worker/document/document.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 100000, .cpu_byte_ns = 5000, .heap_kb = 20000, .heap_byte = 50);

/* Cuts a line off the front. */
static char *take_line(const char **text, size_t *bytes)
{
	const char *end = memchr(*text, '\n', *bytes);
	size_t n = end != NULL ? (size_t)(end - *text) : *bytes;
	char *line = ing_strndup(*text, n);
	*text += n + (end != NULL);
	*bytes -= n + (end != NULL);
	return line;
}

static void send_on(const struct ing_findings *f, struct ing_findings *ret)
{
	struct ing_buf b;
	size_t payload;
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&b, f);
	ing_must(!b.failed);
	ing_must(ing_proto_head(b.data, ING_PROTO_REPLY, ING_MAX_REPLY_BYTES, &payload) == 0);
	ing_must(ing_proto_get_reply(b.data + ING_PROTO_HEAD_BYTES, payload, ret) == 0);
	ing_buf_done(&b);
}

static void check_same(
	const struct ing_robots_txt *a, const struct ing_robots_txt *b, const char *url)
{
	unsigned line_a = 0;
	unsigned line_b = 0;
	ing_must(ing_robots_txt_count(a) == ing_robots_txt_count(b));
	ing_must(ing_robots_txt_bytes(a) == ing_robots_txt_bytes(b));
	ing_must(ing_robots_txt_crawl_delay_ms(a) == ing_robots_txt_crawl_delay_ms(b));
	ing_must(ing_robots_txt_allows(a, url, &line_a) == ing_robots_txt_allows(b, url, &line_b));
	ing_must(line_a == line_b);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *coding = take_line(&text, &size);
	char *agent = take_line(&text, &size);
	char *url = take_line(&text, &size);
	char *body = ing_alloc(size + 1); /* of the exact size, so that reading on is seen */
	memcpy(body, text, size);
	struct ing_exam_request q = {
		.content_encoding = coding,
		.want = ING_WANT_ROBOTS,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = agent,
		.body_cut = agent[0] == '!',
	};
	struct ing_findings f;
	struct ing_findings got;
	ing_findings_init(&f);
	ing_document_robots(&q, body, size, &f);
	ing_must((f.exam == ING_EXAM_OK) == (f.robots.txt != NULL));
	ing_must(f.exam == ING_EXAM_OK || f.exam == ING_EXAM_BAD_ENCODING);
	ing_must(f.file.size_bytes <= ING_ROBOTS_TXT_MAX_BYTES);
	send_on(&f, &got);
	ing_must(got.exam == f.exam && got.robots.cut == f.robots.cut);
	ing_must((got.robots.txt != NULL) == (f.robots.txt != NULL));
	if (got.robots.txt != NULL)
		check_same(f.robots.txt, got.robots.txt, url);
	ing_findings_done(&got);
	ing_findings_done(&f);
	free(body);
	free(coding);
	free(agent);
	free(url);
}
