/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source_priv.h - a source as it has been read: what the files of worker/seeds share. Everything is in its arena.
 */
#pragma once
#include <stdint.h>
#include "common/base/arena.h"
#include "worker/seeds/normal.h"
#include "worker/seeds/reader.h"
#include "worker/seeds/source.h"

#define ING_SEED_MAX_NORMALS 4
#define ING_SEED_MAX_FIELDS 64

/* A member; of those in a list, only where member `where` is `is`. */
struct ing_seed_step {
	const char *name;
	const char *where, *is; /* NULL: all */
};

/* The way from the record, or the item of `each`, to texts: lists on the way give all of theirs. */
struct ing_seed_path {
	const struct ing_seed_path *next; /* asked when this one gives nothing */
	unsigned id;                      /* below the source's path_count */
	bool of_item;
	const struct ing_seed_step *steps;
	size_t count;
};

struct ing_seed_pair {
	const struct ing_seed_pair *next;
	const char *from, *to;
};

struct ing_seed_value {
	const struct ing_seed_value *parts; /* in place of paths: each must have a value; NULL */
	size_t part_count;
	const struct ing_seed_path *paths;
	bool last;               /* of the values of a path the last one counts */
	const char *const *only; /* what a value must begin with; NULL: anything */
	size_t only_count;
	const char *constant; /* in place of paths */
	enum ing_seed_normal as[ING_SEED_MAX_NORMALS];
	size_t as_count;
	bool mapped;
	const struct ing_seed_pair *map; /* what is not in it is `otherwise`, or nothing */
	const char *otherwise;
	const char *before, *after;
	const char *fallback; /* when there is nothing else */
};

struct ing_seed_field {
	const char *group, *name; /* group: "ext_ids" …, or NULL */
	const char *key;          /* "name": as JSON has it */
	struct ing_seed_value value;
	bool of_item;  /* else it is the same for all requests of a record */
	bool required; /* without it the request is left out for the reason */
	unsigned reason;
};

enum ing_seed_test {
	ING_SEED_MISSING,
	ING_SEED_PRESENT,
	ING_SEED_IN,
	ING_SEED_NOT_IN,
	ING_SEED_PREFIX,
	ING_SEED_NOT_PREFIX,
	ING_SEED_CONTAINS,
	ING_SEED_CONTAINS_NONE,
	ING_SEED_HOSTS,
	ING_SEED_NOT_HOSTS,
	ING_SEED_LONGER,
};

/* What it matches is left out. */
struct ing_seed_rule {
	const struct ing_seed_rule *next;
	unsigned reason;
	bool of_field; /* about the field at this place, in place of value */
	size_t field;
	struct ing_seed_value value;
	bool of_item;
	enum ing_seed_test test;
	bool missing;             /* matches, too, when there is no value */
	const char *const *words; /* hosts: sorted */
	size_t word_count;
	size_t number;
};

/* A record gives a request of each template, or one of each item. */
struct ing_seed_template {
	const struct ing_seed_template *next;
	const struct ing_seed_value *when, *unless; /* of the record; NULL: always */
	const struct ing_seed_path *each;           /* NULL: the record itself */
	unsigned no_item;                           /* the reason when there is none */
	const struct ing_seed_field *fields;        /* in the order of writing */
	size_t count;
	size_t base_url, ingest_type; /* their places in fields */
	const struct ing_seed_rule *rules;
};

struct ing_seed_source {
	struct ing_arena arena;
	struct ing_yaml *doc;
	const char *name, *file, *about;
	const struct ing_seed_format *format;
	const void *reader; /* the format's settings */
	const struct ing_seed_option *options;
	size_t option_count;
	const char *const *values;         /* of the options; NULL: none given */
	const struct ing_seed_rule *rules; /* of records */
	const struct ing_seed_template *templates;
	const char **reasons;
	unsigned reason_count, reason_cap;
	unsigned path_count;
	const struct ing_seed_member *members; /* what the paths read: prune.h */
	const struct ing_yaml_node *samples;   /* worker/seeds/samples.h; NULL: none */
};

/* Reasons that every source has; those of its own follow. */
enum ing_seed_reason {
	ING_SEED_NO_URL,
	ING_SEED_NOT_WEB,
	ING_SEED_WITH_USER,
	ING_SEED_TOO_LONG,
	ING_SEED_NO_TYPE,
	ING_SEED_REPEATED,
	ING_SEED_TOO_MANY,
	ING_SEED_REASONS_,
};
extern const char *const ing_seed_reason_names[ING_SEED_REASONS_];

/* The hosts that a rule names: "example.org" is that and "www.example.org", ".example.org" every host below as well. */
bool ing_seed_hosts_have(const struct ing_seed_rule *rule, const char *host);

/* --- for the loader's own files --- */

struct ing_rule_reader;

struct ing_seed_loader {
	struct ing_seed_source *source;
	const struct ing_rule_reader *rd;
	const char *item; /* the name of `each`'s items; NULL */
};

/* A scalar with the values of options in place of their names in braces, in the arena. NULL: an option is not given. */
const char *ing_seed_text(const struct ing_seed_loader *l, const struct ing_yaml_node *scalar);
/* Number of a reason, which is a slug; a new one is added. Errors are reported. */
unsigned ing_seed_reason_read(
	const struct ing_seed_loader *l, const struct ing_yaml_node *map, unsigned fallback);
/* A path, "a.b[c=d].e", or NULL after an error. */
struct ing_seed_path *ing_seed_path_read(
	const struct ing_seed_loader *l, const struct ing_yaml_node *scalar);
/* A constant, or a map with path, as, map …; further keys of the map are the caller's. */
#define ING_SEED_VALUE_KEYS                                                                        \
	"path", "parts", "const", "which", "as", "only", "map", "otherwise", "before", "after",    \
		"default"
void ing_seed_value_read(const struct ing_seed_loader *l, const struct ing_yaml_node *node,
	struct ing_seed_value *ret);
bool ing_seed_value_of_item(const struct ing_seed_value *v);
/* The fields of a template: those of `common`, and of `own`, which win. Either may be NULL. */
void ing_seed_fields_read(const struct ing_seed_loader *l, const struct ing_yaml_node *common,
	const struct ing_yaml_node *own, struct ing_seed_template *t);
/* Adds the rules of a list `skip` (NULL is fine) behind *last. t NULL: only those that a record alone decides; else the others,
 * or, with `all`, those too. */
void ing_seed_rules_read(const struct ing_seed_loader *l, const struct ing_yaml_node *list,
	const struct ing_seed_template *t, bool all, const struct ing_seed_rule ***last);
