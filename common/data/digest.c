/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes OpenSSL's digests. Algorithms are fetched once a process: in OpenSSL
 * 3 looking one up for every EVP_DigestInit costs more than hashing a small page. A piece is given
 * to all algorithms while it is in the cache.
 */
#include "common/data/digest.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <openssl/evp.h>

/* Half of the smallest first-level cache about. */
#define PIECE_BYTES ((size_t)16 << 10)

enum { ALGORITHMS = 3 };

static const struct {
	unsigned which;
	const char *name;
} algorithms[ALGORITHMS] = {
	{ING_DIGEST_MD5, "MD5"},
	{ING_DIGEST_SHA1, "SHA1"},
	{ING_DIGEST_SHA256, "SHA256"},
};

struct ing_digester {
	uint64_t bytes;
	EVP_MD_CTX *ctx[ALGORITHMS]; /* NULL: not asked for */
};

static pthread_once_t fetch_once = PTHREAD_ONCE_INIT;
static EVP_MD *fetched[ALGORITHMS]; /* kept to the end of the process */

static void fetch_all(void)
{
	for (int i = 0; i < ALGORITHMS; i++) {
		fetched[i] = EVP_MD_fetch(NULL, algorithms[i].name, NULL);
		ing_must(fetched[i] != NULL);
	}
}

/* Calls into OpenSSL fail only when memory is short or the installation is broken. */
static void restart_digester(struct ing_digester *d)
{
	d->bytes = 0;
	for (int i = 0; i < ALGORITHMS; i++) {
		if (d->ctx[i] != NULL)
			ing_must(EVP_DigestInit_ex2(d->ctx[i], fetched[i], NULL) == 1);
	}
}

static unsigned char *digest_place(struct ing_digests *ret, int i)
{
	switch (algorithms[i].which) {
	case ING_DIGEST_MD5:
		return ret->md5;
	case ING_DIGEST_SHA1:
		return ret->sha1;
	default:
		return ret->sha256;
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_digester *ing_digester_new(unsigned which)
{
	struct ing_digester *d = ing_alloc(sizeof(*d));
	pthread_once(&fetch_once, fetch_all);
	for (int i = 0; i < ALGORITHMS; i++) {
		if ((which & algorithms[i].which) == 0)
			continue;
		d->ctx[i] = EVP_MD_CTX_new();
		ing_must(d->ctx[i] != NULL);
	}
	restart_digester(d);
	return d;
}

void ing_digester_free(struct ing_digester *d)
{
	if (d == NULL)
		return;
	for (int i = 0; i < ALGORITHMS; i++)
		EVP_MD_CTX_free(d->ctx[i]);
	free(d);
}

void ing_digester_add(struct ing_digester *d, const void *data, size_t bytes)
{
	const unsigned char *from = data;
	d->bytes += bytes;
	while (bytes > 0) {
		size_t piece = ING_MIN(bytes, PIECE_BYTES);
		for (int i = 0; i < ALGORITHMS; i++) {
			if (d->ctx[i] != NULL)
				ing_must(EVP_DigestUpdate(d->ctx[i], from, piece) == 1);
		}
		from += piece;
		bytes -= piece;
	}
}

int ing_digester_add_file(struct ing_digester *d, int fd, uint64_t bytes, struct ing_error *err)
{
	unsigned char piece[PIECE_BYTES];
	for (uint64_t at = 0; at < bytes;) {
		size_t want = (size_t)ING_MIN(bytes - at, (uint64_t)PIECE_BYTES);
		ssize_t n = pread(fd, piece, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ing_error_set(
				err, ING_FAIL_TRUNCATED, "body: cannot read: %s", strerror(errno));
		if (n == 0)
			return ing_error_set(err, ING_FAIL_TRUNCATED,
				"body: ends at %llu of %llu bytes", (unsigned long long)at,
				(unsigned long long)bytes);
		ing_digester_add(d, piece, (size_t)n);
		at += (uint64_t)n;
	}
	return 0;
}

void ing_digester_finish(struct ing_digester *d, struct ing_digests *ret)
{
	ret->bytes = d->bytes;
	for (int i = 0; i < ALGORITHMS; i++) {
		if (d->ctx[i] != NULL)
			ing_must(EVP_DigestFinal_ex(d->ctx[i], digest_place(ret, i), NULL) == 1);
	}
	restart_digester(d);
}

void ing_digest(unsigned which, const void *data, size_t bytes, struct ing_digests *ret)
{
	struct ing_digester *d = ing_digester_new(which);
	ing_digester_add(d, data, bytes);
	ing_digester_finish(d, ret);
	ing_digester_free(d);
}
