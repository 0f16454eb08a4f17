/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * http_server_tls.h - certificate and key of an HTTP server, read from files and read again without ending connections.
 *
 * The key is in this process's memory until the next load. GnuTLS asks for them at each handshake and has no room for
 * a context: there is one set in use at a time. Loop thread only.
 */
#pragma once
#include "common/base/error.h"

struct ing_http_tls;

/* PEM files: the certificate with what leads to its root behind it, and its key. Read here, which blocks as a small
 * local file does. Error: -CONFIG. */
int ing_http_tls_new(const char *cert_file, const char *key_file, struct ing_http_tls **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Reads the files again. On failure the old ones stay in use. */
int ing_http_tls_reload(struct ing_http_tls *t, struct ing_error *err) ING_MUST_CHECK;
void ing_http_tls_free(struct ing_http_tls *t); /* NULL is fine */
