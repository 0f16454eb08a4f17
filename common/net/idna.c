/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lexbor 3.0 has the tables of UTS #46 (what a character is mapped to, whether it is valid), of
 * normalisation and Punycode, but neither all of its rules for labels nor those of RFC 5892
 * appendix A (joiners) and RFC 5893 (right-to-left labels). So the steps are taken here, and its
 * tables are asked.
 */
#include "common/net/idna.h"

#include <string.h>
#include <lexbor/punycode/punycode.h>
#include <lexbor/unicode/unicode.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/net/idna_table.h"

/* Of a domain, mapped. DNS has room for 253; Punycode's time goes with the square. */
#define MAX_DOMAIN_CHARS 1024
#define ZWNJ 0x200c
#define ZWJ 0x200d

/* A domain or label; borrowed from a buffer of code points. */
struct label {
	const lxb_codepoint_t *cps;
	size_t len;
};

static struct label label_of(const struct ing_buf *b)
{
	return (struct label){(const void *)ing_buf_str(b), b->len / sizeof(lxb_codepoint_t)};
}

static lxb_status_t add_cps(const lxb_codepoint_t *cps, size_t len, void *ctx)
{
	return ing_buf_add(ctx, cps, len * sizeof(*cps)) ? LXB_STATUS_OK
							 : LXB_STATUS_ERROR_OVERFLOW;
}

static unsigned properties_of(lxb_codepoint_t cp)
{
	size_t low = 0, high = ing_idna_range_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (cp > ing_idna_ranges[mid].last)
			low = mid + 1;
		else if (cp < ing_idna_ranges[mid].first)
			high = mid;
		else
			return ing_idna_ranges[mid].properties;
	}
	return ING_IDNA_L;
}

static bool is_ascii(struct label l)
{
	for (size_t i = 0; i < l.len; i++) {
		if (l.cps[i] >= 0x80)
			return false;
	}
	return true;
}

static bool is_ace(struct label l)
{
	return l.len >= 4 && l.cps[0] == 'x' && l.cps[1] == 'n' && l.cps[2] == '-' &&
	       l.cps[3] == '-';
}

/* ---- steps of UTS #46 section 4 ---- */

