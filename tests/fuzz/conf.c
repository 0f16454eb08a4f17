/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Configuration files, and each line of them as a --set argument. What is accepted is dumped and
 * read back as the same.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/conf/conf.h"

FUZZ_BUDGET(.cpu_us = 5000, .cpu_byte_ns = 500, .heap_kb = 500, .heap_byte = 200);

#define MAX_SETS 20

/* Load bytes as a file. NULL: refused, with a reason. */
static struct ing_conf *load(const void *data, size_t size, char *const *sets)
{
	char path[40];
	struct ing_conf *conf = NULL;
	struct ing_report report = {0};
	int fd = memfd_create("conf", MFD_CLOEXEC);
	ing_must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int rc = ing_conf_load(path, sets, ING_CONF_CTL, &conf, &report);
	ing_must((rc == 0) == (conf != NULL) && (rc == 0) == (report.errors == 0));
	ing_report_done(&report);
	close(fd);
	return conf;
}

static char *dump(const struct ing_conf *conf)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	ing_must(f != NULL);
	ing_conf_dump(conf, f);
	fclose(f);
	return text;
}

static void check(struct ing_conf *conf)
{
	if (conf == NULL)
		return;
	char *text = dump(conf);
	struct ing_conf *again = load(text, strlen(text), NULL);
	ing_must(again != NULL);
	char *same = dump(again);
	ing_must(strcmp(text, same) == 0);
	free(text);
	free(same);
	ing_conf_free(again);
	ing_conf_free(conf);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *sets[MAX_SETS + 1] = {NULL};
	size_t count = 0;
	check(load(data, size, NULL));
	char *text = ing_strndup((const char *)data, size);
	char *rest = text;
	while (rest != NULL && count < MAX_SETS)
		sets[count++] = strsep(&rest, "\n");
	check(load("", 0, sets));
	free(text);
}
