/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl identify: one JSON line per file. Files are read as streams, so their size does not
 * matter; only the front is looked at for the type, and that in a child.
 */
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "common/data/sniff.h"
#include "worker/artifact/findings_json.h"
#include "worker/ctl/child.h"
#include "worker/ctl/json_line.h"

#define VERB "identify"
#define BLOCK_BYTES ((size_t)256 << 10)
#define SNIFF_TIMEOUT_MS 20000

struct seen {
	struct ing_digests digests;
	char *front; /* the first ING_SNIFF_BYTES */
	size_t front_bytes;
};

static bool read_file(FILE *f, struct seen *seen)
{
	static char block[BLOCK_BYTES];
	struct ing_digester *d = ing_digester_new(ING_DIGEST_ALL);
	size_t n;
	do {
		n = fread(block, 1, sizeof(block), f);
		size_t keep = ING_MIN(n, ING_SNIFF_BYTES - seen->front_bytes);
		memcpy(seen->front + seen->front_bytes, block, keep);
		seen->front_bytes += keep;
		ing_digester_add(d, block, n);
	} while (n > 0);
	ing_digester_finish(d, &seen->digests);
	ing_digester_free(d);
	return !ferror(f);
}

static void sniff(void *ctx, struct ing_buf *out)
{
	const struct seen *seen = ctx;
	char type[ING_MEDIA_TYPE_BYTES];
	ing_sniff(seen->front, seen->front_bytes, type);
	ing_buf_add_str(out, type);
}

static void print_line(const char *path, const struct seen *seen, const char *type)
{
	const struct ing_digests *d = &seen->digests;
	struct ing_file_meta file = {.size_bytes = d->bytes};
	ing_hex_encode(d->md5, sizeof(d->md5), file.md5hex);
	ing_hex_encode(d->sha1, sizeof(d->sha1), file.sha1hex);
	ing_hex_encode(d->sha256, sizeof(d->sha256), file.sha256hex);
	snprintf(file.mimetype, sizeof(file.mimetype), "%s", type);
	json_t *line = json_object();
	ing_json_set_text(line, "path", path);
	json_t *facts = ing_file_meta_json(&file);
	json_object_update(line, facts);
	json_decref(facts);
	ing_ctl_json_print(line);
}

static bool identify_stream(const char *path, FILE *f, struct seen *seen)
{
	if (!read_file(f, seen)) {
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path, strerror(errno));
		return false;
	}
	struct ing_buf type;
	struct ing_error err = {0};
	if (ing_ctl_child(sniff, seen, SNIFF_TIMEOUT_MS, &type, &err) < 0) {
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: %s", path, err.msg);
		return false;
	}
	print_line(path, seen, ing_buf_str(&type));
	ing_buf_done(&type);
	return true;
}

static bool identify_file(const char *path)
{
	FILE *f = ing_ctl_open_input(VERB, path);
	if (f == NULL)
		return false;
	struct seen seen = {.front = ing_alloc(ING_SNIFF_BYTES)};
	bool done = identify_stream(path, f, &seen);
	free(seen.front);
	ing_ctl_close_input(f);
	return done;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_identify_usage = {
	.name = "identify",
	.synopsis = "FILE...",
	.summary = "print size, digests and media type of files",
	.text = "Prints one JSON line per file (- is standard input): path, size_bytes, md5hex, sha1hex, "
		"sha256hex, mimetype (by content). A file that cannot be read is reported and skipped.",
	.exits = {ING_EXIT_OK, "a file cannot be read", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_identify(int argc, char **argv, const struct ing_ctl *ctl)
{
	(void)ctl;
	optind = 1;
	int c = ing_usage_next(&ing_ctl_identify_usage, argc, argv);
	if (c != -1)
		return ing_usage_code(c);
	if (optind == argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "no file given; see --help");
	ing_sniff_warm(); /* once here, not in every child */
	int code = ING_CTL_OK;
	for (int i = optind; i < argc; i++) {
		if (!identify_file(argv[i]))
			code = ING_CTL_NEGATIVE;
	}
	ing_sniff_done();
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
