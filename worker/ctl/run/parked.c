/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files of a run's parked requests. A line is {"value": TEXT, "headers": {NAME: TEXT}}, as emit
 * writes it.
 */
#include "worker/ctl/run/parked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/data/json.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/run/done.h"
#include "worker/intake/intake.h"
#include "worker/model/request.h"

#define PATH_BYTES 4200
#define MAX_LINE_BYTES ((size_t)8 << 20) /* 1 MiB of request, each byte escaped */
/* Given out in one turn of the loop; parsing one can take 70 ms. */
#define GIVEN_PER_TURN 32
#define TURN_MS 10

struct front {        /* of a file */
	json_t *line; /* NULL: not read yet */
	struct ing_header headers[ING_PARKED_HEADERS];
	size_t header_count;
	struct ing_parked parked;
};

struct spill {
	FILE *file;
	const char *name; /* static */
	uint64_t added, given;
	struct front front;
};

struct earlier { /* what is known of a request from before */
	UT_hash_handle hh;
	unsigned char id[ING_RUN_IDENTITY_BYTES];
	unsigned attempt;
	int64_t not_before_ms, first_seen_ms;
	char host[];
};

struct ing_run_parked {
	struct spill spills[ING_TIERS_];
	struct earlier *earlier;
	struct earlier *restored; /* the last one returned */
	struct ing_buf line;
};

