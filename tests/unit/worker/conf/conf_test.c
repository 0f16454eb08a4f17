/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The configuration: values from files and --set, the text and place of every kind of error, the
 * dump that reads back, and the table itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/yaml.h"
#include "worker/conf/conf.h"
#include "worker/conf/conf_priv.h"
#include "worker/conf/paths.h"

#define AGENT "fetch.user_agent=test/1.0 (+https://test.example/)"

/* Arguments as main() gets them; nobody writes to them. */
#define SETS(...) ((char *const *)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

static char folder[] = "/tmp/conf_test.XXXXXX";

/* Load text as the file c.yaml of a temporary working folder, so that errors name it so. */
static int load(const char *text, char *const *sets, enum ing_conf_use use, struct ing_conf **conf,
	struct ing_report *report)
{
	*conf = NULL;
	*report = (struct ing_report){0};
	FILE *f = fopen("c.yaml", "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return ing_conf_load("c.yaml", sets, use, conf, report);
}

/* In a buffer of our own, for one at a time. */
static const char *line_of(const struct ing_report *report, size_t i)
{
	static char line[2000];
	assert_true(i < report->count);
	ing_report_format_line(&report->lines[i], line, sizeof(line));
	return line;
}

static struct ing_conf *load_good(const char *text, char *const *sets, enum ing_conf_use use)
{
	struct ing_conf *conf;
	struct ing_report report;
	if (load(text, sets, use, &conf, &report) != 0)
		fail_msg("%s", line_of(&report, 0));
	assert_int_equal(report.errors, 0);
	ing_report_done(&report);
	return conf;
}

static void defaults_are_a_whole_configuration(void **state)
{
	(void)state;
	unsetenv("INGEST_WORKER_INSTANCE");
	struct ing_conf *c = load_good("", NULL, ING_CONF_CTL);
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(c->instance, host);
	assert_string_equal(c->kafka.group, "ingest-worker");
	assert_string_equal(c->kafka.lane_topics[ING_LANE_REQUESTS], "ingest-file-requests");
	assert_string_equal(c->kafka.output_topics[ING_OUTPUT_RESULTS], "ingest-file-results");
	assert_int_equal(c->kafka.max_message_bytes, 8 << 20);
	assert_non_null(c->kafka.properties.values);
	assert_null(c->kafka.properties.values[0]);
	assert_string_equal(c->postgres.dsn, "");
	assert_string_equal(c->warc.dir, "");
	assert_int_equal(c->warc.max_bytes, 1000000000);
	assert_string_equal(c->rules_dir, ing_path_rules());
	assert_string_equal(c->seedlists_dir, ing_path_seedlists());
	assert_int_equal(c->fetch.max_body_bytes, 134217728);
	assert_null(c->fetch.ca_file);
	assert_null(c->fetch.proxy);
	assert_null(c->grobid.url);
	assert_string_equal(c->grobid.reuse_versions[0], "0.7");
	assert_null(c->fetch.connect_to[0]);
	assert_null(c->fetch.allow_address[0]);
	assert_int_equal(c->gate.concurrency, 256);
	assert_int_equal(c->gate.host_concurrency, 1);
	assert_true(c->obey_robots);
	assert_int_equal(c->job.max_waiting, 20000);
	assert_int_equal(c->job.max_scrape_bytes, 16 << 20);
	assert_int_equal(c->log_level, ING_LOG_INFO);
	assert_string_equal(c->publication.doi_url, "https://doi.org");
	assert_string_equal(c->publication.email, "");
	assert_int_equal(c->publication.non_final_cooldown, 10080);
	assert_int_equal(c->publication.refetch_after, -1);
	ing_conf_free(c);
	setenv("INGEST_WORKER_INSTANCE", "7", 1);
	c = load_good("", NULL, ING_CONF_CTL);
	assert_int_equal(strncmp(c->instance, host, strlen(host)), 0);
	assert_string_equal(c->instance + strlen(host), "@7");
	ing_conf_free(c);
	unsetenv("INGEST_WORKER_INSTANCE");
}

static void places_come_from_the_environment(void **state)
{
	(void)state;
	setenv("STATE_DIRECTORY", "/s/one:/s/two", 1);
	setenv("CACHE_DIRECTORY", "/c", 1);
	struct ing_conf *c = load_good("", NULL, ING_CONF_CTL);
	assert_string_equal(c->state_dir, "/s/one");
	assert_string_equal(c->fetch.spool_dir, "/c");
	ing_conf_free(c);
	unsetenv("STATE_DIRECTORY");
	unsetenv("CACHE_DIRECTORY");
}

static void files_and_sets_are_laid_over_one_another(void **state)
{
	(void)state;
	char *const *sets = SETS("gate.concurrency=7", "fetch.connect_to=[\":80:127.0.0.1:8080\"]",
		"gate={host_delay_ms: 9, concurrency: 8}", "fetch.allow_address=127.0.0.0/8",
		"kafka.topics.dead=", "fetch.ca_file=~", "grobid.url=http://[::1]:8070/grobid/",
		"warc.dir=/w x=y", "log.level=debug", "log.format=json", "log.requests=all",
		"publication.retry_limit=-1",
		"publication={refetch_after: 99999999999, doaj_url: ~, arxiv_url: '', doi_url: 'http://[::1]:80/d'}",
		AGENT);
	struct ing_conf *c = load_good("# a comment\n"
				       "kafka:\n"
				       "  brokers: \"a:1,[::1]:2, c\"\n"
				       "  topics: {requests: r, dead: d}\n"
				       "  properties: {security.protocol: ssl, linger.ms: 5}\n"
				       "  max_message_bytes: 2 MiB\n"
				       "gate.max_wait_ms: 0\n"
				       "gate:\n"
				       "  concurrency: 5\n"
				       "postgres:\n"
				       "fetch:\n"
				       "  ca_file: /nowhere\n"
				       "  allow_address: [10.0.0.0/8, \"::1\"]\n"
				       "  memory_bytes: 1GiB\n"
				       "  proxy: http://u:p@h:80\n"
				       "instance: 5\n",
		sets, ING_CONF_DAEMON);
	assert_string_equal(c->kafka.brokers, "a:1,[::1]:2, c");
	assert_string_equal(c->kafka.lane_topics[ING_LANE_REQUESTS], "r");
	assert_string_equal(c->kafka.output_topics[ING_OUTPUT_DEAD],
		"ingest-file-requests-dead"); /* nothing: the default */
	assert_string_equal(c->kafka.properties.values[0], "security.protocol=ssl");
	assert_string_equal(c->kafka.properties.values[1], "linger.ms=5");
	assert_null(c->kafka.properties.values[2]);
	assert_int_equal(c->kafka.max_message_bytes, 2 << 20);
	assert_int_equal(c->gate.concurrency, 8);
	assert_int_equal(c->gate.backoff.delay_ms, 9);
	assert_int_equal(c->gate.max_wait_ms, 0);
	assert_string_equal(c->fetch.connect_to[0], ":80:127.0.0.1:8080");
	assert_null(c->fetch.connect_to[1]);
	assert_string_equal(c->fetch.allow_address[0], "127.0.0.0/8");
	assert_null(c->fetch.allow_address[1]);
	assert_null(c->fetch.ca_file);
	assert_int_equal(c->fetch.memory_bytes, 1 << 30);
	assert_string_equal(c->fetch.proxy, "http://u:p@h:80");
	assert_string_equal(c->grobid.url, "http://[::1]:8070/grobid/");
	assert_string_equal(c->warc.dir, "/w x=y");
	assert_string_equal(c->instance, "5");
	assert_int_equal(c->log_level, ING_LOG_DEBUG);
	assert_int_equal(c->log_format, ING_LOG_FORMAT_JSON);
	assert_int_equal(c->log_requests, ING_LOG_REQUESTS_ALL);
	assert_true(c->publication.retry_limit == -1);
	assert_true(c->publication.refetch_after == 99999999999);
	assert_string_equal(
		c->publication.doaj_url, "https://doaj.org/api"); /* nothing: the default */
	assert_string_equal(c->publication.arxiv_url, "");
	assert_string_equal(c->publication.doi_url, "http://[::1]:80/d");
	ing_conf_free(c);
}

/* One error each; the whole line. */
/* clang-format off */
static const struct {
	const char *file;
	const char *set;
	const char *want;
} error_cases[] = {
	{.file = "gate:\n  concurrency: 0\n",
		.want = "c.yaml:2:16: key \"gate.concurrency\": must be from 1 to 20000 transfers, and is 0"},
	{.file = "gate:\n  concurrency: \"5\"\n",
		.want = "c.yaml:2:16: key \"gate.concurrency\": must be a number: leave the quotes out"},
	{.file = "gate: {concurrency: five}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "gate: {concurrency: -5}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be from 1 to 20000 transfers, and is -5"},
	{.file = "gate: {concurrency: -}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "gate: {concurrency: --5}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "gate: {concurrency: -5.5}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "gate: {concurrency: -0}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be from 1 to 20000 transfers, and is 0"},
	{.file = "fetch: {memory_bytes: -1GiB}\n",
		.want = "c.yaml:1:23: key \"fetch.memory_bytes\": must be from 1048576 to 1099511627776 bytes, "
			"and is -1GiB"},
	{.file = "gate: {concurrency: 5KiB}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "gate: {concurrency: [5]}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "intake: {host_share: 2.5 %}\n",
		.want = "c.yaml:1:22: key \"intake.host_share\": must be a whole number of percent"},
	{.file = "intake: {host_share: 101%}\n",
		.want = "c.yaml:1:22: key \"intake.host_share\": must be from 1 to 100 %, and is 101"},
	{.file = "gate: {concurrency: 5 %}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be a whole number"},
	{.file = "fetch: {memory_bytes: 5 kB}\n",
		.want = "c.yaml:1:23: key \"fetch.memory_bytes\": must be a whole number of bytes, or one with "
			"KiB, MiB or GiB behind it"},
	{.file = "fetch: {memory_bytes: 99999999999999999999}\n",
		.want = "c.yaml:1:23: key \"fetch.memory_bytes\": must be from 1048576 to 1099511627776 bytes, "
			"and is 99999999999999999999"},
	{.file = "fetch: {memory_bytes: 9999999999999GiB}\n",
		.want = "c.yaml:1:23: key \"fetch.memory_bytes\": must be from 1048576 to 1099511627776 bytes, "
			"and is 9999999999999GiB"},
	{.file = "fetch: {memory_bytes: 1023KiB}\n",
		.want = "c.yaml:1:23: key \"fetch.memory_bytes\": must be from 1048576 to 1099511627776 bytes, "
			"and is 1047552"},
	{.file = "fetch:\n  timeout: 5\n",
		.want = "c.yaml:2:3: key \"fetch.timeout\": there is no such key; did you mean "
			"\"fetch.timeout_ms\"?"},
	{.file = "timeout_ms: 5\n",
		.want = "c.yaml:1:1: key \"timeout_ms\": there is no such key; did you mean "
			"\"fetch.timeout_ms\"?"},
	{.file = "colour: red\n", .want = "c.yaml:1:1: key \"colour\": there is no such key"},
	{.file = "kafka:\n  topics:\n    request: x\n",
		.want = "c.yaml:3:5: key \"kafka.topics.request\": there is no such key; did you mean "
			"\"kafka.topics.requests\"?"},
	{.file = "kafka: x\n",
		.want = "c.yaml:1:8: key \"kafka\": must be a mapping of keys to values"},
	{.file = "- a\n", .want = "c.yaml:1:1: must be a mapping of keys to values"},
	{.file = "a: [\n",
		.want = "c.yaml:2:1: did not find expected node content while parsing a flow node (line 2)"},
	{.file = "gate: {robots: ignore}\ngate: {}\n",
		.want = "c.yaml:2:1: key \"gate\" was given before, at 1:1"},
	{.file = "gate: {max_wait_ms: 1}\ngate.max_wait_ms: 2\n",
		.want = "c.yaml:2:1: key \"gate.max_wait_ms\": was given before, at 1:21"},
	{.file = "kafka: {delivery: twice}\n",
		.want = "c.yaml:1:19: key \"kafka.delivery\": must be exactly-once or at-least-once"},
	{.file = "gate: {host_key: name}\n",
		.want = "c.yaml:1:18: key \"gate.host_key\": must be host, domain or address"},
	{.file = "fetch: {tls_fallback: yes}\n",
		.want = "c.yaml:1:23: key \"fetch.tls_fallback\": must be true or false"},
	{.file = "fetch: {allow_port: [80, 0]}\n",
		.want = "c.yaml:1:26: key \"fetch.allow_port\": must be a port, 1 to 65535"},
	{.file = "fetch: {dns_servers: \"192.0.2.1,ns.example\"}\n",
		.want = "c.yaml:1:22: key \"fetch.dns_servers\": name server at character 11: not ADDRESS or "
			"ADDRESS:PORT"},
	{.file = "fetch: {dns_servers: \"[::1]:0\"}\n",
		.want = "c.yaml:1:22: key \"fetch.dns_servers\": name server at character 1: not ADDRESS or "
			"ADDRESS:PORT"},
	{.file = "fetch: {dns_servers: \"192.0.2.1,\"}\n",
		.want = "c.yaml:1:22: key \"fetch.dns_servers\": name server at character 11: not ADDRESS or "
			"ADDRESS:PORT"},
	{.file = "gate: {robots: yes}\n",
		.want = "c.yaml:1:16: key \"gate.robots\": must be obey or ignore"},
	{.file = "log: {level: [debug]}\n",
		.want = "c.yaml:1:14: key \"log.level\": must be error, warning, info or debug"},
	{.file = "log: {format: syslog}\n",
		.want = "c.yaml:1:15: key \"log.format\": must be text, json or journal"},
	{.file = "log: {requests: some}\n",
		.want = "c.yaml:1:17: key \"log.requests\": must be off, failures or all"},
	{.file = "instance: a/b\n",
		.want = "c.yaml:1:11: key \"instance\": must be made of letters, digits and . _ @ : - and not "
			"begin with a dot"},
	{.file = "instance: \"\"\n", .want = "c.yaml:1:11: key \"instance\": must not be empty"},
	{.file = "instance: \"a\\0b\"\n",
		.want = "c.yaml:1:11: key \"instance\": must not hold control characters"},
	{.file = "instance: [a]\n", .want = "c.yaml:1:11: key \"instance\": must be a text"},
	{.file = "warc: {dir: \"/a\\nb\"}\n",
		.want = "c.yaml:1:13: key \"warc.dir\": must not hold control characters"},
	{.file = "warc: {prefix: a/b}\n",
		.want = "c.yaml:1:16: key \"warc.prefix\": must be made of letters, digits and . _ - and not "
			"begin with a dot"},
	{.file = "kafka: {topics: {results: \"a b\"}}\n",
		.want = "c.yaml:1:27: key \"kafka.topics.results\": must be made of letters, digits and . _ -"},
	{.file = "metrics: {listen: \"0.0.0.0:9108\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": only addresses of loopback (127.0.0.1, "
			"[::1]): what must be seen from elsewhere needs a proxy that says who may"},
	{.file = "metrics: {listen: \"[::]:9108\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": only addresses of loopback (127.0.0.1, "
			"[::1]): what must be seen from elsewhere needs a proxy that says who may"},
	{.file = "metrics: {listen: \"localhost:9108\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": an address is of IPv4, or of IPv6 in "
			"brackets; names are not looked up"},
	{.file = "metrics: {listen: \"::1:9108\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": an address is of IPv4, or of IPv6 in "
			"brackets; names are not looked up"},
	{.file = "metrics: {listen: \"127.0.0.1\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": neither ADDRESS:PORT nor unix:PATH"},
	{.file = "metrics: {listen: \"127.0.0.1:65536\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": neither ADDRESS:PORT nor unix:PATH"},
	{.file = "metrics: {listen: \"unix:\"}\n",
		.want = "c.yaml:1:19: key \"metrics.listen\": unix: without a file's path"},
	{.file = "kafka: {brokers: \"a:1,:2\"}\n",
		.want = "c.yaml:1:18: key \"kafka.brokers\": broker at character 5: not HOST:PORT"},
	{.file = "kafka: {brokers: \"a:99999\"}\n",
		.want = "c.yaml:1:18: key \"kafka.brokers\": broker at character 1: a port is a number from 1 to "
			"65535"},
	{.file = "kafka:\n  properties:\n    - a=b\n    - c\n",
		.want = "c.yaml:4:7: key \"kafka.properties\": not NAME=VALUE"},
	{.file = "kafka:\n  properties:\n    a b: c\n",
		.want = "c.yaml:3:10: key \"kafka.properties\": not NAME=VALUE"},
	{.file = "kafka:\n  properties: [[a]]\n",
		.want = "c.yaml:2:16: key \"kafka.properties\": the items of the list must be texts"},
	{.file = "fetch: {allow_address: {a: b}}\n",
		.want = "c.yaml:1:24: key \"fetch.allow_address\": must be a list of texts"},
	{.file = "fetch: {allow_address: [\"\"]}\n",
		.want = "c.yaml:1:25: key \"fetch.allow_address\": the items of the list must not be empty"},
	{.file = "fetch:\n  allow_address:\n  - 10.0.0.0/8\n  - 10.0.0.0/33\n",
		.want = "c.yaml:4:5: key \"fetch.allow_address\": 10.0.0.0/33: the prefix length must be a "
			"number from 0 to 32"},
	{.file = "s3: {endpoint: \"ftp://a.example\"}\n",
		.want = "c.yaml:1:16: key \"s3.endpoint\": not http://HOST[:PORT] or https://HOST[:PORT]"},
	{.file = "s3: {endpoint: \"https://a.example/bucket\"}\n",
		.want = "c.yaml:1:16: key \"s3.endpoint\": not http://HOST[:PORT] or https://HOST[:PORT]"},
	{.file = "s3: {endpoint: \"http://u:p@a.example\"}\n",
		.want = "c.yaml:1:16: key \"s3.endpoint\": not http://HOST[:PORT] or https://HOST[:PORT]"},
	{.file = "s3: {bucket: a/b}\n",
		.want = "c.yaml:1:14: key \"s3.bucket\": must be made of letters, digits and . - and not begin "
			"with a dot"},
	{.file = "s3: {prefix: a/../b}\n",
		.want = "c.yaml:1:14: key \"s3.prefix\": must be made of letters, digits and . _ - with single "
			"slashes between"},
	{.file = "s3: {prefix: a/}\n",
		.want = "c.yaml:1:14: key \"s3.prefix\": must be made of letters, digits and . _ - with single "
			"slashes between"},
	{.file = "s3: {prefix: a//b}\n",
		.want = "c.yaml:1:14: key \"s3.prefix\": must be made of letters, digits and . _ - with single "
			"slashes between"},
	{.file = "fetch: {connect_to: \"a:1:b\"}\n",
		.want = "c.yaml:1:21: key \"fetch.connect_to\": \"a:1:b\": not "
			"HOST:PORT:CONNECT-HOST:CONNECT-PORT"},
	{.file = "fetch: {connect_to: [\"::b:1\", \"a:x:b:1\"]}\n",
		.want = "c.yaml:1:31: key \"fetch.connect_to\": \"a:x:b:1\": a port is a number from 1 to "
			"65535, or empty"},
	{.file = "fetch: {connect_to: \"[::g]::b:1\"}\n",
		.want = "c.yaml:1:21: key \"fetch.connect_to\": \"[::g]::b:1\": not "
			"HOST:PORT:CONNECT-HOST:CONNECT-PORT"},
	{.file = "fetch: {proxy: \"http://user:secret@host\"}\n",
		.want = "c.yaml:1:16: key \"fetch.proxy\": not http://HOST:PORT or "
			"http://USER:PASSWORD@HOST:PORT"},
	{.file = "fetch: {proxy: \"socks5://host:1\"}\n",
		.want = "c.yaml:1:16: key \"fetch.proxy\": not http://HOST:PORT or "
			"http://USER:PASSWORD@HOST:PORT"},
	{.file = "fetch: {proxy: \"http://host:1/path\"}\n",
		.want = "c.yaml:1:16: key \"fetch.proxy\": not http://HOST:PORT or "
			"http://USER:PASSWORD@HOST:PORT"},
	{.file = "fetch: {user_agent: \"(x) a/1 http://h/\"}\n",
		.want = "c.yaml:1:21: key \"fetch.user_agent\": must begin with the name of a product, such as "
			"example-archive/1.0"},
	{.file = "fetch: {user_agent: \"a/1 \u00e9\"}\n",
		.want = "c.yaml:1:21: key \"fetch.user_agent\": may hold printable ASCII characters only"},
	{.file = "grobid: {url: \"ftp://h/\"}\n",
		.want = "c.yaml:1:15: key \"grobid.url\": not http://HOST:PORT/PATH or https://HOST:PORT/PATH"},
	{.file = "grobid: {url: \"http://user:secret@h/\"}\n",
		.want = "c.yaml:1:15: key \"grobid.url\": not http://HOST:PORT/PATH or https://HOST:PORT/PATH"},
	{.file = "grobid: {url: \"http://h/a b\"}\n",
		.want = "c.yaml:1:15: key \"grobid.url\": not http://HOST:PORT/PATH or https://HOST:PORT/PATH"},
	{.file = "grobid: {url: \"http://h/?q\"}\n",
		.want = "c.yaml:1:15: key \"grobid.url\": not http://HOST:PORT/PATH or https://HOST:PORT/PATH"},
	{.file = "publication: {retry_limit: -2}\n",
		.want = "c.yaml:1:28: key \"publication.retry_limit\": must be -1, or from 0 to 1000000 times, "
			"and is -2"},
	{.file = "publication: {retry_limit: \"-1\"}\n",
		.want = "c.yaml:1:28: key \"publication.retry_limit\": must be a number: leave the quotes out"},
	{.file = "gate: {concurrency: -1}\n",
		.want = "c.yaml:1:21: key \"gate.concurrency\": must be from 1 to 20000 transfers, and is -1"},
	{.file = "publication: {email: \"a@b&x=1\"}\n",
		.want = "c.yaml:1:22: key \"publication.email\": not a mail address"},
	{.file = "publication: {doi_url: doi.org}\n",
		.want = "c.yaml:1:24: key \"publication.doi_url\": not http://HOST:PORT/PATH or https://HOST:PORT/PATH"},
	{.file = "\"\": x\n", .want = "c.yaml:1:1: key \"\": there is no such key"},
	{.file = "", .set = "gate.concurrency", .want = "--set 1:1:1: not KEY=VALUE"},
	{.file = "", .set = "=5", .want = "--set 1:1:1: not KEY=VALUE"},
	{.file = "", .set = "gate.concurency=5",
		.want = "--set 1:1:1: key \"gate.concurency\": there is no such key; did you mean "
			"\"gate.concurrency\"?"},
	{.file = "", .set = "gate.concurrency=x",
		.want = "--set 1:1:18: key \"gate.concurrency\": must be a whole number"},
	{.file = "", .set = "gate={concurrency: x}",
		.want = "--set 1:1:20: key \"gate.concurrency\": must be a whole number"},
	{.file = "", .set = "gate=5",
		.want = "--set 1:1:6: key \"gate\": must be a mapping of keys to values"},
	{.file = "", .set = "gate.concurrency=[",
		.want = "--set 1:2:1: did not find expected node content while parsing a flow node (line "
			"2)"},
};
/* clang-format on */

static void errors_say_where_and_what(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(error_cases); i++) {
		char set[200] = "";
		char *sets[] = {set, NULL};
		struct ing_conf *conf;
		struct ing_report report;
		bool with_set = error_cases[i].set != NULL;
		if (with_set)
			snprintf(set, sizeof(set), "%s", error_cases[i].set);
		int rc = load(
			error_cases[i].file, with_set ? sets : NULL, ING_CONF_CTL, &conf, &report);
		if (rc != -ING_FAIL_CONFIG || report.errors != 1 ||
			strcmp(line_of(&report, 0), error_cases[i].want) != 0)
			fail_msg("%s%s: %zu: %s\nwant %s", error_cases[i].file, set, report.errors,
				report.errors > 0 ? line_of(&report, 0) : "no error",
				error_cases[i].want);
		assert_null(conf);
		ing_report_done(&report);
	}
}

#define DSN "postgres: {dsn: host=x}\n"
#define S3_REST "bucket: b, access_key_file: a, secret_key_file: s"

/* Keys that are good by themselves, and not together. NULL: they are. */
static const struct {
	const char *file;
	const char *want;
} relation_cases[] = {
	{"gate: {backoff_ms: 2000, backoff_max_ms: 1000}\n",
		"c.yaml:1:20: key \"gate.backoff_ms\": must not be over gate.backoff_max_ms, which is "
		"1000"},
	{"gate: {backoff_max_ms: 4999}\n",
		"default: key \"gate.backoff_ms\": must not be over gate.backoff_max_ms, which is "
		"4999"},
	{"gate: {backoff_max_ms: 5000}\n", NULL},
	{DSN "gate: {lease_ms: 214619}\n",
		"c.yaml:2:18: key \"gate.lease_ms\": must be 214620 at least, or 0, with "
		"fetch.timeout_ms at 120000"},
	{DSN "gate: {lease_ms: 214620}\n", NULL},
	{DSN "fetch: {timeout_ms: 1000}\ngate: {lease_ms: 10999}\n",
		"c.yaml:3:18: key \"gate.lease_ms\": must be 11000 at least, or 0, with "
		"fetch.timeout_ms at 1000"},
	{DSN "fetch: {timeout_ms: 86400000}\n", NULL}, /* as long as it takes */
	{DSN "fetch: {timeout_ms: 1}\n", NULL},
	{"gate: {lease_ms: 1}\n", NULL}, /* nobody has leases */
	{"store: {dir: /x}\n", NULL},
	{"s3: {bucket: b, prefix: a/b.c}\n", NULL}, /* no endpoint: no store */
	{"s3: {endpoint: \"https://[::1]:9000/\", " S3_REST "}\n", NULL},
	{"s3: {endpoint: \"http://s3.example\", " S3_REST "}\nstore: {dir: /x}\n",
		"c.yaml:2:14: key \"store.dir\": must be empty with s3.endpoint: there is one object store"},
	{"s3: {endpoint: \"http://s3.example\", bucket: b, access_key_file: a}\n",
		"c.yaml:1:16: key \"s3.endpoint\": needs s3.secret_key_file"},
	{"s3: {endpoint: \"http://s3.example\", access_key_file: a, secret_key_file: s}\n",
		"c.yaml:1:16: key \"s3.endpoint\": needs s3.bucket"},
};

static void keys_that_contradict_one_another_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(relation_cases); i++) {
		const char *want = relation_cases[i].want;
		struct ing_conf *conf;
		struct ing_report report;
		int rc = load(relation_cases[i].file, SETS(AGENT), ING_CONF_DAEMON, &conf, &report);
		const char *got = rc == 0 ? "no error" : line_of(&report, 0);
		if (want == NULL ? rc != 0 : report.errors != 1 || strcmp(got, want) != 0)
			fail_msg("%s%s\nwant %s", relation_cases[i].file, got,
				want != NULL ? want : "none");
		ing_conf_free(conf);
		ing_report_done(&report);
	}
}

static void all_errors_come_in_one_report(void **state)
{
	(void)state;
	char *const *sets = SETS("gate.concurrency=0", "nothing=1");
	struct ing_conf *conf;
	struct ing_report report;
	assert_int_equal(load("x: 1\nfetch: {timeout_ms: x, allow_address: [a, b]}\n", sets,
				 ING_CONF_DAEMON, &conf, &report),
		-ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 6);
	assert_non_null(strstr(line_of(&report, 0), "c.yaml:1:1:"));
	assert_non_null(strstr(line_of(&report, 1), "c.yaml:2:21:"));
	assert_non_null(strstr(line_of(&report, 2), "c.yaml:2:40:"));
	assert_non_null(strstr(line_of(&report, 3), "c.yaml:2:43:"));
	assert_non_null(strstr(line_of(&report, 4), "--set 1:1:18:"));
	assert_non_null(strstr(line_of(&report, 5), "--set 2:1:1:"));
	ing_report_done(&report);
	char many[4000] = "";
	size_t n = 0;
	for (int i = 0; i < 150; i++)
		n += (size_t)snprintf(many + n, sizeof(many) - n, "zz%d: 1\n", i);
	assert_int_equal(load(many, NULL, ING_CONF_CTL, &conf, &report), -ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 150);
	ing_report_done(&report);
}

static void a_missing_file_is_an_error(void **state)
{
	(void)state;
	struct ing_conf *conf = NULL;
	struct ing_report report = {0};
	assert_int_equal(
		ing_conf_load("none.yaml", NULL, ING_CONF_CTL, &conf, &report), -ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 1);
	assert_string_equal(line_of(&report, 0), "none.yaml: there is no such file");
	ing_report_done(&report);
}

static const struct {
	const char *agent;
	bool contact;
} agents[] = {
	{"a/1 (+https://a.example/)", true},
	{"a (http://a.example)", true},
	{"a/1 someone@a.example", true},
	{"a/1 (mailto:x@a.example)", true},
	{"a/1", false},
	{"a/1 (someone@localhost)", false},
	{"a/1 (://)", false},
	{"a/1 @x.y", false},
};

static void a_daemon_names_a_contact(void **state)
{
	(void)state;
	struct ing_conf *conf;
	struct ing_report report;
	assert_int_equal(load("", NULL, ING_CONF_DAEMON, &conf, &report), -ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 1);
	assert_non_null(strstr(
		line_of(&report, 0), "default: key \"fetch.user_agent\": must hold a URL or"));
	ing_report_done(&report);
	for (size_t i = 0; i < ING_ARRAY_LEN(agents); i++) {
		char text[200];
		snprintf(text, sizeof(text), "fetch:\n  user_agent: \"%s\"\n", agents[i].agent);
		int rc = load(text, NULL, ING_CONF_DAEMON, &conf, &report);
		if ((rc == 0) != agents[i].contact)
			fail_msg("%s", agents[i].agent);
		if (rc != 0)
			assert_non_null(strstr(
				line_of(&report, 0), "c.yaml:2:15: key \"fetch.user_agent\""));
		ing_conf_free(conf);
		ing_report_done(&report);
		ing_conf_free(load_good(text, NULL, ING_CONF_CTL));
	}
}

static void a_daemon_needs_what_it_reads(void **state)
{
	(void)state;
	char *const *sets = SETS(AGENT, "kafka.brokers=\"\"", "fetch.ca_file=/nonexistent/ca.pem");
	struct ing_conf *conf;
	struct ing_report report;
	assert_int_equal(load("", sets, ING_CONF_DAEMON, &conf, &report), -ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 2);
	assert_string_equal(line_of(&report, 0),
		"--set 2:1:15: key \"kafka.brokers\": the daemon needs a broker");
	assert_string_equal(line_of(&report, 1),
		"--set 3:1:15: key \"fetch.ca_file\": cannot be read: /nonexistent/ca.pem");
	ing_report_done(&report);
}

static char *dump(const struct ing_conf *conf)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	ing_conf_dump(conf, f);
	fclose(f);
	return text;
}

static void the_dump_reads_back(void **state)
{
	(void)state;
	char *const *sets = SETS("instance=a@b:c", "kafka.properties={a.b: \"c \\\" #d\", e: \"\"}",
		"postgres.dsn=\"host='x y' user=\\\\\u00e9\"", "fetch.proxy=http://u%20@h:3128",
		"fetch.connect_to=[\"::localhost:1\", \"[::1]:80:[::1]:8080\"]",
		"fetch.dns_servers=\"192.0.2.1,192.0.2.1:53,::1,[::1]:53\"",
		"kafka.topics.pdf_text=\"\"", "warc.max_bytes=1125899906842624", "log.level=error",
		"log.format=journal", "log.requests=failures", "intake.host_share=7%",
		"fetch.allow_address=::1");
	struct ing_conf *one = load_good("", sets, ING_CONF_CTL);
	char *text = dump(one);
	struct ing_conf *two = load_good(text, NULL, ING_CONF_CTL);
	char *again = dump(two);
	assert_string_equal(text, again);
	assert_string_equal(two->postgres.dsn, "host='x y' user=\\\u00e9");
	assert_string_equal(two->kafka.properties.values[0], "a.b=c \" #d");
	assert_string_equal(two->kafka.properties.values[1], "e=");
	assert_string_equal(two->kafka.output_topics[ING_OUTPUT_PDF_TEXT], "");
	assert_string_equal(two->fetch.connect_to[1], "[::1]:80:[::1]:8080");
	assert_int_equal(two->job.host_share, 7);
	assert_string_equal(two->fetch.proxy, "http://u%20@h:3128");
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		assert_true(strcspn(line, "\n") <= 100);
	}
	free(text);
	free(again);
	ing_conf_free(one);
	ing_conf_free(two);
}

static void the_dump_leaves_secrets_out(void **state)
{
	(void)state;
	struct ing_conf *one =
		load_good("postgres.dsn: \"postgresql://me:h%20ush@db/x?sslpassword=hush\"\n"
			  "fetch.proxy: \"http://u:hush@h:3128\"\n"
			  "kafka.properties:\n"
			  "  sasl.username: me\n"
			  "  consumer.sasl.password: hush\n",
			NULL, ING_CONF_CTL);
	char *text = dump(one);
	assert_null(strstr(text, "hush"));
	struct ing_conf *two = load_good(text, NULL, ING_CONF_CTL);
	assert_string_equal(two->postgres.dsn,
		"user='me' password='********' dbname='x' host='db' sslpassword='********'");
	assert_string_equal(two->fetch.proxy, "http://u:********@h:3128");
	assert_string_equal(two->kafka.properties.values[0], "sasl.username=me");
	assert_string_equal(two->kafka.properties.values[1], "consumer.sasl.password=********");
	char *again = dump(two);
	assert_string_equal(text, again);
	free(text);
	free(again);
	ing_conf_free(one);
	ing_conf_free(two);
}

/* A warning in a file, an error in an argument; and none of them repeats it. */
static void a_secret_belongs_into_a_file_of_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *key, *value, *instead; /* instead NULL: there is none */
	} cases[] = {
		{"postgres.dsn", "\"host=db password=hush\"", "postgres.password_file"},
		{"postgres.dsn", "postgresql://u:hush@db/x", "postgres.password_file"},
		{"postgres.dsn", "\"host=db sslpassword=hush\"", "postgres.password_file"},
		{"postgres.dsn", "\"host=db user=hush passfile=/x\"", NULL},
		{"kafka.properties", "[sasl.password=hush]", "kafka.password_file"},
		{"kafka.properties", "[linger.ms=5, producer.ssl.key.pem=hush]",
			"kafka.property_files"},
		{"kafka.properties", "[sasl.username=hush]", NULL},
		{"fetch.proxy", "http://u:hush@h:1", "fetch.proxy_password_file"},
		{"fetch.proxy", "http://hush@h:1", NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_conf *conf = NULL;
		struct ing_report report;
		char set[200], file[200];
		snprintf(set, sizeof(set), "%s=%s", cases[i].key, cases[i].value);
		snprintf(file, sizeof(file), "%s: %s\n", cases[i].key, cases[i].value);
		bool secret = cases[i].instead != NULL;
		int rc = load("", SETS(set), ING_CONF_CTL, &conf, &report);
		assert_int_equal(rc, secret ? -ING_FAIL_CONFIG : 0);
		assert_int_equal(report.errors, secret);
		if (secret) {
			assert_non_null(strstr(line_of(&report, 0), "on the command line"));
			assert_non_null(strstr(line_of(&report, 0), cases[i].instead));
			assert_null(strstr(line_of(&report, 0), "hush"));
		} else {
			ing_conf_free(conf);
		}
		ing_report_done(&report);
		assert_int_equal(load(file, NULL, ING_CONF_CTL, &conf, &report), 0);
		assert_int_equal(report.warnings, secret);
		if (secret) {
			assert_non_null(strstr(line_of(&report, 0), cases[i].instead));
			assert_null(strstr(line_of(&report, 0), "hush"));
		}
		ing_report_done(&report);
		ing_conf_free(conf);
	}
}

static void a_malformed_address_of_the_database_is_told_without_its_password(void **state)
{
	(void)state;
	struct ing_conf *conf;
	struct ing_report report;
	assert_int_equal(load("postgres.dsn: postgresql://me:hush%zz@a/x\n", NULL, ING_CONF_CTL,
				 &conf, &report),
		-ING_FAIL_CONFIG);
	assert_non_null(strstr(line_of(&report, 0), "key \"postgres.dsn\": database address: "));
	assert_null(strstr(line_of(&report, 0), "hush"));
	ing_report_done(&report);
}

/* The daemon looks at them before it starts; a credential is there only inside the unit. */
static void files_with_secrets_are_looked_at(void **state)
{
	(void)state;
	char path[] = "/tmp/conf-secret-XXXXXX";
	char open_path[] = "/tmp/conf-secret-XXXXXX";
	close(mkstemp(path));
	int fd = mkstemp(open_path);
	assert_int_equal(fchmod(fd, 0644), 0);
	close(fd);
	char good[100], bad[100], files[100];
	snprintf(good, sizeof(good), "kafka.password_file=%s", path);
	snprintf(bad, sizeof(bad), "fetch.proxy_password_file=%s", open_path);
	snprintf(files, sizeof(files), "kafka.property_files={ssl.key.pem: /nonexistent/key}");
	struct ing_conf *conf;
	struct ing_report report;
	unsetenv("CREDENTIALS_DIRECTORY");
	char *const *sets = SETS(AGENT, good, bad, files, "postgres.password_file=some-credential");
	assert_int_equal(load("", sets, ING_CONF_DAEMON, &conf, &report), -ING_FAIL_CONFIG);
	assert_int_equal(report.errors, 1);
	assert_int_equal(report.warnings, 2);
	char *all = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&all, &bytes);
	ing_report_print(&report, true, f);
	fclose(f);
	assert_non_null(strstr(all, "\"kafka.property_files\": cannot be read: /nonexistent/key"));
	assert_non_null(strstr(all, "\"fetch.proxy_password_file\": every user of this machine can "
				    "read /tmp/"));
	assert_non_null(strstr(all, "\"postgres.password_file\": some-credential is a credential"));
	free(all);
	ing_report_done(&report);
	setenv("CREDENTIALS_DIRECTORY", "/nonexistent", 1);
	sets = SETS(AGENT, "postgres.password_file=some-credential");
	assert_int_equal(load("", sets, ING_CONF_DAEMON, &conf, &report), -ING_FAIL_CONFIG);
	assert_non_null(
		strstr(line_of(&report, 0), "cannot be read: /nonexistent/some-credential"));
	ing_report_done(&report);
	unsetenv("CREDENTIALS_DIRECTORY");
	unlink(path);
	unlink(open_path);
}

