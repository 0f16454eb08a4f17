/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scans a regular expression for syntax that Java and PCRE2 read differently. It is not a parser:
 * what neither of them knows is refused by PCRE2. Pure functions.
 */
#include "worker/scrape/jsoup/regex_java.h"

#include <ctype.h>
#include <string.h>

struct walk {
	const char *s;
	size_t bytes, at;
	bool bytes_only, extended; /* a flag x was seen */
	bool in_class, class_empty;
	struct ing_error *err;
};

/* Java's classes that Unicode properties of the same name are not, with what they mean. */
static const struct {
	const char *name, *instead;
} posix[] = {
	{"Lower", "[a-z]"},
	{"Upper", "[A-Z]"},
	{"ASCII", "[\\x00-\\x7f]"},
	{"Alpha", "[A-Za-z]"},
	{"Digit", "[0-9]"},
	{"Alnum", "[A-Za-z0-9]"},
	{"Punct", "[!-/:-@\\[-`{-~]"},
	{"Graph", "[!-~]"},
	{"Print", "[ -~]"},
	{"Blank", "[ \\t]"},
	{"Cntrl", "[\\x00-\\x1f\\x7f]"},
	{"XDigit", "[0-9A-Fa-f]"},
	{"Space", "\\s"},
};

static const char *const categories[] = {"C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "Ll", "Lm", "Lo",
	"Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi",
	"Po", "Ps", "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs"};

static bool equals(const char *s, size_t bytes, const char *name)
{
	return strlen(name) == bytes && memcmp(s, name, bytes) == 0;
}

static bool starts(const struct walk *w, const char *text)
{
	size_t n = strlen(text);
	return w->bytes - w->at >= n && memcmp(w->s + w->at, text, n) == 0;
}

static int column(const struct walk *w, size_t at)
{
	return ing_regex_column(w->s, at, w->bytes_only);
}

/* A property's name as in \p{name}; `at` is where the escape begins. */
static int check_property(struct walk *w, size_t at, const char *name, size_t bytes)
{
	int col = column(w, at);
	if (bytes > 0 && *name == '^')
		return 0; /* PCRE2's alone */
	for (size_t i = 0; i < ING_ARRAY_LEN(categories); i++) {
		if (equals(name, bytes, categories[i]))
			return 0;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(posix); i++) {
		if (equals(name, bytes, posix[i].name))
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
				"\\p{%s} is Java's: write %s", posix[i].name, posix[i].instead);
	}
	int shown = (int)ING_MIN(bytes, (size_t)40);
	if (bytes >= 4 && memcmp(name, "java", 4) == 0)
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
			"\\p{%.*s} is Java's: write a Unicode category such as \\p{Lu}, or a class",
			shown, name);
	if (bytes >= 2 && (memcmp(name, "Is", 2) == 0 || memcmp(name, "In", 2) == 0))
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
			"\\p{%.*s} is Java's: write \\p{%.*s} for the script or category, or the range "
			"\\x{..}-\\x{..} for a block",
			shown, name, ING_MAX(shown - 2, 0), name + 2);
	return 0; /* a script's name, or nothing that PCRE2 knows */
}

static int check_p(struct walk *w, size_t at)
{
	size_t from = w->at; /* behind \p */
	if (from == w->bytes)
		return 0; /* PCRE2 says so */
	if (w->s[from] != '{') {
		w->at = from + 1;
		return check_property(w, at, w->s + from, 1);
	}
	const char *end = memchr(w->s + from, '}', w->bytes - from);
	if (end == NULL)
		return 0;
	w->at = (size_t)(end - w->s) + 1;
	return check_property(w, at, w->s + from + 1, (size_t)(end - w->s) - from - 1);
}

