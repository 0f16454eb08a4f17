/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the workers of this machine listen. Only names are looked at; whether a socket still has a worker is found out by
 * connecting to it.
 */
#include "worker/ctl/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

#define MAX_SOCKETS 256
#define MAX_PATH_BYTES 8192
#define SOCKET_END ".sock"

static bool is_socket(const char *name)
{
	size_t bytes = strlen(name);
	size_t end = strlen(SOCKET_END);
	return name[0] != '.' && bytes > end && strcmp(name + bytes - end, SOCKET_END) == 0;
}

static void add_path(struct ing_ctl_sockets *s, const char *path)
{
	if (s->count < MAX_SOCKETS)
		s->paths[s->count++] = ing_strdup(path);
}

/* Returns 0 or an errno. What is neither a socket nor a folder is passed over. */
static int look_into(struct ing_ctl_sockets *s, const char *folder, bool below)
{
	struct dirent **found = NULL;
	int count = scandir(folder, &found, NULL, alphasort);
	if (count < 0)
		return errno;
	for (int i = 0; i < count; i++) {
		struct ing_buf path;
		ing_buf_init(&path, MAX_PATH_BYTES);
		ing_buf_printf(&path, "%s/%s", folder, found[i]->d_name);
		if (!path.failed && is_socket(found[i]->d_name))
			add_path(s, ing_buf_str(&path));
		else if (!path.failed && below && found[i]->d_name[0] != '.')
			(void)look_into(s, ing_buf_str(&path), false);
		ing_buf_done(&path);
		free(found[i]);
	}
	free(found);
	return 0;
}

/* --------------------------------------------------------------------------------------------- */

int ing_ctl_sockets_find(const char *state_dir, struct ing_ctl_sockets *ret, struct ing_error *err)
{
	struct ing_ctl_sockets s = {.paths = ing_alloc(MAX_SOCKETS * sizeof(*s.paths))};
	int rc = look_into(&s, state_dir, true);
	if (rc != 0 && rc != ENOENT) {
		ing_ctl_sockets_done(&s);
		return ing_error_sys(err, rc, "state.dir: %s", state_dir);
	}
	*ret = s;
	return 0;
}

void ing_ctl_sockets_done(struct ing_ctl_sockets *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->paths[i]);
	free(s->paths);
	*s = (struct ing_ctl_sockets){0};
}
