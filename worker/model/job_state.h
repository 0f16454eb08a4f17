/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job_state.h - the states of a job (job_state.def), which ing_job_set_state() (worker/job) moves
 * it through and counts. Pure, any thread.
 */
#pragma once

enum ing_job_state {
#define JOB_STATE(name, label, meaning) ING_JOB_##name,
#include "worker/model/job_state.def"
#undef JOB_STATE
	ING_JOB_STATES_
};

const char *ing_job_state_label(enum ing_job_state state);   /* for metrics; static */
const char *ing_job_state_meaning(enum ing_job_state state); /* for people; static */
