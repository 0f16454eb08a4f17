/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * certs.h - a certificate authority that lives for one test run, and what it signs.
 */
#pragma once

struct certs;

/* Writes the authority's certificate to ca_path (PEM). */
struct certs *certs_new(const char *ca_path);
void certs_free(struct certs *c);
/* A server context (SSL_CTX, caller frees with SSL_CTX_free) for one DNS name, valid from now +
 * from_s to now + to_s. */
void *certs_server(struct certs *c, const char *name, long from_s, long to_s);
