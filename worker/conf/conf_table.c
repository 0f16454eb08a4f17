/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * conf_table.def as an array, and the computed defaults.
 */
#include "worker/conf/conf_priv.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/data/yaml.h"
#include "worker/conf/paths.h"
#include "worker/model/version.h"

#ifdef ING_SANITIZED
#	define EXAMINE_MEMORY "0" /* AddressSanitizer reserves terabytes of address space */
#else
#	define EXAMINE_MEMORY                                                                     \
		"1GiB" /* the largest body mapped, a parser, and room for its pages */
#endif

/* The member that a row names must have the row's type. */
#define C_TYPE_TEXT const char *
#define C_TYPE_OPTION const char *
#define C_TYPE_LIST char *const *
#define C_TYPE_UINT unsigned
#define C_TYPE_PERCENT unsigned
#define C_TYPE_SIZE size_t
#define C_TYPE_WIDE uint64_t
#define C_TYPE_OR_NEVER int64_t
#define C_TYPE_BOOL bool
#define C_TYPE_OBEY bool
#define C_TYPE_HOST_KEY enum ing_host_key
#define C_TYPE_DELIVERY enum ing_guarantee
#define C_TYPE_RESOURCES enum ing_resource_mode
#define C_TYPE_LANE_RESOURCES enum ing_resource_mode
#define C_TYPE_LEVEL enum ing_log_level
#define C_TYPE_LOG_FORMAT enum ing_log_format
#define C_TYPE_LOG_REQUESTS enum ing_log_requests
#define KEY(name, member, type, unit, min, max, fallback, check, sentence)                         \
	_Static_assert(__builtin_types_compatible_p(                                               \
			       __typeof__(((struct ing_conf *)NULL)->member), C_TYPE_##type),      \
		name);
#include "worker/conf/conf_table.def"
#undef KEY

const struct ing_conf_key ing_conf_keys[] = {
#define KEY(name, member, type, unit, min, max, fallback, check, sentence)                         \
	{name, offsetof(struct ing_conf, member), ING_CONF_##type, unit, min, max, fallback,       \
		check, sentence},
#include "worker/conf/conf_table.def"
#undef KEY
};

const size_t ing_conf_key_count = ING_ARRAY_LEN(ing_conf_keys);

/* The host name, and "@" with the instance name of the service manager if it sets one. */
static void add_instance(struct ing_buf *out)
{
	char host[256] = "";
	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		memcpy(host, "localhost", sizeof("localhost"));
	const char *unit = getenv("INGEST_WORKER_INSTANCE");
	ing_buf_add_str(out, host);
	if (unit != NULL && unit[0] != '\0')
		ing_buf_printf(out, "@%s", unit);
}

/* The directory set by the service manager; root's; or the user's own. */
static void add_folder(struct ing_buf *out, const char *given_env, const char *roots,
	const char *xdg_env, const char *below_home)
{
	const char *given = getenv(given_env);
	if (given != NULL && given[0] == '/') {
		ing_buf_add(out, given, strcspn(given, ":"));
		return;
	}
	const char *xdg = getenv(xdg_env);
	const char *home = getenv("HOME");
	if (geteuid() != 0 && xdg != NULL && xdg[0] == '/')
		ing_buf_printf(out, "%s/ingest-worker", xdg);
	else if (geteuid() != 0 && home != NULL && home[0] == '/')
		ing_buf_printf(out, "%s/%s/ingest-worker", home, below_home);
	else
		ing_buf_add_str(out, roots);
}

static void add_state(struct ing_buf *out)
{
	add_folder(
		out, "STATE_DIRECTORY", "/var/lib/ingest-worker", "XDG_STATE_HOME", ".local/state");
}

static void add_spool(struct ing_buf *out)
{
	add_folder(out, "CACHE_DIRECTORY", "/var/cache/ingest-worker", "XDG_CACHE_HOME", ".cache");
}

static void add_rules(struct ing_buf *out)
{
	ing_buf_add_str(out, ing_path_rules());
}

static void add_seedlists(struct ing_buf *out)
{
	ing_buf_add_str(out, ing_path_seedlists());
}

static void add_agent(struct ing_buf *out)
{
	ing_buf_add_str(out, "ingest-worker/" ING_VERSION);
}

/* A YAML list: EasyList and EasyPrivacy as Debian's packages of uBlock Origin have them. */
static void add_filters(struct ing_buf *out)
{
	static const char *const folders[] = {"/usr/share/chromium/extensions/ublock-origin",
		"/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}/"
		"uBlock0@raymondhill.net"};
	static const char *const lists[] = {"easylist", "easyprivacy"};
	const char *separator = "[";
	char path[512];
	for (size_t i = 0; i < ING_ARRAY_LEN(folders) && *separator == '['; i++) {
		for (size_t k = 0; k < ING_ARRAY_LEN(lists); k++) {
			snprintf(path, sizeof(path), "%s/assets/thirdparties/easylist/%s.txt",
				folders[i], lists[k]);
			if (access(path, R_OK) != 0)
				continue;
			ing_buf_add_str(out, separator);
			ing_yaml_add_text(out, path);
			separator = ", ";
		}
	}
	ing_buf_add_str(out, *separator == '[' ? "[]" : "]");
}

static const struct {
	const char *name;
	void (*add)(struct ing_buf *out);
	const char *words;
} computed[] = {
	{"@instance", add_instance,
		"the host name, followed by \"@\" and INGEST_WORKER_INSTANCE if that is set"},
	{"@rules", add_rules, "the installed rules"},
	{"@seedlists", add_seedlists, "the installed sources"},
	{"@filters", add_filters,
		"EasyList and EasyPrivacy, where Debian's package webext-ublock-origin-chromium or "
		"webext-ublock-origin-firefox is installed; else none"},
	{"@agent", add_agent, "ingest-worker/VERSION, without a contact"},
	{"@spool", add_spool,
		"CACHE_DIRECTORY as set by systemd; else /var/cache/ingest-worker for root, and "
		"ingest-worker in the cache directory of other users"},
	{"@state", add_state,
		"STATE_DIRECTORY as set by systemd; else /var/lib/ingest-worker for root, and "
		"ingest-worker in the state directory of other users"},
};

/* -------------------------------------------------------------------------------------------- */

void ing_conf_fallback(const struct ing_conf_key *key, struct ing_buf *out)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(computed); i++) {
		if (strcmp(key->fallback, computed[i].name) != 0)
			continue;
		struct ing_buf text;
		ing_buf_init(&text, 8192);
		computed[i].add(&text);
		if (key->type == ING_CONF_LIST)
			ing_buf_add_str(out, ing_buf_str(&text));
		else
			ing_yaml_add_text(out, ing_buf_str(&text));
		ing_buf_done(&text);
		return;
	}
	ing_must(key->fallback[0] != '@');
	if (key->fallback[0] == '\0')
		ing_buf_add_str(out, "\"\"");
	else
		ing_buf_add_str(out, key->fallback);
}

const char *ing_conf_fallback_words(const struct ing_conf_key *key)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(computed); i++) {
		if (strcmp(key->fallback, computed[i].name) == 0)
			return computed[i].words;
	}
	if (strcmp(key->fallback, "[]") == 0 || key->fallback[0] == '\0')
		return "none";
	return key->fallback;
}
