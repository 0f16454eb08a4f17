/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Objects into a folder: a file is written under another name in DIR/.tmp, synced, and renamed, and the
 * folder that it is renamed into is synced. Who reads an object reads all of one version.
 *
 * All of it blocks, so it is done in threads of libuv's pool, of which it takes two at most: others write
 * bodies there, and should not wait for a file system that hangs. The store's own folder is not made
 * again when it is gone: what is written under a mount point whose file system is not there would be
 * lost to its readers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fd_shortage.h"
#include "common/base/folder.h"
#include "common/base/io.h"
#include "worker/document/objects/backend.h"

#define MAX_RUNNING 2
#define TEMPORARY ".tmp"
#define MAX_TEMPORARY_BYTES 320

struct folder {
	struct ing_object_backend base;
	char *instance;
	uint64_t serial; /* the loop's */
};

struct folder_attempt {
	struct ing_object_attempt base;
	char temporary[MAX_TEMPORARY_BYTES];
};

/* --- in the pool; these return 0 or an errno --- */

/* A new folder is synced by way of the one that it is in. */
static int make_folder(int root, const char *path)
{
	char above[ING_DERIVED_PATH_BYTES];
	if (mkdirat(root, path, 0755) != 0)
		return errno == EEXIST ? 0 : errno;
	snprintf(above, sizeof(above), "%s", path);
	char *slash = strrchr(above, '/');
	if (slash != NULL)
		*slash = '\0';
	int fd =
		slash != NULL ? openat(root, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dup(root);
	if (fd < 0)
		return errno;
	int errnum = fsync(fd) != 0 ? errno : 0;
	close(fd);
	return errnum;
}

/* Those above the file, in turn; its own is left in `path`. */
static int make_folders(int root, char *path)
{
	for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int errnum = make_folder(root, path);
		if (errnum != 0 || strchr(slash + 1, '/') == NULL)
			return errnum;
		*slash = '/';
	}
	return 0;
}

static int write_temporary(int root, const char *name, const struct ing_object *o)
{
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return errno;
	int errnum = ing_write_all(fd, o->data, o->bytes);
	if (errnum == 0 && fsync(fd) != 0)
		errnum = errno;
	if (close(fd) != 0 && errnum == 0)
		errnum = errno;
	return errnum;
}

static int move_into(int root, const char *temporary, const char *folder, const char *path)
{
	int fd = openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int errnum = renameat2(root, temporary, root, path, 0) != 0 ? errno : 0;
	if (errnum == 0 && fsync(fd) != 0)
		errnum = errno;
	close(fd);
	return errnum;
}

static int store(int root, const char *temporary, const struct ing_object *o)
{
	char path[ING_DERIVED_PATH_BYTES];
	char folder[ING_DERIVED_PATH_BYTES];
	ing_derived_path(o->kind, o->sha1hex, path);
	snprintf(folder, sizeof(folder), "%s", path);
	int errnum = make_folder(root, TEMPORARY);
	if (errnum == 0)
		errnum = make_folders(root, folder);
	if (errnum == 0)
		errnum = write_temporary(root, temporary, o);
	if (errnum == 0)
		errnum = move_into(root, temporary, folder, path);
	if (errnum != 0)
		unlinkat(root, temporary, 0);
	return errnum;
}

static enum ing_object_outcome outcome_of(int errnum)
{
	switch (errnum) {
	case 0:
		return ING_OBJECT_OUTCOME_STORED;
	case ENOSPC:
	case EDQUOT:
		return ING_OBJECT_OUTCOME_FULL;
	case EACCES:
	case EPERM:
	case EROFS:
		return ING_OBJECT_OUTCOME_DENIED;
	case ENOENT:
	case ENOTDIR:
		return ING_OBJECT_OUTCOME_MISSING;
	case EFBIG:
		return ING_OBJECT_OUTCOME_UNFIT;
	default:
		return ING_OBJECT_OUTCOME_AWAY;
	}
}

static void prepare(struct ing_object_attempt *base)
{
	const struct folder_attempt *a = ING_CONTAINER(base, struct folder_attempt, base);
	int root = open(base->backend->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int errnum = root < 0 ? errno : store(root, a->temporary, base->object);
	if (root >= 0)
		close(root);
	ing_fd_shortage_note(errnum);
	ing_object_decide(base, outcome_of(errnum), "%s", strerror(errnum));
}

/* --- on the loop --- */

static struct ing_object_attempt *new_attempt(struct ing_object_backend *b, struct ing_object *o)
{
	struct folder *f = ING_CONTAINER(b, struct folder, base);
	struct folder_attempt *a = ing_alloc(sizeof(*a));
	(void)o;
	snprintf(a->temporary, sizeof(a->temporary), TEMPORARY "/%.200s-%d-%llu", f->instance,
		(int)getpid(), (unsigned long long)f->serial++);
	return &a->base;
}

static void free_attempt(struct ing_object_attempt *base)
{
	free(ING_CONTAINER(base, struct folder_attempt, base));
}

static void free_folder(struct ing_object_backend *b)
{
	struct folder *f = ING_CONTAINER(b, struct folder, base);
	free(f->instance);
	free(f->base.name);
	free(f);
}

/* -------------------------------------------------------------------------------------------- */

int ing_object_folder_new(const struct ing_objects_settings *settings, const char *instance,
	struct ing_object_backend **ret, struct ing_error *err)
{
	int rc = ing_folder_make(settings->dir, "store.dir", err);
	if (rc != 0)
		return rc;
	struct folder *f = ing_alloc(sizeof(*f));
	f->instance = ing_strdup(instance);
	f->base = (struct ing_object_backend){
		.name = ing_strdup(settings->dir),
		.max_running = MAX_RUNNING,
		.new_attempt = new_attempt,
		.prepare = prepare,
		.free_attempt = free_attempt,
		.free = free_folder,
	};
	*ret = &f->base;
	return 0;
}
