/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the verbs share: configuration on first need, messages, input files.
 */
#include "worker/ctl/ctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/options.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "common/data/pg_dsn.h"
#include "worker/conf/conf.h"

#define KEPT_LINE_BYTES ((size_t)1 << 20) /* memory of a longer line is given back at the next */

#define MAX_SETS 256
#define MAX_OPTIONS 64 /* of a verb, with those of all verbs and the end */

enum { GIVEN_CONFIG = 0x100, GIVEN_SET };

static char *sets[MAX_SETS + 1];
static struct ing_ctl given = {.sets = sets};

/* '?' when there are too many. */
static int add_set(char *set)
{
	size_t count = 0;
	while (sets[count] != NULL)
		count++;
	if (count == MAX_SETS) {
		ing_ctl_fail(ING_CTL_USAGE, "--set", "given more than %d times", MAX_SETS);
		return '?';
	}
	sets[count] = set;
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_ctl *ing_ctl_given(void)
{
	return &given;
}

bool ing_ctl_number(const char *text, uint64_t max, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || n == 0 || n > max)
		return false;
	*ret = n;
	return true;
}

int ing_ctl_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
	struct option all[MAX_OPTIONS] = {{"config", required_argument, NULL, GIVEN_CONFIG},
		{"set", required_argument, NULL, GIVEN_SET}};
	for (size_t i = 0; longs[i].name != NULL; i++) {
		ing_must(i + 3 < MAX_OPTIONS);
		all[i + 2] = longs[i];
	}
	int c;
	do {
		c = ing_options_next(argc, argv, shorts, all);
		if (c == GIVEN_CONFIG)
			given.config_file = optarg;
		else if (c == GIVEN_SET && add_set(optarg) != 0)
			c = '?';
	} while (c == GIVEN_CONFIG || c == GIVEN_SET);
	return c;
}

int ing_ctl_conf(const struct ing_ctl *ctl, struct ing_conf **ret)
{
	struct ing_report report = {0};
	int rc = ing_conf_load(ctl->config_file, ctl->sets, ING_CONF_CTL, ret, &report);
	if (rc != 0)
		ing_report_print_errors(&report, stderr);
	else
		ing_pg_use_password_file((*ret)->postgres.password_file);
	ing_report_done(&report);
	return rc == 0 ? ING_CTL_OK : ING_CTL_USAGE;
}

int ing_ctl_conf_with_database(const struct ing_ctl *ctl, const char *verb, struct ing_conf **ret)
{
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (conf->postgres.dsn == NULL || conf->postgres.dsn[0] == '\0') {
		ing_conf_free(conf);
		return ing_ctl_fail(ING_CTL_USAGE, verb, "postgres.dsn is not set");
	}
	*ret = conf;
	return ING_CTL_OK;
}

int ing_ctl_conf_over(const struct ing_ctl *ctl, char *const *first, struct ing_conf **ret)
{
	char *all[MAX_SETS + 8] = {NULL};
	size_t n = 0;
	for (; first[n] != NULL; n++) {
		ing_must(n < ING_ARRAY_LEN(all) - MAX_SETS - 1);
		all[n] = first[n];
	}
	for (size_t i = 0; ctl->sets[i] != NULL; i++)
		all[n++] = ctl->sets[i];
	const struct ing_ctl over = {.config_file = ctl->config_file, .sets = all};
	return ing_ctl_conf(&over, ret);
}

char *ing_ctl_quoted_set(const char *key, const char *value)
{
	struct ing_buf set;
	ing_buf_init(&set, (size_t)1 << 20);
	ing_buf_printf(&set, "%s=", key);
	ing_json_add_text(&set, value, strlen(value)); /* the caller has seen to UTF-8 */
	ing_must(!set.failed);
	return ing_buf_steal(&set);
}

