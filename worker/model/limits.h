/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * limits.h - limits that are not configuration, each with its reason.
 */
#pragma once

/* --- requests and results --- */

/* One request message (the contract). */
#define ING_MAX_REQUEST_BYTES ((size_t)1 << 20)
/* Nesting of a request's JSON (the contract). */
#define ING_MAX_REQUEST_DEPTH 32
/* Any URL that is fetched or stored (the contract). */
#define ING_MAX_URL_BYTES ((size_t)8192)
/* error_message of a result. */
#define ING_MAX_ERROR_CHARS 1600
/* terminal_url in PostgreSQL rows; longer URLs stay in the result only. */
#define ING_MAX_TERMINAL_URL_BYTES 2048
/* Parts of an index key, as is the type (40): a B-tree entry has at most 2,704 bytes. */
#define ING_MAX_BASE_URL_BYTES 1500
#define ING_MAX_LINK_SOURCE_BYTES 100
#define ING_MAX_LINK_SOURCE_ID_BYTES 1000

/* --- examiners --- */

/* Bodies that are kept in memory: the spool's window, and what an examiner and the worker share. */
#define ING_MAX_MEMORY_BODY_BYTES ((size_t)1 << 20)
/* Text of a PDF, and its XMP. Longer text comes from scanners, not from documents. */
#define ING_MAX_PDF_TEXT_CHARS 1000000
/* Of its Info dictionary: entries, bytes of a value, and of all. Papers have ten entries; a title has
 * 100 bytes. */
#define ING_MAX_PDF_INFO_KEYS 100
#define ING_MAX_PDF_INFO_BYTES ((size_t)16 << 10)
#define ING_MAX_PDF_INFO_SUM_BYTES ((size_t)256 << 10)
/* A picture of its first page fits into so many pixels. Smaller than the least bytes it shows
 * nothing; 180 x 300 pixels of noise take 60 KB. */
#define ING_THUMBNAIL_WIDTH 180
#define ING_THUMBNAIL_HEIGHT 300
#define ING_MIN_THUMBNAIL_BYTES ((size_t)50)
#define ING_MAX_THUMBNAIL_BYTES ((size_t)256 << 10)
/* An examiner's reply: an article written anew (ING_MAX_JATS_BYTES), or text and XMP of a PDF of 4 MB each,
 * its text as parts of a publication (16 MiB) and as a web page (8 MiB); and facts. */
#define ING_MAX_REPLY_BYTES ((size_t)48 << 20)
/* A page's bibliographic record as JSON; 1,000 references take 300 KB. */
#define ING_MAX_BIBLIO_BYTES ((size_t)1 << 20)
/* A decoded body that an examiner hands back whole, for a service that has to be given it; 99 of 100 PDFs
 * are smaller. */
#define ING_MAX_DECODED_BYTES ((size_t)24 << 20)
/* GROBID's answer about a document, in UTF-8: what is longer is no article. The replaced system has
 * the limit of characters; they take one byte, and rarely more than two on average. */
#define ING_MAX_GROBID_CHARS ((size_t)12000000)
#define ING_MAX_GROBID_BYTES ((size_t)24 << 20)
/* What is kept of it as JSON, of at most ING_MAX_BIBLIO_BYTES: a megabyte of tiny values would keep the loop
 * busy for a second. An examiner's record of authors with names of one letter has 31,000. */
#define ING_MAX_GROBID_METADATA_DEPTH 16
#define ING_MAX_GROBID_METADATA_VALUES 40000u
/* What is wrong with it. */
#define ING_MAX_GROBID_ERROR_CHARS ((size_t)1000)

/* --- markup --- */

/* Nesting: deeper HTML is flattened, deeper XML ends there. */
#define ING_MAX_OPEN_ELEMENTS 512
/* Of one tag; further ones are dropped. Real tags have 30 at most. */
#define ING_MAX_TAG_ATTRIBUTES 256
/* Element and attribute names of a page beside HTML's own: look-up gets slow with their number. */
#define ING_MAX_MARKUP_NAMES 10000
/* A page's tree, beside 64 times the page's bytes: nesting errors multiply nodes. */
#define ING_MAX_TREE_BYTES ((size_t)8 << 20)
/* Tree of an XML document: the largest articles have 20 MB of text. */
#define ING_MAX_XML_TREE_BYTES ((size_t)256 << 20)
/* Parsing one XML document: 128 MB of ordinary markup take 2 s. */
#define ING_MAX_XML_CPU_MS 10000
/* Parsing one page: 16 MiB of ordinary markup take 300 ms. */
#define ING_MAX_PAGE_CPU_MS 2000
/* All selectors of one page; the slowest ordinary ones take 5 ms. */
#define ING_MAX_RULES_CPU_MS 2000
/* A larger page is not read, whatever scrape.max_bytes says. */
#define ING_MAX_SCRAPE_BYTES ((size_t)64 << 20)
