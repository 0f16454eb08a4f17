/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf.h - the part of the PDF reader that only this folder sees. One thread.
 */
#pragma once

/* Have poppler load its tables and keep them, by one small document that stays open. */
void ing_document_warm_pdf(void);
