/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GnuTLS's part of an HTTP server. Each handshake gets a copy of certificate and key that is freed with it, so that a
 * reload may come in the middle of one; the copy takes a twentieth of what the handshake does.
 */
#include "common/net/http_server_tls.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/http_server_priv.h"

#define MAX_CHAIN 16

struct pair {
	gnutls_datum_t cert, key;
};

struct ing_http_tls {
	char *cert_file, *key_file;
	struct pair pair;
};

static struct ing_http_tls *in_use;

static void forget(struct pair *p)
{
	if (p->key.data != NULL)
		gnutls_memset(p->key.data, 0, p->key.size);
	gnutls_free(p->cert.data);
	gnutls_free(p->key.data);
	*p = (struct pair){0};
}

static int load(const struct ing_http_tls *t, struct pair *ret, struct ing_error *err)
{
	int rc = gnutls_load_file(t->cert_file, &ret->cert);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_CONFIG, "%s: cannot be read", t->cert_file);
	rc = gnutls_load_file(t->key_file, &ret->key);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_CONFIG, "%s: cannot be read", t->key_file);
	/* Reads both, and sees to it that they belong together. */
	gnutls_certificate_credentials_t trial;
	ing_must(gnutls_certificate_allocate_credentials(&trial) == 0);
	rc = gnutls_certificate_set_x509_key_mem(trial, &ret->cert, &ret->key, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(trial);
	if (rc < 0)
		return ing_error_set(err, ING_FAIL_CONFIG, "%s and %s: %s", t->cert_file,
			t->key_file, gnutls_strerror(rc));
	return 0;
}

static int retrieve(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
	gnutls_pcert_st **ret_certs, unsigned *ret_count, gnutls_ocsp_data_st **ret_ocsp,
	unsigned *ret_ocsp_count, gnutls_privkey_t *ret_key, unsigned *ret_flags)
{
	(void)session;
	(void)info;
	unsigned count = MAX_CHAIN;
	gnutls_pcert_st *certs = gnutls_calloc(MAX_CHAIN, sizeof(*certs));
	gnutls_privkey_t key = NULL;
	if (certs == NULL || in_use == NULL)
		goto fail;
	if (gnutls_pcert_list_import_x509_raw(
		    certs, &count, &in_use->pair.cert, GNUTLS_X509_FMT_PEM, 0) < 0)
		goto fail;
	if (gnutls_privkey_init(&key) < 0 || gnutls_privkey_import_x509_raw(key, &in_use->pair.key,
						     GNUTLS_X509_FMT_PEM, NULL, 0) < 0) {
		for (unsigned i = 0; i < count; i++)
			gnutls_pcert_deinit(&certs[i]);
		goto fail;
	}
	*ret_certs = certs;
	*ret_count = count;
	*ret_ocsp = NULL;
	*ret_ocsp_count = 0;
	*ret_key = key;
	*ret_flags = GNUTLS_CERT_RETR_DEINIT_ALL;
	return 0;
fail:
	gnutls_privkey_deinit(key);
	gnutls_free(certs);
	return -1;
}

/* ------------------------------------------------------------------------------------------ */

void *ing_http_tls_retrieve(void)
{
	gnutls_certificate_retrieve_function3 *f = retrieve;
	void *p;
	memcpy(&p, &f,
		sizeof(p)); /* libmicrohttpd takes it for an object's address, as dlsym(3) does */
	return p;
}

int ing_http_tls_new(const char *cert_file, const char *key_file, struct ing_http_tls **ret,
	struct ing_error *err)
{
	ing_must(in_use == NULL);
	struct ing_http_tls *t = ing_alloc(sizeof(*t));
	*t = (struct ing_http_tls){
		.cert_file = ing_strdup(cert_file), .key_file = ing_strdup(key_file)};
	int rc = load(t, &t->pair, err);
	if (rc != 0) {
		ing_http_tls_free(t);
		return rc;
	}
	*ret = in_use = t;
	return 0;
}

int ing_http_tls_reload(struct ing_http_tls *t, struct ing_error *err)
{
	struct pair loaded = {0};
	int rc = load(t, &loaded, err);
	struct pair *old = rc == 0 ? &t->pair : &loaded;
	struct pair next = rc == 0 ? loaded : t->pair;
	forget(old);
	t->pair = next;
	return rc;
}

void ing_http_tls_free(struct ing_http_tls *t)
{
	if (t == NULL)
		return;
	if (in_use == t)
		in_use = NULL;
	forget(&t->pair);
	free(t->cert_file);
	free(t->key_file);
	free(t);
}