static int64_t wall_ms(void)
{
	struct timespec t = ing_wall_now();
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void path_of(const char *dir, int tier, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", dir, ing_output_row(ING_OUTPUT_OF_TIER(tier))->file);
}

/* Of a line as emit has written it; false when it is another. */
static bool read_front(json_t *line, struct front *ret)
{
	const json_t *headers = json_object_get(line, "headers");
	if (!json_is_string(json_object_get(line, "value")) || !json_is_object(headers))
		return false;
	const char *name;
	json_t *value;
	ret->header_count = 0;
	json_object_foreach ((json_t *)(uintptr_t)headers, name, value) {
		if (ret->header_count < ING_PARKED_HEADERS && json_is_string(value))
			ret->headers[ret->header_count++] =
				(struct ing_header){name, json_string_value(value)};
	}
	ing_parked_parse(ret->headers, ret->header_count, &ret->parked);
	ret->line = line;
	return true;
}

/* --- of an earlier run --- */

static struct earlier *find_earlier(
	const struct ing_run_parked *p, const unsigned char id[ING_RUN_IDENTITY_BYTES])
{
	struct earlier *e;
	HASH_FIND(hh, p->earlier, id, ING_RUN_IDENTITY_BYTES, e);
	return e;
}

/* Of several about one request the last one counts, which is due last. */
static void keep_earlier(struct ing_run_parked *p, const struct front *front)
{
	const json_t *value = json_object_get(front->line, "value");
	const struct ing_parked *parked = &front->parked;
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	if (parked->host == NULL || ing_request_parse(json_string_value(value),
					    json_string_length(value), &request, &err) != 0)
		return;
	unsigned char id[ING_RUN_IDENTITY_BYTES];
	ing_run_identify(request->json, id);
	ing_request_free(request);
	struct earlier *e = find_earlier(p, id);
	if (e != NULL && e->not_before_ms > parked->not_before_ms)
		return;
	if (e != NULL) {
		HASH_DEL(p->earlier, e);
		free(e);
	}
	size_t bytes = strlen(parked->host) + 1;
	e = ing_alloc(sizeof(*e) + bytes);
	memcpy(e->id, id, sizeof(id));
	memcpy(e->host, parked->host, bytes);
	e->attempt = parked->attempt;
	e->not_before_ms = parked->not_before_ms;
	e->first_seen_ms = parked->first_seen_ms;
	HASH_ADD(hh, p->earlier, id, sizeof(e->id), e);
}

static void read_earlier(struct ing_run_parked *p, FILE *file)
{
	while (ing_ctl_read_line(file, &p->line)) {
		struct front front = {0};
		json_t *line = NULL;
		if (!p->line.failed)
			line = ing_json_parse(
				ing_buf_str(&p->line), p->line.len, &ing_json_own, NULL);
		if (line != NULL && read_front(line, &front))
			keep_earlier(p, &front);
		json_decref(line);
	}
}

/* --- of this one --- */

static int load_front(struct ing_run_parked *p, struct spill *s, struct ing_error *err)
{
	struct ing_error why = {0};
	json_t *line = NULL;
	clearerr(s->file); /* it has grown */
	if (!ing_ctl_read_line(s->file, &p->line) || p->line.failed)
		return ing_error_set(err, ING_FAIL_SYSTEM, "%s: a line is missing", s->name);
	line = ing_json_parse(ing_buf_str(&p->line), p->line.len, &ing_json_own, &why);
	if (line != NULL && read_front(line, &s->front))
		return 0;
	json_decref(line);
	return ing_error_set(err, ING_FAIL_SYSTEM, "%s: not a parked request", s->name);
}

static void give_front(struct spill *s, int tier, const struct ing_run_parked_user *user)
{
	struct front front = s->front;
	s->front = (struct front){0};
	s->given++;
	const json_t *value = json_object_get(front.line, "value");
	user->give(user->ctx, &(struct ing_message){
				      .token = {.partition_index = 1 + tier,
					      .epoch = 1,
					      .offset = (int64_t)s->given},
				      .value = json_string_value(value),
				      .value_bytes = json_string_length(value),
				      .topic = s->name,
				      .lane = ING_LANE_REQUESTS,
				      .timestamp_ms = -1,
				      .headers = front.headers,
				      .header_count = front.header_count,
			      });
	json_decref(front.line);
}

/* Returns false when its front is not due, or there is none. */
static bool serve_one(
	struct ing_run_parked *p, int tier, const struct ing_run_parked_user *user, int64_t now_ms)
{
	struct spill *s = &p->spills[tier];
	struct ing_error err = {0};
	if (s->given == s->added)
		return false;
	if (s->front.line == NULL && load_front(p, s, &err) != 0) {
		s->given = s->added; /* and no more of it */
		user->failed(user->ctx, &err);
		return false;
	}
	if (s->front.parked.not_before_ms > now_ms)
		return false;
	give_front(s, tier, user);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

int ing_run_parked_open(
	const char *dir, bool resume, struct ing_run_parked **ret, struct ing_error *err)
{
	struct ing_run_parked *p = ing_alloc(sizeof(*p));
	char path[PATH_BYTES];
	int rc = 0;
	ing_buf_init(&p->line, MAX_LINE_BYTES);
	for (int i = 0; i < ING_TIERS_ && rc == 0; i++) {
		struct spill *s = &p->spills[i];
		path_of(dir, i, path);
		s->name = ing_output_row(ING_OUTPUT_OF_TIER(i))->file;
		s->file = fopen(path, "re");
		if (s->file != NULL && resume)
			read_earlier(p, s->file);
		if (s->file == NULL || fseek(s->file, 0, SEEK_END) != 0)
			rc = ing_error_sys(err, errno, "%s", path);
	}
	if (rc != 0) {
		ing_run_parked_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void ing_run_parked_free(struct ing_run_parked *p)
{
	if (p == NULL)
		return;
	struct earlier *e;
	struct earlier *next;
	HASH_ITER (hh, p->earlier, e, next) {
		HASH_DEL(p->earlier, e);
		free(e);
	}
	for (int i = 0; i < ING_TIERS_; i++) {
		json_decref(p->spills[i].front.line);
		if (p->spills[i].file != NULL)
			fclose(p->spills[i].file);
	}
	free(p->restored);
	ing_buf_done(&p->line);
	free(p);
}

void ing_run_parked_added(struct ing_run_parked *p, enum ing_tier tier)
{
	p->spills[tier].added++;
}

void ing_run_parked_serve(struct ing_run_parked *p, const struct ing_run_parked_user *user)
{
	const uint64_t until_ms = ing_now_ms() + TURN_MS;
	int64_t now_ms = wall_ms();
	unsigned given = 0;
	for (int i = 0; i < ING_TIERS_; i++) {
		while (given < GIVEN_PER_TURN && ing_now_ms() < until_ms &&
			user->takes(user->ctx) && serve_one(p, i, user, now_ms))
			given++;
	}
}

bool ing_run_parked_is_empty(const struct ing_run_parked *p)
{
	for (int i = 0; i < ING_TIERS_; i++)
		if (p->spills[i].given < p->spills[i].added)
			return false;
	return true;
}

bool ing_run_parked_restore(
	struct ing_run_parked *p, const char *line, size_t bytes, struct ing_parked *ret)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	unsigned char id[ING_RUN_IDENTITY_BYTES];
	if (p->earlier == NULL || ing_request_parse(line, bytes, &request, &err) != 0)
		return false;
	ing_run_identify(request->json, id);
	ing_request_free(request);
	struct earlier *e = find_earlier(p, id);
	if (e == NULL)
		return false;
	HASH_DEL(p->earlier, e);
	free(p->restored);
	p->restored = e;
	*ret = (struct ing_parked){
		.attempt = e->attempt,
		.not_before_ms = e->not_before_ms,
		.first_seen_ms = e->first_seen_ms,
		.host = e->host,
		.origin = "requests",
	};
	return true;
}

void ing_run_parked_remove(const char *dir)
{
	char path[PATH_BYTES];
	for (int i = 0; i < ING_TIERS_; i++) {
		path_of(dir, i, path);
		unlink(path);
	}
}
