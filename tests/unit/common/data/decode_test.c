/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Content codings as servers really send them: right, doubled, wrapped otherwise than said, cut,
 * damaged, and as bombs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "common/data/decode.h"

#define GREETING "Hello, content coding! Hello, content coding! Hello, content coding!\n"
#define GREETING_BR                                                                                \
	"\x1b\x44\x00\xf8\xc5\x6d\xec\x7b\x56\xbd\xe7\xf9\x15\x11\x48\xa6\x22\xad\xf8\x53\x26\x88" \
	"\x14\x47\x72\x7b\x6e\xe5\xbe\xdf\x0c\x02"
/* Ten million zero bytes. */
#define BOMB_BR                                                                                    \
	"\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x2f\xff\x2c\x31\xf0\x4f\x00\xc4\x61" \
	"\x11\x80\x8e\x23\x06"

enum wrap { PLAIN, GZIP, ZLIB, RAW };

/* Append data in a frame of zlib's. */
static void pack(struct ing_buf *to, enum wrap wrap, const void *data, size_t bytes)
{
	static const int window[] = {
		[GZIP] = MAX_WBITS + 16, [ZLIB] = MAX_WBITS, [RAW] = -MAX_WBITS};
	if (wrap == PLAIN) {
		ing_buf_add(to, data, bytes);
		return;
	}
	z_stream z = {0};
	assert_int_equal(
		deflateInit2(&z, 6, Z_DEFLATED, window[wrap], 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, bytes);
	z.next_in = (z_const Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)bytes;
	z.next_out = ing_buf_reserve(to, room);
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	ing_buf_commit(to, room - z.avail_out);
	deflateEnd(&z);
}

static int decode(const char *codings, const void *data, size_t bytes, size_t max,
	struct ing_buf *out, struct ing_error *err)
{
	/* A copy of exactly that size, so that reading past the end is seen. */
	void *copy = malloc(bytes + (bytes == 0));
	assert_non_null(copy);
	memcpy(copy, data, bytes);
	ing_buf_init(out, max);
	int rc = ing_decode(codings, copy, bytes, out, err);
	free(copy);
	return rc;
}

/* clang-format off */
static const struct {
	const char *name;
	const char *codings;
	enum wrap inner, outer; /* applied in this order */
	int want;
} framed[] = {
	{.name = "gzip", .codings = "gzip", .inner = GZIP, .outer = PLAIN, .want = 0},
	{.name = "x-gzip", .codings = "x-gzip", .inner = GZIP, .outer = PLAIN, .want = 0},
	{.name = "case and space", .codings = " \tGZip ", .inner = GZIP, .outer = PLAIN, .want = 0},
	{.name = "deflate as zlib", .codings = "deflate", .inner = ZLIB, .outer = PLAIN, .want = 0},
	{.name = "deflate as raw", .codings = "deflate", .inner = RAW, .outer = PLAIN, .want = 0},
	{.name = "deflate that is gzip", .codings = "deflate", .inner = GZIP, .outer = PLAIN,
		.want = 0},
	{.name = "gzip twice", .codings = "gzip, gzip", .inner = GZIP, .outer = GZIP, .want = 0},
	{.name = "order of a list", .codings = "deflate,gzip", .inner = RAW, .outer = GZIP,
		.want = 0},
	{.name = "empty list elements", .codings = ",, gzip ,identity,", .inner = GZIP,
		.outer = PLAIN, .want = 0},
	{.name = "identity", .codings = "identity", .inner = PLAIN, .outer = PLAIN, .want = 0},
	{.name = "no header", .inner = PLAIN, .outer = PLAIN, .want = 0},
	{.name = "empty header", .codings = "", .inner = PLAIN, .outer = PLAIN, .want = 0},
	{.name = "gzip that is none", .codings = "gzip", .inner = PLAIN, .outer = PLAIN, .want = 0},
	{.name = "one of two gzips is none", .codings = "gzip, gzip", .inner = GZIP,
		.outer = PLAIN, .want = 0},
	{.name = "a list of which gzip is none", .codings = "gzip, deflate", .inner = PLAIN,
		.outer = GZIP, .want = 0},
	{.name = "deflate that is none", .codings = "deflate", .inner = PLAIN, .outer = PLAIN,
		.want = -ING_FAIL_SYNTAX},
	{.name = "br that is none", .codings = "br", .inner = PLAIN, .outer = PLAIN,
		.want = -ING_FAIL_SYNTAX},
	{.name = "unknown", .codings = "zstd", .inner = PLAIN, .outer = PLAIN,
		.want = -ING_FAIL_UNSUPPORTED},
	{.name = "unknown in a list", .codings = "gzip, sdch", .inner = GZIP, .outer = PLAIN,
		.want = -ING_FAIL_UNSUPPORTED},
	{.name = "prefix of a name", .codings = "gzi", .inner = GZIP, .outer = PLAIN,
		.want = -ING_FAIL_UNSUPPORTED},
	{.name = "three layers", .codings = "gzip,gzip,gzip", .inner = GZIP, .outer = GZIP,
		.want = -ING_FAIL_UNSUPPORTED},
	{.name = "three layers of which one is there", .codings = "gzip,gzip,br", .inner = GZIP,
		.outer = PLAIN, .want = -ING_FAIL_UNSUPPORTED},
	{.name = "two layers in a longer list", .codings = "gzip, identity, , gzip, identity",
		.inner = GZIP, .outer = GZIP, .want = 0},
};
/* clang-format on */

static void decodes_what_servers_send(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(framed); i++) {
		struct ing_buf once, twice, out;
		struct ing_error err = {0};
		print_message("%s\n", framed[i].name);
		ing_buf_init(&once, 1 << 20);
		ing_buf_init(&twice, 1 << 20);
		pack(&once, framed[i].inner, GREETING, strlen(GREETING));
		pack(&twice, framed[i].outer, once.data, once.len);
		assert_int_equal(
			decode(framed[i].codings, twice.data, twice.len, 1 << 20, &out, &err),
			framed[i].want);
		if (framed[i].want == 0) {
			assert_string_equal(ing_buf_str(&out), GREETING);
			assert_int_equal(err.code, ING_FAIL_NONE);
		} else {
			assert_int_equal(-(int)err.code, framed[i].want);
			assert_true(err.msg[0] != '\0');
		}
		ing_buf_done(&out);
		ing_buf_done(&once);
		ing_buf_done(&twice);
	}
}

