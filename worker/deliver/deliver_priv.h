/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deliver_priv.h - what delivery.c and deliver.c share.
 */
#pragma once
#include "worker/deliver/deliver.h"

#define ING_DELIVERY_MAGIC 0x444c5652u
