/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flow.h - why a worker takes no requests, or starts no transfers, as the pipeline knows it
 * (worker/job/pipeline_flow.c); for what operators are told. Plain data.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/lane.h"

/* Why no transfer is started: the first that holds. */
enum ing_flow_hold {
	ING_FLOW_OPEN,
	ING_FLOW_ORDER,     /* an operator has paused the worker */
	ING_FLOW_AWAY,      /* something that later stages need: ing_flow.away */
	ING_FLOW_SUSPECTS,  /* messages that are parsed alone wait, or one is at work */
	ING_FLOW_UNACKED,   /* too many results wait for database or broker */
	ING_FLOW_EXAMINERS, /* too many documents wait for an examiner */
	ING_FLOW_GROBID,    /* too many documents wait for GROBID */
	ING_FLOW_TEXTS,     /* texts of documents whose results wait fill their share of memory */
};

/* Why a lane is not read. */
enum ing_flow_pause {
	ING_PAUSE_NONE,
	ING_PAUSE_ORDER,    /* an operator has paused or drained the lane, or the worker */
	ING_PAUSE_AWAY,     /* as ING_FLOW_AWAY */
	ING_PAUSE_SUSPECTS, /* as ING_FLOW_SUSPECTS */
	ING_PAUSE_FULL,     /* its places in intake.max_waiting are taken */
	ING_PAUSE_BYTES,    /* the messages of waiting requests fill their share of memory */
	ING_PAUSE_LOOKUPS,  /* too many requests wait for what the tables have of them */
};

/* The word of status documents for it, and what people read; NULL for none. Static. */
const char *ing_flow_pause_name(enum ing_flow_pause pause);
/* "not read: ..." for a name of the above; a name of another version as it is. */
const char *ing_flow_pause_words(const char *name);

struct ing_flow_lane {
	bool configured; /* it has a topic */
	unsigned jobs;   /* of it, in memory, until their results are acknowledged */
	enum ing_flow_pause pause;
};

struct ing_flow {
	enum ing_flow_hold hold;
	uint64_t hold_ms; /* so far */
	const char *away; /* "database", "disk", "broker", …: static; NULL: nothing is */
	struct ing_flow_lane lanes[ING_LANES_];
	unsigned unacked, max_unacked; /* results that wait to be stored and acknowledged */
	unsigned max_waiting;          /* intake.max_waiting */
	bool draining;                 /* the worker stops */
};
