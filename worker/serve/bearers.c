/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/serve/bearers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/key_file.h"
#include "common/data/digest.h"

#define MAX_TOKENS 1000
#define MAX_LINE_BYTES 1024
#define DIGEST_BYTES 32

struct ing_bearers {
	size_t count;
	unsigned char digests[MAX_TOKENS][DIGEST_BYTES];
};

static void digest(const char *token, unsigned char ret[DIGEST_BYTES])
{
	struct ing_digests d;
	ing_digest(ING_DIGEST_SHA256, token, strlen(token), &d);
	memcpy(ret, d.sha256, DIGEST_BYTES);
}

static int take_line(struct ing_bearers *t, char *line, int number, struct ing_error *err)
{
	line[strcspn(line, "\r\n")] = '\0';
	if (line[0] == '\0' || line[0] == '#')
		return 0;
	size_t bytes = strlen(line);
	if (bytes < ING_BEARER_MIN_BYTES || strpbrk(line, " \t") != NULL)
		return ing_error_at(err, ING_FAIL_CONFIG, number, 0,
			"line %d: a token has %d bytes or more, and no space", number,
			ING_BEARER_MIN_BYTES);
	if (t->count == MAX_TOKENS)
		return ing_error_set(err, ING_FAIL_CONFIG, "more than %d tokens", MAX_TOKENS);
	digest(line, t->digests[t->count++]);
	return 0;
}

static int read_file(struct ing_bearers *t, FILE *f, struct ing_error *err)
{
	char line[MAX_LINE_BYTES];
	int rc = 0;
	for (int number = 1; rc == 0 && fgets(line, sizeof(line), f) != NULL; number++)
		rc = strlen(line) + 1 < sizeof(line)
			     ? take_line(t, line, number, err)
			     : ing_error_set(err, ING_FAIL_CONFIG, "line %d: too long", number);
	explicit_bzero(line, sizeof(line));
	if (rc == 0 && t->count == 0)
		rc = ing_error_set(err, ING_FAIL_CONFIG, "no token in it");
	return rc;
}

static bool equal(const unsigned char *a, const unsigned char *b)
{
	unsigned char different = 0;
	for (size_t i = 0; i < DIGEST_BYTES; i++)
		different |= a[i] ^ b[i];
	return different == 0;
}

/* ------------------------------------------------------------------------------------------ */

int ing_bearers_load(const char *path, struct ing_bearers **ret, struct ing_error *err)
{
	char *real = ing_key_file_path(path);
	FILE *f = fopen(real, "re");
	int rc;
	if (f == NULL) {
		rc = ing_error_set(
			err, ING_FAIL_CONFIG, "%s: cannot be read: %s", real, strerror(errno));
		free(real);
		return rc;
	}
	struct ing_bearers *t = ing_alloc(sizeof(*t));
	rc = read_file(t, f, err);
	fclose(f);
	if (rc == 0) {
		*ret = t;
	} else {
		ing_error_context(err, "%s", real);
		free(t);
	}
	free(real);
	return rc;
}

void ing_bearers_free(struct ing_bearers *t)
{
	free(t);
}

bool ing_bearers_have(const struct ing_bearers *t, const char *token)
{
	unsigned char offered[DIGEST_BYTES];
	bool found = false;
	digest(token, offered);
	for (size_t i = 0; i < t->count; i++)
		found |= equal(t->digests[i], offered);
	return found;
}

bool ing_bearers_authorize(const struct ing_bearers *t, const char *authorization)
{
	if (authorization == NULL || strncasecmp(authorization, "Bearer ", 7) != 0)
		return false;
	const char *token = authorization + 7;
	return ing_bearers_have(t, token + strspn(token, " "));
}