static void brotli_is_decoded(void **state)
{
	(void)state;
	struct ing_buf out;
	size_t bytes = sizeof(GREETING_BR) - 1;
	assert_int_equal(decode("br", GREETING_BR, bytes, 1 << 20, &out, NULL), 0);
	assert_string_equal(ing_buf_str(&out), GREETING);
	ing_buf_done(&out);
	/* What follows the stream is ignored. */
	assert_int_equal(decode("br", GREETING_BR "junk", bytes + 4, 1 << 20, &out, NULL), 0);
	assert_string_equal(ing_buf_str(&out), GREETING);
	ing_buf_done(&out);
	for (size_t n = 1; n < bytes; n++) {
		assert_int_equal(
			decode("br", GREETING_BR, n, 1 << 20, &out, NULL), -ING_FAIL_TRUNCATED);
		ing_buf_done(&out);
	}
	struct ing_buf wrapped;
	ing_buf_init(&wrapped, 1 << 20);
	pack(&wrapped, GZIP, GREETING_BR, bytes);
	assert_int_equal(decode("br, gzip", wrapped.data, wrapped.len, 1 << 20, &out, NULL), 0);
	assert_string_equal(ing_buf_str(&out), GREETING);
	ing_buf_done(&out);
	ing_buf_done(&wrapped);
}

