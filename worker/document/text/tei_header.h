/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tei_header.h - <teiHeader> from a bibliographic record. Pure.
 */
#pragma once
#include "worker/document/text/tei.h"
#include "worker/document/text/tei_xml.h"

void ing_tei_header(struct ing_tei_xml *x, const struct ing_tei_source *source);
/* Returns the tag as XML Schema has it ("pt_BR" is "pt-BR"), in `out`; NULL when it is none. */
#define ING_TEI_LANGUAGE_BYTES 64
const char *ing_tei_language(const char *tag, char out[ING_TEI_LANGUAGE_BYTES]);
