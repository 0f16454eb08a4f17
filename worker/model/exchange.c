/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counting the holders of an exchange. Loop thread only, so the count is a plain number.
 */
#include "worker/model/exchange.h"

#include <stdlib.h>
#include <unistd.h>

struct ing_exchange *ing_exchange_new(size_t bytes)
{
	ing_must(bytes >= sizeof(struct ing_exchange));
	struct ing_exchange *ex = ing_alloc(bytes);
	ex->magic = ING_EXCHANGE_MAGIC;
	ex->refs = 1;
	ex->body_fd = -1;
	ex->retry_after_s = -1;
	return ex;
}

void ing_exchange_free(struct ing_exchange *ex)
{
	if (ex == NULL)
		return;
	free(ex->url);
	free(ex->location);
	free(ex->content_type);
	free(ex->content_encoding);
	ing_buf_done(&ex->request);
	ing_buf_done(&ex->response);
	if (ex->body_fd >= 0)
		close(ex->body_fd);
	ex->magic = 0;
	free(ex);
}

struct ing_exchange *ing_exchange_ref(struct ing_exchange *ex)
{
	ing_must(ex->magic == ING_EXCHANGE_MAGIC && ex->refs > 0);
	ex->refs++;
	return ex;
}

void ing_exchange_unref(struct ing_exchange *ex)
{
	if (ex == NULL)
		return;
	ing_must(ex->magic == ING_EXCHANGE_MAGIC && ex->refs > 0);
	if (--ex->refs > 0)
		return;
	if (ex->destroy != NULL)
		ex->destroy(ex);
	else
		ing_exchange_free(ex);
}
