/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * limits.h - ceilings that are not configuration, each with its reason.
 */
#pragma once

#define ING_MAX_REQUEST_BYTES ((size_t)1 << 20) /* one request message; the contract */
#define ING_MAX_REQUEST_DEPTH 32                /* nesting of a request's JSON; the contract */
#define ING_MAX_URL_BYTES ((size_t)8192)        /* any URL we fetch or store; the contract */
#define ING_MAX_PDF_TEXT_CHARS                                                                     \
	1000000 /* past it the text is not the document's but a scanner's                          \
		 */
#define ING_MAX_REPLY_BYTES                                                                        \
	((size_t)16 << 20) /* an examiner's reply: text and XMP of 4 MB each, and facts */
#define ING_MAX_BIBLIO_BYTES                                                                       \
	((size_t)1 << 20) /* a page's bibliographic record as JSON; 1,000 references are 300 KB    \
			   */
#define ING_MAX_OPEN_ELEMENTS 512 /* nesting: deeper HTML is flattened, deeper XML ends */
#define ING_MAX_TAG_ATTRIBUTES                                                                     \
	256 /* of one tag, further ones are dropped; real tags have 30 at most */
#define ING_MAX_MARKUP_NAMES                                                                       \
	10000 /* names outside HTML's own in a page: look-up gets slow with their number */
#define ING_MAX_TREE_BYTES                                                                         \
	((size_t)8 << 20) /* a page's tree, beside 64 times the page: nesting errors multiply      \
			     nodes */
#define ING_MAX_PAGE_CPU_MS 2000        /* parsing one page: 16 MiB of honest markup take 300 ms */
#define ING_MAX_ERROR_CHARS 1600        /* error_message of a result */
#define ING_MAX_TERMINAL_URL_BYTES 2048 /* PostgreSQL rows; longer URLs stay in the result only */
#define ING_MAX_BASE_URL_BYTES                                                                     \
	1500 /* base_url is part of an index key: a B-tree entry ends at 2,704 bytes */
#define ING_MAX_XML_TREE_BYTES                                                                     \
	((size_t)256 << 20) /* tree of an XML document: the largest articles are 20 MB of text */
#define ING_MAX_RULES_CPU_MS 2000 /* all selectors of one page; the slowest honest ones take 5 */
#define ING_MAX_SCRAPE_BYTES                                                                       \
	((size_t)64 << 20) /* a page over this is not read, whatever is set                        \
			    */
