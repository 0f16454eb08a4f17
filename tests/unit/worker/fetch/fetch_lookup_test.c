/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names: what is remembered and for how long, name servers that change, and the address that a
 * host would be asked at first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants two of the above */
#include <cmocka.h>
#include "client.h"
#include "common/base/clock.h"
#include "names.h"
#include "web.h"
#include "worker/fetch/fetch_priv.h"

#define RESOLV_CONF "fetch-lookup-test-resolv.conf"

static struct names *names, *others;

static const struct names_row rows[] = {
	{.name = "here.test", .v4 = {"127.0.0.1"}, .v6 = {"::1"}, .ttl_s = 300},
	{.name = "half.test", .v4 = {"10.0.0.1", "127.0.0.2"}, .ttl_s = 300},
	{.name = "private.test", .v4 = {"10.0.0.1"}, .ttl_s = 300},
	{.name = "six.test", .v6 = {"::1"}, .ttl_s = 300},
	{.name = "broken.test", .rcode = 2},
	{.name = "refused.test", .rcode = 5},
	{.name = "silent.test", .silent = true},
	{.name = NULL},
};

static const struct names_row other_rows[] = {
	{.name = "silent.test", .v4 = {"127.0.0.7"}, .ttl_s = 300},
	{.name = "moved.test", .v4 = {"127.0.0.8"}, .ttl_s = 300},
	{.name = NULL},
};

/* ---- the resolver by itself ---- */

struct heard {
	struct ing_dns_lookup lookup;
	struct ing_dns_answer answer;
	unsigned calls;
};

static void hear(struct ing_dns_lookup *lookup, const struct ing_dns_answer *answer)
{
	struct heard *h = ING_CONTAINER(lookup, struct heard, lookup);
	h->answer = *answer;
	h->calls++;
}

static void wait_for(uv_loop_t *loop, struct heard *h)
{
	uint64_t until = ing_now_ms() + 20000;
	while (h->calls == 0) {
		assert_true(ing_now_ms() < until);
		uv_run(loop, UV_RUN_ONCE);
	}
	assert_int_equal(h->calls, 1);
}

static struct ing_dns_answer look_up(
	uv_loop_t *loop, struct ing_resolver *r, const char *name, bool other)
{
	struct heard h = {.lookup.done = hear};
	if (other)
		ing_resolver_start_other(r, &h.lookup, name);
	else
		ing_resolver_start(r, &h.lookup, name);
	wait_for(loop, &h);
	return h.answer;
}

static struct ing_resolver *start(uv_loop_t *loop, const struct ing_resolver_conf *conf)
{
	struct ing_resolver *r = NULL;
	struct ing_error err = {0};
	assert_int_equal(uv_loop_init(loop), 0);
	if (ing_resolver_new(loop, conf, &r, &err) != 0)
		fail_msg("%s", err.msg);
	return r;
}

static void stop(uv_loop_t *loop, struct ing_resolver *r)
{
	ing_resolver_free(r);
	uv_run(loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(loop), 0);
}

static void kinds_of_failure(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool transient;
		unsigned queries; /* until the answer is known */
	} cases[] = {
		{.name = "absent.test", .queries = 1},
		{.name = "broken.test", .transient = true},
		{.name = "refused.test", .transient = true},
	};
	uv_loop_t loop;
	struct ing_resolver *r =
		start(&loop, &(struct ing_resolver_conf){.servers = names_server(names)});
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		unsigned before = names_queries(names);
		struct ing_dns_answer answer = look_up(&loop, r, cases[i].name, false);
		assert_int_equal(answer.count, 0);
		assert_non_null(answer.detail);
		assert_int_equal(answer.transient, cases[i].transient);
		unsigned asked = names_queries(names);
		assert_true(asked > before);
		if (cases[i].queries != 0)
			assert_int_equal(asked - before, cases[i].queries);
		answer = look_up(&loop, r, cases[i].name, false); /* known */
		assert_int_equal(answer.transient, cases[i].transient);
		assert_int_equal(names_queries(names), asked);
	}
	stop(&loop, r);
}

