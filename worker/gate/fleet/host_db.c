/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A connection to the tables of hosts, and the numbers that come over it.
 */
#include "worker/gate/fleet/host_db.h"

#include <stdlib.h>

#include "worker/store/schema.h"

int ing_host_db_open(const char *dsn, int stop_fd, int timeout_ms, const char *settings,
	struct ing_pg **ret, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = ing_pg_open(dsn, stop_fd, timeout_ms, &pg, err);
	if (rc == 0 && settings != NULL && ing_pg_exec(pg, settings, err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
	if (rc == 0)
		rc = ing_schema_check(pg, err);
	if (rc != 0) {
		ing_pg_close(pg);
		return rc;
	}
	*ret = pg;
	return 0;
}

int64_t ing_host_db_number(const char *text)
{
	return text == NULL ? 0 : strtoll(text, NULL, 10);
}

unsigned ing_host_db_small(const char *text)
{
	int64_t n = ing_host_db_number(text);
	return n < 0 ? 0 : (unsigned)ING_MIN(n, INT32_MAX);
}
