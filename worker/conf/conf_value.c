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

struct choice {
	const char *word;
	int value;
};

static const struct choice log_format_words[] = {{"text", ING_LOG_FORMAT_TEXT},
	{"json", ING_LOG_FORMAT_JSON}, {"journal", ING_LOG_FORMAT_JOURNAL}, {0}};
static const struct choice log_requests_words[] = {{"off", ING_LOG_REQUESTS_OFF},
	{"failures", ING_LOG_REQUESTS_FAILURES}, {"all", ING_LOG_REQUESTS_ALL}, {0}};
static const struct choice level_words[] = {{"error", ING_LOG_ERROR}, {"warning", ING_LOG_WARNING},
	{"info", ING_LOG_INFO}, {"debug", ING_LOG_DEBUG}, {0}};
static const struct choice host_key_words[] = {
	{"host", ING_KEY_HOST}, {"domain", ING_KEY_DOMAIN}, {"address", ING_KEY_ADDRESS}, {0}};
static const struct choice delivery_words[] = {{"exactly-once", ING_GUARANTEE_EXACTLY_ONCE},
	{"at-least-once", ING_GUARANTEE_AT_LEAST_ONCE}, {0}};
static const struct choice resource_words[] = {{"off", ING_RESOURCES_OFF}, {"on", ING_RESOURCES_ON},
	{"strict", ING_RESOURCES_STRICT}, {0}};
static const struct choice lane_resource_words[] = {{"default", ING_RESOURCES_DEFAULT},
	{"off", ING_RESOURCES_OFF}, {"on", ING_RESOURCES_ON}, {"strict", ING_RESOURCES_STRICT},
	{0}};
static const struct choice obey_words[] = {{"obey", true}, {"ignore", false}, {0}};
static const struct choice bool_words[] = {{"true", true}, {"false", false}, {0}};

/* Reading one value: what every helper needs. */
struct reader {
	struct ing_conf *conf;
	const struct ing_conf_key *key;
	const char *source;
	struct ing_report *report;
};

static void *member(const struct ing_conf *conf, const struct ing_conf_key *key)
{
	/* The configuration is ours and writable; const is for its readers. */
	return (void *)((uintptr_t)conf + key->offset);
}

/* The configuration's own copy, which only its readers may not write to. */
static void free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

static void complain(const struct reader *r, const struct ing_yaml_node *node, const char *text)
{
	struct ing_conf_origin at = {r->source, node->line, node->column};
	ing_conf_error(r->report, &at, r->key->name, "%s", text);
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
	const char **to = member(r->conf, r->key);
	if (node->kind != ING_YAML_SCALAR) {
		complain(r, node, "must be a text");
		return;
	}
	if (!check_text(r, node, node->text))
		return;
	free_text(*to);
	*to = node->bytes == 0 && r->key->type == ING_CONF_OPTION ? NULL : ing_strdup(node->text);
}

static void free_list(char *const *list)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		free(list[i]);
	free((void *)(uintptr_t)list);
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
	char *const **to = member(r->conf, r->key);
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

/* What is written like a whole number; where bytes are counted, KiB, MiB or GiB may stand behind
 * it, where percents are, a % sign. */
struct number {
	bool fits; /* value is it; else it is negative, or far too large */
	uint64_t value;
};

static bool read_number(const char *s, const char *unit, struct number *ret)
{
	static const char *const suffixes[] = {"KiB", "MiB", "GiB"};
	bool sized = strcmp(unit, "bytes") == 0;
	bool negative = *s == '-';
	s += negative;
	uint64_t value = 0;
	size_t digits = strspn(s, "0123456789");
	if (digits == 0)
		return false;
	bool fits = digits <= 19;
	for (size_t i = 0; fits && i < digits; i++)
		value = value * 10 + (uint64_t)(s[i] - '0');
	const char *suffix = s + digits;
	suffix += *suffix == ' ';
	unsigned shift = 0;
	for (unsigned i = 0; sized && i < ING_ARRAY_LEN(suffixes); i++) {
		if (strcmp(suffix, suffixes[i]) == 0)
			shift = 10 * (i + 1);
	}
	bool has_unit = strcmp(unit, "%") == 0 && strcmp(suffix, unit) == 0;
	if (shift == 0 && s[digits] != '\0' && !has_unit)
		return false;
	fits = fits && value <= UINT64_MAX >> shift && (!negative || value == 0);
	*ret = (struct number){.fits = fits, .value = fits ? value << shift : 0};
	return true;
}