static void nothing_is_nothing_in_every_coding(void **state)
{
	static const char *const codings[] = {NULL, "", "gzip", "deflate", "br", "br, gzip"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(codings); i++) {
		struct ing_buf out;
		assert_int_equal(decode(codings[i], "", 0, 1 << 20, &out, NULL), 0);
		assert_int_equal(out.len, 0);
		ing_buf_done(&out);
	}
}

static void every_cut_of_gzip_is_seen(void **state)
{
	(void)state;
	struct ing_buf gz, out;
	ing_buf_init(&gz, 1 << 20);
	pack(&gz, GZIP, GREETING, strlen(GREETING));
	for (size_t n = 1; n < gz.len; n++) {
		assert_int_equal(
			decode("gzip", gz.data, n, 1 << 20, &out, NULL), -ING_FAIL_TRUNCATED);
		ing_buf_done(&out);
	}
	gz.data[gz.len - 6] ^= 1; /* in the checksum */
	assert_int_equal(decode("gzip", gz.data, gz.len, 1 << 20, &out, NULL), -ING_FAIL_SYNTAX);
	ing_buf_done(&out);
	ing_buf_done(&gz);
	/* One byte can be gzip's first, or no gzip. */
	assert_int_equal(decode("gzip", "\x1f", 1, 1 << 20, &out, NULL), -ING_FAIL_TRUNCATED);
	ing_buf_done(&out);
	assert_int_equal(decode("gzip", "x", 1, 1 << 20, &out, NULL), 0);
	assert_string_equal(ing_buf_str(&out), "x");
	ing_buf_done(&out);
}

/* clang-format off */
static const struct {
	const char *name;
	const char *tail;
	size_t bytes;
	bool second_member; /* before the tail */
	int want;
} tails[] = {
	{.name = "one member", .tail = "", .want = 0},
	{.name = "two members", .tail = "", .second_member = true, .want = 0},
	{.name = "garbage", .tail = "\r\n<!-- cached -->", .bytes = 17, .want = 0},
	{.name = "one byte", .tail = "\n", .bytes = 1, .want = 0},
	{.name = "the first byte of another", .tail = "\x1f", .bytes = 1, .want = 0},
	{.name = "zero padding", .tail = "\0\0\0\0\0", .bytes = 5, .second_member = true,
		.want = 0},
	{.name = "a member cut at its front", .tail = "\x1f\x8b\x08", .bytes = 3,
		.want = -ING_FAIL_TRUNCATED},
	{.name = "a damaged member", .tail = "\x1f\x8b\xff\xff\xff\xff", .bytes = 6,
		.second_member = true, .want = -ING_FAIL_SYNTAX},
};
/* clang-format on */

static void gzip_members_and_what_follows_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(tails); i++) {
		struct ing_buf gz, out;
		print_message("%s\n", tails[i].name);
		ing_buf_init(&gz, 1 << 20);
		pack(&gz, GZIP, GREETING, strlen(GREETING));
		if (tails[i].second_member)
			pack(&gz, GZIP, "and more", 8);
		ing_buf_add(&gz, tails[i].tail, tails[i].bytes);
		assert_int_equal(
			decode("gzip", gz.data, gz.len, 1 << 20, &out, NULL), tails[i].want);
		if (tails[i].want == 0)
			assert_string_equal(ing_buf_str(&out),
				tails[i].second_member ? GREETING "and more" : GREETING);
		ing_buf_done(&out);
		ing_buf_done(&gz);
	}
}

