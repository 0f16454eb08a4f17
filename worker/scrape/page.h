/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page.h - what a parsed web page says about itself, and where the document is.
 *
 * Pure: a tree in, findings out; nothing is fetched, nothing is kept. Any thread that owns the
 * tree.
 */
#pragma once

struct ing_html;
struct ing_page;

#define ING_MAX_TITLE_BYTES 1000

/* Fill title, next_url and next_technique of *ret (heap strings, the caller's), which were NULL;
 * the status is left to whoever parsed. `url` is the page's own address, against which (and the
 * page's <base>) links are read; NULL or not a URL: only absolute links are found.
 *
 * The next hop is the first link by this order of signals, within a signal by the order of the
 * page, that is a web address and not the page itself; the page itself only when there is nothing
 * else: technique                   element citation_pdf_url            <meta name=citation_pdf_url
 * content> bepress_citation_pdf_url    <meta name=bepress_citation_pdf_url content>
 *   citation_pdf_url-property   <meta property=citation_pdf_url content>
 *   eprints.document_url        <meta name=eprints.document_url content>
 *   embed                       <embed type=application/pdf src>
 *   link-alternate              <link rel=alternate type=application/pdf href> */
void ing_scrape_page(struct ing_html *doc, const char *url, struct ing_page *ret);
