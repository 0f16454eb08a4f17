/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One member of the configuration: read from a YAML node, written as YAML, freed. Everything here
 * goes by the type and the offset of the table's row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/yaml.h"
#include "worker/conf/conf_priv.h"

#define MAX_LIST_ITEMS 10000

static const struct {
	const char *word;
	int value;
} level_words[] = {{"error", ING_LOG_ERROR}, {"warning", ING_LOG_WARNING}, {"info", ING_LOG_INFO},
	{"debug", ING_LOG_DEBUG}};

/* Reading one value: what every helper needs. */
struct reader {
	struct ing_conf *conf;
	const struct ing_conf_key *key;
	const char *source;
	struct ing_conf_errors *errs;
};

static void *member(const struct ing_conf *conf, const struct ing_conf_key *key)
{
	/* The configuration is ours and writable; const is for its readers. */
	return (void *)((uintptr_t)conf + key->offset);
}

static void complain(const struct reader *r, const struct ing_yaml_node *node, const char *text)
{
	struct ing_conf_origin at = {r->source, node->line, node->column};
	ing_conf_error(r->errs, &at, r->key->name, "%s", text);
}

static bool has_control(const char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	}
	return false;
}

/* Whether a text, or an item of a list, may stand where it does. */
static bool check_text(const struct reader *r, const struct ing_yaml_node *node, const char *text)
{
	const struct ing_conf_key *key = r->key;
	size_t bytes = strlen(text);
	struct ing_error err = {0};
	if (node->bytes != strlen(node->text) || has_control(text)) {
		complain(r, node, "must not hold control characters");
		return false;
	}
	if (bytes < key->min) {
		complain(r, node, "must not be empty");
		return false;
	}
	if (bytes > key->max) {
		char words[80];
		snprintf(words, sizeof(words), "must not be longer than %" PRIu64 " bytes",
			key->max);
		complain(r, node, words);
		return false;
	}
	if (bytes > 0 && key->check != NULL && key->check(text, &err) != 0) {
		complain(r, node, err.msg);
		return false;
	}
	return true;
}

static void set_text(const struct reader *r, const struct ing_yaml_node *node)
{
	char **to = member(r->conf, r->key);
	if (node->kind != ING_YAML_SCALAR) {
		complain(r, node, "must be a text");
		return;
	}
	if (!check_text(r, node, node->text))
		return;
	free(*to);
	*to = node->bytes == 0 && r->key->type == ING_CONF_OPTION ? NULL : ing_strdup(node->text);
}

static void free_list(char **list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

/* An item of a list; of a mapping (librdkafka's settings) the name and the value joined by '='.
 * NULL when it is bad. */
static char *read_item(const struct reader *r, const struct ing_yaml_node *item)
{
	const struct ing_yaml_node *value = item->value != NULL ? item->value : item;
	if (value->kind != ING_YAML_SCALAR) {
		complain(r, value, "the items of the list must be texts");
		return NULL;
	}
	struct ing_buf text;
	ing_buf_init(&text, (size_t)1 << 20);
	if (item->value != NULL)
		ing_buf_printf(&text, "%s=", item->text);
	ing_buf_add_str(&text, value->text);
	char *s = ing_buf_steal(&text);
	if (s[0] == '\0') {
		complain(r, value, "the items of the list must not be empty");
	} else if (check_text(r, value, s)) {
		return s;
	}
	free(s);
	return NULL;
}

static void set_list(const struct reader *r, const struct ing_yaml_node *node)
{
	char ***to = member(r->conf, r->key);
	bool map_fits = r->key->check == ing_conf_check_property;
	size_t count = node->kind == ING_YAML_SCALAR ? 1 : node->count;
	if (node->kind == ING_YAML_MAP && !map_fits) {
		complain(r, node, "must be a list of texts");
		return;
	}
	if (count > MAX_LIST_ITEMS) {
		complain(r, node, "too many items");
		return;
	}
	char **list = ing_alloc((count + 1) * sizeof(*list));
	const struct ing_yaml_node *item = node->kind == ING_YAML_SCALAR ? node : node->first;
	size_t n = 0;
	bool good = true;
	for (size_t i = 0; i < count; i++, item = item->next) {
		char *text = read_item(r, item);
		good = good && text != NULL;
		if (text != NULL)
			list[n++] = text;
	}
	if (!good) {
		free_list(list);
		return;
	}
	free_list(*to);
	*to = list;
}

/* Digits, and where bytes are counted KiB, MiB or GiB behind them. */
static bool read_number(const char *s, bool sized, uint64_t *ret)
{
	static const char *const suffixes[] = {"KiB", "MiB", "GiB"};
	uint64_t value = 0;
	size_t digits = strspn(s, "0123456789");
	if (digits == 0 || digits > 19)
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (uint64_t)(s[i] - '0');
	const char *suffix = s + digits;
	suffix += *suffix == ' ';
	unsigned shift = 0;
	for (unsigned i = 0; sized && i < ING_ARRAY_LEN(suffixes); i++) {
		if (strcmp(suffix, suffixes[i]) == 0)
			shift = 10 * (i + 1);
	}
	if ((shift == 0 && s[digits] != '\0') || value > UINT64_MAX >> shift)
		return false;
	*ret = value << shift;
	return true;
}

static void set_number(const struct reader *r, const struct ing_yaml_node *node)
{
	const struct ing_conf_key *key = r->key;
	bool sized = strcmp(key->unit, "bytes") == 0;
	uint64_t value = 0;
	char words[200];
	if (node->kind == ING_YAML_SCALAR && !node->plain &&
		read_number(node->text, sized, &value)) {
		complain(r, node, "must be a number: leave the quotes out");
	} else if (node->kind != ING_YAML_SCALAR || !node->plain ||
		   !read_number(node->text, sized, &value)) {
		snprintf(words, sizeof(words), "must be a whole number%s",
			sized ? " of bytes, or one with KiB, MiB or GiB behind it" : "");
		complain(r, node, words);
	} else if (value < key->min || value > key->max) {
		snprintf(words, sizeof(words),
			"must be from %" PRIu64 " to %" PRIu64 " %s, and is %" PRIu64, key->min,
			key->max, key->unit, value);
		complain(r, node, words);
	} else if (key->type == ING_CONF_UINT) {
		*(unsigned *)member(r->conf, key) = (unsigned)value;
	} else if (key->type == ING_CONF_SIZE) {
		*(size_t *)member(r->conf, key) = (size_t)value;
	} else {
		*(uint64_t *)member(r->conf, key) = value;
	}
}

static void set_robots(const struct reader *r, const struct ing_yaml_node *node)
{
	const char *s = node->kind == ING_YAML_SCALAR ? node->text : "";
	if (strcmp(s, "ignore") == 0)
		*(enum ing_robots_policy *)member(r->conf, r->key) = ING_ROBOTS_IGNORE;
	else if (strcmp(s, "obey") == 0)
		complain(r, node,
			"obey is not built yet: this version does not read robots.txt; say ignore "
			"to run it all the same");
	else
		complain(r, node, "must be obey or ignore");
}

static void set_level(const struct reader *r, const struct ing_yaml_node *node)
{
	const char *s = node->kind == ING_YAML_SCALAR ? node->text : "";
	for (size_t i = 0; i < ING_ARRAY_LEN(level_words); i++) {
		if (strcmp(s, level_words[i].word) == 0) {
			*(enum ing_log_level *)member(r->conf, r->key) =
				(enum ing_log_level)level_words[i].value;
			return;
		}
	}
	complain(r, node, "must be error, warning, info or debug");
}

static void format_list(char *const *list, struct ing_buf *out)
{
	ing_buf_add_char(out, '[');
	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		if (i > 0)
			ing_buf_add_str(out, ", ");
		ing_yaml_add_text(out, list[i]);
	}
	ing_buf_add_char(out, ']');
}

