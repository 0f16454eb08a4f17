-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What looking into pages and archives found, what GROBID made of documents, and the records and references
-- of Crossref. Columns that are added may be NULL in rows from before.

ALTER TABLE file_meta ADD COLUMN contains text COLLATE "C" CHECK (octet_length(contains) >= 1);
COMMENT ON TABLE file_meta IS 'facts that follow from the bytes alone; never updated, but contains is filled in';
COMMENT ON COLUMN file_meta.contains IS 'media types of what an archive or a compressed file holds, best first, divided by commas';

ALTER TABLE pdf_meta ADD COLUMN update_id text COLLATE "C" CHECK (octet_length(update_id) >= 1);
COMMENT ON COLUMN pdf_meta.update_id IS 'second part of the file''s ID: changes with each saving; permanent_id is the first';

CREATE TABLE html_meta (
	sha1hex        text COLLATE "C" PRIMARY KEY CHECK (octet_length(sha1hex) = 40),
	updated        timestamptz NOT NULL DEFAULT now(),
	status         text COLLATE "C" NOT NULL CHECK (octet_length(status) >= 1),
	scope          text COLLATE "C" CHECK (octet_length(scope) >= 1),
	has_teixml     boolean NOT NULL,
	has_thumbnail  boolean NOT NULL DEFAULT false,
	word_count     integer CHECK (word_count >= 0),
	biblio         jsonb,
	resources      jsonb
);
COMMENT ON TABLE html_meta IS 'facts of a page; a success stays until a later success';
COMMENT ON COLUMN html_meta.has_teixml IS 'its main text is kept as TEI XML';
COMMENT ON COLUMN html_meta.has_thumbnail IS 'always false: no images of pages are made';
COMMENT ON COLUMN html_meta.word_count IS 'of the main text';
COMMENT ON COLUMN html_meta.resources IS 'array: what the page was shown with, where it is archived';

CREATE TABLE grobid (
	sha1hex         text COLLATE "C" PRIMARY KEY CHECK (octet_length(sha1hex) = 40),
	updated         timestamptz NOT NULL DEFAULT now(),
	grobid_version  text COLLATE "C" CHECK (octet_length(grobid_version) >= 1),
	status_code     integer NOT NULL,
	status          text COLLATE "C" CHECK (octet_length(status) >= 1),
	fatcat_release  text COLLATE "C" CHECK (octet_length(fatcat_release) = 26),
	metadata        jsonb
);
COMMENT ON TABLE grobid IS 'what GROBID made of a PDF; a success (status_code 200) stays until a later success';
COMMENT ON COLUMN grobid.status_code IS 'of its HTTP answer; negative: none came';

CREATE TABLE crossref (
	doi      text COLLATE "C" PRIMARY KEY CHECK (octet_length(doi) >= 4 AND doi = lower(doi)),
	indexed  timestamptz NOT NULL,
	record   json NOT NULL
);
COMMENT ON TABLE crossref IS 'the newest record of a work that was seen, by the date on which Crossref indexed it';

CREATE TABLE grobid_refs (
	source     text COLLATE "C" NOT NULL CHECK (octet_length(source) >= 1),
	source_id  text COLLATE "C" NOT NULL CHECK (octet_length(source_id) >= 1),
	source_ts  timestamptz,
	updated    timestamptz NOT NULL DEFAULT now(),
	refs_json  json NOT NULL,
	PRIMARY KEY (source, source_id)
);
COMMENT ON TABLE grobid_refs IS 'references that GROBID has parsed; those of a newer record replace them';
COMMENT ON COLUMN grobid_refs.source_ts IS 'of the record that they are from; for crossref its date of indexing';

CREATE VIEW crossref_with_refs (doi, indexed, record, source_ts, refs_json) AS
	SELECT c.doi, c.indexed, c.record, r.source_ts, r.refs_json
	FROM crossref c LEFT JOIN grobid_refs r ON r.source = 'crossref' AND r.source_id = c.doi;
COMMENT ON VIEW crossref_with_refs IS 'records with the references that were parsed out of them';
