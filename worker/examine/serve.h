/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * serve.h - the examiner: serves requests from its socket, one after the other, until that is closed.
 * One thread.
 */
#pragma once
#include "common/base/macros.h"
#include "worker/examine/child.h"

/* Called right after the fork. Closes the sandbox, then serves `sock`, with `link` to ask the
 * zygote for readers of PDFs (ipc.h); never returns. */
ING_NORETURN void ing_serve(const struct ing_child_conf *conf, int sock, int link);
