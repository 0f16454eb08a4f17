/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The frame of a page. Its policy forbids what it does not need, should anything ever get past the escaping.
 */
#include "common/markup/html_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/url.h"

/* Of a local part and a domain: what needs no escaping in a mailto: URL. */
#define EMAIL_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_-@"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char style[] =
	"<style>\n"
	":root{--ink:#1d2126;--soft:#5b6570;--faint:#8a949e;--line:#dfe3e8;--paper:#fff;"
	"--wash:#f5f6f8;--link:#0b5cad;--good:#1a7f4b;--fair:#9a6700;--poor:#8a949e;"
	"--bad:#b42318;--serif:Charter,'Bitstream Charter','Source Serif 4',Cambria,"
	"'Noto Serif',Georgia,serif;--sans:system-ui,-apple-system,'Segoe UI',Roboto,"
	"'Noto Sans','Liberation Sans',Arial,sans-serif}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#dfe3e8;--soft:#a3adb8;--faint:#7b8591;"
	"--line:#333a43;--paper:#15181c;--wash:#1e2329;--link:#7db7f5;--good:#57c98c;"
	"--fair:#dca94a;--poor:#7b8591;--bad:#f28b82}}\n"
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}\n"
	"body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 var(--sans);"
	"overflow-wrap:break-word}\n"
	"main{max-width:46rem;margin:0 auto;padding:2.5rem 1.25rem 5rem}\n"
	"a{color:var(--link);text-decoration:none}a:hover,a:focus{text-decoration:underline}\n"
	"h1{font:700 1.9rem/1.22 var(--serif);margin:.3rem 0 .9rem;text-wrap:balance}\n"
	"h2{font:600 .8rem/1.3 var(--sans);letter-spacing:.09em;text-transform:uppercase;"
	"color:var(--soft);margin:0 0 .7rem}\n"
	"h3{font:700 1.3rem/1.3 var(--serif);margin:2.1rem 0 .6rem}\n"
	"h4{font:700 1.05rem/1.35 var(--serif);margin:1.5rem 0 .4rem}\n"
	"p{margin:0 0 .85rem}\n"
	"article+article{margin-top:4rem;border-top:3px double var(--line);padding-top:3rem}\n"
	"section{margin-top:1.9rem;padding-top:1.4rem;border-top:1px solid var(--line)}\n"
	".kicker{color:var(--soft);font-size:.95rem;margin:0}.kicker em{font-style:italic}\n"
	".authors{font-size:1.02rem;margin:0 0 .9rem}.authors ul{margin:0;padding:0}\n"
	".authors li{display:inline}.authors li:not(:last-child)::after{content:\", \"}\n"
	".authors details{margin-top:.35rem;color:var(--soft)}"
	".authors details ul{margin-top:.35rem}\n"
	"abbr{text-decoration:none}a.orcid{font:600 .62rem/1 var(--sans);border:1px solid currentColor;border-radius:50%;"
	"padding:.1em .22em;margin-inline-start:.25em;vertical-align:.22em;color:var(--good)}\n"
	".badges{display:flex;flex-wrap:wrap;gap:.4rem;margin:0 0 .9rem;padding:0;list-style:none;"
	"font-size:.84rem}\n"
	".badges li{border:1px solid var(--line);border-radius:1rem;padding:.1rem .7rem;"
	"color:var(--soft)}.badges .good{color:var(--good);border-color:currentColor}\n"
	".badges .fair{color:var(--fair);border-color:currentColor}"
	".badges .bad{color:var(--bad);border-color:currentColor}\n"
	"dl.ids{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;margin:0;font-size:.92rem}"
	".ids div{display:flex;gap:.4rem}.ids dt{color:var(--soft)}.ids dd{margin:0}\n"
	"nav{margin-top:1.3rem;font-size:.92rem;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}\n"
	"nav.papers{display:block;margin:0 0 3rem}nav.papers ol{padding-inline-start:1.6rem}"
	"nav.papers li{margin-bottom:.35rem}nav.papers small{color:var(--soft)}\n"
	".read{font:1.08rem/1.66 var(--serif);hyphens:auto;max-width:42rem}\n"
	".from{font:.82rem/1.4 var(--sans);color:var(--faint);margin:.6rem 0 0}\n"
	".from .dot,td .dot{display:inline-block;width:.62em;height:.62em;border-radius:50%;"
	"border:2px solid var(--poor);margin-inline-end:.45em}\n"
	".dot.good{background:var(--good);border-color:var(--good)!important}\n"
	".dot.fair{border-color:var(--fair)!important;"
	"background:linear-gradient(90deg,var(--fair) 50%,transparent 50%)}\n"
	"ul.terms{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;margin:0;padding:0;"
	"font-size:.93rem}\n"
	".terms li{background:var(--wash);border-radius:.35rem;padding:.12rem .6rem}"
	".terms small{color:var(--soft)}.terms .major{font-weight:600}\n"
	".terms+h3,.from+h3{margin-top:1.4rem}section h3.minor{font:600 .95rem/1.3 var(--sans);"
	"margin:0 0 .5rem}.from+h3.minor{margin-top:1.3rem}\n"
	"summary{cursor:pointer;color:var(--link)}details>summary h2{display:inline}\n"
	"details>*+*{margin-top:.7rem}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.88rem}\n"
	"th,td{text-align:start;vertical-align:top;padding:.35rem .8rem .35rem 0;"
	"border-bottom:1px solid var(--line)}th{font-weight:600;color:var(--soft)}\n"
	"td.n{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}"
	"td.t{white-space:nowrap}td.b{color:var(--bad)}\n"
	"td a{overflow-wrap:anywhere}\n"
	".note{color:var(--soft);font-size:.9rem}.nothing{margin-top:1.2rem;background:var(--wash);"
	"border-inline-start:4px solid var(--fair);padding:.8rem 1rem}\n"
	"footer{margin-top:4rem;color:var(--faint);font-size:.82rem}\n"
	"[dir=auto]{unicode-bidi:isolate}p[dir=auto],h3[dir=auto],h4[dir=auto]{unicode-bidi:"
	"plaintext;text-align:start}\n"
	"@media(max-width:34rem){main{padding-top:1.5rem}h1{font-size:1.5rem}}\n"
	"@media print{:root{--ink:#000;--soft:#333;--faint:#555;--line:#bbb;--paper:#fff;"
	"--wash:#fff;--link:#000;--good:#000;--fair:#000;--bad:#000}"
	"main{max-width:none;padding:0}body{font-size:10pt}"
	"nav,footer{display:none}h1{font-size:17pt}"
	".authors details:not([open])::details-content{content-visibility:visible;display:block}"
	".authors summary{display:none}"
	"h2,h3,h4{break-after:avoid}tr,.terms li{break-inside:avoid}p{orphans:3;widows:3}"
	"article+article{break-before:page;border:0;margin:0;padding:0}"
	".terms li{border:1px solid #bbb}@page{margin:20mm 18mm}}\n"
	"</style>\n";

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Of ASCII, and DEL; white space is text. */
static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
}

