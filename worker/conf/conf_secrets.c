/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Secrets of the configuration. They belong into files of their own: everybody can read a command line
 * (/proc/PID/cmdline), and a configuration file is copied, compared and mailed. What hides them is also what
 * finds them, so a value that --dump-config shows as it is has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/key_file.h"
#include "common/data/pg_dsn.h"
#include "worker/conf/conf_priv.h"

#define HIDDEN "********"
#define MAX_TEXT_BYTES ((size_t)1 << 20)

typedef bool hide_f(const char *text, struct ing_buf *out);

static bool hide_property(const char *text, struct ing_buf *out)
{
	bool secret = ing_kafka_property_is_secret(text);
	size_t shown = secret ? strcspn(text, "=") + 1 : strlen(text);
	ing_buf_add(out, text, shown);
	if (secret)
		ing_buf_add_str(out, HIDDEN);
	return secret;
}

/* http://USER:PASSWORD@HOST:PORT, as ing_conf_check_proxy() let it pass. */
static bool hide_proxy(const char *text, struct ing_buf *out)
{
	size_t authority = strlen("http://");
	size_t end = authority + strcspn(text + authority, "/?#");
	const char *at = memrchr(text, '@', end);
	const char *colon = at != NULL ? memchr(text + authority, ':', end - authority) : NULL;
	bool secret = colon != NULL && colon + 1 < at;
	if (secret)
		ing_buf_printf(out, "%.*s:" HIDDEN "%s", (int)(colon - text), text, at);
	else
		ing_buf_add_str(out, text);
	return secret;
}

static const struct {
	const char *key;
	hide_f *hide;
	const char *instead; /* where the secret belongs */
} holders[] = {
	{"fetch.proxy", hide_proxy, "name a file in fetch.proxy_password_file"},
	{"kafka.properties", hide_property,
		"name a file in kafka.password_file or kafka.property_files"},
	{"postgres.dsn", ing_pg_dsn_hide, "name a file in postgres.password_file"},
};

/* The number of its row, or ING_ARRAY_LEN(holders). */
static size_t holder_of(const struct ing_conf_key *key)
{
	size_t i = 0;
	while (i < ING_ARRAY_LEN(holders) && strcmp(holders[i].key, key->name) != 0)
		i++;
	return i;
}

struct search {
	const struct ing_conf_key *key;
	bool found;
};

static void search_text(void *ctx, const char *text)
{
	struct search *s = ctx;
	struct ing_buf hidden;
	ing_buf_init(&hidden, MAX_TEXT_BYTES);
	s->found |= ing_conf_hide(s->key, text, &hidden);
	ing_buf_done(&hidden);
}

static void check_file(const char *file, const char *key, const struct ing_conf_origin *at,
	struct ing_report *report)
{
	struct stat st;
	char *path = ing_key_file_path(file);
	bool readable = access(path, R_OK) == 0;
	/* By hand, as an operator checks it. The unit checks it again. */
	if (!readable && strchr(file, '/') == NULL && getenv("CREDENTIALS_DIRECTORY") == NULL)
		ing_report_warning(report, at->source, at->line, at->column,
			"key \"%s\": %s is a credential of the service, which this process has not",
			key, file);
	else if (!readable)
		ing_conf_error(report, at, key, "cannot be read: %s: %s", path, strerror(errno));
	else if (stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0)
		ing_report_warning(report, at->source, at->line, at->column,
			"key \"%s\": every user of this machine can read %s", key, path);
	free(path);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_conf_hide(const struct ing_conf_key *key, const char *text, struct ing_buf *out)
{
	size_t i = holder_of(key);
	if (i < ING_ARRAY_LEN(holders) && text[0] != '\0')
		return holders[i].hide(text, out);
	ing_buf_add_str(out, text);
	return false;
}

void ing_conf_check_secret(const struct ing_conf *conf, const struct ing_conf_key *key,
	const struct ing_conf_origin *at, bool on_command_line, struct ing_report *report)
{
	size_t i = holder_of(key);
	struct search search = {key, false};
	if (i == ING_ARRAY_LEN(holders))
		return;
	ing_conf_each_text(conf, key, search_text, &search);
	if (search.found && on_command_line)
		ing_conf_error(report, at, key->name,
			"a password on the command line can be read by every user: %s",
			holders[i].instead);
	else if (search.found)
		ing_report_warning(report, at->source, at->line, at->column,
			"key \"%s\": it holds a password: %s", key->name, holders[i].instead);
}

void ing_conf_check_secret_files(
	const struct ing_conf *c, const struct ing_conf_origin *origins, struct ing_report *report)
{
	const struct {
		const char *key, *file;
	} files[] = {
		{"kafka.password_file", c->kafka.properties.password_file},
		{"postgres.password_file", c->postgres.password_file},
		{"fetch.proxy_password_file", c->fetch.proxy_password_file},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++)
		if (files[i].file[0] != '\0')
			check_file(files[i].file, files[i].key,
				ing_conf_origin_of(origins, files[i].key), report);
	for (char *const *p = c->kafka.properties.files; *p != NULL; p++)
		check_file(strchr(*p, '=') + 1, "kafka.property_files",
			ing_conf_origin_of(origins, "kafka.property_files"), report);
	if (getenv("PGPASSWORD") != NULL)
		ing_report_warning(report, "environment", 0, 0,
			"PGPASSWORD: a password in the environment can be read by others: %s",
			"name a file in postgres.password_file");
}
