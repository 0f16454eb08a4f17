/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An address with several hosts is taken apart and each host tried by itself: libpq's non-blocking
 * way has no call that says "give this host up and try the next one". Within a host, libpq goes
 * through the addresses of its name; an attempt that takes too long is ended by shutting its socket
 * down, which libpq takes for an answer.
 */
#include "common/data/pg_connect.h"

#include <errno.h>
#include <libpq-fe.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/data/pg_dsn.h"

#define TIMEOUT_TEXT "5" /* s: connect_timeout of a DSN that has none */
#define SHUTDOWN_MS 1000 /* for libpq to see that its socket was shut down */
#define MAX_HOSTS 32

struct hosts {                           /* what is set for one attempt, NULL: as the DSN says */
	char *names, *addresses, *ports; /* lists, split at commas in place */
	size_t count;                    /* 0: the DSN is tried as it is */
	size_t port_count;
	const char *name[MAX_HOSTS], *address[MAX_HOSTS], *port[MAX_HOSTS];
};

struct plan {
	const char *dsn;
	int stop_fd;
	int timeout_ms;    /* for each address; -1: none */
	const char *attrs; /* target_session_attrs; NULL: as the DSN says */
	bool prefer_standby;
	char *password; /* heap; NULL: as the DSN says */
	/* What the DSN names as credentials; heap paths. */
	const char *file_names[ING_PG_DSN_FILES];
	char *files[ING_PG_DSN_FILES];
	size_t file_count;
	struct hosts hosts;
};

/* Returns how many elements the list has; 0: there is no list, or it has an empty element or too
 * many. */
static size_t split(const char *list, char **ret_copy, const char **ret)
{
	size_t n = 0;
	if (list == NULL)
		return 0;
	char *rest = *ret_copy = ing_strdup(list);
	while (rest != NULL) {
		char *item = strsep(&rest, ",");
		if (item[0] == '\0' || n == MAX_HOSTS)
			return 0;
		ret[n++] = item;
	}
	return n;
}

/* Lists that do not fit each other are left to libpq, which says so. A service file may have hosts
 * of its own, and balancing is libpq's business. */
static void find_hosts(const PQconninfoOption *options, struct hosts *h)
{
	const char *names = ing_pg_dsn_option(options, "host", "PGHOST");
	const char *addresses = ing_pg_dsn_option(options, "hostaddr", "PGHOSTADDR");
	const char *ports = ing_pg_dsn_option(options, "port", "PGPORT");
	if (ing_pg_dsn_option(options, "service", "PGSERVICE") != NULL ||
		ing_pg_dsn_option(options, "load_balance_hosts", "PGLOADBALANCEHOSTS") != NULL)
		return;
	size_t name_count = split(names, &h->names, h->name);
	size_t address_count = split(addresses, &h->addresses, h->address);
	size_t count = address_count > 0 ? address_count : name_count;
	h->port_count = split(ports, &h->ports, h->port);
	bool fits = (names == NULL || name_count == count) &&
		    (addresses == NULL || address_count == count) &&
		    (ports == NULL || h->port_count == 1 || h->port_count == count);
	h->count = fits && count > 1 ? count : 0;
}

static void free_hosts(struct hosts *h)
{
	free(h->names);
	free(h->addresses);
	free(h->ports);
}

static int timeout_of(const PQconninfoOption *options)
{
	const char *text = ing_pg_dsn_option(options, "connect_timeout", NULL);
	long s = strtol(text != NULL ? text : TIMEOUT_TEXT, NULL, 10);
	if (s <= 0)
		return -1;
	return (int)ING_MAX(ING_MIN(s, 3600L), 2L) * 1000; /* libpq's least is 2 s, too */
}

static bool has_many_hosts(const PQconninfoOption *options)
{
	const char *hosts = ing_pg_dsn_option(options, "hostaddr", NULL);
	if (hosts == NULL)
		hosts = ing_pg_dsn_option(options, "host", "PGHOST");
	return hosts != NULL && strchr(hosts, ',') != NULL;
}

static int make_plan(struct plan *p, struct ing_error *err)
{
	PQconninfoOption *options = NULL;
	int rc = ing_pg_dsn_parse(p->dsn, &options, err);
	if (rc != 0)
		return rc;
	const char *attrs =
		ing_pg_dsn_option(options, "target_session_attrs", "PGTARGETSESSIONATTRS");
	if (attrs == NULL && has_many_hosts(options))
		p->attrs = "read-write";
	p->timeout_ms = timeout_of(options);
	find_hosts(options, &p->hosts);
	p->file_count = ing_pg_dsn_credentials(options, p->file_names, p->files);
	p->prefer_standby =
		p->hosts.count > 0 && attrs != NULL && strcmp(attrs, "prefer-standby") == 0;
	PQconninfoFree(options);
	return ing_pg_password(&p->password, err);
}

static void free_plan(struct plan *p)
{
	if (p->password != NULL)
		explicit_bzero(p->password, strlen(p->password));
	free(p->password);
	for (size_t i = 0; i < p->file_count; i++)
		free(p->files[i]);
	free_hosts(&p->hosts);
}

#define MAX_PARAMETERS 24

struct parameters {
	const char *names[MAX_PARAMETERS + 1], *values[MAX_PARAMETERS + 1];
	size_t count;
};

