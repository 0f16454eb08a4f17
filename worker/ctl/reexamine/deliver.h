/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_deliver.h - what is written of a document that was looked into again: as a worker writes it, but
 * for the result.
 */
#pragma once

struct ing_artifact;
struct ing_deliver;
struct ing_delivery;
struct ing_reexamine_document;
struct ing_reexamine_what;
struct ing_row_cdx;

/* read: the capture whose bytes it were. What is derived is moved out of a. New: to be put or freed. */
struct ing_delivery *ing_reexamine_delivery(const struct ing_deliver *deliver,
	const struct ing_reexamine_what *what, const struct ing_reexamine_document *d,
	const struct ing_row_cdx *read, struct ing_artifact *a);