/* ----------------------------------------------------------------------------------------------------------
 */

void ing_conf_set(struct ing_conf *conf, const struct ing_conf_key *key,
	const struct ing_yaml_node *node, const char *source, struct ing_conf_errors *errs)
{
	const struct reader r = {conf, key, source, errs};
	switch (key->type) {
	case ING_CONF_TEXT:
	case ING_CONF_OPTION:
		set_text(&r, node);
		break;
	case ING_CONF_LIST:
		set_list(&r, node);
		break;
	case ING_CONF_UINT:
	case ING_CONF_SIZE:
	case ING_CONF_WIDE:
		set_number(&r, node);
		break;
	case ING_CONF_ROBOTS:
		set_robots(&r, node);
		break;
	case ING_CONF_LEVEL:
		set_level(&r, node);
		break;
	}
}

void ing_conf_clear(struct ing_conf *conf, const struct ing_conf_key *key)
{
	if (key->type == ING_CONF_TEXT || key->type == ING_CONF_OPTION) {
		char **text = member(conf, key);
		free(*text);
		*text = NULL;
	} else if (key->type == ING_CONF_LIST) {
		char ***list = member(conf, key);
		free_list(*list);
		*list = NULL;
	}
}

void ing_conf_format(
	const struct ing_conf *conf, const struct ing_conf_key *key, struct ing_buf *out)
{
	const void *at = member(conf, key);
	const char *text;
	switch (key->type) {
	case ING_CONF_TEXT:
	case ING_CONF_OPTION:
		text = *(char *const *)at;
		ing_yaml_add_text(out, text != NULL ? text : "");
		break;
	case ING_CONF_LIST:
		format_list(*(char *const *const *)at, out);
		break;
	case ING_CONF_UINT:
		ing_buf_printf(out, "%u", *(const unsigned *)at);
		break;
	case ING_CONF_SIZE:
		ing_buf_printf(out, "%zu", *(const size_t *)at);
		break;
	case ING_CONF_WIDE:
		ing_buf_printf(out, "%" PRIu64, *(const uint64_t *)at);
		break;
	case ING_CONF_ROBOTS:
		ing_buf_add_str(out,
			*(const enum ing_robots_policy *)at == ING_ROBOTS_OBEY ? "obey" : "ignore");
		break;
	case ING_CONF_LEVEL:
		for (size_t i = 0; i < ING_ARRAY_LEN(level_words); i++) {
			if ((int)*(const enum ing_log_level *)at == level_words[i].value)
				ing_buf_add_str(out, level_words[i].word);
		}
		break;
	}
}
