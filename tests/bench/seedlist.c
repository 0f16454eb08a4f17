/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Floor of the part seedlist: reads JSON lines from standard input, parses each, and forgets it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/data/json.h"

int main(void)
{
	static const struct ing_json_limits limits = {
		.flags = ING_JSON_NUL | ING_JSON_REPEATED_KEYS};
	char *line = NULL;
	size_t cap = 0;
	size_t members = 0;
	for (ssize_t n = getline(&line, &cap, stdin); n > 0; n = getline(&line, &cap, stdin)) {
		json_t *value = ing_json_parse(line, (size_t)n, &limits, NULL);
		members += json_object_size(value);
		json_decref(value);
	}
	free(line);
	printf("%zu\n", members);
	return 0;
}
