-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What a WARC revisit record says of the record that it refers to (WARC-Refers-To, WARC-Refers-To-Date), which a row
-- of cdx did not keep so far. Rows from before have neither, and are not referred to.

ALTER TABLE cdx ADD COLUMN warc_record_id uuid, ADD COLUMN warc_date timestamptz;
COMMENT ON COLUMN cdx.warc_record_id IS 'WARC-Record-ID of the record, without urn:uuid:';
COMMENT ON COLUMN cdx.warc_date IS 'WARC-Date of the record, exact to the microsecond';
COMMENT ON COLUMN cdx.mimetype IS 'of the answer; warc/revisit: the record refers to an earlier one of the same URL, which has the body';
