/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the worker cannot do without and cannot reach: each stage is asked why it is blocked. The pipeline asks
 * the same stages whether they are (worker/job/pipeline_flow.c), for it needs no words.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/archive/archive.h"
#include "worker/disk/disk.h"
#include "worker/document/objects/objects.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine_priv.h"
#include "worker/fetch/fetch.h"
#include "worker/gate/fleet/lease.h"
#include "worker/grobid/grobid.h"
#include "worker/intake/intake.h"
#include "worker/store/lookup/lookup.h"
#include "worker/store/store.h"

/* NULL: it is not away. */
static const char *ask_database(const struct ing_engine *e)
{
	const char *words = e->outside.store != NULL ? ing_store_trouble(e->outside.store) : NULL;
	if (words == NULL && e->lookup != NULL)
		words = ing_lookup_trouble(e->lookup);
	if (words == NULL && e->leases != NULL)
		words = ing_leases_trouble(e->leases);
	return words;
}

static const char *ask_disk(const struct ing_engine *e)
{
	const char *words = e->archive != NULL ? ing_archive_trouble(e->archive) : NULL;
	return words != NULL ? words : ing_fetch_trouble(e->fetch);
}

static const char *ask_objects(const struct ing_engine *e)
{
	return e->objects != NULL ? ing_objects_trouble(e->objects) : NULL;
}

static const char *ask_broker(const struct ing_engine *e)
{
	const char *words = ing_emit_trouble(e->outside.emit);
	return words != NULL ? words : ing_intake_trouble(e->outside.intake);
}

static const char *ask_grobid(const struct ing_engine *e)
{
	return e->grobid != NULL && ing_grobid_blocks(e->grobid)
		       ? "it has answered none of those that wait for it"
		       : NULL;
}

static bool add_disk(const struct ing_engine *e, struct ing_buf *out)
{
	return e->disk != NULL && ing_disk_add_trouble(e->disk, out);
}

static bool add_words(const char *words, struct ing_buf *out)
{
	static const char database[] = "database: "; /* what begins the words of its errors */
	if (words == NULL)
		return false;
	bool named = strncmp(words, database, sizeof(database) - 1) == 0;
	ing_buf_add_str(out, named ? words + sizeof(database) - 1 : words);
	return true;
}

/* Append why; false: it is not away. */
static bool ask(const struct ing_engine *e, enum ing_status_need need, struct ing_buf *out)
{
	switch (need) {
	case ING_NEEDS_DATABASE:
		return add_words(ask_database(e), out);
	case ING_NEEDS_DISK:
		return add_disk(e, out) || add_words(ask_disk(e), out);
	case ING_NEEDS_OBJECTS:
		return add_words(ask_objects(e), out);
	case ING_NEEDS_BROKER:
		return add_words(ask_broker(e), out);
	case ING_NEEDS_GROBID:
		return add_words(ask_grobid(e), out);
	case ING_NEEDS_:
		break;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_away(struct ing_engine *e, uint64_t now_ms, struct ing_status_away ret[ING_NEEDS_])
{
	for (int i = 0; i < ING_NEEDS_; i++) {
		struct ing_buf words;
		struct ing_status_away *away = &ret[i];
		ing_buf_init(&words, sizeof(away->words) - 1);
		*away = (struct ing_status_away){.is = ask(e, (enum ing_status_need)i, &words)};
		snprintf(away->words, sizeof(away->words), "%s", ing_buf_str(&words));
		ing_buf_done(&words);
		if (!away->is)
			e->away_since_ms[i] = 0;
		else if (e->away_since_ms[i] == 0)
			e->away_since_ms[i] = now_ms;
		away->ms = away->is ? now_ms - e->away_since_ms[i] : 0;
	}
}
