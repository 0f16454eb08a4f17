/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * findings.h - a request to an examiner and what it found: plain data, filled in the examiner
 * (worker/document, worker/scrape), sent over a socket, read by the job.
 * Strings are heap, valid UTF-8, or NULL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/found_publication.h"
#include "worker/model/found_resources.h"
#include "worker/model/found_tei.h"
#include "worker/model/found_text.h"
#include "worker/model/found_webpage.h"
#include "worker/model/found_xml.h"
#include "worker/model/kinds.h"
#include "worker/model/status.h"
#include "worker/model/rule_hits.h"

struct ing_robots_txt;

enum ing_want {              /* what to examine */
	ING_WANT_LINKS = 1,  /* parse HTML: what it says, where it leads, whether it is a wall */
	ING_WANT_PDF = 2,    /* facts and text when the body is a PDF */
	ING_WANT_WALLS = 4,  /* parse HTML only to see whether it is a wall; LINKS includes it */
	ING_WANT_ROBOTS = 8, /* it is a robots.txt; nothing else is looked at, then */
	ING_WANT_TEXT = 16,  /* the main text of a page */
	ING_WANT_XML = 32,   /* what an XML document is */
	ING_WANT_RESOURCES = 64, /* what a page refers to: images, style sheets … */
	ING_WANT_STYLE = 128,    /* it is a style sheet: what it refers to, and nothing else */
	ING_WANT_TEI = 256,      /* it is TEI from GROBID: its header, and nothing else */
	ING_WANT_CONTENTS = 512, /* what an archive (tar, zip) holds */
	ING_WANT_BODY = 1024, /* the body itself, without its content codings, and nothing else */
	ING_WANT_PUBLICATION =
		2048, /* what the body says of a publication; `publication` says how to read it */
	ING_WANT_WEBPAGE = 4096, /* title, content, licence, language of a page, by its rules */
};

struct ing_exam_request {
	const char *url;              /* the document's own, for relative links */
	const char *content_type;     /* raw header value or NULL */
	const char *content_encoding; /* raw header value or NULL */
	unsigned want;                /* enum ing_want bits */
	uint64_t max_body_bytes;      /* cap of the decoded bytes */
	unsigned max_ratio;           /* and of how many times larger than sent; 0: none */
	uint64_t max_scrape_bytes;    /* HTML over this is not parsed */
	unsigned pdf_timeout_ms; /* for the process that reads a PDF; 0, or more than the pool's own
				  * limit leaves: that limit less a margin in which the other
				  * findings can still be sent */
	const char *page;        /* of STYLE: the page that uses it; NULL otherwise */
	/* Of ROBOTS. max_body_bytes cuts the file, then: what is more is not read. */
	const char *agent; /* whose rules are wanted (common/net/robots.h); NULL otherwise */
	bool body_cut;     /* the body is the first part of one */
	const struct ing_publication_ask *publication; /* of PUBLICATION; NULL otherwise */
};

enum ing_exam { /* the outcome of an examination */
	ING_EXAM_OK,
	ING_EXAM_BAD_ENCODING, /* content coding unknown, broken or cut */
	ING_EXAM_TOO_LARGE,    /* decoded over max_body_bytes, or max_ratio times its size */
	ING_EXAM_CRASH,        /* set by the pool: the examiner died or was out of memory */
	ING_EXAM_TIMEOUT,      /* set by the pool: killed at its deadline */
	ING_EXAM_UNREADABLE,   /* the body cannot be read back from our own disk */
	ING_EXAM_NOT_STARTED,  /* set by the pool: no examiner was free in time */
};

#define ING_CONTAINS_BYTES 192

struct ing_file_meta { /* of the body without its content codings */
	bool decoded;  /* there were some; else the body is as sent */
	uint64_t size_bytes;
	/* Of a decoded body. Those of a body as sent are computed in the worker (worker/archive),
	 * where a document cannot falsify them, and are empty until then. */
	char md5hex[33], sha1hex[41], sha256hex[65];
	char mimetype[96];
	/* Media types of what an archive or a compressed file holds, best first, divided by commas;
	 * "": not asked, or nothing is known. */
	char contains[ING_CONTAINS_BYTES];
};

/* PART: the page was too costly to parse whole; only what came before that was read. */
enum ing_page_status { ING_PAGE_NONE, ING_PAGE_PARSED, ING_PAGE_TOO_LARGE, ING_PAGE_PART };

#define ING_NO_RULE UINT32_MAX

struct ing_page_link {
	char *url;       /* absolute http(s); NULL: the page names none */
	char *technique; /* which signal or rule: "citation_pdf_url", "acs-pdf" …; NULL without
			  * url, and then only */
	char *stage;     /* release_stage of what is there, where a rule knows it; or NULL */
	bool self;       /* it is the page's own address: there was nothing better */
	uint32_t rule;   /* which one gave it; ING_NO_RULE: a signal that needs none */
};

