/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program runs from the build tree when its own file lies below the build folder that it was
 * compiled in (compared by device and inode, so a link to it does no harm). Otherwise it is
 * installed: its parts are looked for beside it, below the same prefix, so that an installation can
 * be moved, and then where they were configured to go.
 */
#include "worker/conf/paths.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/macros.h"

#define MAX_PATH_BYTES 4096

struct part {
	const char *beside; /* below the prefix */
	const char *fixed;  /* as configured */
	const char *built;  /* from the build tree; NULL: none */
	char moved[MAX_PATH_BYTES];
	const char *found;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct part examiner = {
	ING_BESIDE_EXAMINER, ING_INSTALLED_EXAMINER, ING_BUILT_EXAMINER, "", NULL};
static struct part rules = {ING_BESIDE_RULES, ING_INSTALLED_RULES, ING_SOURCE_RULES, "", NULL};
static struct part seedlists = {
	ING_BESIDE_SEEDLISTS, ING_INSTALLED_SEEDLISTS, ING_SOURCE_SEEDLISTS, "", NULL};
static struct part config = {ING_BESIDE_CONFIG, ING_INSTALLED_CONFIG, NULL, "", NULL};

static struct part jobs = {ING_BESIDE_JOBS, ING_INSTALLED_JOBS, ING_SOURCE_JOBS, "", NULL};

static bool is_below_build(const char *self)
{
	struct stat build, folder;
	char path[MAX_PATH_BYTES];
	if (stat(ING_BUILD_DIR, &build) != 0)
		return false;
	snprintf(path, sizeof(path), "%s", self);
	for (char *slash = strrchr(path, '/'); slash != NULL && slash != path;
		slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(path, &folder) == 0 && folder.st_dev == build.st_dev &&
			folder.st_ino == build.st_ino)
			return true;
	}
	return false;
}

static void find_part(struct part *p, const char *prefix, bool in_build)
{
	p->found = p->fixed;
	if (in_build) {
		if (p->built != NULL)
			p->found = p->built;
		return;
	}
	int n = snprintf(p->moved, sizeof(p->moved), "%s/%s", prefix, p->beside);
	if (n > 0 && (size_t)n < sizeof(p->moved) && p->beside[0] != '/' &&
		access(p->moved, F_OK) == 0)
		p->found = p->moved;
}

/* What is below /usr has its configuration in /etc, whatever prefix it was built for. */
static void find_config(const char *prefix, bool in_build)
{
	bool in_usr = !in_build && strcmp(prefix, "/usr") == 0;
	find_part(&config, in_usr ? "" : prefix, in_build);
	if (in_usr && config.beside[0] != '/')
		config.found = config.moved;
}

static void find_parts(void)
{
	char self[MAX_PATH_BYTES] = "";
	char prefix[MAX_PATH_BYTES];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool in_build = n > 0 && is_below_build(self);
	snprintf(prefix, sizeof(prefix), "%s", self);
	for (int i = 0; i < 2; i++) { /* PREFIX/bin/program */
		char *slash = strrchr(prefix, '/');
		if (slash != NULL)
			*slash = '\0';
	}
	find_part(&examiner, prefix, in_build);
	find_part(&rules, prefix, in_build);
	find_part(&seedlists, prefix, in_build);
	find_config(prefix, in_build);
	find_part(&jobs, prefix, in_build);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_path_examiner(void)
{
	pthread_once(&once, find_parts);
	return examiner.found;
}

const char *ing_path_rules(void)
{
	pthread_once(&once, find_parts);
	return rules.found;
}

const char *ing_path_seedlists(void)
{
	pthread_once(&once, find_parts);
	return seedlists.found;
}

const char *ing_path_config(void)
{
	pthread_once(&once, find_parts);
	return config.found;
}

const char *ing_path_jobs(void)
{
	pthread_once(&once, find_parts);
	return jobs.found;
}
