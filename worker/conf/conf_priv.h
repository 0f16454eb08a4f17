/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * conf_priv.h - what the files of worker/conf share: the table of keys, its errors, its values.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/conf/conf.h"

struct ing_yaml_node;

enum ing_conf_type {
	ING_CONF_TEXT,
	ING_CONF_OPTION,
	ING_CONF_LIST,
	ING_CONF_UINT,
	ING_CONF_PERCENT,
	ING_CONF_SIZE,
	ING_CONF_WIDE,
	ING_CONF_OR_NEVER,
	ING_CONF_BOOL,
	ING_CONF_OBEY,
	ING_CONF_HOST_KEY,
	ING_CONF_DELIVERY,
	ING_CONF_RESOURCES,
	ING_CONF_LANE_RESOURCES,
	ING_CONF_LEVEL,
	ING_CONF_LOG_FORMAT,
	ING_CONF_LOG_REQUESTS,
};

/* A row of conf_table.def. */
struct ing_conf_key {
	const char *name;
	size_t offset; /* of the member in struct ing_conf */
	enum ing_conf_type type;
	const char *unit; /* NULL for what is no number */
	uint64_t min;     /* of a number; of a text or list item, bytes */
	uint64_t max;
	const char *fallback; /* YAML, or "@name" */
	int (*check)(const char *text,
		struct ing_error *err); /* of a text or item, never the empty text; or NULL */
	const char *sentence;
};

extern const struct ing_conf_key ing_conf_keys[];
extern const size_t ing_conf_key_count;

/* Where a value was written: file or "--set N", line and column, 1-based; line 0: the default. */
struct ing_conf_origin {
	const char *source;
	int line, column;
};

/* An error at a place, which begins with the key unless it is NULL. */
void ing_conf_error(struct ing_report *report, const struct ing_conf_origin *at, const char *key,
	const char *fmt, ...) ING_PRINTF(4, 5);

/* Of a key's value, in a list in the order of the table; the key must be one. */
const struct ing_conf_origin *ing_conf_origin_of(
	const struct ing_conf_origin *origins, const char *key);

/* Set the member from a node of source; what was there before is freed. On an error it is reported
 * and the member kept. */
void ing_conf_set(struct ing_conf *conf, const struct ing_conf_key *key,
	const struct ing_yaml_node *node, const char *source, struct ing_report *report);
/* Free what the member points to. */
void ing_conf_clear(struct ing_conf *conf, const struct ing_conf_key *key);
/* The member as YAML in one line, without secrets (ing_conf_hide()). */
void ing_conf_format(
	const struct ing_conf *conf, const struct ing_conf_key *key, struct ing_buf *out);

/* The default of a key as YAML, and in words for the manual. */
void ing_conf_fallback(const struct ing_conf_key *key, struct ing_buf *out);
const char *ing_conf_fallback_words(const struct ing_conf_key *key);

/* Checks of the table: 0, or an error without position. */
int ing_conf_check_instance(const char *text, struct ing_error *err);
int ing_conf_check_metrics_listen(const char *text, struct ing_error *err);
int ing_conf_check_brokers(const char *text, struct ing_error *err);
int ing_conf_check_endpoint(const char *text, struct ing_error *err);
int ing_conf_check_bucket(const char *text, struct ing_error *err);
int ing_conf_check_prefix(const char *text, struct ing_error *err);
int ing_conf_check_topic(const char *text, struct ing_error *err);
int ing_conf_check_dsn(const char *text, struct ing_error *err);
int ing_conf_check_property(const char *text, struct ing_error *err);
int ing_conf_check_file_part(const char *text, struct ing_error *err);
int ing_conf_check_agent(const char *text, struct ing_error *err);
int ing_conf_check_connect_to(const char *text, struct ing_error *err);
int ing_conf_check_proxy(const char *text, struct ing_error *err);
int ing_conf_check_cidr(const char *text, struct ing_error *err);
int ing_conf_check_dns_servers(const char *text, struct ing_error *err);
int ing_conf_check_port(const char *text, struct ing_error *err);
int ing_conf_check_email(const char *text, struct ing_error *err);
int ing_conf_check_service(const char *text, struct ing_error *err);

/* Appends a text of the key, or an item of its list, with asterisks in place of the secrets in it. Returns
 * whether there are any. */
bool ing_conf_hide(const struct ing_conf_key *key, const char *text, struct ing_buf *out);
/* Reports what is not kept secret of the value that the key has got: on the command line, where every user
 * can read it (an error), or in the configuration file (a warning). */
void ing_conf_check_secret(const struct ing_conf *conf, const struct ing_conf_key *key,
	const struct ing_conf_origin *at, bool on_command_line, struct ing_report *report);
/* What files with secrets the daemon cannot read (errors), and what others can (warnings). */
void ing_conf_check_secret_files(
	const struct ing_conf *c, const struct ing_conf_origin *origins, struct ing_report *report);
/* The texts of a key of the types TEXT, OPTION or LIST: calls each() for every one that is set. */
typedef void ing_conf_text_f(void *ctx, const char *text);
void ing_conf_each_text(const struct ing_conf *conf, const struct ing_conf_key *key,
	ing_conf_text_f *each, void *ctx);

/* What must hold between keys, of values that are good by themselves; origins: of all keys. */
void ing_conf_check_relations(
	const struct ing_conf *c, const struct ing_conf_origin *origins, struct ing_report *report);
