/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emails.h - whose an e-mail address is that stands in the affiliation of several authors, or in the wrong one's.
 *
 * Pure; any thread.
 */
#pragma once
#include "worker/model/found_publication.h"

/* PubMed has a paper's one address with whoever's affiliation it stands in: the first author's, that of all who share
 * a department. An address that has nothing of its author's name, but of exactly one other author's, becomes the
 * latter's; one that several authors have is left to those whose name it has, if there are any. */
void ing_publication_settle_emails(struct ing_publication_found *p);
