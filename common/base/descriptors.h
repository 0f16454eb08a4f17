/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * descriptors.h - room for the sockets, memory files and pipes of every transfer.
 */
#pragma once

/* Of the kernel's table, which takes eight bytes each. A worker with more at once still works; its
 * table then grows at times. */
#define ING_DESCRIPTORS_RESERVED 65536

/* Raise the soft limit of open files to the hard one, which the service manager sets, and
 * make the process's table of descriptors as large as it may get (ING_DESCRIPTORS_RESERVED at
 * most). Once a process has threads, whichever call needs a larger table (open, socket,
 * memfd_create) waits for an RCU grace period in the kernel, which takes up to a few hundred
 * milliseconds on a busy machine. Call before there are threads. */
void ing_descriptors_reserve(void);
