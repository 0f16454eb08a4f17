/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The settings of publications, with the keys of services from their files. They are read at start, as
 * the rest of the configuration is. Loop thread, before it runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/key_file.h"
#include "worker/conf/conf.h"
#include "worker/engine/engine_priv.h"

#define MAX_KEY_BYTES 256

/* A key becomes part of a URL. */
static bool is_plain(const char *key)
{
	return strspn(key, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-") ==
	       strlen(key);
}

/* "" when no file is named. *ret is heap. */
static int read_key(const char *name, const char *file, char **ret, struct ing_error *err)
{
	char key[MAX_KEY_BYTES] = "";
	char *path = ing_key_file_path(file);
	int errnum = file[0] != '\0' ? ing_key_file_read(path, key, sizeof(key)) : 0;
	int rc = 0;
	if (errnum != 0)
		rc = ing_error_set(err, ING_FAIL_CONFIG, "%s: %s: %s", name, path,
			errnum == ENODATA ? "the file is empty" : strerror(errnum));
	else if (!is_plain(key))
		rc = ing_error_set(err, ING_FAIL_CONFIG,
			"%s: %s: a key is made of letters, digits and . _ -", name, path);
	free(path);
	if (rc == 0)
		*ret = ing_strdup(key);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_engine_init_publication(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	e->publication = c->publication;
	int rc = read_key(
		"publication.ncbi_api_key_file", c->ncbi_api_key_file, &e->ncbi_api_key, err);
	if (rc == 0)
		rc = read_key("publication.openalex_api_key_file", c->openalex_api_key_file,
			&e->openalex_api_key, err);
	if (rc != 0) {
		ing_engine_done_publication(e);
		return rc;
	}
	e->publication.ncbi_api_key = e->ncbi_api_key;
	e->publication.openalex_api_key = e->openalex_api_key;
	return 0;
}

void ing_engine_done_publication(struct ing_engine *e)
{
	free(ING_TAKE(e->ncbi_api_key));
	free(ING_TAKE(e->openalex_api_key));
}
