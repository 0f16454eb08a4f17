/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What must hold between keys, each of which may be good by itself; and the times that follow from
 * several of them. The engine takes its times from here, so what the check lets through it can
 * start with.
 */
#include "worker/conf/conf_priv.h"

/* Beside its own limit: a moment for a transfer's turn to begin, and the disk's grace. */
#define TRANSFER_MARGIN_MS 5000

/* A lease counts only where a database keeps the workers apart. */
static void check_lease(
	const struct ing_conf *c, const struct ing_conf_origin *at, struct ing_report *report)
{
	unsigned least_ms = ing_conf_shortest_lease_ms(c);
	if (c->postgres.dsn[0] == '\0' || ing_conf_lease_ms(c) >= least_ms)
		return;
	ing_conf_error(report, ing_conf_origin_of(at, "gate.lease_ms"), "gate.lease_ms",
		"must be %u at least, or 0, with fetch.timeout_ms at %u", least_ms,
		c->fetch.timeout_ms);
}

static void check_backoff(
	const struct ing_conf *c, const struct ing_conf_origin *at, struct ing_report *report)
{
	if (c->gate.backoff.backoff_ms > c->gate.backoff.backoff_max_ms)
		ing_conf_error(report, ing_conf_origin_of(at, "gate.backoff_ms"), "gate.backoff_ms",
			"must not be over gate.backoff_max_ms, which is %u",
			c->gate.backoff.backoff_max_ms);
}

/* Without the first level transfers would begin only to be ended. */
static void check_disk(
	const struct ing_conf *c, const struct ing_conf_origin *at, struct ing_report *report)
{
	if (c->disk.abort_bytes > c->disk.stop_bytes)
		ing_conf_error(report, ing_conf_origin_of(at, "disk.abort_bytes"),
			"disk.abort_bytes", "must not be over disk.stop_bytes, which is %zu",
			c->disk.stop_bytes);
}

/* A bucket has a name and keys; and there is one store. */
static void check_objects(
	const struct ing_conf *c, const struct ing_conf_origin *at, struct ing_report *report)
{
	const struct ing_objects_settings *o = &c->objects;
	const struct {
		const char *key, *value;
	} needed[] = {
		{"s3.bucket", o->bucket},
		{"s3.access_key_file", o->access_key_file},
		{"s3.secret_key_file", o->secret_key_file},
	};
	if (o->endpoint[0] == '\0')
		return;
	if (o->dir[0] != '\0')
		ing_conf_error(report, ing_conf_origin_of(at, "store.dir"), "store.dir",
			"must be empty with s3.endpoint: there is one object store");
	for (size_t i = 0; i < ING_ARRAY_LEN(needed); i++)
		if (needed[i].value[0] == '\0')
			ing_conf_error(report, ing_conf_origin_of(at, "s3.endpoint"), "s3.endpoint",
				"needs %s", needed[i].key);
}

/* -------------------------------------------------------------------------------------------- */

unsigned ing_conf_transfer_ms(const struct ing_conf *c)
{
	return c->fetch.timeout_ms + TRANSFER_MARGIN_MS;
}

unsigned ing_conf_shortest_lease_ms(const struct ing_conf *c)
{
	unsigned needed_ms = ing_conf_transfer_ms(c);
	return ING_MAX(
		needed_ms + TRANSFER_MARGIN_MS, (needed_ms + 4 * ING_CONF_LEASE_ROUND_MS) / 7 * 12);
}

unsigned ing_conf_lease_ms(const struct ing_conf *c)
{
	return c->lease_ms > 0 ? c->lease_ms : ing_conf_shortest_lease_ms(c);
}

void ing_conf_check_relations(
	const struct ing_conf *c, const struct ing_conf_origin *at, struct ing_report *report)
{
	check_lease(c, at, report);
	check_backoff(c, at, report);
	check_disk(c, at, report);
	check_objects(c, at, report);
}