static void output_is_capped(void **state)
{
	(void)state;
	static const size_t zeros = 8 << 20;
	void *data = calloc(1, zeros);
	assert_non_null(data);
	struct ing_buf gz, twice, out;
	ing_buf_init(&gz, 2 * zeros);
	ing_buf_init(&twice, 1 << 20);
	pack(&gz, GZIP, data, zeros);
	pack(&twice, GZIP, gz.data, gz.len);
	assert_int_equal(decode("gzip", gz.data, gz.len, zeros, &out, NULL), 0);
	assert_int_equal(out.len, zeros);
	ing_buf_done(&out);
	assert_int_equal(decode("gzip", gz.data, gz.len, zeros - 1, &out, NULL), -ING_FAIL_TOO_BIG);
	assert_true(out.len < zeros);
	ing_buf_done(&out);
	assert_int_equal(decode("gzip, gzip", twice.data, twice.len, 1 << 20, &out, NULL),
		-ING_FAIL_TOO_BIG);
	ing_buf_done(&out);
	assert_int_equal(
		decode("br", BOMB_BR, sizeof(BOMB_BR) - 1, 1 << 20, &out, NULL), -ING_FAIL_TOO_BIG);
	ing_buf_done(&out);
	assert_int_equal(decode("identity", "12345", 5, 4, &out, NULL), -ING_FAIL_TOO_BIG);
	ing_buf_done(&out);
	ing_buf_done(&gz);
	ing_buf_done(&twice);
	free(data);
}

/* Eight mebibytes of zeros are some 8 KB as gzip: about a thousand times less. */
static void ratio_is_bounded(void **state)
{
	(void)state;
	static const size_t zeros = 8 << 20;
	/* clang-format off */
	static const struct {
		size_t plain; /* zeros in the data */
		unsigned max_ratio;
		size_t max;
		int want;
		const char *words;
	} cases[] = {
		{.plain = zeros, .max = zeros, .want = 0},
		{.plain = zeros, .max_ratio = 2000, .max = zeros, .want = 0},
		{.plain = zeros, .max_ratio = 400, .max = zeros, .want = -ING_FAIL_TOO_BIG,
			.words = "over 400 times its size"},
		{.plain = zeros, .max_ratio = 400, .max = 2 << 20, .want = -ING_FAIL_TOO_BIG,
			.words = "over the limit of"},
		{.plain = 1 << 20, .max_ratio = 2, .max = zeros, .want = 0}, /* nobody asks about so little */
		{.plain = (1 << 20) + 1, .max_ratio = 2, .max = zeros, .want = -ING_FAIL_TOO_BIG,
			.words = "over 2 times its size"},
		{.plain = zeros, .max_ratio = UINT32_MAX, .max = zeros, .want = 0},
		{.plain = zeros, .max_ratio = 1000000, .max = 1 << 20, .want = -ING_FAIL_TOO_BIG,
			.words = "over the limit of"},
	};
	/* clang-format on */
	void *data = calloc(1, zeros);
	assert_non_null(data);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf gz;
		struct ing_buf out;
		struct ing_error err = {0};
		ing_buf_init(&gz, 2 * zeros);
		ing_buf_init(&out, cases[i].max + 3);
		ing_buf_add(&out, "abc", 3); /* what is there already does not count */
		pack(&gz, GZIP, data, cases[i].plain);
		int rc =
			ing_decode_bounded("gzip", gz.data, gz.len, cases[i].max_ratio, &out, &err);
		if (rc != cases[i].want)
			fail_msg("case %zu: %d %s", i, rc, err.msg);
		if (cases[i].words != NULL && strstr(err.msg, cases[i].words) == NULL)
			fail_msg("case %zu: %s", i, err.msg);
		assert_int_equal(rc, -(int)err.code);
		assert_int_equal(out.max, cases[i].max + 3);
		if (rc == 0)
			assert_int_equal(out.len, cases[i].plain + 3);
		ing_buf_done(&gz);
		ing_buf_done(&out);
	}
	free(data);
}

