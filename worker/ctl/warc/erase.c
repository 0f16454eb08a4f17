/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc erase: overwrites the records of some hosts' URLs with records of the same size that say nothing
 * (common/record/warc_blank), so that all others stay where indexes say they are. The file is copied, the copy synced and put in
 * its place: whenever this ends, there is the old file or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/io.h"
#include "common/net/url_match.h"
#include "common/record/warc.h"
#include "common/record/warc_blank.h"
#include "common/record/warc_scan.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/warc/warc.h"

#define OPEN_END ".open"
#define COPY_END ".erasing"
#define BLOCK_BYTES ((size_t)1 << 20)
#define MAX_PATH_BYTES 8192
#define MAX_URL_BYTES ((size_t)1 << 16)
#define MAX_MEMBER_BYTES ((size_t)1 << 31)

struct place {
	uint64_t offset, csize;
};

struct erase {
	const struct ing_ctl_warc_erase *what;
	struct place *places; /* heap, ascending */
	size_t count, room;
	uint64_t records;
	const char *fault; /* static words, of the record at fault_offset; NULL: none */
	uint64_t fault_offset;
};

/* --- which records --- */

static bool is_wanted(const struct ing_ctl_warc_erase *what, const char *url)
{
	struct ing_url_target *target = ing_url_target_new(url);
	bool found = false;
	for (size_t i = 0; target != NULL && i < what->host_count && !found; i++)
		found = ing_url_matches(&what->hosts[i], target);
	ing_url_target_free(target);
	return found;
}

static void find_record(void *ctx, const struct ing_ctl_warc_record *r)
{
	struct erase *e = ctx;
	const char *value;
	size_t bytes;
	e->records++;
	if (!ing_warc_field(r->head, r->head_bytes, "WARC-Target-URI", &value, &bytes))
		return;
	/* Some tools put it between angle brackets. */
	if (bytes >= 2 && value[0] == '<' && value[bytes - 1] == '>') {
		value++;
		bytes -= 2;
	}
	char *url = ing_strndup(value, bytes);
	if (is_wanted(e->what, url)) {
		if (e->count == e->room) {
			e->room = e->room > 0 ? e->room * 2 : 256;
			e->places = ing_realloc(e->places, e->room * sizeof(*e->places));
		}
		e->places[e->count++] = (struct place){r->offset, r->csize};
		if (r->csize < ING_WARC_BLANK_MIN || r->csize > MAX_MEMBER_BYTES) {
			e->fault = "the record is too small or too large to be overwritten";
			e->fault_offset = r->offset;
		}
	}
	free(url);
}

/* --- the copy --- */

static bool copy_range(int from, int to, uint64_t at, uint64_t end)
{
	char *block = ing_alloc(BLOCK_BYTES);
	bool good = true;
	while (good && at < end) {
		size_t want = (size_t)ING_MIN(end - at, (uint64_t)BLOCK_BYTES);
		ssize_t n = pread(from, block, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO; /* it was longer a moment ago */
		good = n > 0 && ing_write_all(to, block, (size_t)n) == 0;
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(block);
	return good;
}

static bool write_blank(int to, uint64_t bytes, const char *why)
{
	struct ing_buf member;
	ing_buf_init(&member, (size_t)bytes);
	ing_must(ing_warc_blank(bytes, ing_wall_now(), why, &member));
	bool good = ing_write_all(to, member.data, member.len) == 0;
	ing_buf_done(&member);
	return good;
}

static bool write_copy(const struct erase *e, int from, int to)
{
	struct stat st;
	uint64_t at = 0;
	if (fstat(from, &st) != 0 || fchmod(to, st.st_mode & 07777) != 0 ||
		fchown(to, st.st_uid, st.st_gid) != 0)
		return false;
	for (size_t i = 0; i < e->count; i++) {
		if (!copy_range(from, to, at, e->places[i].offset) ||
			!write_blank(to, e->places[i].csize, e->what->why))
			return false;
		at = e->places[i].offset + e->places[i].csize;
	}
	return copy_range(from, to, at, (uint64_t)st.st_size) && fsync(to) == 0;
}

/* The rename is on the disk, too. */
static bool sync_folder(const char *path)
{
	char *folder = ing_strdup(path);
	char *slash = strrchr(folder, '/');
	if (slash != NULL)
		slash[slash == folder] = '\0';
	int fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd >= 0 && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	free(folder);
	return good;
}

static bool replace_file(const struct erase *e, const char *path)
{
	char copy[MAX_PATH_BYTES];
	if (snprintf(copy, sizeof(copy), "%s" COPY_END, path) >= (int)sizeof(copy)) {
		errno = ENAMETOOLONG;
		return false;
	}
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = from >= 0 ? open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	bool good = to >= 0 && write_copy(e, from, to);
	int error = errno;
	if (to >= 0 && close(to) != 0 && good) {
		good = false;
		error = errno;
	}
	if (from >= 0)
		close(from);
	if (good && rename(copy, path) == 0)
		return sync_folder(path);
	if (good)
		error = errno;
	if (to >= 0)
		unlink(copy);
	errno = error;
	return false;
}

/* --- a file --- */

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);
	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static int erase_found(
	const struct erase *e, const char *path, const struct ing_warc_scan_state *state)
{
	if (state->damage != NULL)
		return ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC,
			"%s: offset %llu: %s; nothing was erased", path,
			(unsigned long long)state->whole, state->damage);
	if (e->fault != NULL)
		return ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC,
			"%s: offset %llu: %s; nothing was erased", path,
			(unsigned long long)e->fault_offset, e->fault);
	if (e->count > 0 && !e->what->dry_run && !replace_file(e, path))
		return ing_ctl_fail(
			ING_CTL_ENVIRONMENT, ING_CTL_WARC, "%s: %s", path, strerror(errno));
	printf("%s: %llu records, %zu %s\n", path, (unsigned long long)e->records, e->count,
		e->what->dry_run ? "to erase" : "erased");
	return ING_CTL_OK;
}

static int erase_file(const struct ing_ctl_warc_erase *what, const char *path)
{
	struct erase e = {.what = what};
	struct ing_warc_scan_state state;
	if (ends_with(path, OPEN_END))
		return ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC,
			"%s: a worker writes to it; stop that first, or wait until the file is closed",
			path);
	int code = ing_ctl_warc_walk(path, find_record, &e, &state) ? erase_found(&e, path, &state)
								    : ING_CTL_ENVIRONMENT;
	free(e.places);
	return code;
}

/* --------------------------------------------------------------------------------------------- */

int ing_ctl_warc_erase(const struct ing_ctl_warc_erase *what, char **paths, int count)
{
	int code = ING_CTL_OK;
	for (int i = 0; i < count; i++) {
		int one = erase_file(what, paths[i]);
		code = ING_MAX(code, one);
	}
	return code;
}
