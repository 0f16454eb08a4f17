-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The bytes that were found (file_meta, by digest of the decoded body), and where they are kept (cdx, a row
-- for an archived answer).

CREATE TABLE file_meta (
	sha1hex     text COLLATE "C" PRIMARY KEY CHECK (octet_length(sha1hex) = 40),
	sha256hex   text COLLATE "C" CHECK (octet_length(sha256hex) = 64),
	md5hex      text COLLATE "C" CHECK (octet_length(md5hex) = 32),
	size_bytes  bigint,
	mimetype    text COLLATE "C" CHECK (octet_length(mimetype) >= 1)
);
CREATE INDEX file_meta_md5hex_idx ON file_meta (md5hex);
COMMENT ON TABLE file_meta IS 'facts that follow from the bytes alone; never updated';

CREATE TABLE cdx (
	url          text COLLATE "C" NOT NULL CHECK (octet_length(url) >= 1),
	datetime     text COLLATE "C" NOT NULL CHECK (octet_length(datetime) = 14),
	sha1hex      text COLLATE "C" NOT NULL CHECK (octet_length(sha1hex) = 40),
	cdx_sha1hex  text COLLATE "C" CHECK (octet_length(cdx_sha1hex) = 40),
	mimetype     text COLLATE "C" CHECK (octet_length(mimetype) >= 1),
	warc_path    text COLLATE "C" CHECK (octet_length(warc_path) >= 1),
	warc_csize   bigint,
	warc_offset  bigint,
	row_created  timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (url, datetime)
);
CREATE INDEX cdx_sha1hex_idx ON cdx (sha1hex);
CREATE INDEX cdx_row_created_idx ON cdx (row_created);
COMMENT ON TABLE cdx IS 'archived answers; never updated';
COMMENT ON COLUMN cdx.sha1hex IS 'of the decoded body, as in file_meta';
COMMENT ON COLUMN cdx.cdx_sha1hex IS 'of the body as sent (the payload digest of the WARC record), when it differs from sha1hex';
COMMENT ON COLUMN cdx.warc_path IS 'final name of the WARC file';
