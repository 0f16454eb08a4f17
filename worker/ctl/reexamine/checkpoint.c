/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A JSON object in a file that is replaced by rename().
 */
#include "worker/ctl/reexamine/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/io.h"
#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/ctl/ctl.h"

#define MAX_FILE_BYTES ((size_t)1 << 20)

static json_t *task_json(const struct ing_reexamine_task *task)
{
	json_t *o = json_object();
	json_t *where = json_array();
	for (const char *const *w = task->where; *w != NULL; w++)
		json_array_append_new(where, json_string(*w));
	ing_json_set_text(o, "what", task->what->name);
	ing_json_set(o, "where", where);
	ing_json_set_count(o, "slice", task->slice);
	ing_json_set_count(o, "slices", task->slices);
	return o;
}

static bool is_digest(const char *s)
{
	return s != NULL && strlen(s) <= 40 && strspn(s, "0123456789abcdef") == strlen(s);
}

static int take(const char *path, const json_t *o, struct ing_reexamine_task *task,
	bool *ret_finished, struct ing_error *err)
{
	const char *after = json_string_value(json_object_get(o, "after"));
	const json_t *finished = json_object_get(o, "finished");
	if (!is_digest(after) || !json_is_boolean(finished))
		return ing_error_set(err, ING_FAIL_SYNTAX, "%s: this is no checkpoint", path);
	json_t *own = task_json(task);
	bool same = json_equal(own, json_object_get(o, "task"));
	json_decref(own);
	if (!same)
		return ing_error_set(err, ING_FAIL_USAGE,
			"%s: a checkpoint of another --what, --where, --missing or --slice", path);
	snprintf(task->after, sizeof(task->after), "%s", after);
	*ret_finished = json_is_true(finished);
	return 0;
}

/* ------------------------------------------------------------------------------------------ */

int ing_reexamine_checkpoint_read(const char *path, struct ing_reexamine_task *task,
	bool *ret_finished, struct ing_error *err)
{
	*ret_finished = false;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	struct ing_buf text;
	if (!ing_ctl_read_file(ING_REEXAMINE, path, MAX_FILE_BYTES, &text)) {
		ing_buf_done(&text);
		return ing_error_set(err, ING_FAIL_SYSTEM, "%s: cannot be read", path);
	}
	json_t *o = text.failed ? NULL
				: ing_json_parse(ing_buf_str(&text), text.len, &ing_json_own, NULL);
	ing_buf_done(&text);
	int rc = take(path, o, task, ret_finished, err);
	json_decref(o);
	return rc;
}

int ing_reexamine_checkpoint_write(const char *path, const struct ing_reexamine_task *task,
	const char *after, bool finished, struct ing_error *err)
{
	char temp[4100];
	int n = snprintf(temp, sizeof(temp), "%s.new", path);
	if (n < 0 || (size_t)n >= sizeof(temp))
		return ing_error_set(err, ING_FAIL_USAGE, "%s: path too long", path);
	json_t *o = json_object();
	ing_json_set(o, "task", task_json(task));
	ing_json_set_text(o, "after", after);
	ing_json_set(o, "finished", json_boolean(finished));
	size_t bytes;
	char *text = ing_json_dump(o, &bytes);
	json_decref(o);
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int failed = fd < 0 ? errno : ing_write_all(fd, text, bytes);
	free(text);
	if (failed == 0 && fsync(fd) != 0)
		failed = errno;
	if (fd >= 0)
		close(fd);
	if (failed == 0 && rename(temp, path) != 0)
		failed = errno;
	return failed == 0 ? 0 : ing_error_sys(err, failed, "%s", path);
}
