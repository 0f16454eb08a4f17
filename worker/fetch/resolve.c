/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * c-ares needs three things from a loop: its sockets polled, a call when one is ready, and a call now and
 * then for its timeouts. The last is a tick of 100 ms while queries are pending, because computing
 * c-ares's next timeout walks all of its queries.
 *
 * A name is either being queried (it has lookups and is not in the list by age) or cached (the
 * reverse). c-ares may answer from inside ares_getaddrinfo(), so a query is started only when the
 * name's state is complete.
 *
 * A changed resolv.conf means a new channel. Queries of the old one end with ARES_EDESTRUCTION and are
 * sent again. A channel must not be destroyed from inside one of its callbacks, so `inside` counts
 * the calls into c-ares on the stack.
 */
#include "worker/fetch/resolve.h"

#include <ares.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/base/fd_shortage.h"
#include "worker/model/exchange.h"

#define MAX_NAMES 20000  /* some 350 bytes each */
#define MIN_KEPT_MS 5000 /* also for a TTL of 0: saves a query for the next hop */
#define MAX_KEPT_MS 60000
#define NO_SUCH_NAME_KEPT_MS 300000
#define RECHECK_MS 60000
#define RESOLV_CONF "/etc/resolv.conf"
/* Prefix of a name in the table: all its addresses, or only those of the second family */
#define KEY_ANY 'a'
#define KEY_OTHER 'o'
#define QUERY_TIMEOUT_MS 2000 /* doubled on each of the tries */
#define QUERY_TRIES 3
#define TICK_MS 100

struct ing_dns_name {
	UT_hash_handle hh;
	struct ing_dns_name *prev, *next; /* in resolver->known, oldest first */
	struct ing_resolver *resolver;
	struct ing_dns_lookup *lookups;
	uint64_t expires_ms; /* 0 while being queried */
	unsigned shortages;  /* the resolver's count when it was queried */
	struct ing_dns_answer answer;
	char key[]; /* KEY_… and the name */
};

struct socket_watch {
	uv_poll_t poll;
	struct socket_watch *prev, *next;
	struct ing_resolver *resolver;
	ares_socket_t fd;
};

struct ing_resolver {
	uv_loop_t *loop;
	ares_channel channel;
	uv_timer_t *tick;
	struct socket_watch *watches;
	struct ing_dns_name *names; /* hash */
	struct ing_dns_name *known; /* list */
	unsigned queries, inside;
	unsigned shortages; /* sockets that could not be created, so far */
	int first_family;
	bool closing;
	struct ing_resolver_conf conf;
	struct stat seen; /* of resolv.conf, zero when there is none */
	uint64_t checked_ms;
};

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void free_watch(uv_handle_t *handle)
{
	free(ING_CONTAINER(handle, struct socket_watch, poll));
}

/* ---- sockets and time ---- */

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct socket_watch *w = ING_CONTAINER(poll, struct socket_watch, poll);
	bool in = status < 0 || (events & UV_READABLE);
	bool out = status < 0 || (events & UV_WRITABLE);
	struct ing_resolver *r = w->resolver;
	r->inside++;
	ares_process_fd(r->channel, in ? w->fd : ARES_SOCKET_BAD, out ? w->fd : ARES_SOCKET_BAD);
	r->inside--;
}

static void close_watch(struct socket_watch *w)
{
	DL_DELETE(w->resolver->watches, w);
	uv_poll_stop(&w->poll);
	uv_close(
		(uv_handle_t *)&w->poll, free_watch); /* at once: the descriptor number is reused */
}

static void on_socket_state(void *data, ares_socket_t fd, int readable, int writable)
{
	struct ing_resolver *r = data;
	struct socket_watch *w;
	DL_SEARCH_SCALAR(r->watches, w, fd, fd);
	if (!readable && !writable) {
		if (w != NULL)
			close_watch(w);
		return;
	}
	if (w == NULL) {
		w = ing_alloc(sizeof(*w));
		w->resolver = r;
		w->fd = fd;
		if (uv_poll_init(r->loop, &w->poll, fd) != 0) {
			free(w); /* the query times out */
			return;
		}
		DL_PREPEND(r->watches, w);
	}
	uv_poll_start(
		&w->poll, (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0), on_socket);
}

/* c-ares reports a socket that could not be created like a name server that does not answer. So they
 * are created here. */
