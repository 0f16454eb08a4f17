/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a URL is for follows from where it stands: in an @import, in the block of a @font-face, in another
 * declaration. URLs of other at-rules' preludes (@namespace, @supports, @document) are not fetched by anybody.
 *
 * What surprises: a brace or semicolon ends all round brackets that are open. By the standard one that is
 * missing takes the rest of the sheet with it, and browsers differ in how they mend that.
 */
#include "worker/document/resources/css.h"

#include "common/net/url.h"
#include "worker/document/resources/css_token.h"

enum at_rule { NO_RULE, AT_IMPORT, AT_IMPORT_DONE, AT_FONT_FACE, AT_LAYER, AT_OTHER };

struct search {
	struct ing_css_tokens tokens;
	ing_css_sink_f *sink;
	void *ctx;
	bool stopped;
	enum at_rule rule;   /* whose prelude this is */
	bool imports_over;   /* a rule was there after which @import is none */
	unsigned blocks;     /* braces open */
	unsigned font_block; /* the block of a @font-face; 0: none is open */
	unsigned brackets;   /* round ones open */
	/* The bracket in which a string is a URL: of url(), src() once, of image-set() any number of
	 * times. 0: none. */
	unsigned url_bracket, set_bracket;
};

static void give(struct search *s, enum ing_css_use use)
{
	const struct ing_buf *value = &s->tokens.value;
	if (!value->failed && value->len > 0)
		s->stopped = !s->sink(s->ctx, use, ing_buf_str(value), value->len);
}

/* The value is a URL. */
static void take_url(struct search *s)
{
	if (s->rule == AT_IMPORT) {
		s->rule = AT_IMPORT_DONE;
		give(s, ING_CSS_IMPORT);
	} else if (s->rule == NO_RULE && s->blocks > 0) {
		give(s, s->font_block > 0 ? ING_CSS_FONT : ING_CSS_IMAGE);
	}
}

static void take_string(struct search *s)
{
	bool in_url = s->url_bracket > 0 && s->brackets == s->url_bracket;
	bool in_set = s->set_bracket > 0 && s->brackets == s->set_bracket;
	if (in_url)
		s->url_bracket = 0;
	if (in_url || in_set || (s->rule == AT_IMPORT && s->brackets == 0))
		take_url(s);
}

static void open_bracket(struct search *s)
{
	s->brackets++;
}

static void close_bracket(struct search *s)
{
	if (s->url_bracket == s->brackets)
		s->url_bracket = 0;
	if (s->set_bracket == s->brackets)
		s->set_bracket = 0;
	if (s->brackets > 0)
		s->brackets--;
}

static void forget_brackets(struct search *s)
{
	s->brackets = s->url_bracket = s->set_bracket = 0;
}

static void take_function(struct search *s)
{
	const struct ing_css_tokens *t = &s->tokens;
	open_bracket(s);
	if (ing_css_value_is(t, "url") || ing_css_value_is(t, "src"))
		s->url_bracket = s->brackets;
	else if (ing_css_value_is(t, "image-set") || ing_css_value_is(t, "-webkit-image-set"))
		s->set_bracket = s->brackets;
}

static enum at_rule rule_of(struct search *s)
{
	const struct ing_css_tokens *t = &s->tokens;
	if (ing_css_value_is(t, "import"))
		return s->blocks == 0 && !s->imports_over ? AT_IMPORT : AT_OTHER;
	if (ing_css_value_is(t, "font-face"))
		return AT_FONT_FACE;
	return ing_css_value_is(t, "layer") ? AT_LAYER : AT_OTHER;
}

static void take_at(struct search *s)
{
	forget_brackets(s);
	s->rule = rule_of(s);
	bool leaves_imports = s->rule == AT_IMPORT || s->rule == AT_LAYER ||
			      ing_css_value_is(&s->tokens, "charset");
	s->imports_over |= !leaves_imports;
}

static void open_block(struct search *s)
{
	s->blocks++;
	if (s->rule == AT_FONT_FACE && s->font_block == 0)
		s->font_block = s->blocks;
	s->rule = NO_RULE;
	s->imports_over = true;
}

static void close_block(struct search *s)
{
	if (s->font_block == s->blocks)
		s->font_block = 0;
	if (s->blocks > 0)
		s->blocks--;
	s->rule = NO_RULE;
}

static void take_sign(struct search *s)
{
	char c = s->tokens.sign;
	if (c == '(') {
		open_bracket(s);
	} else if (c == ')') {
		close_bracket(s);
	} else if (c == '{' || c == '}' || c == ';') {
		forget_brackets(s);
		if (c == '{')
			open_block(s);
		else if (c == '}')
			close_block(s);
		else
			s->rule = NO_RULE;
	}
}

static void take(struct search *s, enum ing_css_token kind)
{
	if (kind == ING_CT_URL)
		take_url(s);
	else if (kind == ING_CT_STRING)
		take_string(s);
	else if (kind == ING_CT_FUNCTION)
		take_function(s);
	else if (kind == ING_CT_AT)
		take_at(s);
	else if (kind == ING_CT_SIGN)
		take_sign(s);
	else if (kind == ING_CT_BAD)
		s->url_bracket = 0; /* what follows in it is none */
}

/* -------------------------------------------------------------------------------------------- */

void ing_css_references(
	const char *css, size_t bytes, enum ing_css_input input, ing_css_sink_f *sink, void *ctx)
{
	struct search s = {.sink = sink, .ctx = ctx};
	s.blocks = input == ING_CSS_DECLARATIONS ? 1 : 0;
	ing_css_tokens_init(&s.tokens, css, bytes, ING_URL_MAX_BYTES);
	enum ing_css_token kind = ing_css_next(&s.tokens);
	while (kind != ING_CT_END) {
		take(&s, kind);
		kind = s.stopped ? ING_CT_END : ing_css_next(&s.tokens);
	}
	ing_css_tokens_done(&s.tokens);
}