/* A NULL value is left to what was said before, and so to libpq. */
static void add_parameter(struct parameters *to, const char *name, const char *value)
{
	ing_must(to->count < MAX_PARAMETERS);
	to->names[to->count] = name;
	to->values[to->count++] = value;
}

/* i: of the plan's hosts, if it has any. */
static PGconn *start(const struct plan *p, size_t i)
{
	const struct hosts *h = &p->hosts;
	bool one = h->count > 0;
	const char *port = !one || h->port_count == 0 ? NULL : h->port[h->port_count == 1 ? 0 : i];
	struct parameters with = {.count = 0};
	/* What stands before dbname yields to the DSN, what stands behind it does not. A host that
	 * vanishes is noticed after 10 s of unacknowledged data, or 11 s of silence while we wait.
	 */
	add_parameter(&with, "keepalives_idle", "5");
	add_parameter(&with, "keepalives_interval", "2");
	add_parameter(&with, "keepalives_count", "3");
	add_parameter(&with, "tcp_user_timeout", "10000");
	add_parameter(&with, "fallback_application_name", "ingest-worker");
	add_parameter(&with, "dbname", p->dsn);
	add_parameter(&with, "client_encoding", "UTF8");
	add_parameter(&with, "target_session_attrs", p->attrs);
	add_parameter(&with, "host", one ? h->name[i] : NULL);
	add_parameter(&with, "hostaddr", one ? h->address[i] : NULL);
	add_parameter(&with, "port", port);
	add_parameter(&with, "password", p->password);
	for (size_t k = 0; k < p->file_count; k++)
		add_parameter(&with, p->file_names[k], p->files[k]);
	PGconn *conn = PQconnectStartParams(with.names, with.values, 1);
	ing_must(conn != NULL);
	return conn;
}

/* When the address that is tried has to be given up: a new one has the whole time again. */
struct deadline {
	char address[64];
	uint64_t at_ms;
	bool passed; /* for the present address */
};

static void set_deadline(struct deadline *d, const PGconn *conn, int timeout_ms)
{
	const char *address = PQhostaddr(conn);
	if (address == NULL)
		address = "";
	if (d->at_ms != 0 && strcmp(address, d->address) == 0)
		return;
	snprintf(d->address, sizeof(d->address), "%s", address);
	d->passed = false;
	d->at_ms = timeout_ms < 0 ? UINT64_MAX : ing_now_ms() + (uint64_t)timeout_ms;
}

static int left_ms(const struct deadline *d)
{
	uint64_t now = ing_now_ms();
	if (d->passed)
		return SHUTDOWN_MS;
	if (d->at_ms == UINT64_MAX)
		return -1;
	return now >= d->at_ms ? 0 : (int)ING_MIN(d->at_ms - now, INT_MAX);
}

/* 0: the connection stands. */
static int drive(PGconn *conn, const struct plan *p, struct ing_error *err)
{
	struct deadline d = {0};
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;
	if (PQstatus(conn) == CONNECTION_BAD)
		next = PGRES_POLLING_FAILED;
	while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
		set_deadline(&d, conn, p->timeout_ms);
		struct pollfd fds[2] = {
			{.fd = PQsocket(conn),
				.events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT},
			{.fd = p->stop_fd, .events = POLLIN},
		};
		int n = poll(fds, 2, left_ms(&d));
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && fds[1].revents != 0)
			return ing_error_set(err, ING_FAIL_CANCELLED, "database: stopped");
		if (n == 0 && d.passed)
			break;
		if (n == 0) {
			d.passed = true;
			shutdown(PQsocket(conn), SHUT_RDWR);
		}
		next = PQconnectPoll(conn);
	}
	if (next == PGRES_POLLING_OK)
		return 0;
	if (d.passed)
		return ing_error_set(err, ING_FAIL_UNAVAILABLE,
			"database: no connection to %s within %d s", PQhost(conn),
			p->timeout_ms / 1000);
	char text[300];
	ing_pg_flatten(PQerrorMessage(conn), text, sizeof(text));
	return ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: %s", text);
}

/* The hosts in turn. *err: of the last one that failed. */
static int try_hosts(const struct plan *p, PGconn **ret, struct ing_error *err)
{
	int rc = 0;
	for (size_t i = 0; i < ING_MAX(p->hosts.count, (size_t)1); i++) {
		ing_error_clear(err);
		PGconn *conn = start(p, i);
		rc = drive(conn, p, err);
		if (rc == 0) {
			*ret = conn;
			return 0;
		}
		PQfinish(conn);
		if (rc == -ING_FAIL_CANCELLED)
			return rc;
	}
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

void ing_pg_flatten(const char *text, char *to, size_t size)
{
	snprintf(to, size, "%s", text != NULL ? text : "");
	for (char *c = to; *c != '\0'; c++) {
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	}
	size_t n = strlen(to);
	while (n > 0 && to[n - 1] == ' ')
		to[--n] = '\0';
}

int ing_pg_connect(const char *dsn, int stop_fd, struct pg_conn **ret, struct ing_error *err)
{
	struct plan p = {.dsn = dsn, .stop_fd = stop_fd};
	int rc = make_plan(&p, err);
	if (rc == 0 && p.prefer_standby)
		p.attrs = "standby";
	if (rc == 0)
		rc = try_hosts(&p, ret, err);
	if (p.prefer_standby && rc == -ING_FAIL_UNAVAILABLE) {
		p.attrs = "any";
		rc = try_hosts(&p, ret, err);
	}
	free_plan(&p);
	return rc;
}
