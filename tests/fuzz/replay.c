/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands in for libFuzzer in the ordinary test run: feeds every file of the folders given (seeds,
 * and inputs that once failed) to the target, and the first half of each, so that cut-off input is
 * always tried. A folder may be absent.
 *
 *     fuzz_NAME [--costs] [--pump BYTES] FOLDER…
 *
 * --costs prints what each input has cost. --pump looks for what is not linear, without a fuzzer:
 * pieces of each input are repeated until it has BYTES bytes, and again until it has four times as
 * many; what then costs much more than four times as much is printed.
 */
#include "tests/fuzz/target.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 24                    /* of each input that are repeated */
#define STEEP 8                      /* times the cost, for four times the input */
#define NOTABLE_NS UINT64_C(5000000) /* what costs less is not compared */

static bool costs;
static size_t pump_bytes;

static void *must_alloc(size_t bytes)
{
	void *p = malloc(bytes > 0 ? bytes : 1);
	if (p == NULL)
		abort();
	return p;
}

static struct fuzz_cost feed(const uint8_t *data, size_t size, const char *name)
{
	/* A copy of its own, so that reading past the end is seen. */
	uint8_t *copy = must_alloc(size);
	if (size > 0)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	struct fuzz_cost c = fuzz_last_cost();
	if (costs)
		printf("%8zu bytes %10" PRIu64 " ns %10zu heap %10zu out  %s\n", size, c.cpu_ns,
			c.heap_bytes, c.out_bytes, name);
	return c;
}

/* The input with one piece of it repeated until there are `wanted` bytes. Heap. */
static uint8_t *stretch(const uint8_t *data, size_t size, size_t from, size_t bytes, size_t wanted,
	size_t *ret_size)
{
	size_t times = wanted > size ? (wanted - size) / bytes + 1 : 1;
	uint8_t *out = must_alloc(size + (times - 1) * bytes);
	size_t at = from;
	memcpy(out, data, from);
	for (size_t i = 0; i < times; i++, at += bytes)
		memcpy(out + at, data + from, bytes);
	memcpy(out + at, data + from + bytes, size - from - bytes);
	*ret_size = at + size - from - bytes;
	return out;
}

static void pump_piece(
	const uint8_t *data, size_t size, size_t from, size_t bytes, const char *name)
{
	uint64_t ns[2];
	char label[400];
	for (size_t i = 0; i < 2; i++) {
		size_t long_size;
		uint8_t *text = stretch(data, size, from, bytes, pump_bytes << 2 * i, &long_size);
		snprintf(label, sizeof(label), "%.300s: %zu bytes from %zu", name, bytes, from);
		ns[i] = feed(text, long_size, label).cpu_ns;
		free(text);
	}
	if (ns[1] > NOTABLE_NS && ns[1] > STEEP * ns[0])
		printf("steep: %" PRIu64 " us for %zu bytes, %" PRIu64
		       " us for four times as many: %s\n",
			ns[0] / 1000, pump_bytes, ns[1] / 1000, label);
}

/* The same pieces at each run: all of it, and some of every length. */
static void pump(const uint8_t *data, size_t size, const char *name)
{
	uint32_t random = 1;
	if (size == 0)
		return;
	pump_piece(data, size, 0, size, name);
	for (unsigned i = 0; i < PIECES; i++) {
		random = random * 1664525 + 1013904223;
		size_t from = (random >> 8) % size;
		size_t bytes = (size_t)1 << (i % 8);
		pump_piece(data, size, from, bytes < size - from ? bytes : size - from, name);
	}
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		return 0;
	if (fseek(f, 0, SEEK_END) != 0) {
		fclose(f);
		return 0;
	}
	long end = ftell(f);
	rewind(f);
	size_t size = end > 0 ? (size_t)end : 0;
	uint8_t *data = must_alloc(size);
	if (fread(data, 1, size, f) != size)
		abort();
	fclose(f);
	feed(data, size, path);
	feed(data, size / 2, path);
	if (pump_bytes > 0)
		pump(data, size, path);
	free(data);
	return 1;
}

static int run_folder(const char *folder)
{
	int files = 0;
	DIR *dir = opendir(folder);
	if (dir == NULL)
		return 0;
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		char path[4096];
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		files += run_file(path);
	}
	closedir(dir);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;
	feed((const uint8_t *)"", 0, "nothing");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--costs") == 0)
			costs = true;
		else if (strcmp(argv[i], "--pump") == 0 && i + 1 < argc)
			pump_bytes = strtoul(argv[++i], NULL, 10);
		else
			files += run_folder(argv[i]);
	}
	printf("replayed %d inputs\n", files);
	return files > 0 ? 0 : 1;
}
