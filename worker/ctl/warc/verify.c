/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc verify: a line for each fault, with file and offset, and one for each file. A damaged
 * member ends the file, since where the next record begins is not known then.
 */
#include <stdio.h>
#include <string.h>

#include "common/record/warc.h"
#include "common/record/warc_scan.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/warc/warc.h"

struct verify {
	unsigned long faults;
	bool first;                          /* no record of the file has been seen */
	char info_id[ING_WARC_ID_BYTES * 2]; /* of its warcinfo; "": none */
};

static void report(struct verify *v, const char *path, uint64_t offset, const char *words)
{
	v->faults++;
	printf("%s: offset %llu: %s\n", path, (unsigned long long)offset, words);
}

/* Copies a field's value; "" when there is none or it is too long. */
static void copy_field(const struct ing_ctl_warc_record *r, const char *name, char *to, size_t room)
{
	const char *value;
	size_t bytes;
	to[0] = '\0';
	if (ing_warc_field(r->head, r->head_bytes, name, &value, &bytes) && bytes < room) {
		memcpy(to, value, bytes);
		to[bytes] = '\0';
	}
}

/* The records of a file belong to the warcinfo before them. */
static void verify_warcinfo(struct verify *v, const struct ing_ctl_warc_record *r)
{
	char type[32];
	char id[sizeof(v->info_id)];
	copy_field(r, "WARC-Type", type, sizeof(type));
	if (strcmp(type, "warcinfo") == 0) {
		copy_field(r, "WARC-Record-ID", v->info_id, sizeof(v->info_id));
	} else {
		if (v->first)
			report(v, r->path, r->offset,
				"the file does not begin with a warcinfo record");
		copy_field(r, "WARC-Warcinfo-ID", id, sizeof(id));
		if (id[0] != '\0' && strcmp(id, v->info_id) != 0)
			report(v, r->path, r->offset,
				"its WARC-Warcinfo-ID is not that of the warcinfo record before it");
	}
	v->first = false;
}

static void verify_record(void *ctx, const struct ing_ctl_warc_record *r)
{
	struct verify *v = ctx;
	if (r->fault != NULL)
		report(v, r->path, r->offset, r->fault);
	verify_warcinfo(v, r);
}

static int verify_file(const char *path)
{
	struct verify v = {.first = true};
	struct ing_warc_scan_state state;
	if (!ing_ctl_warc_walk(path, verify_record, &v, &state))
		return ING_CTL_ENVIRONMENT;
	if (state.damage != NULL)
		report(&v, path, state.whole, state.damage);
	else if (state.records == 0)
		report(&v, path, 0, "there is no record");
	printf("%s: %llu records, %lu faults\n", path, (unsigned long long)state.records, v.faults);
	return v.faults == 0 ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_warc_verify(char **paths, int count)
{
	int code = ING_CTL_OK;
	for (int i = 0; i < count; i++) {
		int one = verify_file(paths[i]);
		code = ING_MAX(code, one);
	}
	return code;
}