static bool is_never(const struct ing_conf_key *key, const struct ing_yaml_node *node)
{
	return key->type == ING_CONF_OR_NEVER && node->kind == ING_YAML_SCALAR && node->plain &&
	       strcmp(node->text, "-1") == 0;
}

static void set_number(const struct reader *r, const struct ing_yaml_node *node)
{
	const struct ing_conf_key *key = r->key;
	bool sized = strcmp(key->unit, "bytes") == 0;
	struct number number = {0};
	char words[200];
	if (is_never(key, node)) {
		*(int64_t *)member(r->conf, key) = -1;
	} else if (node->kind != ING_YAML_SCALAR || !read_number(node->text, key->unit, &number)) {
		snprintf(words, sizeof(words), "must be a whole number%s",
			sized ? " of bytes, or one with KiB, MiB or GiB behind it"
			: key->type == ING_CONF_PERCENT ? " of percent"
							: "");
		complain(r, node, words);
	} else if (!node->plain) {
		complain(r, node, "must be a number: leave the quotes out");
	} else if (!number.fits || number.value < key->min || number.value > key->max) {
		char is[24];
		snprintf(is, sizeof(is), "%" PRIu64, number.value);
		snprintf(words, sizeof(words),
			"must be %sfrom %" PRIu64 " to %" PRIu64 " %s, and is %.40s",
			key->type == ING_CONF_OR_NEVER ? "-1, or " : "", key->min, key->max,
			key->unit, number.fits ? is : node->text);
		complain(r, node, words);
	} else if (key->type == ING_CONF_UINT || key->type == ING_CONF_PERCENT) {
		*(unsigned *)member(r->conf, key) = (unsigned)number.value;
	} else if (key->type == ING_CONF_SIZE) {
		*(size_t *)member(r->conf, key) = (size_t)number.value;
	} else if (key->type == ING_CONF_OR_NEVER) {
		*(int64_t *)member(r->conf, key) = (int64_t)number.value;
	} else {
		*(uint64_t *)member(r->conf, key) = number.value;
	}
}

static bool is_truth(enum ing_conf_type type)
{
	return type == ING_CONF_BOOL || type == ING_CONF_OBEY;
}

/* The words of a type with a few values; NULL for other types. */
static const struct choice *choices_of(enum ing_conf_type type)
{
	switch (type) {
	case ING_CONF_OBEY:
		return obey_words;
	case ING_CONF_HOST_KEY:
		return host_key_words;
	case ING_CONF_DELIVERY:
		return delivery_words;
	case ING_CONF_RESOURCES:
		return resource_words;
	case ING_CONF_LANE_RESOURCES:
		return lane_resource_words;
	case ING_CONF_BOOL:
		return bool_words;
	case ING_CONF_LEVEL:
		return level_words;
	case ING_CONF_LOG_FORMAT:
		return log_format_words;
	case ING_CONF_LOG_REQUESTS:
		return log_requests_words;
	default:
		return NULL;
	}
}

/* An enumeration has the size of an int. */
static void put_choice(const struct ing_conf *conf, const struct ing_conf_key *key, int value)
{
	void *to = member(conf, key);
	if (is_truth(key->type))
		*(bool *)to = value != 0;
	else
		*(int *)to = value;
}

static int get_choice(const struct ing_conf *conf, const struct ing_conf_key *key)
{
	const void *at = member(conf, key);
	return is_truth(key->type) ? *(const bool *)at : *(const int *)at;
}

static void set_choice(const struct reader *r, const struct ing_yaml_node *node)
{
	const char *s = node->kind == ING_YAML_SCALAR ? node->text : "";
	struct ing_buf words;
	ing_buf_init(&words, 200);
	ing_buf_add_str(&words, "must be ");
	const struct choice *choices = choices_of(r->key->type);
	ing_must(choices != NULL);
	for (const struct choice *c = choices; c->word != NULL; c++) {
		if (strcmp(s, c->word) == 0) {
			put_choice(r->conf, r->key, c->value);
			ing_buf_done(&words);
			return;
		}
		if (c != choices)
			ing_buf_add_str(&words, c[1].word != NULL ? ", " : " or ");
		ing_buf_add_str(&words, c->word);
	}
	complain(r, node, ing_buf_str(&words));
	ing_buf_done(&words);
}