static lxb_codepoint_t decode_utf8(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	if (n == 1)
		return u[0];
	lxb_codepoint_t cp = u[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		cp = cp << 6 | (u[i] & 0x3f);
	return cp;
}

static bool map_char(struct ing_buf *out, lxb_codepoint_t cp)
{
	size_t len = 0;
	switch (lxb_unicode_idna_type(cp)) {
	case LXB_UNICODE_IDNA_IGNORED:
		return true;
	case LXB_UNICODE_IDNA_MAPPED: {
		const lxb_codepoint_t *to =
			lxb_unicode_idna_map(lxb_unicode_idna_entry_by_cp(cp), &len);
		return add_cps(to, len, out) == LXB_STATUS_OK;
	}
	case LXB_UNICODE_IDNA_VALID:
	case LXB_UNICODE_IDNA_DEVIATION:
		return add_cps(&cp, 1, out) == LXB_STATUS_OK;
	default:
		return false;
	}
}

static bool map_domain(struct ing_buf *out, const char *s, size_t bytes)
{
	while (bytes > 0) {
		size_t n = ing_utf8_sequence(s, bytes);
		if (n == 0 || !map_char(out, decode_utf8(s, n)))
			return false;
		s += n;
		bytes -= n;
	}
	return true;
}

/* Append the NFC of a text. */
static bool normalise(struct ing_buf *out, struct label text)
{
	lxb_unicode_normalizer_t *nfc = lxb_unicode_normalizer_create();
	ing_must(lxb_unicode_normalizer_init(nfc, LXB_UNICODE_NFC) == LXB_STATUS_OK);
	lxb_status_t status = lxb_unicode_normalize_cp(nfc, text.cps, text.len, add_cps, out, true);
	lxb_unicode_normalizer_destroy(nfc, true);
	return status == LXB_STATUS_OK;
}

static bool is_normal(struct label l)
{
	struct ing_buf nfc;
	ing_buf_init(&nfc, MAX_DOMAIN_CHARS * sizeof(lxb_codepoint_t));
	bool normal = normalise(&nfc, l) && nfc.len == l.len * sizeof(*l.cps) &&
		      memcmp(nfc.data, l.cps, nfc.len) == 0;
	ing_buf_done(&nfc);
	return normal;
}

/* ---- validity of a label ---- */

/* RFC 5892 A.1: a letter that joins to the left before the character at i, one that joins to the
 * right behind it, and only transparent ones between. */
static bool joins_both_sides(struct label l, size_t i)
{
	enum ing_idna_joining before = ING_IDNA_JT, after = ING_IDNA_JT;
	for (size_t k = i; k-- > 0 && before == ING_IDNA_JT;)
		before = ING_IDNA_JOINING(properties_of(l.cps[k]));
	for (size_t k = i + 1; k < l.len && after == ING_IDNA_JT; k++)
		after = ING_IDNA_JOINING(properties_of(l.cps[k]));
	return (before == ING_IDNA_JL || before == ING_IDNA_JD) &&
	       (after == ING_IDNA_JR || after == ING_IDNA_JD);
}

/* RFC 5892 A.1 and A.2. */
static bool are_joiners_valid(struct label l)
{
	for (size_t i = 0; i < l.len; i++) {
		if (l.cps[i] != ZWNJ && l.cps[i] != ZWJ)
			continue;
		if (i > 0 && (properties_of(l.cps[i - 1]) & ING_IDNA_VIRAMA) != 0)
			continue;
		if (l.cps[i] == ZWJ || !joins_both_sides(l, i))
			return false;
	}
	return true;
}

static unsigned bit_of(lxb_codepoint_t cp)
{
	return 1u << ING_IDNA_BIDI(properties_of(cp));
}

#define BIT(name) (1u << ING_IDNA_##name)
#define NEUTRAL (BIT(ES) | BIT(CS) | BIT(ET) | BIT(ON) | BIT(BN) | BIT(NSM))

static unsigned bits_of(struct label l)
{
	unsigned bits = 0;
	for (size_t i = 0; i < l.len; i++)
		bits |= bit_of(l.cps[i]);
	return bits;
}

/* The six conditions of RFC 5893 section 2. */
static bool is_bidi_valid(struct label l)
{
	if (l.len == 0)
		return true;
	unsigned first = bit_of(l.cps[0]);
	unsigned all = bits_of(l);
	size_t end = l.len;
	while (end > 1 && bit_of(l.cps[end - 1]) == BIT(NSM))
		end--;
	unsigned last = bit_of(l.cps[end - 1]);
	if ((first & (BIT(R) | BIT(AL))) != 0)
		return (all & ~(BIT(R) | BIT(AL) | BIT(AN) | BIT(EN) | NEUTRAL)) == 0 &&
		       (last & (BIT(R) | BIT(AL) | BIT(AN) | BIT(EN))) != 0 &&
		       (all & (BIT(AN) | BIT(EN))) != (BIT(AN) | BIT(EN));
	return first == BIT(L) && (all & ~(BIT(L) | BIT(EN) | NEUTRAL)) == 0 &&
	       (last & (BIT(L) | BIT(EN))) != 0;
}

/* What UTS #46 section 4.1 asks of a label that is not ASCII, in the order there. */
static bool is_label_valid(struct label l)
{
	if (!is_normal(l) || is_ace(l))
		return false;
	if ((properties_of(l.cps[0]) & ING_IDNA_MARK) != 0)
		return false;
	for (size_t i = 0; i < l.len; i++) {
		if (l.cps[i] == '.' || l.cps[i] > 0x10ffff)
			return false;
		lxb_unicode_idna_type_t type = lxb_unicode_idna_type(l.cps[i]);
		if (type != LXB_UNICODE_IDNA_VALID && type != LXB_UNICODE_IDNA_DEVIATION)
			return false;
	}
	return are_joiners_valid(l);
}

/* ---- labels ---- */

static lxb_status_t add_ace(const lxb_char_t *data, size_t len, void *ctx, bool unchanged)
{
	(void)unchanged; /* never, as the label is not ASCII */
	ing_buf_add_str(ctx, "xn--");
	return ing_buf_add(ctx, data, len) ? LXB_STATUS_OK : LXB_STATUS_ERROR_OVERFLOW;
}

static void add_ascii(struct ing_buf *out, struct label l)
{
	for (size_t i = 0; i < l.len; i++)
		ing_buf_add_char(out, (char)l.cps[i]);
}

/* What a label reads as: itself, or what its Punycode stands for, in the empty buffer. */
static bool decode_label(struct ing_buf *decoded, struct label l, struct label *ret)
{
	*ret = l;
	if (!is_ace(l))
		return is_ascii(l) || is_label_valid(l);
	if (!is_ascii(l) ||
		lxb_punycode_decode_cp(l.cps + 4, l.len - 4, add_cps, decoded) != LXB_STATUS_OK)
		return false;
	*ret = label_of(decoded);
	return !is_ascii(*ret) && is_label_valid(*ret);
}

/* What the labels of a domain have in common. */
struct survey {
	bool rtl;        /* one holds a right-to-left character */
	bool bidi_valid; /* all of them would do beside one */
	bool checked;    /* labels are looked into at all */
};

static bool add_unchecked_label(struct ing_buf *out, struct label l)
{
	if (!is_ascii(l))
		return !is_ace(l) &&
		       lxb_punycode_encode_cp(l.cps, l.len, add_ace, out) == LXB_STATUS_OK;
	add_ascii(out, l);
	return true;
}

static bool add_label(struct ing_buf *out, struct label l, struct survey *survey)
{
	struct ing_buf decoded;
	struct label read;
	if (!survey->checked)
		return add_unchecked_label(out, l);
	ing_buf_init(&decoded, MAX_DOMAIN_CHARS * sizeof(lxb_codepoint_t));
	bool good = decode_label(&decoded, l, &read);
	if (good) {
		survey->rtl |= (bits_of(read) & (BIT(R) | BIT(AL) | BIT(AN))) != 0;
		survey->bidi_valid &= is_bidi_valid(read);
		if (is_ascii(l))
			add_ascii(out, l);
		else
			good = lxb_punycode_encode_cp(l.cps, l.len, add_ace, out) == LXB_STATUS_OK;
	}
	ing_buf_done(&decoded);
	return good;
}

static bool add_labels(struct ing_buf *out, struct label domain, bool checked)
{
	struct survey survey = {.bidi_valid = true, .checked = checked};
	for (;;) {
		struct label l = {domain.cps, 0};
		while (l.len < domain.len && l.cps[l.len] != '.')
			l.len++;
		if (!add_label(out, l, &survey))
			return false;
		if (l.len == domain.len)
			return !survey.rtl || survey.bidi_valid;
		ing_buf_add_char(out, '.');
		domain.cps += l.len + 1;
		domain.len -= l.len + 1;
	}
}

static bool add_lower(struct ing_buf *out, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		ing_buf_add_char(out, (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 0x20 : s[i]));
	return !out->failed;
}

static bool add_domain(struct ing_buf *out, const char *s, size_t bytes, bool checked)
{
	struct ing_buf mapped, normal;
	ing_buf_init(&mapped, MAX_DOMAIN_CHARS * sizeof(lxb_codepoint_t));
	ing_buf_init(&normal, MAX_DOMAIN_CHARS * sizeof(lxb_codepoint_t));
	bool good = map_domain(&mapped, s, bytes) && normalise(&normal, label_of(&mapped)) &&
		    add_labels(out, label_of(&normal), checked) && !out->failed;
	ing_buf_done(&mapped);
	ing_buf_done(&normal);
	return good;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_idna_to_ascii(struct ing_buf *out, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)s[i] >= 0x80)
			return add_domain(out, s, bytes, true);
	}
	return add_lower(out, s, bytes);
}

bool ing_idna_to_ascii_unchecked(struct ing_buf *out, const char *s, size_t bytes)
{
	return add_domain(out, s, bytes, false);
}