static void a_list_of_codings_is_short(void **state)
{
	(void)state;
	char field[1100];
	struct ing_buf gz, out;
	ing_buf_init(&gz, 1 << 20);
	pack(&gz, GZIP, GREETING, strlen(GREETING));
	memset(field, ' ', sizeof(field));
	memcpy(field, "gzip", 4);
	field[1000] = '\0';
	assert_int_equal(decode(field, gz.data, gz.len, 1 << 20, &out, NULL), 0);
	ing_buf_done(&out);
	/* Where it was cut, on its way here, there may have been another. */
	field[1000] = ' ';
	field[1001] = '\0';
	assert_int_equal(
		decode(field, gz.data, gz.len, 1 << 20, &out, NULL), -ING_FAIL_UNSUPPORTED);
	ing_buf_done(&out);
	ing_buf_done(&gz);
}

/* Eight deflate blocks with trees for their own end and nothing else. */
#define DYNAMIC_BLOCKS                                                                             \
	"\x04\xc0\x81\x00\x00\x00\x00\x00\x90\xff\x6b\x10\x00\x07\x02\x00\x00\x00\x00\x40\xfe\xaf" \
	"\x41\x00\x1c\x08\x00\x00\x00\x00\x00\xf9\xbf\x06\x01\x70\x20\x00\x00\x00\x00\x00\xe4\xff" \
	"\x1a\x04\xc0\x81\x00\x00\x00\x00\x00\x90\xff\x6b\x10\x00\x07\x02\x00\x00\x00\x00\x40\xfe" \
	"\xaf\x41\x00\x1c\x08\x00\x00\x00\x00\x00\xf9\xbf\x06\x01\x70\x20\x00\x00\x00\x00\x00\xe4" \
	"\xff\x1a"
#define FIXED_BLOCKS "\x02\x08\x20\x80\x00" /* four empty ones */
#define GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\xff"
#define GZIP_END "\0\0\0\0\0\0\0\0" /* of nothing: checksum and length */
#define TEXT(s) (s), sizeof(s) - 1

/* Streams that take time and yield nothing: `head`, `piece` again and again, `tail`. */
static const struct {
	const char *name;
	const char *coding;
	const char *head;
	size_t head_bytes;
	const char *piece;
	size_t piece_bytes;
	const char *tail;
	size_t tail_bytes;
} idle[] = {
	{"empty stored blocks", "gzip", TEXT(GZIP_HEAD), TEXT("\0\0\0\xff\xff"),
		TEXT("\x01\0\0\xff\xff" GZIP_END)},
	{"empty blocks with the fixed trees", "gzip", TEXT(GZIP_HEAD), TEXT(FIXED_BLOCKS),
		TEXT("\x03\0" GZIP_END)},
	{"the same without a frame", "deflate", TEXT(FIXED_BLOCKS), TEXT(FIXED_BLOCKS),
		TEXT("\x03\0")},
	{"the same in zlib's frame", "deflate", TEXT("\x78\x9c"), TEXT(FIXED_BLOCKS),
		TEXT("\x03\0\0\0\0\x01")},
	{"blocks with trees of their own", "gzip", TEXT(GZIP_HEAD), TEXT(DYNAMIC_BLOCKS),
		TEXT("\x03\0" GZIP_END)},
	{"empty members", "gzip", TEXT(""), TEXT(GZIP_HEAD "\x03\0" GZIP_END), TEXT("")},
	{"a name without end", "gzip", TEXT("\x1f\x8b\x08\x08\0\0\0\0\0\xff"), TEXT("xxxxxxxx"),
		TEXT("\0\x03\0" GZIP_END)},
	{"brotli's empty meta-blocks", "br", TEXT("\x0c"), TEXT("\x06"), TEXT("\x03")},
};

static void fill_idle(struct ing_buf *to, size_t i, size_t bytes)
{
	ing_buf_init(to, bytes + 1000);
	ing_buf_add(to, idle[i].head, idle[i].head_bytes);
	while (to->len < bytes)
		ing_buf_add(to, idle[i].piece, idle[i].piece_bytes);
	ing_buf_add(to, idle[i].tail, idle[i].tail_bytes);
	assert_false(to->failed);
}

