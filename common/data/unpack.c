/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which format it is, and the members of a file one after the other; the decoders are in files of
 * their own. No more is read ahead of a decision than it needs, so that lines typed at a terminal, or
 * that come slowly through a pipe, are there at once.
 */
#include "common/data/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/data/unpack_priv.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define MAGIC_BYTES 10

enum phase {
	PHASE_START, /* nothing is known of the file */
	PHASE_PLAIN,
	PHASE_MEMBER, /* inside compressed data */
	PHASE_GAP,    /* behind a member */
	PHASE_END,
};

struct ing_unpack {
	int fd;
	enum phase phase;
	const struct ing_unpack_format *format; /* NULL: plain */
	void *state;
	const unsigned char *at; /* in `piece`: read, but not used */
	size_t left;
	bool ended; /* the descriptor has no more */
	bool keeps_gzip;
	uint64_t packed, content;
	unsigned char front[MAGIC_BYTES]; /* of the content, to see a second layer */
	struct ing_error failed;
	unsigned char *piece;
};

/* In a magic 0 to 255 is that byte, DIGIT one of '1' to '9', LOW any with the high half of 0x50. */
#define DIGIT (-1)
#define LOW (-2)

static const struct magic {
	const struct ing_unpack_format *format; /* NULL: known, and not read */
	size_t bytes;
	int16_t magic[MAGIC_BYTES];
} magics[] = {
	{&ing_unpack_gzip, 3, {0x1f, 0x8b, 8}},
	{&ing_unpack_zstd, 4, {0x28, 0xb5, 0x2f, 0xfd}},
	{&ing_unpack_zstd, 4, {LOW, 0x2a, 0x4d, 0x18}}, /* a skippable frame */
	{&ing_unpack_xz, 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
	{&ing_unpack_bzip2, 10, {'B', 'Z', 'h', DIGIT, '1', 'A', 'Y', '&', 'S', 'Y'}},
	{&ing_unpack_bzip2, 10,
		{'B', 'Z', 'h', DIGIT, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90}}, /* empty */
	{NULL, 4, {'P', 'K', 3, 4}},
};

static bool is_magic_byte(int16_t want, unsigned char c)
{
	if (want == DIGIT)
		return c >= '1' && c <= '9';
	return want == LOW ? c >> 4 == 5 : c == want;
}

/* The magic with which s begins, or could with more bytes; the latter sets *ret_open. */
static const struct magic *find_magic(const unsigned char *s, size_t bytes, bool *ret_open)
{
	*ret_open = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(magics); i++) {
		const struct magic *m = &magics[i];
		size_t same = 0;
		while (same < m->bytes && same < bytes && is_magic_byte(m->magic[same], s[same]))
			same++;
		if (same == m->bytes)
			return m;
		if (same == bytes)
			*ret_open = true;
	}
	return NULL;
}

static int read_failed(const struct ing_unpack *u, int errnum, struct ing_error *err)
{
	uint64_t at = u->packed + u->left;
	if (at == 0)
		return ing_error_sys(err, errnum, "cannot be read");
	return ing_error_sys(err, errnum, "byte %" PRIu64, at);
}

/* Adds to the bytes in hand, which are fewer than a piece. */
static int read_more(struct ing_unpack *u, struct ing_error *err)
{
	if (u->piece == NULL)
		u->piece = ing_alloc(PIECE_BYTES);
	if (u->left > 0 && u->at != u->piece)
		memmove(u->piece, u->at, u->left);
	u->at = u->piece;
	for (;;) {
		ssize_t n = read(u->fd, u->piece + u->left, PIECE_BYTES - u->left);
		if (n >= 0) {
			u->left += (size_t)n;
			u->ended = n == 0;
			return 0;
		}
		/* Somebody else may have made a shared descriptor non-blocking. */
		if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = u->fd, .events = POLLIN}, 1, -1);
		else if (errno != EINTR)
			return read_failed(u, errno, err);
	}
}

static void use(struct ing_unpack *u, size_t bytes)
{
	u->at += bytes;
	u->left -= bytes;
	u->packed += bytes;
}

/* The magic at the front of what comes, NULL for any other content. */
static int look_ahead(struct ing_unpack *u, const struct magic **ret, struct ing_error *err)
{
	bool open;
	for (;;) {
		*ret = find_magic(u->at, u->left, &open);
		if (*ret != NULL || !open || u->ended)
			return 0;
		int rc = read_more(u, err);
		if (rc != 0)
			return rc;
	}
}

static int begin_file(struct ing_unpack *u, struct ing_error *err)
{
	const struct magic *m;
	int rc = look_ahead(u, &m, err);
	if (rc != 0)
		return rc;
	if (m == NULL || (u->keeps_gzip && m->format == &ing_unpack_gzip)) {
		u->phase = PHASE_PLAIN;
		return 0;
	}
	if (m->format == NULL)
		return ing_error_set(err, ING_FAIL_UNSUPPORTED,
			"this is a ZIP archive: unpack it, and give the files in it");
	u->format = m->format;
	u->state = u->format->open();
	u->format->begin(u->state);
	u->phase = PHASE_MEMBER;
	return 0;
}

/* Zeros behind a member fill up blocks of tapes and devices, as gzip(1) and xz(1) know. */
static int skip_padding(struct ing_unpack *u, struct ing_error *err)
{
	for (;;) {
		size_t zeros = 0;
		while (zeros < u->left && u->at[zeros] == 0)
			zeros++;
		use(u, zeros);
		if (u->left > 0 || u->ended)
			return 0;
		int rc = read_more(u, err);
		if (rc != 0)
			return rc;
	}
}

