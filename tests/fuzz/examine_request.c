/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The examiner's reader of questions: they come from the worker, but hold URLs and header values
 * from the web.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/examine/proto.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 20, .heap_kb = 20, .heap_byte = 5);

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_proto_request order;
	struct ing_proto_request again;
	struct ing_buf b;
	if (ing_proto_get_request(data, size, &order) != 0)
		return;
	ing_must(order.q.url == NULL || ing_utf8_valid(order.q.url, strlen(order.q.url)));
	ing_must((order.q.want & ING_WANT_ROBOTS) == 0 || order.q.agent != NULL);
	ing_must(order.q.agent == NULL || ing_utf8_valid(order.q.agent, strlen(order.q.agent)));
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_EXAM_REQUEST_BYTES);
	ing_proto_put_request(&b, &order.q, order.timeout_ms, order.body_bytes);
	ing_must(!b.failed);
	ing_must(ing_proto_get_request(
			 b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES, &again) == 0);
	ing_proto_request_done(&again);
	ing_proto_request_done(&order);
	ing_buf_done(&b);
}
