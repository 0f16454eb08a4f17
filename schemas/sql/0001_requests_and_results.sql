-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What was asked for, and what came of it. Keys compare bytewise (COLLATE "C"): URLs and hashes have no
-- language, and such an index survives a change of the system's collation tables.

CREATE TABLE ingest_request (
	link_source            text COLLATE "C" NOT NULL CHECK (octet_length(link_source) >= 1),
	link_source_id         text COLLATE "C" NOT NULL CHECK (octet_length(link_source_id) >= 1),
	ingest_type            text COLLATE "C" NOT NULL CHECK (octet_length(ingest_type) >= 1),
	base_url               text COLLATE "C" NOT NULL CHECK (octet_length(base_url) >= 1),
	ingest_request_source  text COLLATE "C" CHECK (octet_length(ingest_request_source) >= 1),
	created                timestamptz NOT NULL DEFAULT now(),
	release_stage          text COLLATE "C" CHECK (octet_length(release_stage) >= 1),
	request                jsonb,
	PRIMARY KEY (link_source, link_source_id, ingest_type, base_url)
);
CREATE INDEX ingest_request_base_url_idx ON ingest_request (base_url, ingest_type);
CREATE INDEX ingest_request_source_created_idx ON ingest_request (ingest_request_source, created);
COMMENT ON TABLE ingest_request IS 'one row for each request that says where it came from; never updated';
COMMENT ON COLUMN ingest_request.request IS 'what of the request has no column of its own: ext_ids, edit_extra, rel …';

CREATE TABLE ingest_file_result (
	ingest_type           text COLLATE "C" NOT NULL CHECK (octet_length(ingest_type) >= 1),
	base_url              text COLLATE "C" NOT NULL CHECK (octet_length(base_url) >= 1),
	updated               timestamptz NOT NULL DEFAULT now(),
	hit                   boolean NOT NULL,
	status                text COLLATE "C" NOT NULL CHECK (octet_length(status) >= 1),
	terminal_url          text COLLATE "C" CHECK (octet_length(terminal_url) >= 1),
	terminal_dt           text COLLATE "C" CHECK (octet_length(terminal_dt) = 14),
	terminal_status_code  integer,
	terminal_sha1hex      text COLLATE "C" CHECK (octet_length(terminal_sha1hex) = 40),
	PRIMARY KEY (ingest_type, base_url)
);
CREATE INDEX ingest_file_result_terminal_url_idx ON ingest_file_result (terminal_url);
CREATE INDEX ingest_file_result_terminal_sha1hex_idx ON ingest_file_result (terminal_sha1hex);
COMMENT ON TABLE ingest_file_result IS 'the latest outcome for a start; a hit stays until a later hit';
COMMENT ON COLUMN ingest_file_result.terminal_url IS 'NULL also when longer than 2,048 bytes: the result message has it';
