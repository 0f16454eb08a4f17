/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/model/flow.h"

#include <stddef.h>
#include <string.h>

#include "common/base/macros.h"

static const struct {
	const char *name, *words;
} pauses[] = {
	[ING_PAUSE_ORDER] = {"order", "not read: by order"},
	[ING_PAUSE_AWAY] = {"away", "not read: something is unavailable"},
	[ING_PAUSE_SUSPECTS] = {"suspects", "not read: requests of a crash are done alone"},
	[ING_PAUSE_FULL] = {"full", "not read: its places in intake.max_waiting are taken"},
	[ING_PAUSE_BYTES] = {"bytes", "not read: waiting requests fill their memory"},
	[ING_PAUSE_LOOKUPS] = {"lookups", "not read: the tables are slow to answer"},
};

const char *ing_flow_pause_name(enum ing_flow_pause pause)
{
	return pauses[pause].name;
}

const char *ing_flow_pause_words(const char *name)
{
	for (size_t i = ING_PAUSE_NONE + 1; i < ING_ARRAY_LEN(pauses); i++)
		if (strcmp(pauses[i].name, name) == 0)
			return pauses[i].words;
	return name;
}
