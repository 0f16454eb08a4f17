/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a member is, is asked of its front as it is of bodies; its name tells kinds of text apart.
 * Of members with the same ending a few are asked, as a paper may have a thousand figures.
 */
#include "worker/document/archive_listing.h"

#include <string.h>
#include <strings.h>

#include "common/base/clock.h"
#include "common/base/macros.h"
#include "common/data/compress.h"
#include "worker/document/archive_listing_priv.h"

#define TAR "application/x-tar"
#define MAX_MEMBERS 100000u /* passed by; real archives have up to some thousands */
#define MAX_LOOKED 200u     /* looked into, half a millisecond each */
#define MAX_LOOKED_ALIKE 4u
#define MAX_CPU_MS 2000
#define PIECE_BYTES ((size_t)64 << 10)
/* Of a compressed file: what is behind is not looked for. As much as a body may have. */
#define MAX_INFLATED_BYTES ((size_t)128 << 20)

static const char *ending_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
	return dot != NULL && (slash == NULL || dot > slash) ? dot + 1 : "";
}

/* --- members --- */

bool ing_archive_is_over(const struct ing_archive_types *a)
{
	return a->members >= MAX_MEMBERS || a->looked >= MAX_LOOKED ||
	       a->count == ING_ARRAY_LEN(a->types) ||
	       (a->members % 1024 == 1023 && ing_thread_cpu_ns() > a->cpu_end_ns);
}

bool ing_archive_wants(struct ing_archive_types *a, const char *name)
{
	const char *ending = ending_of(name);
	size_t i = 0;
	a->members++;
	if (strlen(ending) >= sizeof(a->endings[0].ending))
		ending = "";
	while (i < a->ending_count && strcasecmp(a->endings[i].ending, ending) != 0)
		i++;
	if (i == ING_ARRAY_LEN(a->endings))
		return false;
	if (i == a->ending_count) {
		memcpy(a->endings[i].ending, ending, strlen(ending) + 1);
		a->ending_count++;
	}
	if (a->endings[i].looked >= MAX_LOOKED_ALIKE || a->looked >= MAX_LOOKED)
		return false;
	a->endings[i].looked++;
	a->looked++;
	return true;
}

/* Kinds of text that have no mark at their front, or one that libmagic takes for another's. */
static const char *refine(const char *name, const char *type)
{
	static const char *const endings[][2] = {{"tex", "text/x-tex"}, {"ltx", "text/x-tex"},
		{"latex", "text/x-tex"}, {"sty", "text/x-tex"}, {"cls", "text/x-tex"},
		{"bbl", "text/x-tex"}, {"bib", "text/x-bibtex"}, {"csv", "text/csv"},
		{"md", "text/markdown"}};
	if (strncmp(type, "text/", 5) != 0)
		return type;
	for (size_t i = 0; i < ING_ARRAY_LEN(endings); i++)
		if (strcasecmp(ending_of(name), endings[i][0]) == 0)
			return endings[i][1];
	return type;
}

static void add_type(struct ing_archive_types *a, const char *type)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->types[i], type) == 0)
			return;
	if (a->count < ING_ARRAY_LEN(a->types))
		memcpy(a->types[a->count++], type, strlen(type) + 1);
}

void ing_archive_see(struct ing_archive_types *a, const char *name, const void *front, size_t bytes)
{
	char type[ING_MEDIA_TYPE_BYTES];
	if (bytes == 0)
		return;
	ing_sniff(front, bytes, type);
	add_type(a, refine(name, type));
}

/* --- gzip --- */

/* The name of a file that was compressed alone (RFC 1952, section 2.3.1), or "". */
static void name_of_gzip(const unsigned char *s, size_t bytes, char ret[ING_ARCHIVE_NAME_BYTES])
{
	size_t at = 10;
	ret[0] = '\0';
	if (bytes < at || (s[3] & 8) == 0)
		return;
	if ((s[3] & 4) != 0)
		at += 2 + (bytes >= 12 ? (size_t)s[10] + ((size_t)s[11] << 8) : 0);
	const unsigned char *end = at < bytes ? memchr(s + at, '\0', bytes - at) : NULL;
	size_t n = end != NULL ? (size_t)(end - s) - at : 0;
	if (n < ING_ARCHIVE_NAME_BYTES && end != NULL)
		memcpy(ret, s + at, n + 1);
}

struct inflated {
	struct ing_archive_types *types;
	struct ing_tar tar;
	unsigned char front[ING_ARCHIVE_FRONT_BYTES];
	size_t front_bytes;
	bool is_tar;
};

