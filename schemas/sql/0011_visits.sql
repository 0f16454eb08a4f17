-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- How a request came to its result: when it came and by which message, what it waited for, which URLs were asked. For
-- people (`ingestctl explain request`); nothing of the worker reads it.
--
-- A column without a default: no row is written again.

ALTER TABLE ingest_file_result ADD COLUMN visits jsonb;
COMMENT ON COLUMN ingest_file_result.visits IS 'of the request whose result this is, at most 4,096 bytes: came, took_ms, instance, lane, topic (if it is not the lane''s), partition, offset, attempt, parked, first_seen; urls: in their order, each with what it waited for and what came. The url of the first is base_url, that of the last terminal_url, where it is missing. NULL: from before, by another program, or with postgres.visits: false';
