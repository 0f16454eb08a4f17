/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A CDX line is cut at every delimiter, and its fields go where the layout says. CDXJ has its values in a JSON
 * object behind the first two fields.
 */
#include "common/record/cdx_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/json.h"

#define MAX_FIELDS 64
#define NONE (-1)
/* Of JSON integers as text. */
#define NUMBER_BYTES 24

const char *const ing_cdx_names[ING_CDX_COLUMNS_] = {"urlkey", "timestamp", "url", "mime", "status",
	"digest", "redirect", "robotflags", "length", "offset", "filename"};

/* The letters of header lines, in the order of the columns. */
static const char letters[] = "NbamskrMSVg";

struct layout {
	signed char columns[MAX_FIELDS]; /* of each field; NONE */
	unsigned fields;
	char delimiter;
};

struct ing_cdx_reader {
	struct layout named; /* by the file's header line; fields 0: there was none */
	json_t *object;      /* of the last line of CDXJ */
	char numbers[ING_CDX_COLUMNS_][NUMBER_BYTES];
};

/* --- layouts --- */

static struct layout make_layout(const char *fields)
{
	struct layout l = {.delimiter = ' '};
	for (; *fields != '\0' && l.fields < MAX_FIELDS; fields++) {
		const char *letter = strchr(letters, *fields);
		l.columns[l.fields++] = letter != NULL ? (signed char)(letter - letters) : NONE;
	}
	return l;
}

/* Without a header line: what the tools of the trade write. Wayback's CDX server answers with seven. */
static bool usual_layout(unsigned fields, struct layout *ret)
{
	const char *letters_of = NULL;
	if (fields >= 11)
		letters_of = "NbamskrMSVg";
	else if (fields == 10)
		letters_of = "NbamskrMVg";
	else if (fields == 9)
		letters_of = "NbamskrVg";
	else if (fields == 7)
		letters_of = "NbamskS";
	if (letters_of == NULL)
		return false;
	*ret = make_layout(letters_of);
	return true;
}

/* " CDX N b a …": the first character is the delimiter of all lines. */
static bool read_header(struct ing_cdx_reader *r, const char *line, size_t bytes)
{
	if (bytes < 6 || (memcmp(line + 1, "CDX", 3) != 0 && memcmp(line + 1, "cdx", 3) != 0) ||
		line[4] != line[0])
		return false;
	char fields[MAX_FIELDS + 1];
	size_t n = 0;
	for (size_t i = 5; i < bytes && n < MAX_FIELDS; i++)
		if (line[i] != line[0] && line[i] != ' ')
			fields[n++] = line[i];
	fields[n] = '\0';
	r->named = make_layout(fields);
	r->named.delimiter = line[0];
	return true;
}

/* --- lines --- */

static unsigned cut(
	const char *line, size_t bytes, char delimiter, struct ing_cdx_cell fields[MAX_FIELDS])
{
	const char *end = line + bytes;
	unsigned n = 0;
	while (n < MAX_FIELDS) {
		const char *to = memchr(line, delimiter, (size_t)(end - line));
		bool last = to == NULL;
		if (last)
			to = end;
		fields[n++] = (struct ing_cdx_cell){line, (size_t)(to - line)};
		if (last)
			break;
		line = to + 1;
	}
	return n;
}

static bool is_absent(const struct ing_cdx_cell *c)
{
	return c->bytes == 0 || (c->bytes == 1 && *c->text == '-');
}

static enum ing_cdx_line judge(
	const struct ing_cdx_cell cells[ING_CDX_COLUMNS_], const char **ret_why)
{
	const struct ing_cdx_cell *date = &cells[ING_CDX_DATETIME];
	*ret_why = NULL;
	if (cells[ING_CDX_URL].text == NULL)
		*ret_why = "no URL";
	for (size_t i = 0; i < date->bytes; i++)
		if (date->text[i] < '0' || date->text[i] > '9')
			*ret_why = "the date is no number";
	if (date->text == NULL)
		*ret_why = "no date";
	return *ret_why == NULL ? ING_CDX_CAPTURE : ING_CDX_BAD;
}

