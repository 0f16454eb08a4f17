/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tar: ustar and its ancestors, GNU's long names and sizes, pax's paths (POSIX.1-2001, pax;
 * GNU tar's manual, "Basic Tar Format").
 */
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/archive_listing_priv.h"

#define BLOCK 512u

/* Octal digits, or with the first bit set a binary number. Returns UINT64_MAX for neither. */
static uint64_t number(const unsigned char *field, size_t bytes)
{
	uint64_t n = 0;
	if (field[0] == 0x80) {
		for (size_t i = bytes - 8; i < bytes; i++)
			n = n << 8 | field[i];
		return n;
	}
	size_t i = 0;
	while (i < bytes && field[i] == ' ')
		i++;
	for (; i < bytes && field[i] >= '0' && field[i] <= '7'; i++)
		n = n << 3 | (uint64_t)(field[i] - '0');
	return i == bytes || field[i] == '\0' || field[i] == ' ' ? n : UINT64_MAX;
}

/* Copies the end of a name that is too long. */
static void keep_name(char to[ING_ARCHIVE_NAME_BYTES], const unsigned char *s, size_t bytes)
{
	size_t n = strnlen((const char *)s, bytes);
	size_t skip = n >= ING_ARCHIVE_NAME_BYTES ? n - ING_ARCHIVE_NAME_BYTES + 1 : 0;
	memcpy(to, s + skip, n - skip);
	to[n - skip] = '\0';
}

/* Of pax's records "LENGTH KEY=VALUE\n" the path. */
static void read_pax(struct ing_tar *t)
{
	const unsigned char *path = memmem(t->front, t->front_bytes, " path=", 6);
	if (path == NULL)
		return;
	path += 6;
	size_t left = t->front_bytes - (size_t)(path - t->front);
	const unsigned char *end = memchr(path, '\n', left);
	keep_name(t->next_name, path, end != NULL ? (size_t)(end - path) : left);
}

static void end_member(struct ing_tar *t, struct ing_archive_types *a)
{
	if (t->long_name && t->header[156] == 'L')
		keep_name(t->next_name, t->front, t->front_bytes);
	else if (t->long_name)
		read_pax(t);
	else if (t->wanted)
		ing_archive_see(a, t->name, t->front, t->front_bytes);
	t->wanted = t->long_name = false;
	t->front_bytes = 0;
}

static void begin_member(struct ing_tar *t, struct ing_archive_types *a)
{
	uint64_t size = number(t->header + 124, 12);
	if (!ing_tar_is_header(t->header) || size > UINT64_MAX / 2) {
		t->over = true; /* the empty block at the end, too */
		return;
	}
	char type = (char)t->header[156];
	bool file = type == '0' || type == '\0' || type == '7';
	t->long_name = type == 'L' || type == 'x';
	if (file && t->next_name[0] != '\0')
		memcpy(t->name, t->next_name, sizeof(t->name));
	else
		keep_name(t->name, t->header, 100);
	if (!t->long_name)
		t->next_name[0] = '\0';
	/* Old archives end the names of folders in a slash. */
	size_t length = strlen(t->name);
	bool folder = length > 0 && t->name[length - 1] == '/';
	/* Only files and what describes them have contents. */
	bool has_contents = type != '1' && type != '2' && type != '5';
	t->size = has_contents ? size : 0;
	t->left = (t->size + BLOCK - 1) / BLOCK * BLOCK;
	t->wanted = file && !folder && ing_archive_wants(a, t->name);
	t->over = ing_archive_is_over(a);
	if (t->left == 0)
		end_member(t, a);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_tar_is_header(const unsigned char block[BLOCK])
{
	uint64_t sum = 0;
	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : block[i];
	/* A name, because a block of zeros would have a sum as well. */
	return block[0] != '\0' && number(block + 148, 8) == sum;
}

bool ing_tar_add(
	struct ing_tar *t, struct ing_archive_types *a, const unsigned char *data, size_t bytes)
{
	while (bytes > 0 && !t->over) {
		size_t n;
		if (t->left > 0) {
			n = (size_t)ING_MIN(t->left, (uint64_t)bytes);
			size_t keep = t->wanted || t->long_name
					      ? ING_MIN(n, sizeof(t->front) - t->front_bytes)
					      : 0;
			keep = (size_t)ING_MIN((uint64_t)keep, t->size);
			memcpy(t->front + t->front_bytes, data, keep);
			t->front_bytes += keep;
			t->size -= ING_MIN(t->size, (uint64_t)n);
			t->left -= n;
			if (t->left == 0)
				end_member(t, a);
		} else {
			n = ING_MIN(bytes, BLOCK - t->header_bytes);
			memcpy(t->header + t->header_bytes, data, n);
			t->header_bytes += n;
			if (t->header_bytes == BLOCK) {
				t->header_bytes = 0;
				begin_member(t, a);
			}
		}
		data += n;
		bytes -= n;
	}
	return !t->over;
}

void ing_tar_end(struct ing_tar *t, struct ing_archive_types *a)
{
	if (t->left > 0)
		end_member(t, a);
}