struct ing_page {
	enum ing_page_status status; /* NONE: not HTML, or not asked */
	char *title;                 /* <title>, white space folded, at most 1,000 bytes, or NULL */
	struct ing_page_link links[ING_LINK_KINDS_];
	struct ing_page_link next; /* what a site's rule has put together: the document, or a page
				    * on the way to it */
	enum ing_wall wall;        /* a signature that the page bears */
	char *wall_detail;         /* the rule's words; NULL: none */
	char *platform, *scope;    /* words of letters, digits, "-" and "_"; or NULL */
	/* JSON object of the bibliographic record, keys of null left out; NULL: nothing was found.
	 * From a process that read hostile bytes: parse it, and believe only what is of the right
	 * type (worker/artifact/html_biblio.h). */
	char *biblio_json;
	/* What rules did. Numbers mean something only with the rules of this digest, and may be
	 * lies. */
	uint64_t rules_digest;
	struct ing_rule_hit *rule_hits; /* heap */
	uint32_t rule_hit_count;        /* at most ING_MAX_RULE_HITS */
};

/* Every value of ing_pdf.status. The last three are decided by the examiner that waits for whoever
 * reads the PDF, all others by the reader: "bad-pdf" (the reader died before it had any text: a signal,
 * its memory limit, a refused system call, an invalid reply), "error-timeout" (it had none after
 * pdf_timeout_ms, or had used up its CPU time), "crash" (no reader could be started). The first two
 * are the PDF's own fault, worth another try only with another version of this program.
 * "bad-unicode" is a success but for an Info dictionary that cannot be decoded. */
#define ING_PDF_STATUSES                                                                           \
	"success", "not-pdf", "empty-pdf", "empty-page0", "parse-error", "text-too-large",         \
		"bad-unicode", "bad-pdf", "error-timeout", "crash"

/* The order in which a PDF is read. Each part is told as soon as it is known: what comes later may
 * cost its process the life. */
enum ing_pdf_part {
	ING_PDF_TEXT,      /* everything but the other two; info_json has what poppler knows */
	ING_PDF_INFO,      /* info_json whole; status and error_msg if it is bad */
	ING_PDF_THUMBNAIL, /* thumbnail, if it could be drawn */
	ING_PDF_PARTS_
};

struct ing_pdf_thumbnail {
	char *data; /* JPEG, at most ING_MAX_THUMBNAIL_BYTES; NULL: none */
	size_t bytes;
};

struct ing_pdf {
	char *status;    /* one of ING_PDF_STATUSES; NULL: not asked or not a PDF */
	char *error_msg; /* at most 500 characters */
	char *text;      /* all pages, physical layout */
	char *meta_xml;  /* XMP, at most ING_MAX_PDF_TEXT_CHARS; control characters that XML does
			  * not know are spaces */
	char *info_json; /* JSON object of the Info dictionary: keys as in the file, dates RFC 3339.
			  * Comes from a process that read hostile bytes, so parse it before
			  * believing that it is one */
	int page_count;
	double page0_width, page0_height; /* points */
	char *permanent_id, *update_id;   /* 32 hex digits or NULL */
	char *pdf_version;                /* "1.7" or NULL */
	char *created;                    /* RFC 3339 CreationDate or NULL */
	uint32_t word_count;
	bool has_page0_thumbnail;           /* stays true when the picture has been moved away */
	struct ing_pdf_thumbnail thumbnail; /* of the first page */
};

struct ing_robots_found {
	struct ing_robots_txt *txt; /* the rules for the agent; NULL: not asked, or not decoded */
	bool cut; /* the file is longer than what was read, so the digests are not its own */
};

/* A body that was decoded, at most ING_MAX_DECODED_BYTES of any bytes. */
struct ing_body_found {
	char *data; /* heap; NULL: not asked, larger, or it had no coding */
	size_t bytes;
};

struct ing_findings {
	enum ing_exam exam;
	char *detail;              /* words for error_message or NULL */
	struct ing_file_meta file; /* of OK; and of CRASH and TIMEOUT, unless it came before it was
				    * known, when mimetype is empty */
	struct ing_page page;
	struct ing_pdf pdf;
	struct ing_robots_found robots;
	struct ing_text_found text;
	struct ing_xml_found xml;
	struct ing_resources_found resources;
	struct ing_tei_found tei;
	struct ing_body_found body;
	struct ing_publication_found publication;
	struct ing_webpage_found webpage;
	uint64_t cpu_us, pdf_cpu_us; /* of the examiner; of its PDF: the reader, giving it the
					bytes, taking its text */
};

void ing_findings_init(struct ing_findings *f);
void ing_findings_done(struct ing_findings *f);  /* frees the strings; safe on an initialised one */
void ing_pdf_done(struct ing_pdf *pdf);          /* the same for the PDF part alone */
bool ing_pdf_is_read(const struct ing_pdf *pdf); /* whether it has facts and text */
void ing_page_done(struct ing_page *page);       /* and for the page */

/* The status of a document that could not be looked into; SUCCESS for OK. */
enum ing_status ing_exam_status(enum ing_exam exam);
