/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-jats MILLISECONDS FILE...
 *
 * CPU time of one JATS document, as one JSON line a file: microseconds of this thread, the mean
 * over as many repetitions as fit into MILLISECONDS, after a tenth of that to warm up. `read`: what
 * an examiner does, the document written anew; `publication`: that and the parts of a publication.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "worker/document/xml/xml_document.h"

#define MAX_FILE_BYTES ((size_t)128 << 20)

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
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

static void work(struct ing_xml_reader *r, const struct ing_buf *file, bool publication)
{
	struct ing_xml_found found = {0};
	ing_xml_read(r, ing_buf_str(file), file->len, "application/jats+xml", NULL, &found);
	if (publication)
		json_decref(ing_xml_reader_publication(r));
	if (strcmp(found.status, "success") != 0) {
		fprintf(stderr, "bench-jats: %s\n", found.error_msg);
		exit(3);
	}
	ing_xml_found_done(&found);
	ing_xml_reader_clear(r);
}

static double measure(
	struct ing_xml_reader *r, const struct ing_buf *file, bool publication, double limit_us)
{
	double start = cpu_us(), spent = 0;
	while (cpu_us() - start < limit_us / 10)
		work(r, file, publication);
	unsigned rounds = 0;
	for (start = cpu_us(); spent < limit_us; spent = cpu_us() - start, rounds++)
		work(r, file, publication);
	return spent / rounds;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: bench-jats MILLISECONDS FILE...\n");
		return 2;
	}
	double limit_us = strtod(argv[1], NULL) * 1000;
	struct ing_xml_reader *r = ing_xml_reader_new();
	for (int i = 2; i < argc; i++) {
		struct ing_buf file;
		if (!read_file(argv[i], &file)) {
			fprintf(stderr, "bench-jats: %s cannot be read\n", argv[i]);
			return 3;
		}
		const char *slash = strrchr(argv[i], '/');
		printf("{\"file\": \"%s\", \"bytes\": %zu, \"read_us\": %.1f, \"publication_us\": %.1f}\n",
			slash != NULL ? slash + 1 : argv[i], file.len,
			measure(r, &file, false, limit_us), measure(r, &file, true, limit_us));
		ing_buf_done(&file);
	}
	ing_xml_reader_free(r);
	return 0;
}
