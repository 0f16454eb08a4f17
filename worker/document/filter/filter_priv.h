/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * filter_priv.h - the insides of filters, shared by their files: filter_line.c (a line of a list),
 * filter_pattern.c (does a URL match), filter_hosts.c (host names and lists of them), filter_index.c (which rules
 * to look at), filters.c (the rest).
 */
#pragma once
#include "common/base/buf.h"
#include "worker/document/filter/filters.h"

struct ing_regex;

/* What a rule is about. Types of requests are bits below these. */
enum ing_filter_flag {
	ING_FILTER_EXCEPTION = 1 << 0,
	ING_FILTER_IMPORTANT = 1 << 1,
	ING_FILTER_MATCH_CASE = 1 << 2,
	ING_FILTER_AT_HOST = 1 << 3,  /* "||": at the beginning of the host or of a label */
	ING_FILTER_AT_START = 1 << 4, /* "|" */
	ING_FILTER_AT_END = 1 << 5,
	ING_FILTER_REGEX = 1 << 6,
	ING_FILTER_THIRD_PARTY = 1 << 7, /* of another registered domain */
	ING_FILTER_FIRST_PARTY = 1 << 8,
	ING_FILTER_OTHER_HOST = 1 << 9, /* the same by the whole host */
	ING_FILTER_SAME_HOST = 1 << 10,
	ING_FILTER_BAD = 1 << 11, /* cancels the same rule without $badfilter */
};

/* Of a page that is spared, beside those of enum ing_resource_type. */
#define ING_FILTER_PAGE_TYPE (1u << ING_RESOURCE_TYPES_)
#define ING_FILTER_ALL_TYPES (ING_FILTER_PAGE_TYPE - 1)

/* Hosts by the hashes of their names, each for all names below it; sorted. Hashes are of 64 bits: who makes
 * two collide gets a request of his own page wrong. */
struct ing_filter_hosts {
	uint32_t first;         /* in struct ing_filters.hashes */
	uint32_t with, without; /* so many that it is for, then so many that it is not for */
};

struct ing_filter_rule {
	uint32_t pattern, bytes; /* in the text */
	uint32_t regex;          /* with ING_FILTER_REGEX: its number */
	uint16_t flags;          /* enum ing_filter_flag */
	uint16_t types;          /* bits of enum ing_resource_type, and ING_FILTER_PAGE_TYPE */
	uint32_t pages, targets; /* numbers of hosts; 0: none are named */
};

/* A chained hash table: rules by a hash of a word, or of a host. */
struct ing_filter_link {
	uint32_t rule, next; /* next: number of a link, 0: none */
};
struct ing_filter_table {
	uint32_t *heads; /* by the low bits of the hash */
	uint32_t mask;
};
struct ing_filter_index {
	struct ing_filter_table words, hosts;
	uint32_t others; /* links of rules with neither */
};

struct ing_filters {
	struct ing_filter_rule *rules;
	uint64_t *keys; /* of each rule: what $badfilter compares. NULL once sealed */
	struct ing_filter_hosts *hosts; /* [0] is unused */
	uint64_t *hashes;
	struct ing_regex **regexes;
	struct ing_filter_link *links; /* [0] is unused */
	size_t rule_count, rule_room, host_count, host_room, hash_count, hash_room;
	size_t regex_count, regex_room, link_count, link_room;
	struct ing_buf text; /* patterns, in lower case unless their case matters */
	struct ing_filter_index blocking, exceptions;
	struct ing_filter_counts counts;
};

/* Room for one more of an array. */
#define ING_FILTER_GROW(array, count, room)                                                        \
	do {                                                                                       \
		if ((count) >= (room)) {                                                           \
			(room) = (room) > 0 ? 2 * (room) : 256;                                    \
			(array) = ing_realloc((array), (room) * sizeof(*(array)));                 \
		}                                                                                  \
	} while (0)

/* --- filter_line.c --- */
/* Add what a line says; counts it. */
void ing_filter_add_line(struct ing_filters *f, const char *line, size_t bytes);

/* --- filter_hosts.c --- */
#define ING_FILTER_MAX_LABELS 16
/* A host and the names above it, the longest first; each also with "*" for its public suffix. */
struct ing_filter_names {
	uint64_t hashes[2 * ING_FILTER_MAX_LABELS];
	unsigned count;
};
uint64_t ing_filter_hash(const char *s, size_t bytes);
void ing_filter_names_of(const char *host, struct ing_filter_names *ret);
/* Read "a.example|~b.example" up to `end`; denied: all are what the rule is not for. Returns its number; 0
 * when one of them is no plain name. */
uint32_t ing_filter_read_hosts(struct ing_filters *f, const char *s, const char *end, bool denied);
/* number 0: every host. */
bool ing_filter_hosts_match(
	const struct ing_filters *f, uint32_t number, const struct ing_filter_names *names);

/* --- filter_pattern.c --- */
struct ing_filter_url {
	const char *text; /* as serialised */
	char *lower;      /* the same in lower case */
	size_t bytes;
	size_t host, host_end; /* places */
};
bool ing_filter_pattern_matches(
	const struct ing_filter_rule *rule, const char *pattern, const struct ing_filter_url *url);

/* --- filter_index.c --- */
void ing_filter_make_index(struct ing_filters *f);
/* Calls fn for each rule of the index that may match, once or more often, until it returns false. */
typedef bool ing_filter_try_f(void *ctx, const struct ing_filter_rule *rule);
void ing_filter_each(const struct ing_filters *f, const struct ing_filter_index *index,
	const struct ing_filter_url *url, const struct ing_filter_names *page, ing_filter_try_f *fn,
	void *ctx);