static ares_socket_t make_socket(int family, int type, int protocol, void *resolver)
{
	struct ing_resolver *r = resolver;
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0 && ing_fd_shortage_note(errno))
		r->shortages++;
	return fd;
}

static int close_socket(ares_socket_t fd, void *resolver)
{
	(void)resolver;
	return close(fd);
}

static int connect_socket(
	ares_socket_t fd, const struct sockaddr *to, ares_socklen_t bytes, void *resolver)
{
	(void)resolver;
	return connect(fd, to, bytes);
}

static ares_ssize_t receive(ares_socket_t fd, void *data, size_t bytes, int flags,
	struct sockaddr *from, ares_socklen_t *from_bytes, void *resolver)
{
	(void)resolver;
	return recvfrom(fd, data, bytes, flags, from, from_bytes);
}

static ares_ssize_t send_parts(
	ares_socket_t fd, const struct iovec *parts, int count, void *resolver)
{
	(void)resolver;
	return writev(fd, parts, count);
}

static const struct ares_socket_functions socket_functions = {
	.asocket = make_socket,
	.aclose = close_socket,
	.aconnect = connect_socket,
	.arecvfrom = receive,
	.asendv = send_parts,
};

static void check_resolv_conf(struct ing_resolver *r);

static void on_tick(uv_timer_t *timer)
{
	struct ing_resolver *r = timer->data;
	check_resolv_conf(r);
	r->inside++;
	ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	r->inside--;
	if (r->queries == 0)
		uv_timer_stop(timer);
}

/* ---- names ---- */

static void forget_name(struct ing_resolver *r, struct ing_dns_name *n)
{
	DL_DELETE(r->known, n);
	HASH_DEL(r->names, n);
	free(n);
}

/* Removes expired names, and the oldest while the table is full. Names being queried are bounded by the
 * number of transfers. */
static void expire_names(struct ing_resolver *r)
{
	uint64_t now = ing_now_ms();
	while (r->known != NULL &&
		(r->known->expires_ms <= now || HASH_COUNT(r->names) >= MAX_NAMES))
		forget_name(r, r->known);
}

static const char *detail_of(int status)
{
	switch (status) {
	case ARES_ENOTFOUND:
		return "no such host name";
	case ARES_ENODATA:
		return "the host name has no address";
	case ARES_ETIMEOUT:
		return "no name server answered in time";
	case ARES_ESERVFAIL:
	case ARES_ECONNREFUSED: /* also after all of them failed */
		return "the name servers returned no answer";
	default:
		return ares_strerror(status);
	}
}

static bool is_final(int status)
{
	return status == ARES_ENOTFOUND || status == ARES_ENODATA || status == ARES_EBADNAME;
}

/* Completes all lookups of the name, then caches it. Lookups may be started and stopped meanwhile. */
static void answer_name(struct ing_dns_name *n, uint64_t keep_ms)
{
	while (n->lookups != NULL) {
		struct ing_dns_lookup *lookup = n->lookups;
		DL_DELETE(n->lookups, lookup);
		lookup->name = NULL;
		lookup->done(lookup, &n->answer);
	}
	n->expires_ms = ing_now_ms() + keep_ms;
	DL_APPEND(n->resolver->known, n);
}

static uint64_t read_addresses(const struct ares_addrinfo *info, struct ing_dns_answer *answer)
{
	uint64_t keep_ms = MAX_KEPT_MS;
	answer->count = 0;
	for (const struct ares_addrinfo_node *node = info->nodes; node != NULL;
		node = node->ai_next) {
		struct ing_addr addr;
		if (answer->count == ING_RESOLVER_MAX_ADDRS)
			break;
		if (!ing_addr_from_sockaddr(node->ai_addr, &addr))
			continue;
		answer->addrs[answer->count++] = addr;
		if (node->ai_ttl >= 0 && (uint64_t)node->ai_ttl * 1000 < keep_ms)
			keep_ms = (uint64_t)node->ai_ttl * 1000;
	}
	return ING_MAX(keep_ms, MIN_KEPT_MS);
}

