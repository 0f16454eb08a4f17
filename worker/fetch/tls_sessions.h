/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tls_sessions.h - TLS sessions of servers, which make the next handshake with the same host cheap: no
 * certificate is sent, parsed or verified.
 *
 * Owns the sessions and what is known of each connection that may bring one. Loop thread only. A session
 * is offered only to connections of the same key, of which trust is a part: one that came without
 * verification never serves a transfer that wants it.
 *
 * How long a session is offered. Nothing is verified again when one is resumed, so the shortest of these
 * counts, from the full handshake on, however often sessions followed from sessions: what the server
 * says, a day, the end of each certificate of the verified chain. When the CA file has changed, no
 * session is offered whose chain may have been verified with the old one. A server that changes its
 * certificate and still takes old tickets is believed for the rest of the day; revocation is not
 * checked by full handshakes either. Early data is never sent.
 *
 * Memory is bounded, certificates included; the host that was not used for the longest time goes first.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_fetch_stats;
struct ing_tls_sessions;

/* Of one host, its certificates included. */
#define ING_TLS_SESSIONS_HOST_BYTES ((size_t)128 << 10)
/* curl reads the trust store again after this, so that a changed bundle takes effect. */
#define ING_CA_STORE_AGE_S 3600L

struct ing_tls_key {
	const char *host; /* of the URL */
	unsigned port;
	bool via_proxy, unverified;
};

/* keep: whether sessions are kept at all; handshakes are counted in any case. max_bytes: of memory.
 * ca_file is borrowed. */
struct ing_tls_sessions *ing_tls_sessions_new(bool keep, size_t max_bytes, const char *ca_file);
/* NULL is fine. All connections must be closed. */
void ing_tls_sessions_free(struct ing_tls_sessions *s);

/* Whether a connection with this key would be offered a session. */
bool ing_tls_sessions_have(struct ing_tls_sessions *s, const struct ing_tls_key *key);
/* For CURLOPT_SSL_CTX_FUNCTION: ssl_ctx (SSL_CTX) is that of one new connection, whose sessions are kept
 * from now on, also when its transfer has ended. Returns whether a session will be offered in its
 * handshake. */
bool ing_tls_sessions_attach(
	struct ing_tls_sessions *s, void *ssl_ctx, const struct ing_tls_key *key);
/* A connection that offered a session did not come to an answer, or a certificate was refused: drops
 * what is kept of the key and keeps nothing for an hour, so that the next handshakes are full ones. */
void ing_tls_sessions_failed(struct ing_tls_sessions *s, const struct ing_tls_key *key);

/* Sets the members tls_*. */
void ing_tls_sessions_count(const struct ing_tls_sessions *s, struct ing_fetch_stats *ret);
