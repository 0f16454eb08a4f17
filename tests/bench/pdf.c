/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-pdf ROUNDS FILE...
 *
 * CPU time and memory of reading PDFs as an examiner's reader does it: a fork of a warmed process
 * for each. One JSON line about the warmed process, then one for each file: milliseconds of CPU, means over
 * ROUNDS, of the parts (text with facts, the whole Info dictionary, the thumbnail) and of the fork as a whole;
 * the largest resident size that a fork had, and what of it was its own at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/document/document.h"

#define MAX_FILE_BYTES ((size_t)256 << 20)

/* What a fork tells. */
struct told {
	double part_ms[ING_PDF_PARTS_];
	double at_ms; /* of CPU, when the last part was there */
	long own_kb;
	unsigned pages;
	size_t text_bytes, thumbnail_bytes;
	char status[24];
};

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static long memory_kb(const char *field)
{
	char line[200];
	long kb = -1;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f != NULL && kb < 0 && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, field, strlen(field)) == 0)
			kb = strtol(line + strlen(field), NULL, 10);
	if (f != NULL)
		fclose(f);
	return kb;
}

static bool read_file(const char *path, struct ing_buf *to)
{
	ing_buf_init(to, MAX_FILE_BYTES);
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		return false;
	char block[65536];
	size_t n;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		ing_buf_add(to, block, n);
	fclose(f);
	return !to->failed;
}

static void on_part(void *ctx, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	struct told *told = ctx;
	double now_ms = cpu_ms();
	told->part_ms[part] = now_ms - told->at_ms;
	told->at_ms = now_ms;
	told->pages = (unsigned)pdf->page_count;
	told->text_bytes = pdf->text != NULL ? strlen(pdf->text) : 0;
	told->thumbnail_bytes = pdf->thumbnail.bytes;
	snprintf(told->status, sizeof(told->status), "%s", pdf->status);
}

static void read_in_fork(const struct ing_buf *file, int out)
{
	struct told told = {.at_ms = cpu_ms()};
	struct ing_pdf pdf = {0};
	ing_document_pdf(file->data, file->len, on_part, &told, &pdf);
	told.own_kb = memory_kb("Private_Dirty:");
	ssize_t n = write(out, &told, sizeof(told));
	_exit(n == (ssize_t)sizeof(told) ? 0 : 1);
}

/* Returns false when the fork died. */
static bool read_once(const struct ing_buf *file, struct told *sum, double *cpu, long *peak_kb)
{
	int ends[2];
	struct told told;
	struct rusage used;
	int status = 0;
	if (pipe(ends) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0)
		read_in_fork(file, ends[1]);
	close(ends[1]);
	bool whole = read(ends[0], &told, sizeof(told)) == (ssize_t)sizeof(told);
	close(ends[0]);
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid || !whole)
		return false;
	for (int i = 0; i < ING_PDF_PARTS_; i++)
		told.part_ms[i] += sum->part_ms[i];
	*sum = told;
	*cpu += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	*peak_kb = ING_MAX(*peak_kb, used.ru_maxrss);
	return true;
}

static int measure(const char *path, unsigned rounds)
{
	struct ing_buf file;
	struct told sum = {0};
	double cpu = 0;
	long peak_kb = 0;
	if (!read_file(path, &file)) {
		fprintf(stderr, "bench-pdf: %s cannot be read\n", path);
		return 3;
	}
	for (unsigned i = 0; i < rounds; i++) {
		if (!read_once(&file, &sum, &cpu, &peak_kb)) {
			fprintf(stderr, "bench-pdf: the reader of %s died\n", path);
			return 3;
		}
	}
	const char *slash = strrchr(path, '/');
	printf("{\"file\": \"%s\", \"status\": \"%s\", \"bytes\": %zu, \"pages\": %u, \"text_bytes\": %zu, "
	       "\"thumbnail_bytes\": %zu, \"text_ms\": %.3f, \"info_ms\": %.3f, \"thumbnail_ms\": %.3f, "
	       "\"fork_ms\": %.3f, \"peak_kb\": %ld, \"own_kb\": %ld}\n",
		slash != NULL ? slash + 1 : path, sum.status, file.len, sum.pages, sum.text_bytes,
		sum.thumbnail_bytes, sum.part_ms[ING_PDF_TEXT] / rounds,
		sum.part_ms[ING_PDF_INFO] / rounds, sum.part_ms[ING_PDF_THUMBNAIL] / rounds,
		cpu / rounds, peak_kb, sum.own_kb);
	fflush(stdout);
	ing_buf_done(&file);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	if (rounds == 0) {
		fprintf(stderr, "usage: bench-pdf ROUNDS FILE...\n");
		return 2;
	}
	double before_ms = cpu_ms();
	ing_document_warm();
	printf("{\"warm_ms\": %.1f, \"warm_kb\": %ld, \"warm_own_kb\": %ld}\n",
		cpu_ms() - before_ms, memory_kb("Rss:"), memory_kb("Private_Dirty:"));
	fflush(stdout);
	int rc = 0;
	for (int i = 2; i < argc && rc == 0; i++)
		rc = measure(argv[i], rounds);
	return rc;
}
