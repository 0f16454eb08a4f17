/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * endpoint_head.h - what the heads of requests to the endpoint say. Pure; any thread. Fuzzed
 * (tests/fuzz/endpoint_head.c).
 */
#pragma once
#include <stdbool.h>

/* Whether a client with this Accept field (NULL: none) would rather have OpenMetrics 1.0 than the
 * older text format: by q-values, of equal ones OpenMetrics when it is named. What cannot be read is
 * left out. */
bool ing_endpoint_wants_openmetrics(const char *accept);

/* Whether a Host field names this machine by its loopback: localhost, 127.0.0.0/8 or [::1], with any
 * port. A browser that was led here by a foreign name has that name in it. NULL (HTTP/1.0) is fine. */
bool ing_endpoint_is_local_host(const char *host);