/* As it was sent it is worth its bytes; as what another layer made of a thousandth it is not. */
static void work_without_output_is_bounded(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(idle); i++) {
		struct ing_buf once, twice, out;
		struct ing_error err = {0};
		char codings[40];
		fill_idle(&once, i, 4 << 20);
		ing_buf_init(&twice, 16 << 20);
		pack(&twice, GZIP, once.data, once.len);
		int rc = decode(idle[i].coding, once.data, once.len, 1 << 20, &out, &err);
		if (rc != 0 || out.len != 0)
			fail_msg("%s, once: %d %s", idle[i].name, rc, err.msg);
		ing_buf_done(&out);
		snprintf(codings, sizeof(codings), "%s, gzip", idle[i].coding);
		rc = decode(codings, twice.data, twice.len, 128 << 20, &out, &err);
		if (rc != -ING_FAIL_INVALID || strstr(err.msg, "takes more work") == NULL)
			fail_msg("%s, twice: %d %s", idle[i].name, rc, err.msg);
		assert_int_equal(out.len, 0);
		ing_buf_done(&out);
		ing_buf_done(&once);
		ing_buf_done(&twice);
	}
}

/* The field's worst: 10 KB that kept a processor busy for 14 seconds. */
static void three_layers_of_nothing_are_refused_unread(void **state)
{
	(void)state;
	struct ing_buf once, twice, thrice, out;
	fill_idle(&once, 0, 8 << 20);
	ing_buf_init(&twice, 16 << 20);
	ing_buf_init(&thrice, 16 << 20);
	pack(&twice, GZIP, once.data, once.len);
	pack(&thrice, GZIP, twice.data, twice.len);
	assert_int_equal(decode("gzip, gzip, gzip", thrice.data, thrice.len, 1 << 20, &out, NULL),
		-ING_FAIL_UNSUPPORTED);
	assert_int_equal(out.len, 0);
	ing_buf_done(&out);
	ing_buf_done(&once);
	ing_buf_done(&twice);
	ing_buf_done(&thrice);
}

/* What stands between two layers has a ceiling, too, whatever comes of it. */
static void a_middle_layer_is_no_larger_than_what_it_holds(void **state)
{
	(void)state;
	static const size_t zeros = 512 << 10;
	void *data = calloc(1, zeros);
	assert_non_null(data);
	struct ing_buf middle, sent, out;
	ing_buf_init(&middle, 2 * zeros);
	ing_buf_init(&sent, 2 * zeros);
	/* Behind its end a member is followed by much that nobody reads. */
	pack(&middle, GZIP, GREETING, strlen(GREETING));
	ing_buf_add(&middle, data, zeros);
	pack(&sent, GZIP, middle.data, middle.len);
	assert_int_equal(decode("gzip, gzip", sent.data, sent.len, 128 << 10, &out, NULL),
		-ING_FAIL_INVALID);
	assert_string_equal(ing_buf_str(&out), GREETING);
	ing_buf_done(&out);
	assert_int_equal(decode("gzip, gzip", sent.data, sent.len, zeros, &out, NULL), 0);
	assert_string_equal(ing_buf_str(&out), GREETING);
	ing_buf_done(&out);
	ing_buf_done(&middle);
	ing_buf_done(&sent);
	free(data);
}

/* As servers do that flush behind every line, or have little memory. */
static void pack_in_pieces(struct ing_buf *to, int level, int memory, int flush, size_t piece,
	const char *data, size_t bytes)
{
	z_stream z = {0};
	assert_int_equal(
		deflateInit2(&z, level, Z_DEFLATED, MAX_WBITS + 16, memory, Z_DEFAULT_STRATEGY),
		Z_OK);
	size_t room = deflateBound(&z, bytes) * 2 + bytes / piece * 16;
	z.next_out = ing_buf_reserve(to, room);
	z.avail_out = (uInt)room;
	for (size_t at = 0; at < bytes; at += piece) {
		z.next_in = (z_const Bytef *)(uintptr_t)(data + at);
		z.avail_in = (uInt)ING_MIN(piece, bytes - at);
		assert_int_equal(deflate(&z, flush), Z_OK);
	}
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	ing_buf_commit(to, room - z.avail_out);
	deflateEnd(&z);
}

