/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bytes of the rule files. The format in the memfd is private to processes of one build: a
 * header, then for each file its kind, two lengths, the path and the text, in the machine's byte
 * order. It is checked when it is read.
 */
#include "worker/rules/rule_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/io.h"

#define FD_MAGIC 0x52554c4553313031u /* "RULES101" */
#define MAX_PATH_BYTES 4096

static const char *const names[] = {
	[ING_RULES_JOURNALS] = "journals.yaml",
	[ING_RULES_WEBPAGES] = "webpages.yaml",
	[ING_RULES_LINKS] = "links.yaml",
	[ING_RULES_SITES] = "sites.yaml",
	[ING_RULES_WALLS] = "walls.yaml",
	[ING_RULES_BLOCKLIST] = "blocklist.yaml",
	[ING_RULES_HOSTS] = "hosts.yaml",
	[ING_RULES_FILTERS] = NULL, /* read one by one */
};

struct fd_head {
	uint64_t magic;
	uint64_t count;
};

struct fd_file {
	uint64_t kind;
	uint64_t path_bytes;
	uint64_t bytes;
};

/* Takes path and text. */
static void add_file(
	struct ing_rule_files *f, enum ing_rule_kind kind, char *path, char *text, size_t bytes)
{
	ing_must(f->count < ING_MAX_RULE_FILES);
	f->items[f->count++] =
		(struct ing_rule_file){.kind = kind, .path = path, .text = text, .bytes = bytes};
}

/* Up to the ceiling and one more, which tells that it was met. The text has a NUL behind it. */
static int read_text(int fd, const char *path, char **ret, size_t *ret_bytes, struct ing_error *err)
{
	size_t used = 0;
	size_t cap = (size_t)64 << 10;
	char *text = ing_alloc(cap);
	for (;;) {
		ssize_t n = read(fd, text + used, cap - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text);
			return ing_error_sys(err, errno, "%s", path);
		}
		used += (size_t)n;
		if (n == 0 || used > ING_MAX_RULE_FILE_BYTES)
			break;
		if (used + 1 == cap) {
			cap *= 2;
			text = ing_realloc(text, cap);
		}
	}
	if (used > ING_MAX_RULE_FILE_BYTES) {
		free(text);
		return ing_error_set(err, ING_FAIL_TOO_BIG, "%s: larger than %zu bytes", path,
			ING_MAX_RULE_FILE_BYTES);
	}
	text[used] = '\0';
	*ret = text;
	*ret_bytes = used;
	return 0;
}

static bool read_all(int fd, void *data, size_t bytes, off_t *at)
{
	char *to = data;
	while (bytes > 0) {
		ssize_t n = pread(fd, to, bytes, *at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		*at += n;
		bytes -= (size_t)n;
	}
	return true;
}

static bool write_files(const struct ing_rule_files *f, int fd)
{
	struct fd_head head = {.magic = FD_MAGIC, .count = f->count};
	bool good = ing_write_all(fd, &head, sizeof(head)) == 0;
	for (size_t i = 0; i < f->count && good; i++) {
		const struct ing_rule_file *item = &f->items[i];
		struct fd_file file = {
			.kind = item->kind, .path_bytes = strlen(item->path), .bytes = item->bytes};
		good = ing_write_all(fd, &file, sizeof(file)) == 0 &&
		       ing_write_all(fd, item->path, file.path_bytes) == 0 &&
		       ing_write_all(fd, item->text, item->bytes) == 0;
	}
	return good;
}

static bool read_file(struct ing_rule_files *f, int fd, off_t *at)
{
	struct fd_file file;
	if (!read_all(fd, &file, sizeof(file), at) || file.kind >= ING_ARRAY_LEN(names) ||
		file.path_bytes > MAX_PATH_BYTES || file.bytes > ING_MAX_RULE_FILE_BYTES)
		return false;
	char *path = ing_alloc(file.path_bytes + 1);
	char *text = ing_alloc(file.bytes + 1);
	if (!read_all(fd, path, file.path_bytes, at) || !read_all(fd, text, file.bytes, at)) {
		free(path);
		free(text);
		return false;
	}
	add_file(f, (enum ing_rule_kind)file.kind, path, text, file.bytes);
	return true;
}

/* FNV-1a, 64 bits: tells sets of files apart, no more. */
static uint64_t add_digest(uint64_t digest, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < bytes; i++)
		digest = (digest ^ p[i]) * 0x100000001b3u;
	return digest;
}

