/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What to do, concluded from what is known: one rule after the other, the first that fits decides, but for
 * remarks that hold beside it. A pure function, so that each rule has a case in a table (next_test).
 */
#include "worker/ctl/explain/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/model/status.h"

#define TEXT_BYTES ((size_t)4096)

struct advice {
	const char *id;
	const json_t *life, *request, *result;
	json_t *list;
};

static json_t *last_of(const struct advice *a, const char *name)
{
	const json_t *list = json_object_get(a->life, name);
	size_t n = json_array_size(list);
	return n > 0 ? json_array_get(list, n - 1) : NULL;
}

static void say(struct advice *a, const char *run, const char *fmt, ...) ING_PRINTF(3, 4);

/* run: a command, or NULL. */
static void say(struct advice *a, const char *run, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_t *o = json_object();
	ing_json_set_text(o, "say", text);
	ing_json_set_text(o, "run", run);
	ing_json_append(a->list, o);
}

static const char * or (const char *text, const char *other)
{
	return text != NULL ? text : other;
}

/* A command with the host of a result or request behind it. */
static void say_host(struct advice *a, const char *host, const char *why)
{
	char run[TEXT_BYTES];
	if (host == NULL)
		host = ing_json_get_text(a->result, "host");
	if (host == NULL)
		host = ing_json_get_text(a->request, "host");
	if (host == NULL)
		return;
	snprintf(run, sizeof(run), "ingestctl hosts explain %s", host);
	say(a, run, "%s", why);
}

/* --- still under way --- */

static bool is_at_work(struct advice *a)
{
	const json_t *worker = last_of(a, "workers");
	const json_t *visit = json_array_get(json_object_get(worker, "visits"), 0);
	const char *blocked = ing_json_get_text(worker, "blocked_by");
	const char *wait = ing_json_get_text(visit, "for");
	if (worker == NULL)
		return false;
	if (wait != NULL && strcmp(wait, "order") == 0) {
		say(a, "ingestctl fleet",
			"It is in %s, and waits until an operator's order is taken back.",
			or (ing_json_get_text(worker, "instance"), "a worker"));
		return true;
	}
	say(a, NULL, "It is under way in %s (%s): nothing needs to be done.",
		or (ing_json_get_text(worker, "instance"), "a worker"),
		or (ing_json_get_text(worker, "state_words"), ""));
	if (blocked != NULL)
		say(a, "ingestctl status", "That worker waits for its %s.", blocked);
	const char *host = ing_json_get_text(visit, "host");
	if (host != NULL && wait != NULL && strcmp(wait, "transfer") != 0)
		say_host(a, host, "Why its host is not asked now:");
	return true;
}

static bool is_stored(struct advice *a)
{
	const json_t *outbox = json_object_get(a->life, "outbox");
	/* The row of an answer that is committed goes with the next batch. */
	if (!json_is_object(outbox) || last_of(a, "results") != NULL)
		return false;
	say(a, "ingestctl status",
		"Its answer is in the database and not yet committed to Kafka: the worker that has "
		"partition %lld of %s does that within a second, or the next owner of it.",
		(long long)ing_json_get_number(outbox, "partition"),
		or (ing_json_get_text(outbox, "topic"), "its topic"));
	return true;
}

/* A message may be finished, though it is behind the committed position. */
static bool is_answered_since(const struct advice *a, const json_t *message)
{
	const char *result = ing_json_get_text(last_of(a, "results"), "time");
	const char *time = ing_json_get_text(message, "time");
	return result != NULL && time != NULL && strcmp(result, time) >= 0;
}

static bool is_parked(struct advice *a)
{
	const json_t *parked = last_of(a, "parked");
	if (parked == NULL || is_answered_since(a, parked))
		return false;
	say(a, NULL, "It is parked in %s until %s, and comes back by itself.",
		or (ing_json_get_text(parked, "topic"), "a topic"),
		or (ing_json_get_text(parked, "due"), "it is due"));
	say_host(a, ing_json_get_text(parked, "host"), "What its host waits for:");
	return true;
}

static bool is_waiting(struct advice *a)
{
	const json_t *waiting = last_of(a, "waiting");
	if (waiting == NULL || is_answered_since(a, waiting))
		return false;
	say(a, "ingestctl status",
		"It waits in %s, partition %lld, offset %lld, and no worker of this machine has it: "
		"others are before it, or nobody reads the partition.",
		or (ing_json_get_text(waiting, "topic"), "a topic"),
		(long long)ing_json_get_number(waiting, "partition"),
		(long long)ing_json_get_number(waiting, "offset"));
	return true;
}

static bool is_queued(struct advice *a)
{
	const json_t *queued = json_object_get(a->life, "queued");
	const char *plan = ing_json_get_text(queued, "plan");
	char run[TEXT_BYTES];
	if (plan == NULL)
		return false;
	if (ing_json_get_true(queued, "unsent")) {
		snprintf(run, sizeof(run), "ingestctl requests enqueue --list %s", plan);
		say(a, run,
			"Plan %s has it, and it has not been sent to %s yet: the same command "
			"goes on where it was broken off.",
			plan, or (ing_json_get_text(queued, "topic"), "its topic"));
	} else {
		say(a, "ingestctl status",
			"Plan %s has put it onto %s; it was not found there within the time, and has "
			"no result since. Look for longer with --wait.",
			plan, or (ing_json_get_text(queued, "topic"), "its topic"));
	}
	return true;
}