static void both_families(void **state)
{
	(void)state;
	uv_loop_t loop;
	struct ing_resolver *r =
		start(&loop, &(struct ing_resolver_conf){.servers = names_server(names)});
	struct ing_dns_answer answer = look_up(&loop, r, "here.test", false);
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.addrs[0].family, 4);
	assert_false(answer.both_families);
	unsigned before = names_queries(names);
	answer = look_up(&loop, r, "here.test", true);
	assert_int_equal(answer.count, 1);
	assert_int_equal(answer.addrs[0].family, 6);
	assert_true(answer.both_families);
	assert_int_equal(names_queries(names), before + 1);
	answer = look_up(&loop, r, "here.test", true);
	assert_int_equal(names_queries(names), before + 1);
	answer = look_up(&loop, r, "half.test", true); /* IPv4 only: not asked for again */
	assert_int_equal(answer.count, 0);
	assert_int_equal(names_queries(names), before + 2);
	answer = look_up(&loop, r, "six.test", false);
	assert_int_equal(answer.addrs[0].family, 6);
	assert_true(answer.both_families);
	stop(&loop, r);
}

static void write_resolv_conf(const char *server)
{
	FILE *f = fopen(RESOLV_CONF ".new", "w");
	assert_non_null(f);
	assert_true(fprintf(f, "nameserver %s\n", server) > 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(RESOLV_CONF ".new", RESOLV_CONF), 0);
}

static void other_name_servers(void **state)
{
	(void)state;
	uv_loop_t loop;
	struct heard waiting = {.lookup.done = hear};
	write_resolv_conf("127.0.0.1");
	struct ing_resolver *r =
		start(&loop, &(struct ing_resolver_conf){.resolv_conf = RESOLV_CONF,
				     .port = (unsigned short)names_port(names),
				     .recheck_ms = 50});
	assert_int_equal(look_up(&loop, r, "here.test", false).count, 1);
	assert_int_equal(look_up(&loop, r, "moved.test", false).count, 0);
	unsigned before = names_queries(names);
	ing_resolver_start(r, &waiting.lookup, "silent.test");
	while (names_queries(names) == before)
		uv_run(&loop, UV_RUN_NOWAIT);
	write_resolv_conf("127.0.0.2");
	/* what was being asked is asked again, of the new server */
	wait_for(&loop, &waiting);
	assert_int_equal(waiting.answer.count, 1);
	assert_int_equal(waiting.answer.addrs[0].bytes[3], 7);
	assert_int_equal(names_queries(others), 1);
	/* what is known stays known */
	assert_int_equal(look_up(&loop, r, "here.test", false).count, 1);
	assert_int_equal(look_up(&loop, r, "moved.test", false).count, 0);
	assert_int_equal(names_queries(others), 1);
	/* with nothing under way, too */
	write_resolv_conf("127.0.0.1");
	usleep(100000);
	before = names_queries(names);
	assert_int_equal(look_up(&loop, r, "private.test", false).count, 1);
	assert_int_equal(names_queries(names), before + 1);
	stop(&loop, r);
	unlink(RESOLV_CONF);
}

static void bad_servers(void **state)
{
	(void)state;
	uv_loop_t loop;
	struct ing_resolver *r = NULL;
	struct ing_error err = {0};
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(
		ing_resolver_new(
			&loop, &(struct ing_resolver_conf){.servers = "not an address"}, &r, &err),
		-ING_FAIL_CONFIG);
	assert_non_null(strstr(err.msg, "fetch.dns_servers"));
	assert_int_equal(uv_loop_close(&loop), 0);
}

/* ---- ing_fetch_lookup() ---- */

struct told {
	char text[ING_ADDR_TEXT_BYTES]; /* "none" for NULL */
	unsigned calls;
	void *state;
};

static void tell(void *ctx, const struct ing_addr *addr)
{
	struct told *told = ctx;
	assert_null(told->state);
	snprintf(told->text, sizeof(told->text), "none");
	if (addr != NULL)
		ing_addr_format(addr, told->text);
	told->calls++;
}