/* Of the kinds for which wants() is true; NULL: of all. */
static uint64_t digest_of(const struct ing_rule_files *f, bool (*wants)(enum ing_rule_kind kind))
{
	uint64_t digest = 0xcbf29ce484222325u;
	for (size_t i = 0; i < f->count; i++) {
		const struct ing_rule_file *item = &f->items[i];
		if (wants != NULL && !wants(item->kind))
			continue;
		const char *slash = strrchr(item->path, '/');
		const char *name = slash != NULL ? slash + 1 : item->path;
		uint64_t facts[] = {item->kind, strlen(name), item->bytes};
		digest = add_digest(digest, facts, sizeof(facts));
		digest = add_digest(digest, name, strlen(name)); /* rules' names begin with it */
		digest = add_digest(digest, item->text, item->bytes);
	}
	return digest;
}

static bool scrapes(enum ing_rule_kind kind)
{
	return kind != ING_RULES_HOSTS && kind != ING_RULES_FILTERS;
}

/* -------------------------------------------------------------------------------------------- */

void ing_rule_files_init(struct ing_rule_files *f)
{
	*f = (struct ing_rule_files){0};
}

void ing_rule_files_done(struct ing_rule_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].path);
		free(f->items[i].text);
	}
	f->count = 0;
}

int ing_rule_files_read(
	struct ing_rule_files *f, enum ing_rule_kind kind, const char *path, struct ing_error *err)
{
	if (f->count == ING_MAX_RULE_FILES)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "%.400s: more than %d rule files", path,
			ING_MAX_RULE_FILES);
	if (strlen(path) > MAX_PATH_BYTES)
		return ing_error_set(
			err, ING_FAIL_TOO_BIG, "%.400s...: the path is too long", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return ing_error_set(
			err, ING_FAIL_NOT_FOUND, "%.400s: there is no such file", path);
	if (fd < 0)
		return ing_error_sys(err, errno, "%.400s", path);
	char *text = NULL;
	size_t bytes = 0;
	int rc = read_text(fd, path, &text, &bytes, err);
	close(fd);
	if (rc == 0)
		add_file(f, kind, ing_strdup(path), text, bytes);
	return rc;
}

int ing_rule_files_read_dir(struct ing_rule_files *f, const char *dir, struct ing_error *err)
{
	struct stat st;
	char path[MAX_PATH_BYTES];
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return ing_error_set(
			err, ING_FAIL_NOT_FOUND, "rules.dir: there is no folder %.400s", dir);
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (names[i] == NULL)
			continue;
		int bytes = snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (bytes < 0 || (size_t)bytes >= sizeof(path))
			return ing_error_set(
				err, ING_FAIL_TOO_BIG, "rules.dir: the path is too long");
		struct ing_error bad = {0};
		int rc = ing_rule_files_read(f, (enum ing_rule_kind)i, path, &bad);
		if (rc == -ING_FAIL_NOT_FOUND)
			continue;
		if (rc != 0)
			return ing_error_set(err, bad.code, "%s", bad.msg);
	}
	return 0;
}

int ing_rule_files_to_fd(const struct ing_rule_files *f, int *ret_fd, struct ing_error *err)
{
	int fd = memfd_create("rules", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return ing_error_sys(err, errno, "memfd_create");
	if (!write_files(f, fd) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) !=
			0) {
		int why = errno;
		close(fd);
		return ing_error_sys(err, why, "writing the rules for other processes");
	}
	*ret_fd = fd;
	return 0;
}

int ing_rule_files_from_fd(struct ing_rule_files *f, int fd, struct ing_error *err)
{
	struct fd_head head;
	off_t at = 0;
	bool good = read_all(fd, &head, sizeof(head), &at) && head.magic == FD_MAGIC &&
		    head.count <= ING_MAX_RULE_FILES - f->count;
	for (uint64_t i = 0; good && i < head.count; i++)
		good = read_file(f, fd, &at);
	if (!good)
		return ing_error_set(
			err, ING_FAIL_INVALID, "the descriptor does not hold rule files");
	return 0;
}

uint64_t ing_rule_files_digest(const struct ing_rule_files *f)
{
	return digest_of(f, scrapes);
}

uint64_t ing_rule_files_digest_all(const struct ing_rule_files *f)
{
	return digest_of(f, NULL);
}
