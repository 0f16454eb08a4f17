/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mkdir -p.
 */
#include "common/base/folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

int ing_folder_make(const char *path, const char *what, struct ing_error *err)
{
	char partial[PATH_MAX];
	size_t bytes = strlen(path);
	if (bytes == 0 || bytes >= sizeof(partial))
		return ing_error_set(err, ING_FAIL_CONFIG, "%s: not the path of a folder", what);
	for (size_t i = 1; i <= bytes; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(partial, path, i);
		partial[i] = '\0';
		if (mkdir(partial, 0755) != 0 && errno != EEXIST)
			return ing_error_sys(err, errno, "%s: cannot make %s", what, partial);
	}
	return 0;
}
