/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journal.h - the crash journal: which requests are in stages that touch outside bytes in the
 * worker's own process, so that the next process knows which of them may have killed this one.
 *
 * A file in state.dir, mapped into memory: what is written there survives the death of the process,
 * though not the machine's. A request has a record from its first stage to its last
 * (struct ing_journal_mark). When the worker dies by its own fault (fatal signal, ing_must(), the
 * manager's watchdog), a signal handler notes that (fault.h). The next process reads the file
 * (journal_file.h) and counts: every request that was in flight is a suspect with one death more.
 * Death by SIGKILL, a clean end and the machine's end count nothing.
 *
 *   1 death    nothing changes: an innocent one is delivered, and forgotten (ing_journal_acquit())
 *   2 deaths   it may be in a stage only while no other request is in one (ING_SUSPECT_ALONE)
 *   3 deaths   of which it was alone at the last: ING_SUSPECT_CONDEMNED, for dead letters
 *
 * Requests are known by their message (struct ing_source without its fence). Every function is
 * harmless with a journal of NULL. Owns the file and the mapping; thread: loop. About 50 ns a stage
 * (journal_test measures).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/model/metrics.h"
#include "worker/model/source.h"

struct ing_journal;

enum ing_journal_stage {
	ING_STAGE_NONE,
	ING_STAGE_INTAKE,  /* the message is parsed */
	ING_STAGE_FETCH,   /* names, TLS, heads and bodies of answers */
	ING_STAGE_EXAMINE, /* an examiner's reply is decoded */
	ING_STAGE_ARCHIVE, /* records are written, bodies digested */
	ING_STAGE_RESULT,  /* result and rows are made */
	ING_STAGE_ROBOTS,  /* the robots.txt that it has asked for is fetched */
	ING_STAGES_
};
const char *ing_journal_stage_name(enum ing_journal_stage stage); /* "fetch" */

/* Embedded in its owner; zero-initialise. */
struct ing_journal_mark {
	uint32_t record; /* 0: none */
};

enum ing_journal_verdict { ING_SUSPECT_FREE, ING_SUSPECT_ALONE, ING_SUSPECT_CONDEMNED };
struct ing_journal_suspect {
	unsigned deaths;
	enum ing_journal_stage stage; /* at the last of them */
};

/* Opens the file or makes it, counts what a dead predecessor was doing, logs it, and watches for
 * faults of this process. A file that is damaged or of another version is begun anew, with a
 * warning. -SYSTEM: there is no room for it, or it cannot be mapped. One at a time. */
int ing_journal_open(
	const char *path, struct ing_journal **ret, struct ing_error *err) ING_MUST_CHECK;
/* The end was no fault: nobody in flight is suspected. NULL is fine. */
void ing_journal_close(struct ing_journal *j);

/* The request enters a stage. A mark without a record gets one, if there is one left. */
void ing_journal_enter(struct ing_journal *j, struct ing_journal_mark *m,
	const struct ing_source *source, enum ing_journal_stage stage);
/* It is in none. Harmless without a record. */
void ing_journal_leave(struct ing_journal *j, struct ing_journal_mark *m);
/* Requests in stages, but for that of `but` (NULL: all). */
unsigned ing_journal_others(const struct ing_journal *j, const struct ing_journal_mark *but);

/* Is there any suspect that may not run with others? A cheap question, for all messages. */
bool ing_journal_has_suspects(const struct ing_journal *j);
enum ing_journal_verdict ing_journal_judge(const struct ing_journal *j,
	const struct ing_source *source, struct ing_journal_suspect *ret);
/* It has come through all stages. */
void ing_journal_acquit(struct ing_journal *j, const struct ing_source *source);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_journal_stats(const struct ing_journal *j, struct ing_journal_stats *ret);