static int begin_next(struct ing_unpack *u, struct ing_error *err)
{
	const struct magic *m;
	int rc = skip_padding(u, err);
	if (rc == 0)
		rc = look_ahead(u, &m, err);
	if (rc != 0)
		return rc;
	if (u->left == 0) {
		u->phase = PHASE_END;
		return 0;
	}
	if (m == NULL || m->format != u->format)
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"byte %" PRIu64 ": something else behind the %s data, which was whole",
			u->packed, u->format->name);
	u->format->begin(u->state);
	u->phase = PHASE_MEMBER;
	return 0;
}

static bool is_second_layer(struct ing_unpack *u, const void *data, size_t bytes)
{
	size_t had = (size_t)u->content;
	size_t have = ING_MIN(had + bytes, (size_t)MAGIC_BYTES);
	memcpy(u->front + had, data, have - had);
	bool open;
	const struct magic *m = find_magic(u->front, have, &open);
	if (m == NULL || (u->keeps_gzip && m->format == &ing_unpack_gzip))
		return false;
	ing_error_clear(&u->failed);
	ing_error_set(&u->failed, ING_FAIL_UNSUPPORTED,
		"%s inside %s: one layer is read, take the other off before",
		m->format != NULL ? m->format->name : "ZIP", u->format->name);
	return true;
}

/* Something came out, or there is a reason why nothing did. *ret is 0 at the end of a member. */
static int decode_some(
	struct ing_unpack *u, void *to, size_t room, size_t *ret, struct ing_error *err)
{
	for (;;) {
		struct ing_error why = {0};
		const unsigned char *from = u->at;
		size_t left = u->left;
		int rc = u->format->step(u->state, &from, &left, to, room, ret, &why);
		bool stuck = left == u->left && left > 0;
		use(u, u->left - left);
		if (rc == 1)
			u->phase = PHASE_GAP;
		if (rc < 0 || (rc == 0 && *ret == 0 && stuck)) {
			const char *words = rc < 0 ? why.msg : "damaged";
			return ing_error_set(err, rc < 0 ? why.code : ING_FAIL_SYNTAX,
				"byte %" PRIu64 " of the %s data: %s", u->packed, u->format->name,
				words);
		}
		if (*ret > 0 || rc == 1)
			return 0;
		if (left > 0)
			continue;
		if (u->ended)
			return ing_error_set(err, ING_FAIL_TRUNCATED,
				"byte %" PRIu64 ": the %s data ends early", u->packed,
				u->format->name);
		rc = read_more(u, err);
		if (rc != 0)
			return rc;
	}
}

/* What is in hand from looking at the front; then from the descriptor to its user. */
static ssize_t read_plain(struct ing_unpack *u, void *to, size_t room, struct ing_error *err)
{
	if (u->left == 0 && !u->ended) {
		int rc = read_more(u, err);
		if (rc != 0)
			return rc;
	}
	size_t bytes = ING_MIN(room, u->left);
	memcpy(to, u->at, bytes);
	use(u, bytes);
	return (ssize_t)bytes;
}

static ssize_t read_some(struct ing_unpack *u, void *to, size_t room)
{
	for (;;) {
		size_t bytes = 0;
		int rc = 0;
		switch (u->phase) {
		case PHASE_START:
			rc = begin_file(u, &u->failed);
			break;
		case PHASE_PLAIN:
			return read_plain(u, to, room, &u->failed);
		case PHASE_MEMBER:
			rc = decode_some(u, to, room, &bytes, &u->failed);
			break;
		case PHASE_GAP:
			rc = begin_next(u, &u->failed);
			break;
		case PHASE_END:
			return 0;
		}
		if (bytes > 0 && u->content < MAGIC_BYTES && is_second_layer(u, to, bytes))
			return -ING_FAIL_UNSUPPORTED;
		if (bytes > 0) /* a failure is for the next call */
			return (ssize_t)bytes;
		if (rc < 0)
			return rc;
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_unpack *ing_unpack_new(int fd)
{
	struct ing_unpack *u = ing_alloc(sizeof(*u));
	u->fd = fd;
	return u;
}

void ing_unpack_free(struct ing_unpack *u)
{
	if (u == NULL)
		return;
	if (u->state != NULL)
		u->format->close(u->state);
	free(u->piece);
	free(u);
}

void ing_unpack_keep_gzip(struct ing_unpack *u)
{
	u->keeps_gzip = true;
}

ssize_t ing_unpack_read(struct ing_unpack *u, void *to, size_t room, struct ing_error *err)
{
	ing_must(room > 0);
	ssize_t n = u->failed.code == ING_FAIL_NONE ? read_some(u, to, room) : -1;
	if (n < 0)
		return ing_error_set(err, u->failed.code, "%s", u->failed.msg);
	u->content += (uint64_t)n;
	return n;
}

const char *ing_unpack_format(const struct ing_unpack *u)
{
	if (u->phase == PHASE_START)
		return "";
	return u->format != NULL ? u->format->name : "plain";
}

uint64_t ing_unpack_packed_bytes(const struct ing_unpack *u)
{
	return u->packed;
}

uint64_t ing_unpack_content_bytes(const struct ing_unpack *u)
{
	return u->content;
}
