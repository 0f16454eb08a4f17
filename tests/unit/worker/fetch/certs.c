/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "certs.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/base/macros.h"

struct certs {
	EVP_PKEY *key;
	X509 *cert;
	long serial;
};

static void add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ing_must(ext != NULL && X509_add_ext(cert, ext, -1) == 1);
	X509_EXTENSION_free(ext);
}

static X509 *make_cert(struct certs *c, EVP_PKEY *key, const char *name, long from_s, long to_s)
{
	X509 *cert = X509_new();
	ing_must(cert != NULL && X509_set_version(cert, X509_VERSION_3) == 1);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), ++c->serial);
	X509_gmtime_adj(X509_getm_notBefore(cert), from_s);
	X509_gmtime_adj(X509_getm_notAfter(cert), to_s);
	X509_set_pubkey(cert, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
		(const unsigned char *)name, -1, -1, 0);
	X509 *issuer = c->cert != NULL ? c->cert : cert;
	X509_set_issuer_name(cert, X509_get_subject_name(issuer));
	return cert;
}

static EVP_PKEY *make_key(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	ing_must(key != NULL);
	return key;
}

struct certs *certs_new(const char *ca_path)
{
	struct certs *c = ing_alloc(sizeof(*c));
	c->key = make_key();
	X509 *cert = make_cert(c, c->key, "Test Authority", -3600, 3600 * 24 * 400L);
	add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE");
	add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign");
	ing_must(X509_sign(cert, c->key, EVP_sha256()) > 0);
	c->cert = cert;
	FILE *f = fopen(ca_path, "w");
	ing_must(f != NULL && PEM_write_X509(f, cert) == 1 && fclose(f) == 0);
	return c;
}

void certs_free(struct certs *c)
{
	X509_free(c->cert);
	EVP_PKEY_free(c->key);
	free(c);
}

void *certs_server(struct certs *c, const char *name, long from_s, long to_s)
{
	char san[256];
	EVP_PKEY *key = make_key();
	X509 *cert = make_cert(c, key, name, from_s, to_s);
	snprintf(san, sizeof(san), "DNS:%s", name);
	add_extension(cert, c->cert, NID_subject_alt_name, san);
	add_extension(cert, c->cert, NID_ext_key_usage, "serverAuth");
	ing_must(X509_sign(cert, c->key, EVP_sha256()) > 0);
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	ing_must(ctx != NULL && SSL_CTX_use_certificate(ctx, cert) == 1 &&
		 SSL_CTX_use_PrivateKey(ctx, key) == 1);
	X509_free(cert);
	EVP_PKEY_free(key);
	return ctx;
}