static void begin(struct client *c, struct ing_fetch_settings *conf)
{
	conf->dns_servers = names_server(names);
	client_start(c, conf);
}

static void first_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *url, *want;
		bool at_once;
	} cases[] = {
		{.url = "http://here.test/x", .want = "127.0.0.1"},
		{.url = "https://here.test/y", .want = "127.0.0.1", .at_once = true}, /* known */
		{.url = "http://half.test/", .want = "127.0.0.2"}, /* the first one is refused */
		{.url = "http://private.test/", .want = "none"},
		{.url = "http://absent.test/", .want = "none"},
		{.url = "http://broken.test/", .want = "none"},
		{.url = "http://127.0.0.3/", .want = "127.0.0.3", .at_once = true},
		{.url = "http://10.0.0.1/", .want = "none", .at_once = true},
		{.url = "http://[::ffff:127.0.0.1]/", .want = "::ffff:127.0.0.1", .at_once = true},
		{.url = "http://here.test:22/", .want = "none", .at_once = true},
		{.url = "nonsense", .want = "none", .at_once = true},
	};
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	char v4[] = "127.0.0.0/8";
	char mapped[] = "::ffff:127.0.0.1";
	char *allow[] = {v4, mapped, NULL};
	conf.allow_address = allow;
	begin(&c, &conf);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct told told = {0};
		uint64_t until = ing_now_ms() + 20000;
		ing_fetch_lookup(c.fetch, cases[i].url, tell, &told, &told.state);
		assert_int_equal(told.calls, cases[i].at_once);
		assert_int_equal(told.state != NULL, !cases[i].at_once);
		while (told.calls == 0 && ing_now_ms() < until)
			uv_run(&c.loop, UV_RUN_ONCE);
		assert_int_equal(told.calls, 1);
		if (strcmp(told.text, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].url, told.text);
	}
	client_stop(&c);
}

static void no_address_of_its_own(void **state)
{
	(void)state;
	char rule[] = "here.test:80:127.0.0.2:80";
	char *rules[] = {rule, NULL};
	for (int i = 0; i < 2; i++) {
		struct client c;
		struct told told = {0};
		struct ing_fetch_settings conf = client_settings();
		if (i == 0)
			conf.connect_to = rules;
		else
			conf.proxy = "http://127.0.0.1:3128";
		begin(&c, &conf);
		unsigned before = names_queries(names);
		ing_fetch_lookup(c.fetch, "http://here.test/", tell, &told, &told.state);
		assert_int_equal(told.calls, 1);
		assert_string_equal(told.text, "none");
		assert_int_equal(names_queries(names), before);
		client_stop(&c);
	}
}

static void given_up(void **state)
{
	(void)state;
	struct client c;
	struct told told = {0};
	struct told left = {0};
	struct ing_fetch_settings conf = client_settings();
	begin(&c, &conf);
	ing_fetch_lookup(c.fetch, "http://silent.test/", tell, &told, &told.state);
	ing_fetch_lookup(c.fetch, "http://silent.test/", tell, &left, &left.state);
	assert_non_null(told.state);
	ing_fetch_lookup_stop(told.state);
	assert_null(told.state);
	ing_fetch_lookup_stop(NULL);
	client_turn(&c, 50);
	client_stop(&c); /* with one still in line */
	assert_null(left.state);
	assert_int_equal(told.calls + left.calls, 0);
}

static int start_all(void **state)
{
	(void)state;
	names = names_start(rows);
	others = names_start_at(other_rows, "127.0.0.2", names_port(names));
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	names_stop(others);
	names_stop(names);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_failure),
		cmocka_unit_test(both_families),
		cmocka_unit_test(other_name_servers),
		cmocka_unit_test(bad_servers),
		cmocka_unit_test(first_addresses),
		cmocka_unit_test(no_address_of_its_own),
		cmocka_unit_test(given_up),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
