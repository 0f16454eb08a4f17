-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What looking into a PDF found, by the digest of its bytes.

CREATE TABLE pdf_meta (
	sha1hex              text COLLATE "C" PRIMARY KEY CHECK (octet_length(sha1hex) = 40),
	updated              timestamptz NOT NULL DEFAULT now(),
	status               text COLLATE "C" NOT NULL CHECK (octet_length(status) >= 1),
	has_page0_thumbnail  boolean NOT NULL,
	page_count           integer CHECK (page_count >= 0),
	word_count           integer CHECK (word_count >= 0),
	page0_height         real CHECK (page0_height >= 0),
	page0_width          real CHECK (page0_width >= 0),
	permanent_id         text COLLATE "C" CHECK (octet_length(permanent_id) >= 1),
	pdf_created          timestamptz,
	pdf_version          text COLLATE "C" CHECK (octet_length(pdf_version) >= 1),
	metadata             jsonb
);
COMMENT ON TABLE pdf_meta IS 'facts of a PDF; a success stays until a later success';
COMMENT ON COLUMN pdf_meta.page0_height IS 'points, of the first page';