/* Returns false when nothing more is wanted. */
static bool add_inflated(struct inflated *f, const unsigned char *data, size_t bytes)
{
	if (f->is_tar)
		return ing_tar_add(&f->tar, f->types, data, bytes);
	size_t n = ING_MIN(bytes, sizeof(f->front) - f->front_bytes);
	memcpy(f->front + f->front_bytes, data, n);
	f->front_bytes += n;
	if (f->front_bytes < sizeof(f->tar.header))
		return true;
	f->is_tar = ing_tar_is_header(f->front);
	if (!f->is_tar)
		return f->front_bytes < sizeof(f->front);
	return ing_tar_add(&f->tar, f->types, f->front, f->front_bytes) &&
	       ing_tar_add(&f->tar, f->types, data + n, bytes - n);
}

static void inflate(struct inflated *f, const unsigned char *data, size_t bytes)
{
	static unsigned char out[PIECE_BYTES];
	struct ing_gunzip *z = ing_gunzip_new();
	size_t total = 0, made = 0;
	ing_gunzip_begin(z);
	/* What is read may have more to give than there was room for. */
	while ((bytes > 0 || made == sizeof(out)) && total < MAX_INFLATED_BYTES) {
		size_t piece = ING_MIN(bytes, PIECE_BYTES), left = piece;
		int rc = ing_gunzip_step(z, &data, &left, out, sizeof(out), &made);
		bytes -= piece - left;
		total += made;
		bool wanted = made == 0 || add_inflated(f, out, made);
		bool stuck = rc == 0 && made == 0 && left == piece;
		if (!wanted || rc < 0 || stuck || ing_thread_cpu_ns() > f->types->cpu_end_ns)
			break;
		if (rc == 1)
			ing_gunzip_begin(z); /* another member */
	}
	ing_gunzip_free(z);
}

static void list_gzip(struct ing_archive_types *a, const unsigned char *data, size_t bytes)
{
	static struct inflated f; /* too large for a stack */
	f = (struct inflated){.types = a};
	inflate(&f, data, bytes);
	if (f.is_tar) {
		ing_tar_end(&f.tar, a);
		add_type(a, TAR);
		return;
	}
	char name[ING_ARCHIVE_NAME_BYTES];
	name_of_gzip(data, bytes, name);
	ing_archive_see(a, name, f.front, f.front_bytes);
}

static void list_tar(struct ing_archive_types *a, const unsigned char *data, size_t bytes)
{
	static struct ing_tar tar;
	tar = (struct ing_tar){0};
	ing_tar_add(&tar, a, data, bytes);
	ing_tar_end(&tar, a);
}

/* --- the answer --- */

/* How types begin, best first. */
static const char *const ranks[] = {"text/x-tex", "application/pdf",
	"application/vnd.openxmlformats-officedocument.wordprocessingml", "application/msword",
	"application/jats+xml", "text/html", "text/x-bibtex", "text/", "application/", "image/",
	""};

static size_t rank_of(const char *type)
{
	size_t i = 0;
	while (strncmp(type, ranks[i], strlen(ranks[i])) != 0)
		i++;
	return strcmp(type, TAR) == 0 ? ING_ARRAY_LEN(ranks) : i;
}

static void write_types(const struct ing_archive_types *a, char ret[ING_CONTAINS_BYTES])
{
	size_t n = 0;
	for (size_t rank = 0; rank <= ING_ARRAY_LEN(ranks); rank++) {
		for (size_t i = 0; i < a->count; i++) {
			size_t bytes = strlen(a->types[i]);
			if (rank_of(a->types[i]) != rank || n + bytes + 2 > ING_CONTAINS_BYTES)
				continue;
			if (n > 0)
				ret[n++] = ',';
			memcpy(ret + n, a->types[i], bytes);
			n += bytes;
		}
	}
	ret[n] = '\0';
}

/* -------------------------------------------------------------------------------------------- */

typedef void list_f(struct ing_archive_types *a, const unsigned char *data, size_t bytes);

static const struct {
	const char *mimetype;
	list_f *list;
} formats[] = {
	{"application/gzip", list_gzip},
	{TAR, list_tar},
	{"application/zip", ing_zip_list},
};

bool ing_archive_is_listed(const char *mimetype)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++)
		if (strcmp(mimetype, formats[i].mimetype) == 0)
			return true;
	return false;
}

void ing_archive_list(
	const void *data, size_t bytes, const char *mimetype, char ret[ING_CONTAINS_BYTES])
{
	struct ing_archive_types a = {
		.cpu_end_ns = ing_thread_cpu_ns() + (uint64_t)MAX_CPU_MS * 1000000};
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++)
		if (strcmp(mimetype, formats[i].mimetype) == 0)
			formats[i].list(&a, data, bytes);
	write_types(&a, ret);
}
