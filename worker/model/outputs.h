/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outputs.h - what the worker writes (outputs.def), and a message for one of these outputs. Plain
 * data, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum ing_output {
#define OUTPUT(NAME, member, fallback, least, key, size, form, refused, shared, file, noun, who,   \
	sentence)                                                                                  \
	ING_OUTPUT_##NAME,
#include "worker/model/outputs.def"
#undef OUTPUT
	ING_OUTPUTS_
};

enum ing_output_size { ING_OUTPUT_SIZE_CONFIGURED, ING_OUTPUT_SIZE_TOPIC, ING_OUTPUT_SIZE_CUT };
enum ing_output_form { ING_OUTPUT_FORM_JSON, ING_OUTPUT_FORM_LETTER, ING_OUTPUT_FORM_BYTES };
enum ing_output_refused {
	ING_OUTPUT_REFUSED_SHORTEST,
	ING_OUTPUT_REFUSED_DROPPED,
	ING_OUTPUT_REFUSED_ANSWERED
};

/* A row of the table. Strings are static. */
struct ing_output_row {
	enum ing_output_size size;
	enum ing_output_form form;
	enum ing_output_refused refused;
	const char *name; /* the table's member: of the key in kafka.topics, and in result_outbox */
	const char *file;
	const char *noun;
};

const struct ing_output_row *ing_output_row(enum ing_output output);
/* False: there is none of that name. */
bool ing_output_by_name(const char *name, enum ing_output *ret);

struct ing_header { /* Kafka record header; value is text */
	const char *name;
	const char *value;
};

struct ing_output_message {
	enum ing_output output;
	const void *key; /* NULL for none */
	size_t key_bytes;
	char *value; /* heap; see the output's form. NULL: empty */
	size_t value_bytes;
	const struct ing_header *headers;
	size_t header_count;
};
