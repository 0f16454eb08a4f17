/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stands in for libFuzzer in the ordinary test run: feeds every file of the folders given (seeds,
 * and inputs that once failed) to the target, and the first half of each, so that cut-off input is
 * always tried. A folder may be absent.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	uint8_t *data = malloc(size ? size : 1);
	if (data == NULL || fread(data, 1, size, f) != size)
		abort();
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	uint8_t *half = malloc(size / 2 + 1);
	if (half == NULL)
		abort();
	memcpy(half, data, size / 2);
	LLVMFuzzerTestOneInput(half, size / 2);
	free(half);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	int files = 0;
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		if (dir == NULL)
			continue;
		for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
			char path[4096];
			if (e->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], e->d_name);
			files += run_file(path);
		}
		closedir(dir);
	}
	printf("replayed %d inputs\n", files);
	return files > 0 ? 0 : 1;
}