static void format_choice(const struct choice *choices, int value, struct ing_buf *out)
{
	for (const struct choice *c = choices; c->word != NULL; c++) {
		if (c->value == value)
			ing_buf_add_str(out, c->word);
	}
}

static void format_text(const struct ing_conf_key *key, const char *text, struct ing_buf *out)
{
	struct ing_buf shown;
	ing_buf_init(&shown, (size_t)1 << 20);
	ing_conf_hide(key, text, &shown);
	ing_yaml_add_text(out, ing_buf_str(&shown));
	ing_buf_done(&shown);
}

static void format_list(const struct ing_conf_key *key, char *const *list, struct ing_buf *out)
{
	ing_buf_add_char(out, '[');
	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		if (i > 0)
			ing_buf_add_str(out, ", ");
		format_text(key, list[i], out);
	}
	ing_buf_add_char(out, ']');
}

/* -------------------------------------------------------------------------------------------- */

void ing_conf_set(struct ing_conf *conf, const struct ing_conf_key *key,
	const struct ing_yaml_node *node, const char *source, struct ing_report *report)
{
	const struct reader r = {conf, key, source, report};
	switch (key->type) {
	case ING_CONF_TEXT:
	case ING_CONF_OPTION:
		set_text(&r, node);
		break;
	case ING_CONF_LIST:
		set_list(&r, node);
		break;
	case ING_CONF_UINT:
	case ING_CONF_PERCENT:
	case ING_CONF_SIZE:
	case ING_CONF_WIDE:
	case ING_CONF_OR_NEVER:
		set_number(&r, node);
		break;
	case ING_CONF_BOOL:
	case ING_CONF_OBEY:
	case ING_CONF_HOST_KEY:
	case ING_CONF_DELIVERY:
	case ING_CONF_RESOURCES:
	case ING_CONF_LANE_RESOURCES:
	case ING_CONF_LEVEL:
	case ING_CONF_LOG_FORMAT:
	case ING_CONF_LOG_REQUESTS:
		set_choice(&r, node);
		break;
	}
}

void ing_conf_clear(struct ing_conf *conf, const struct ing_conf_key *key)
{
	if (key->type == ING_CONF_TEXT || key->type == ING_CONF_OPTION) {
		const char **text = member(conf, key);
		free_text(*text);
		*text = NULL;
	} else if (key->type == ING_CONF_LIST) {
		char *const **list = member(conf, key);
		free_list(*list);
		*list = NULL;
	}
}

void ing_conf_each_text(const struct ing_conf *conf, const struct ing_conf_key *key,
	ing_conf_text_f *each, void *ctx)
{
	const void *at = member(conf, key);
	if (key->type == ING_CONF_LIST) {
		char *const *list = *(char *const *const *)at;
		for (; list != NULL && *list != NULL; list++)
			each(ctx, *list);
	} else if (key->type == ING_CONF_TEXT || key->type == ING_CONF_OPTION) {
		const char *text = *(const char *const *)at;
		if (text != NULL)
			each(ctx, text);
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
		text = *(const char *const *)at;
		format_text(key, text != NULL ? text : "", out);
		break;
	case ING_CONF_LIST:
		format_list(key, *(char *const *const *)at, out);
		break;
	case ING_CONF_UINT:
		ing_buf_printf(out, "%u", *(const unsigned *)at);
		break;
	case ING_CONF_PERCENT:
		ing_buf_printf(out, "%u %%", *(const unsigned *)at);
		break;
	case ING_CONF_SIZE:
		ing_buf_printf(out, "%zu", *(const size_t *)at);
		break;
	case ING_CONF_WIDE:
		ing_buf_printf(out, "%" PRIu64, *(const uint64_t *)at);
		break;
	case ING_CONF_OR_NEVER:
		ing_buf_printf(out, "%" PRId64, *(const int64_t *)at);
		break;
	case ING_CONF_BOOL:
	case ING_CONF_OBEY:
	case ING_CONF_HOST_KEY:
	case ING_CONF_DELIVERY:
	case ING_CONF_RESOURCES:
	case ING_CONF_LANE_RESOURCES:
	case ING_CONF_LEVEL:
	case ING_CONF_LOG_FORMAT:
	case ING_CONF_LOG_REQUESTS:
		format_choice(choices_of(key->type), get_choice(conf, key), out);
		break;
	}
}