static bool is_email(const char *s)
{
	const char *at = strchr(s, '@');
	return s[strspn(s, EMAIL_CHARS)] == '\0' && at != NULL && at > s && at[1] != '\0' &&
	       strchr(at + 1, '@') == NULL;
}

static void add_anchor(struct ing_buf *out, const char *scheme, const char *url, const char *text)
{
	ing_buf_printf(out, "<a href=\"%s", scheme);
	ing_html_add(out, url);
	ing_buf_add_str(out, "\">");
	ing_html_add(out, text);
	ing_buf_add_str(out, "</a>");
}

/* -------------------------------------------------------------------------------------------- */

void ing_html_page_begin(struct ing_buf *out, const char *title)
{
	ing_buf_add_str(out, head);
	ing_buf_add_str(out, "<title>");
	ing_html_add(out, title);
	ing_buf_add_str(out, "</title>\n");
	ing_buf_add_str(out, style);
	ing_buf_add_str(out, "</head>\n<body>\n<main>\n");
}

void ing_html_page_end(struct ing_buf *out)
{
	ing_buf_add_str(out, "</main>\n</body>\n</html>\n");
}

void ing_html_addn(struct ing_buf *out, const char *text, size_t bytes)
{
	size_t from = 0;
	for (size_t i = 0; i < bytes; i++) {
		const char *instead = is_control((unsigned char)text[i]) ? "" : entity(text[i]);
		if (instead == NULL)
			continue;
		ing_buf_add(out, text + from, i - from);
		ing_buf_add_str(out, instead);
		from = i + 1;
	}
	ing_buf_add(out, text + from, bytes - from);
}

void ing_html_add(struct ing_buf *out, const char *text)
{
	if (text != NULL)
		ing_html_addn(out, text, strlen(text));
}

void ing_html_add_link(struct ing_buf *out, const char *url, const char *text)
{
	/* What is judged must be what is written. */
	char *href = url != NULL ? ing_url_parse(url, strlen(url)) : NULL;
	if (href != NULL && ing_url_is_web(href))
		add_anchor(out, "", href, text);
	else
		ing_html_add(out, text);
	free(href);
}

void ing_html_add_email(struct ing_buf *out, const char *address)
{
	if (is_email(address))
		add_anchor(out, "mailto:", address, address);
	else
		ing_html_add(out, address);
}

void ing_html_add_count(struct ing_buf *out, unsigned long long n)
{
	char digits[24];
	int count = snprintf(digits, sizeof(digits), "%llu", n);
	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			ing_buf_add_char(out, ',');
		ing_buf_add_char(out, digits[i]);
	}
}

void ing_html_add_day(struct ing_buf *out, const char *time)
{
	if (time == NULL)
		return;
	ing_buf_add_str(out, "<time datetime=\"");
	ing_html_add(out, time);
	ing_buf_add_str(out, "\" title=\"");
	ing_html_add(out, time);
	ing_buf_add_str(out, "\">");
	ing_html_addn(out, time, strcspn(time, "T"));
	ing_buf_add_str(out, "</time>");
}