/* w->at is at a backslash that something follows. */
static int check_escape(struct walk *w)
{
	size_t at = w->at;
	char c = w->s[at + 1];
	w->at += 2;
	switch (c) {
	case 'Q': {
		const char *end = memmem(w->s + w->at, w->bytes - w->at, "\\E", 2);
		w->at = end != NULL ? (size_t)(end - w->s) + 2 : w->bytes;
		return 0;
	}
	case 'p':
	case 'P':
		return check_p(w, at);
	case 'u':
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
			"\\uXXXX is Java's: write \\x{XXXX}, or the character itself");
	case '0':
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
			"octal \\0 has another meaning in Java: write \\x{..}");
	case 'N':
		if (w->at < w->bytes && w->s[w->at] == '{')
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
				"\\N{name} is Java's: write \\x{XXXX}, or the character itself");
		return 0;
	default:
		if (c >= '1' && c <= '9' && w->at < w->bytes &&
			isdigit((unsigned char)w->s[w->at]) && !w->in_class)
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
				"\\%c%c has another meaning in Java: write \\g{%c}[%c] or \\g{%c%c}",
				c, w->s[w->at], c, w->s[w->at], c, w->s[w->at]);
		return 0;
	}
}

/* w->at is at "(?" or "(*". */
static int check_group(struct walk *w)
{
	size_t at = w->at;
	if (w->s[at + 1] == '*')
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
			"(* starts a verb of PCRE2: write \\* for an asterisk");
	w->at += 2;
	if (starts(w, "C"))
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, at),
			"(?C is a callout: not supported, leave it out");
	for (; w->at < w->bytes; w->at++) {
		char c = w->s[w->at];
		if (c == 'U')
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, w->at),
				"the flag U is Java's (Unicode classes): leave it out and write \\p{L}, "
				"\\p{Nd}, \\p{Z} for what \\w, \\d, \\s shall match");
		if (c == 'u')
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, w->at),
				"the flag u is Java's: leave it out, (?i) heeds Unicode");
		if (c == 'd')
			return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, w->at),
				"the flag d (Unix lines) is Java's: leave it out and write [^\\n] for .");
		if (c == 'x')
			w->extended = true;
		else if (c != 'i' && c != 'm' && c != 's' && c != '-')
			break;
	}
	return 0;
}

/* Inside [...]: w->at is at a character that is no backslash. */
static int check_class_char(struct walk *w)
{
	char c = w->s[w->at];
	int col = column(w, w->at);
	if (c == ']' && !w->class_empty) {
		w->in_class = false;
	} else if (c == '[') {
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
			"a class within a class is Java's: write \\[ for a bracket, or one class with "
			"the characters of both");
	} else if (starts(w, "&&")) {
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
			"&& (what two classes share) is Java's: write (?=[...]) before the class, or "
			"\\& for an ampersand");
	} else if (w->extended && (isspace((unsigned char)c) || c == '#')) {
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, col,
			"under the flag x Java leaves white space and # out of a class: escape it");
	}
	w->class_empty = false;
	w->at++;
	return 0;
}

static int check_one(struct walk *w)
{
	char c = w->s[w->at];
	if (c == '\\' && w->at + 1 < w->bytes) {
		w->class_empty = false;
		return check_escape(w);
	}
	if (w->in_class)
		return check_class_char(w);
	if (c == '(' && w->at + 1 < w->bytes && (w->s[w->at + 1] == '?' || w->s[w->at + 1] == '*'))
		return check_group(w);
	if (starts(w, "{,"))
		return ing_error_at(w->err, ING_FAIL_UNSUPPORTED, 0, column(w, w->at),
			"{,n} is no repetition to Java: write {0,n}, or \\{ for a brace");
	w->at++;
	if (c == '[') {
		w->in_class = true;
		w->class_empty = true;
		if (starts(w, "^"))
			w->at++;
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_regex_column(const char *pattern, size_t at, bool bytes_only)
{
	size_t chars = 0;
	for (size_t i = 0; i < at; i++)
		chars += bytes_only || ((unsigned char)pattern[i] & 0xc0) != 0x80;
	return (int)chars + 1;
}

int ing_regex_check_java(const char *pattern, size_t bytes, bool bytes_only, struct ing_error *err)
{
	struct walk w = {.s = pattern, .bytes = bytes, .bytes_only = bytes_only, .err = err};
	while (w.at < bytes) {
		int rc = check_one(&w);
		if (rc < 0)
			return rc;
	}
	return 0;
}