static void the_manual_has_every_key(void **state)
{
	(void)state;
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	ing_conf_dump_man(f);
	fclose(f);
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		char item[200];
		snprintf(item, sizeof(item), "\n.It Ic %s\n%s", ing_conf_keys[i].name,
			ing_conf_keys[i].sentence);
		if (strstr(text, item) == NULL)
			fail_msg("%s", item);
	}
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		if (line[0] == '.')
			assert_true(strncmp(line, ".It ", 4) == 0 ||
				    strncmp(line, ".Bl ", 4) == 0 ||
				    strncmp(line, ".El\n", 4) == 0);
		assert_true(line[0] != '\'' && line[0] != '\n');
	}
	assert_null(strchr(text, '\\'));
	free(text);
}

/* The section of a key must not come back after another one has begun, or the dump would have it
 * twice. */
static void check_order(size_t i)
{
	const char *name = ing_conf_keys[i].name;
	for (const char *dot = strchr(name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
		size_t n = (size_t)(dot - name) + 1;
		bool left = false;
		for (size_t k = i; k-- > 0;) {
			bool inside = strncmp(ing_conf_keys[k].name, name, n) == 0;
			assert_false(left && inside);
			left = left || !inside;
		}
	}
}

static void every_row_is_documented_and_in_range(void **state)
{
	(void)state;
	struct ing_conf *conf = ing_alloc(sizeof(*conf));
	struct ing_report report = {0};
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		const struct ing_conf_key *key = &ing_conf_keys[i];
		size_t n = strlen(key->sentence);
		assert_true(n > 10 && key->sentence[n - 1] == '.');
		assert_true(isupper((unsigned char)key->sentence[0]));
		assert_null(strpbrk(key->sentence, "\"\\\n"));
		assert_true(key->min <= key->max);
		bool number = key->type == ING_CONF_UINT || key->type == ING_CONF_PERCENT ||
			      key->type == ING_CONF_SIZE || key->type == ING_CONF_WIDE ||
			      key->type == ING_CONF_OR_NEVER;
		assert_int_equal(number, key->unit != NULL);
		if (key->type == ING_CONF_UINT)
			assert_true(key->max <= UINT32_MAX);
		if (key->type == ING_CONF_OR_NEVER)
			assert_true(key->min == 0 && key->max <= INT64_MAX);
		check_order(i);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(ing_conf_keys[k].name, key->name);
			assert_true(ing_conf_keys[k].offset != key->offset);
		}
		struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
		struct ing_yaml *doc = NULL;
		struct ing_error err = {0};
		struct ing_buf text;
		ing_buf_init(&text, 10000);
		ing_conf_fallback(key, &text);
		assert_int_equal(
			ing_yaml_parse(ing_buf_str(&text), text.len, &limits, &doc, &err), 0);
		ing_conf_set(conf, key, ing_yaml_root(doc), "default", &report);
		if (report.errors > 0)
			fail_msg("%s", line_of(&report, 0));
		ing_yaml_free(doc);
		ing_buf_done(&text);
		assert_true(ing_conf_fallback_words(key)[0] != '\0');
	}
	ing_conf_free(conf);
}