static void honest_streams_are_never_too_much_work(void **state)
{
	static const struct {
		int level, memory, flush;
		size_t piece;
	} ways[] = {
		{.level = 6, .memory = 8, .flush = Z_NO_FLUSH, .piece = 1 << 20},
		{.level = 1, .memory = 1, .flush = Z_NO_FLUSH, .piece = 1 << 20},
		{.memory = 8, .flush = Z_NO_FLUSH, .piece = 1 << 20},
		{.level = 9, .memory = 9, .flush = Z_SYNC_FLUSH, .piece = 1},
		{.level = 6, .memory = 8, .flush = Z_SYNC_FLUSH, .piece = 40},
		{.level = 6, .memory = 8, .flush = Z_SYNC_FLUSH, .piece = 300},
		{.level = 6, .memory = 8, .flush = Z_FULL_FLUSH, .piece = 2000},
		{.level = 9, .memory = 1, .flush = Z_PARTIAL_FLUSH, .piece = 10},
		{.level = 9, .memory = 1, .flush = Z_PARTIAL_FLUSH, .piece = 500},
	};
	(void)state;
	struct ing_buf text;
	ing_buf_init(&text, 4 << 20);
	for (unsigned i = 0; text.len < 256 << 10; i++) /* hardly a line is like another */
		ing_buf_printf(&text, "<li><a href=\"/a/%x\">%u of %x</a>\n", i * 2654435761u, i,
			i * i * 40503u);
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		struct ing_buf once, twice, out;
		struct ing_error err = {0};
		ing_buf_init(&once, 1 << 28);
		ing_buf_init(&twice, 1 << 28);
		pack_in_pieces(&once, ways[i].level, ways[i].memory, ways[i].flush, ways[i].piece,
			text.data, text.len);
		pack(&twice, GZIP, once.data, once.len);
		int rc = decode("gzip", once.data, once.len, 4 << 20, &out, &err);
		if (rc != 0 || out.len != text.len)
			fail_msg("way %zu, once: %s", i, err.msg);
		ing_buf_done(&out);
		rc = decode("gzip, gzip", twice.data, twice.len, 4 << 20, &out, &err);
		if (rc != 0 || out.len != text.len || memcmp(out.data, text.data, text.len) != 0)
			fail_msg("way %zu, twice: %s", i, err.msg);
		ing_buf_done(&out);
		ing_buf_done(&once);
		ing_buf_done(&twice);
	}
	ing_buf_done(&text);
}

static void says_whether_there_is_work(void **state)
{
	(void)state;
	assert_false(ing_decode_needed(NULL));
	assert_false(ing_decode_needed(""));
	assert_false(ing_decode_needed(" identity, "));
	assert_true(ing_decode_needed("gzip"));
	assert_true(ing_decode_needed("identity, br"));
	assert_true(ing_decode_needed("unheard-of"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_what_servers_send),
		cmocka_unit_test(brotli_is_decoded),
		cmocka_unit_test(nothing_is_nothing_in_every_coding),
		cmocka_unit_test(every_cut_of_gzip_is_seen),
		cmocka_unit_test(gzip_members_and_what_follows_them),
		cmocka_unit_test(output_is_capped),
		cmocka_unit_test(ratio_is_bounded),
		cmocka_unit_test(a_list_of_codings_is_short),
		cmocka_unit_test(work_without_output_is_bounded),
		cmocka_unit_test(three_layers_of_nothing_are_refused_unread),
		cmocka_unit_test(a_middle_layer_is_no_larger_than_what_it_holds),
		cmocka_unit_test(honest_streams_are_never_too_much_work),
		cmocka_unit_test(says_whether_there_is_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