static enum ing_cdx_line read_fields(const struct ing_cdx_reader *r, const char *line, size_t bytes,
	struct ing_cdx_cell ret[ING_CDX_COLUMNS_], const char **ret_why)
{
	struct ing_cdx_cell fields[MAX_FIELDS];
	struct layout usual;
	const struct layout *l = &r->named;
	unsigned n = cut(line, bytes, l->fields > 0 ? l->delimiter : ' ', fields);
	/* Files are put together, and the lines of one may follow the header of another. */
	if (n < l->fields || l->fields == 0) {
		if (!usual_layout(n, &usual)) {
			*ret_why = "not as many fields as a CDX line has (11, 9, 7)";
			return ING_CDX_BAD;
		}
		l = &usual;
	}
	for (unsigned i = 0; i < l->fields; i++)
		if (l->columns[i] != NONE && !is_absent(&fields[i]))
			ret[l->columns[i]] = fields[i];
	return judge(ret, ret_why);
}

static void read_member(struct ing_cdx_reader *r, int column, struct ing_cdx_cell *ret)
{
	const json_t *value = json_object_get(r->object, ing_cdx_names[column]);
	if (json_is_integer(value)) {
		int n = snprintf(r->numbers[column], NUMBER_BYTES, "%" JSON_INTEGER_FORMAT,
			json_integer_value(value));
		*ret = (struct ing_cdx_cell){r->numbers[column], (size_t)n};
		return;
	}
	if (!json_is_string(value))
		return;
	*ret = (struct ing_cdx_cell){json_string_value(value), json_string_length(value)};
	if (is_absent(ret))
		*ret = (struct ing_cdx_cell){0};
}

/* "SURT TIMESTAMP {…}", object being the last. */
static enum ing_cdx_line read_json(struct ing_cdx_reader *r, const char *line, const char *object,
	size_t object_bytes, struct ing_cdx_cell ret[ING_CDX_COLUMNS_], const char **ret_why)
{
	static const struct ing_json_limits limits = {
		.depth = 16, .values = 1000, .flags = ING_JSON_REPEATED_KEYS};
	json_decref(r->object);
	r->object = ing_json_parse(object, object_bytes, &limits, NULL);
	if (!json_is_object(r->object)) {
		*ret_why = "the JSON of the line cannot be read";
		return ING_CDX_BAD;
	}
	for (int i = 0; i < ING_CDX_COLUMNS_; i++)
		read_member(r, i, &ret[i]);
	struct ing_cdx_cell fields[MAX_FIELDS];
	cut(line, (size_t)(object - line), ' ', fields);
	for (int i = ING_CDX_SURT; i <= ING_CDX_DATETIME; i++)
		ret[i] = is_absent(&fields[i]) ? (struct ing_cdx_cell){0} : fields[i];
	return judge(ret, ret_why);
}

/* The object of a line of CDXJ; NULL. */
static const char *find_object(const char *line, size_t bytes)
{
	const char *end = line + bytes;
	const char *at = memchr(line, ' ', bytes);
	if (at != NULL)
		at = memchr(at + 1, ' ', (size_t)(end - at - 1));
	return at != NULL && at + 1 < end && at[1] == '{' ? at + 1 : NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_cdx_reader *ing_cdx_reader_new(void)
{
	return ing_alloc(sizeof(struct ing_cdx_reader));
}

void ing_cdx_reader_free(struct ing_cdx_reader *r)
{
	if (r == NULL)
		return;
	json_decref(r->object);
	free(r);
}

enum ing_cdx_line ing_cdx_read_line(struct ing_cdx_reader *r, const char *line, size_t bytes,
	struct ing_cdx_cell ret[ING_CDX_COLUMNS_], const char **ret_why)
{
	memset(ret, 0, ING_CDX_COLUMNS_ * sizeof(*ret));
	*ret_why = NULL;
	if (bytes == 0 || *line == '!' || *line == '@' || read_header(r, line, bytes))
		return ING_CDX_NO_CAPTURE;
	const char *object = find_object(line, bytes);
	if (object != NULL)
		return read_json(r, line, object, (size_t)(line + bytes - object), ret, ret_why);
	return read_fields(r, line, bytes, ret, ret_why);
}
