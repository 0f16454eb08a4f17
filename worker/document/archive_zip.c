/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zip: the directory at its end, with the 64-bit fields (PKWARE's APPNOTE 6.3, sections 4.3 and
 * 4.5.3). Members that are stored or deflated are looked into.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/data/compress.h"
#include "worker/document/archive_listing_priv.h"

#define END_BYTES 22       /* of the end record, without its comment */
#define ENTRY_BYTES 46     /* of a member in the directory, without its name */
#define LOCAL_BYTES 30     /* of its local header */
#define MAX_COMMENT 65535u /* between the end record and the end of the file */

struct zip {
	const unsigned char *data;
	size_t bytes;
	struct ing_archive_types *types;
	struct ing_gunzip *gunzip;
};

static uint64_t number(const unsigned char *s, size_t bytes)
{
	uint64_t n = 0;
	for (size_t i = bytes; i > 0; i--)
		n = n << 8 | s[i - 1];
	return n;
}

static bool is_at(const struct zip *z, uint64_t at, size_t bytes, const char *signature)
{
	return at <= z->bytes && bytes <= z->bytes - at && memcmp(z->data + at, signature, 4) == 0;
}

/* Where the directory begins; z->bytes when there is none. */
static uint64_t find_directory(const struct zip *z)
{
	size_t least = z->bytes > END_BYTES + MAX_COMMENT ? z->bytes - END_BYTES - MAX_COMMENT : 0;
	for (size_t at = z->bytes; at > least; at--) {
		size_t end = at - 1;
		if (!is_at(z, end, END_BYTES, "PK\5\6"))
			continue;
		uint64_t start = number(z->data + end + 16, 4);
		if (start == UINT32_MAX && end >= 20 && is_at(z, end - 20, 20, "PK\6\7")) {
			uint64_t end64 = number(z->data + end - 12, 8);
			start = is_at(z, end64, 56, "PK\6\6") ? number(z->data + end64 + 48, 8)
							      : z->bytes;
		}
		return ING_MIN(start, (uint64_t)z->bytes);
	}
	return z->bytes;
}

/* The field for 64-bit values has those that do not fit, in this order: size, compressed size,
 * offset. */
static uint64_t offset_of(const unsigned char *entry, const unsigned char *extra, size_t bytes)
{
	uint64_t offset = number(entry + 42, 4);
	if (offset != UINT32_MAX)
		return offset;
	size_t skip = 8 * ((number(entry + 24, 4) == UINT32_MAX) +
				  (size_t)(number(entry + 20, 4) == UINT32_MAX));
	while (bytes >= 4) {
		size_t n = (size_t)number(extra + 2, 2);
		if (n > bytes - 4)
			break;
		if (number(extra, 2) == 1)
			return n >= skip + 8 ? number(extra + 4 + skip, 8) : UINT64_MAX;
		extra += 4 + n;
		bytes -= 4 + n;
	}
	return UINT64_MAX;
}

/* The front of what is deflated: as gzip has the same inside, a header is put before it. */
static size_t inflate_front(struct zip *z, const unsigned char *s, size_t bytes, unsigned char *to)
{
	static const unsigned char head[10] = {0x1f, 0x8b, 8};
	const unsigned char *in = head;
	size_t left = sizeof(head), n = 0, made;
	if (z->gunzip == NULL)
		z->gunzip = ing_gunzip_new();
	ing_gunzip_begin(z->gunzip);
	if (ing_gunzip_step(z->gunzip, &in, &left, to, ING_ARCHIVE_FRONT_BYTES, &made) != 0)
		return 0;
	/* Enough for the front, unless it is made of empty blocks. */
	left = ING_MIN(bytes, 16 * ING_ARCHIVE_FRONT_BYTES);
	in = s;
	int rc = 0;
	while (rc == 0 && n < ING_ARCHIVE_FRONT_BYTES) {
		size_t before = left;
		rc = ing_gunzip_step(
			z->gunzip, &in, &left, to + n, ING_ARCHIVE_FRONT_BYTES - n, &made);
		n += made;
		if (made == 0 && left == before)
			break;
	}
	return n;
}

static void look_into(
	struct zip *z, const char *name, uint64_t local, unsigned method, uint64_t size)
{
	unsigned char front[ING_ARCHIVE_FRONT_BYTES];
	if (!is_at(z, local, LOCAL_BYTES, "PK\3\4"))
		return;
	const unsigned char *header = z->data + local;
	uint64_t at = local + LOCAL_BYTES + number(header + 26, 2) + number(header + 28, 2);
	if (at > z->bytes)
		return;
	size_t left = (size_t)ING_MIN(size, (uint64_t)z->bytes - at);
	const unsigned char *s = z->data + at;
	size_t n = 0;
	if (method == 0) {
		n = ING_MIN(left, sizeof(front));
		memcpy(front, s, n);
	} else if (method == 8) {
		n = inflate_front(z, s, left, front);
	}
	ing_archive_see(z->types, name, front, n);
}

/* Returns the bytes of the entry; 0: the directory is over. */
static size_t read_entry(struct zip *z, uint64_t at)
{
	if (!is_at(z, at, ENTRY_BYTES, "PK\1\2"))
		return 0;
	const unsigned char *entry = z->data + at;
	size_t name_bytes = (size_t)number(entry + 28, 2), extra = (size_t)number(entry + 30, 2);
	size_t bytes = ENTRY_BYTES + name_bytes + extra + (size_t)number(entry + 32, 2);
	if (bytes > z->bytes - at)
		return 0;
	char name[ING_ARCHIVE_NAME_BYTES];
	size_t cut = name_bytes >= sizeof(name) ? name_bytes - sizeof(name) + 1 : 0;
	memcpy(name, entry + ENTRY_BYTES + cut, name_bytes - cut);
	name[name_bytes - cut] = '\0';
	bool folder = name_bytes > 0 && name[name_bytes - cut - 1] == '/';
	bool encrypted = (entry[8] & 1) != 0;
	uint64_t size = number(entry + 20, 4);
	if (!folder && !encrypted && ing_archive_wants(z->types, name))
		look_into(z, name, offset_of(entry, entry + ENTRY_BYTES + name_bytes, extra),
			(unsigned)number(entry + 10, 2), size == UINT32_MAX ? UINT64_MAX : size);
	return bytes;
}

/* -------------------------------------------------------------------------------------------- */

void ing_zip_list(struct ing_archive_types *a, const unsigned char *data, size_t bytes)
{
	struct zip z = {.data = data, .bytes = bytes, .types = a};
	uint64_t at = find_directory(&z);
	for (size_t n; !ing_archive_is_over(a) && (n = read_entry(&z, at)) > 0;)
		at += n;
	ing_gunzip_free(z.gunzip);
}