static void query(struct ing_dns_name *n);

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct ing_dns_name *n = arg;
	struct ing_resolver *r = n->resolver;
	uint64_t keep_ms = 0;
	(void)timeouts;
	r->queries--;
	if (status == ARES_SUCCESS)
		keep_ms = read_addresses(info, &n->answer);
	ares_freeaddrinfo(info);
	if (r->closing)
		return; /* ing_resolver_free() frees the names */
	if (status == ARES_EDESTRUCTION) {
		query(n); /* on the new channel */
		return;
	}
	if (n->answer.count == 0) {
		if (status == ARES_SUCCESS)
			status = ARES_ENODATA;
		if (status == ARES_ENODATA && !n->answer.both_families) {
			n->answer.both_families = true;
			query(n);
			return;
		}
		n->answer.detail = detail_of(status);
		n->answer.transient = !is_final(status);
		keep_ms = is_final(status) ? NO_SUCH_NAME_KEPT_MS : ING_FETCH_NAME_FAILURE_MS;
		if (n->answer.transient && n->shortages != r->shortages) {
			n->answer.no_descriptor = true;
			n->answer.detail = "no file descriptor for a query to a name server";
			keep_ms = 0; /* no query was sent */
		}
	}
	answer_name(n, keep_ms);
}

static void query(struct ing_dns_name *n)
{
	struct ing_resolver *r = n->resolver;
	n->shortages = r->shortages;
	int other_family = r->first_family == AF_INET ? AF_INET6 : AF_INET;
	struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
		.ai_family = n->answer.both_families ? other_family : r->first_family,
		.ai_socktype = SOCK_STREAM};
	if (r->queries++ == 0)
		uv_timer_start(r->tick, on_tick, TICK_MS, TICK_MS);
	r->inside++;
	ares_getaddrinfo(r->channel, n->key + 1, NULL, &hints, on_answer, n);
	r->inside--;
}

/* Whether there is a route to the public internet. Connecting a datagram socket asks the kernel and sends
 * nothing. */
static bool has_route(int family)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
	in.sin_addr.s_addr = htonl(0x01000001); /* 1.0.0.1, any public address does */
	in6.sin6_addr.s6_addr[0] = 0x26;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	int rc = family == AF_INET ? connect(fd, (struct sockaddr *)&in, sizeof(in))
				   : connect(fd, (struct sockaddr *)&in6, sizeof(in6));
	close(fd);
	return rc == 0;
}

static int open_channel(struct ing_resolver *r, ares_channel *ret, struct ing_error *err)
{
	char *resolv_conf = ing_strdup(r->conf.resolv_conf);
	struct ares_options options = {.flags = ARES_FLAG_NOALIASES | ARES_FLAG_NOSEARCH,
		.timeout = QUERY_TIMEOUT_MS,
		.tries = QUERY_TRIES,
		.ndomains = 0,
		.udp_port = r->conf.port,
		.tcp_port = r->conf.port,
		.sock_state_cb = on_socket_state,
		.sock_state_cb_data = r};
	char lookups[] = "fb"; /* /etc/hosts, then DNS, whatever host.conf says */
	options.lookups = lookups;
	options.resolvconf_path = resolv_conf;
	int ports = r->conf.port != 0 ? ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT : 0;
	int rc = ares_init_options(ret, &options,
		ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_DOMAINS |
			ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF | ports);
	free(resolv_conf);
	if (rc != ARES_SUCCESS)
		return ing_error_set(err, ING_FAIL_SYSTEM, "c-ares: %s", ares_strerror(rc));
	ares_set_socket_functions(*ret, &socket_functions, r);
	const char *servers = r->conf.servers;
	if (servers != NULL && ares_set_servers_ports_csv(*ret, servers) != ARES_SUCCESS) {
		ares_destroy(*ret);
		return ing_error_set(err, ING_FAIL_CONFIG,
			"fetch.dns_servers: %.200s: not a list of name servers", servers);
	}
	return 0;
}

