/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job_state.def as an array.
 */
#include "worker/model/job_state.h"

#include "common/base/macros.h"

static const char *const labels[ING_JOB_STATES_] = {
#define JOB_STATE(name, label, meaning) [ING_JOB_##name] = (label),
#include "worker/model/job_state.def"
#undef JOB_STATE
};

static const char *const meanings[ING_JOB_STATES_] = {
#define JOB_STATE(name, label, meaning) [ING_JOB_##name] = (meaning),
#include "worker/model/job_state.def"
#undef JOB_STATE
};

/* -------------------------------------------------------------------------------------------- */

const char *ing_job_state_label(enum ing_job_state state)
{
	ing_must((unsigned)state < ING_JOB_STATES_);
	return labels[state];
}

const char *ing_job_state_meaning(enum ing_job_state state)
{
	ing_must((unsigned)state < ING_JOB_STATES_);
	return meanings[state];
}
