/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_priv.h - one document on its way (reexamine_item.c), as the work begins and counts it
 * (reexamine_work.c). Loop thread, but for what reexamine_item.c says.
 */
#pragma once
#include "worker/artifact/artifact.h"
#include "worker/ctl/reexamine/read.h"
#include "worker/ctl/reexamine/work.h"

#define ITEM_MAGIC 0x5245584du

struct ing_grobid_reading;

struct ing_reexamine_item {
	unsigned magic;
	struct ing_reexamine_item *prev, *next; /* of the work */
	struct ing_reexamine_work *work;
	char key[41];
	struct ing_reexamine_document *document; /* NULL: finished */
	size_t capture;                          /* of document->captures: the one that is read */
	uv_work_t reading;
	struct ing_reexamine_body body;
	size_t body_bytes; /* as counted */
	int rc;            /* of reading */
	struct ing_error err;
	struct ing_artifact artifact;
	struct ing_grobid_reading *reading_by_grobid;
	bool rests;    /* until GROBID may be back */
	unsigned lost; /* how often its connection has broken with this document */
};

/* Takes the document. */
struct ing_reexamine_item *ing_reexamine_item_new(
	struct ing_reexamine_work *w, struct ing_reexamine_document *d);
/* Of one that has not begun, has finished, or that GROBID has. NULL is fine. */
void ing_reexamine_item_free(struct ing_reexamine_item *item);
/* Ends with ing_reexamine_item_finished(), maybe from inside the call. */
void ing_reexamine_item_begin(struct ing_reexamine_item *item);
void ing_reexamine_item_again(struct ing_reexamine_item *item); /* of one that rests */

/* An item has no document any more. */
void ing_reexamine_item_finished(struct ing_reexamine_work *w);