static void stat_resolv_conf(const struct ing_resolver *r, struct stat *ret)
{
	if (stat(r->conf.resolv_conf, ret) != 0)
		memset(ret, 0, sizeof(*ret));
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Without a descriptor to read the file, c-ares would use 127.0.0.1 as the name server. */
static bool can_be_opened(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return !ing_fd_shortage_note(errno);
	close(fd);
	return true;
}

/* Opens a new channel when resolv.conf has changed. Cached names are kept. */
static void check_resolv_conf(struct ing_resolver *r)
{
	struct stat now;
	ares_channel fresh;
	ares_channel old = r->channel;
	if (r->conf.servers != NULL || r->inside > 0 ||
		ing_now_ms() - r->checked_ms < r->conf.recheck_ms)
		return;
	r->checked_ms = ing_now_ms();
	stat_resolv_conf(r, &now);
	if (is_same_file(&now, &r->seen) || !can_be_opened(r->conf.resolv_conf) ||
		open_channel(r, &fresh, NULL) != 0)
		return; /* checked again at the next interval */
	r->seen = now;
	r->channel = fresh;
	r->inside++;
	ares_destroy(old);
	r->inside--;
}

static void start_lookup(
	struct ing_resolver *r, struct ing_dns_lookup *lookup, char kind, const char *name)
{
	struct ing_dns_name *n;
	size_t len = strlen(name) + 1;
	struct ing_dns_name *fresh = ing_alloc(sizeof(*fresh) + len + 1);
	fresh->key[0] = kind;
	memcpy(fresh->key + 1, name, len);
	if (r->queries == 0) /* else the tick does it: other lookups could end from here */
		check_resolv_conf(r);
	expire_names(r);
	HASH_FIND(hh, r->names, fresh->key, len, n);
	if (n != NULL && n->expires_ms > ing_now_ms()) {
		free(fresh);
		struct ing_dns_answer answer =
			n->answer; /* done() may remove the name from the cache */
		lookup->done(lookup, &answer);
		return;
	}
	if (n != NULL && n->expires_ms != 0) {
		forget_name(r, n);
		n = NULL;
	}
	bool is_new = n == NULL;
	if (is_new) {
		n = ING_TAKE(fresh);
		n->resolver = r;
		n->answer.both_families = kind == KEY_OTHER;
		HASH_ADD_KEYPTR(hh, r->names, n->key, len, n);
	}
	free(fresh);
	lookup->name = n;
	DL_APPEND(n->lookups, lookup);
	if (is_new)
		query(n);
}

/* -------------------------------------------------------------------------------------------- */

int ing_resolver_new(struct uv_loop_s *loop, const struct ing_resolver_conf *conf,
	struct ing_resolver **ret, struct ing_error *err)
{
	struct ing_resolver *r = ing_alloc(sizeof(*r));
	r->loop = loop;
	r->conf = *conf;
	if (r->conf.resolv_conf == NULL)
		r->conf.resolv_conf = RESOLV_CONF;
	if (r->conf.recheck_ms == 0)
		r->conf.recheck_ms = RECHECK_MS;
	r->checked_ms = ing_now_ms();
	stat_resolv_conf(r, &r->seen);
	r->first_family = !has_route(AF_INET) && has_route(AF_INET6) ? AF_INET6 : AF_INET;
	ing_must(ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS);
	int rc = open_channel(r, &r->channel, err);
	if (rc != 0) {
		ares_library_cleanup();
		free(r);
		return rc;
	}
	r->tick = ing_alloc(sizeof(*r->tick));
	ing_must(uv_timer_init(loop, r->tick) == 0);
	r->tick->data = r;
	*ret = r;
	return 0;
}

void ing_resolver_free(struct ing_resolver *r)
{
	struct ing_dns_name *n;
	struct ing_dns_name *tmp;
	if (r == NULL)
		return;
	r->closing = true;
	ares_destroy(r->channel); /* ends the queries and their sockets */
	ing_must(r->watches == NULL);
	ares_library_cleanup();
	HASH_ITER (hh, r->names, n, tmp) {
		ing_must(n->lookups == NULL);
		HASH_DEL(r->names, n);
		free(n);
	}
	uv_close((uv_handle_t *)r->tick, free_handle);
	free(r);
}

void ing_resolver_start(struct ing_resolver *r, struct ing_dns_lookup *lookup, const char *name)
{
	start_lookup(r, lookup, KEY_ANY, name);
}

void ing_resolver_start_other(
	struct ing_resolver *r, struct ing_dns_lookup *lookup, const char *name)
{
	start_lookup(r, lookup, KEY_OTHER, name);
}

void ing_resolver_stop(struct ing_dns_lookup *lookup)
{
	if (lookup->name == NULL)
		return;
	DL_DELETE(lookup->name->lookups, lookup);
	lookup->name = NULL;
}
