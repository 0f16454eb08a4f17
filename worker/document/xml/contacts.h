/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * contacts.h - how to reach an author, out of running text: e-mail addresses, telephone numbers, ORCID iDs.
 *
 * Results are in the arena. Pure; any thread.
 */
#pragma once
#include "common/base/arena.h"

#define ING_MAX_EMAIL_BYTES 320 /* RFC 3696 */
#define ING_MAX_PHONE_BYTES 60

/* Returns the first e-mail address at or after *at, which moves behind it; NULL: there is none, and *at is
 * the text's end. */
const char *ing_contact_email(struct ing_arena *ar, const char **at);
/* Returns the first telephone number that has a word for one in front, or NULL. */
const char *ing_contact_phone(struct ing_arena *ar, const char *text);
/* Returns the ORCID iD in the text as https://orcid.org/…, or NULL when there is none that is valid. */
const char *ing_contact_orcid(struct ing_arena *ar, const char *text);