static void a_build_tree_finds_its_parts(void **state)
{
	(void)state;
	assert_string_equal(ing_path_rules(), ING_SOURCE_DIR "/rules");
	assert_string_equal(ing_path_seedlists(), ING_SOURCE_DIR "/deploy/seedlists");
	assert_string_equal(ing_path_examiner(), ING_BINARY_DIR "/worker/examine/ingest-examiner");
	assert_true(ing_path_config()[0] == '/');
}

static int enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	remove("c.yaml");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_a_whole_configuration),
		cmocka_unit_test(places_come_from_the_environment),
		cmocka_unit_test(files_and_sets_are_laid_over_one_another),
		cmocka_unit_test(errors_say_where_and_what),
		cmocka_unit_test(keys_that_contradict_one_another_are_refused),
		cmocka_unit_test(all_errors_come_in_one_report),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(a_daemon_names_a_contact),
		cmocka_unit_test(a_daemon_needs_what_it_reads),
		cmocka_unit_test(the_dump_reads_back),
		cmocka_unit_test(the_dump_leaves_secrets_out),
		cmocka_unit_test(a_secret_belongs_into_a_file_of_its_own),
		cmocka_unit_test(a_malformed_address_of_the_database_is_told_without_its_password),
		cmocka_unit_test(files_with_secrets_are_looked_at),
		cmocka_unit_test(the_manual_has_every_key),
		cmocka_unit_test(every_row_is_documented_and_in_range),
		cmocka_unit_test(a_build_tree_finds_its_parts),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