int ing_ctl_temp_dir(const char *verb, char ret[ING_CTL_TEMP_BYTES])
{
	const char *tmp = getenv("TMPDIR");
	if (tmp != NULL && !ing_utf8_valid(tmp, strlen(tmp)))
		tmp = NULL;
	snprintf(ret, ING_CTL_TEMP_BYTES, "%s/ingestctl.XXXXXX",
		tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
	if (mkdtemp(ret) != NULL)
		return ING_CTL_OK;
	int code = ing_ctl_fail(ING_CTL_ENVIRONMENT, verb, "%s: %s", ret, strerror(errno));
	ret[0] = '\0';
	return code;
}

int ing_ctl_fail(enum ing_ctl_exit code, const char *verb, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "ingestctl %s: ", verb);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return (int)code;
}

void ing_ctl_print_harmless(const char *words)
{
	for (const char *c = words; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			fputc(*c, stderr);
	}
}

enum ing_ctl_exit ing_ctl_exit_of(const struct ing_error *err)
{
	if (err->code == ING_FAIL_USAGE || err->code == ING_FAIL_CONFIG)
		return ING_CTL_USAGE;
	return ing_fail_disposition((int)err->code) == ING_REJECT ? ING_CTL_NEGATIVE
								  : ING_CTL_ENVIRONMENT;
}

FILE *ing_ctl_open_input(const char *verb, const char *path)
{
	if (strcmp(path, "-") == 0)
		return stdin;
	FILE *f = fopen(path, "re");
	if (f == NULL)
		ing_ctl_fail(ING_CTL_ENVIRONMENT, verb, "%s: %s", path, strerror(errno));
	return f;
}

void ing_ctl_close_input(FILE *f)
{
	if (f != NULL && f != stdin)
		fclose(f);
}

bool ing_ctl_read_file(const char *verb, const char *path, size_t max_bytes, struct ing_buf *to)
{
	FILE *f = ing_ctl_open_input(verb, path);
	if (f == NULL)
		return false;
	ing_buf_init(to, max_bytes);
	static char block[256 << 10];
	size_t n;
	do {
		n = fread(block, 1, sizeof(block), f);
		ing_buf_add(to, block, n);
	} while (n > 0 && !to->failed);
	bool failed = ferror(f) != 0;
	if (failed) {
		ing_ctl_fail(ING_CTL_ENVIRONMENT, verb, "%s: %s", path, strerror(errno));
		ing_buf_done(to);
	}
	ing_ctl_close_input(f);
	return !failed;
}

bool ing_ctl_read_line(FILE *f, struct ing_buf *line)
{
	char piece[16384];
	bool any = false;
	size_t max_bytes = line->max;
	if (line->cap > KEPT_LINE_BYTES) {
		ing_buf_done(line);
		ing_buf_init(line, max_bytes);
	}
	ing_buf_clear(line);
	for (;;) {
		size_t n = 0;
		int c = EOF;
		while (n < sizeof(piece) && (c = getc_unlocked(f)) != EOF && c != '\n')
			piece[n++] = (char)c;
		any |= n > 0 || c == '\n';
		ing_buf_add(line, piece, n);
		if (c == '\n' || c == EOF)
			return any;
	}
}

int ing_ctl_batch(
	const char *verb, const char *path, size_t max_line_bytes, ing_ctl_line_f *fn, void *ctx)
{
	FILE *f = ing_ctl_open_input(verb, path);
	if (f == NULL)
		return ING_CTL_ENVIRONMENT;
	bool good = true;
	unsigned long number = 0;
	struct ing_buf line;
	ing_buf_init(&line, max_line_bytes);
	while (ing_ctl_read_line(f, &line)) {
		number++;
		if (line.len > 0 || line.failed)
			good = fn(ctx, &line, number) && good;
	}
	bool readable = !ferror(f);
	ing_buf_done(&line);
	ing_ctl_close_input(f);
	if (!readable)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, verb, "%s: cannot be read", path);
	if (!ing_ctl_flush_stdout(verb))
		return ING_CTL_ENVIRONMENT;
	return good ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

bool ing_ctl_flush_stdout(const char *verb)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	ing_ctl_fail(
		ING_CTL_ENVIRONMENT, verb, "cannot write to standard output: %s", strerror(errno));
	return false;
}