static bool is_dead(struct advice *a)
{
	const json_t *letter = last_of(a, "dead_letters");
	char run[TEXT_BYTES];
	if (letter == NULL)
		return false;
	snprintf(run, sizeof(run), "ingestctl dead show %lld:%lld",
		(long long)ing_json_get_number(letter, "partition"),
		(long long)ing_json_get_number(letter, "offset"));
	say(a, run, "It is a dead letter: %s. It has no result and will have none.",
		or (ing_json_get_text(letter, "error"),
			   or (ing_json_get_text(letter, "reason"), "?")));
	say(a, "ingestctl dead replay --dry-run",
		"When the cause is mended, replay it (without --dry-run).");
	return true;
}

/* --- it has a result --- */

static void say_bytes(struct advice *a)
{
	const char *sha1 = ing_json_get_text(a->result, "terminal_sha1hex");
	const json_t *captures = json_object_get(a->life, "captures");
	char run[TEXT_BYTES];
	for (size_t i = json_array_size(captures); i > 0; i--) {
		const json_t *c = json_array_get(captures, i - 1);
		const char *file = ing_json_get_text(c, "file");
		const char *sha1_of = ing_json_get_text(c, "sha1hex");
		if (sha1 == NULL || sha1_of == NULL || strcmp(sha1, sha1_of) != 0)
			continue;
		const char *type = ing_json_get_text(c, "record_type");
		bool elsewhere = type != NULL && strcmp(type, "revisit") == 0;
		snprintf(run, sizeof(run), "ingestctl warc cat %s %lld",
			or (file, or (ing_json_get_text(c, "warc_path"), "FILE")),
			(long long)ing_json_get_number(c, "warc_offset"));
		if (file == NULL)
			say(a, run,
				"Its document is in a WARC file that is not on this machine "
				"(--warc-dir):");
		else if (elsewhere)
			say(a, run,
				"Its document is the same as an earlier one, to which this "
				"revisit record refers:");
		else
			say(a, run, "Its document:");
		return;
	}
}

static void say_again(struct advice *a)
{
	const char *next_try = ing_json_get_text(a->result, "next_try");
	if (next_try != NULL)
		say(a, "ingestctl reingest --dry-run",
			"It is worth asking again from %s on; a job of reingest that takes this "
			"status puts it onto its lane then.",
			next_try);
	else
		say(a, NULL,
			"It is not worth asking again by itself. To ask anyway, submit it with "
			"\"force_recrawl\": true.");
}

/* What this status has more to say. */
static void say_cause(struct advice *a, enum ing_status status)
{
	char run[TEXT_BYTES];
	switch (status) {
	case ING_STATUS_SKIP_URL_BLOCKLIST:
		say(a, "ingestctl hosts blocks", "The blocks that operators have laid:");
		say_host(a, NULL, "The block that applies, or the rule:");
		break;
	case ING_STATUS_SKIP_ROBOTS:
		say_host(a, NULL, "What robots.txt says:");
		break;
	case ING_STATUS_HOST_BACKOFF:
	case ING_STATUS_CONNECT_ERROR:
	case ING_STATUS_READ_ERROR:
	case ING_STATUS_READ_TIMEOUT:
	case ING_STATUS_TLS_ERROR:
	case ING_STATUS_INVALID_HOST_RESOLUTION:
	case ING_STATUS_TERMINAL_BAD_STATUS:
		say_host(a, NULL, "How its host fares:");
		break;
	case ING_STATUS_WORKER_ERROR:
	case ING_STATUS_PARSE_CRASH:
	case ING_STATUS_PARSE_TIMEOUT:
		snprintf(run, sizeof(run), "journalctl INGEST_INSTANCE=%s",
			or (ing_json_get_text(json_object_get(a->result, "visits"), "instance"),
				   "INSTANCE"));
		say(a, run, "What its worker logged then (with log.format: journal):");
		break;
	case ING_STATUS_NO_PDF_LINK:
	case ING_STATUS_WRONG_SCOPE:
	case ING_STATUS_UNKNOWN_SCOPE:
		say(a, NULL,
			"If the page has a document all the same, a rule is missing: "
			"ingestctl page save, ingestctl scrape.");
		break;
	default:
		break;
	}
}

static bool has_result(struct advice *a)
{
	const char *slug = ing_json_get_text(a->result, "status");
	const json_t *message = last_of(a, "results");
	bool hit = ing_json_get_true(a->result, "hit");
	if (slug == NULL) {
		slug = ing_json_get_text(message, "status");
		hit = ing_json_get_true(message, "hit");
	}
	if (slug == NULL)
		return false;
	int status = ing_status_from_slug(slug);
	if (hit) {
		say(a, NULL, "It was a hit: nothing needs to be done.");
	} else {
		say(a, NULL, "It ended as %s: %s.", slug,
			status >= 0 ? ing_status_meaning((enum ing_status)status)
				    : "a status of another program");
		if (status >= 0)
			say_cause(a, (enum ing_status)status);
		say_again(a);
	}
	say_bytes(a);
	return true;
}

static void say_unknown(struct advice *a)
{
	if (json_is_object(a->request))
		say(a, "ingestctl requests lists",
			"It is stored and was never put onto a topic, as far as the database knows: "
			"ingestctl requests enqueue --list NAME does that.");
	else
		say(a, NULL,
			"Nobody here knows it. The ID is the SHA-1 of ingest_type, base_url, "
			"link_source and link_source_id, with tabs between: one byte more or "
			"less is another request.");
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_explain_next(const char *id, const json_t *life)
{
	struct advice a = {.id = id,
		.life = life,
		.request = json_object_get(life, "request"),
		.result = json_object_get(life, "result"),
		.list = json_array()};
	if (is_at_work(&a) || is_stored(&a) || is_parked(&a) || is_waiting(&a) || is_dead(&a) ||
		has_result(&a) || is_queued(&a))
		return a.list;
	say_unknown(&a);
	return a.list;
}
