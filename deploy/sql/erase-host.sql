-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Deletes what the tables have of a host and all names below it: requests that begin there, results that begin or end there, captures,
-- and documents that were captured nowhere else, with what was made of them; publications that were put together with its pages,
-- and web pages. One transaction. What cannot be reached from here is written to files in the current folder:
--   erase-warc.txt      WARC files with its records, for `ingestctl warc erase`
--   erase-objects.txt   SHA-1 of deleted documents, whose derived files and messages have this key
--   erase-results.txt   Kafka keys of results that readers of the topic may have
--
--   psql -v ON_ERROR_STOP=1 -v host=example.org -f erase-host.sql
--
-- Requests that begin elsewhere (at a DOI's resolver) stay, without a result; their host should be blocked by now.
-- Afterwards: ingestctl db recount.

\set ON_ERROR_STOP 1
SET client_min_messages = warning;
BEGIN;

CREATE TEMP TABLE erase_host ON COMMIT DROP AS SELECT regexp_replace(lower(:'host'), '^www[.]', '') COLLATE "C" AS host;
CREATE FUNCTION pg_temp.at_host(url text) RETURNS boolean LANGUAGE sql STABLE AS $$
	SELECT coalesce(record_host(url) = host OR right(record_host(url), length(host) + 1) = '.' || host, false) FROM erase_host
$$;

CREATE TEMP TABLE erase_capture ON COMMIT DROP AS
	SELECT url, datetime, sha1hex, warc_path FROM cdx WHERE pg_temp.at_host(url);
CREATE TEMP TABLE erase_document ON COMMIT DROP AS
	SELECT DISTINCT sha1hex FROM erase_capture e WHERE NOT EXISTS (
		SELECT FROM cdx WHERE cdx.sha1hex = e.sha1hex AND NOT pg_temp.at_host(cdx.url));
CREATE TEMP TABLE erase_result ON COMMIT DROP AS
	SELECT ingest_type, base_url, terminal_sha1hex FROM ingest_file_result
	WHERE pg_temp.at_host(base_url) OR pg_temp.at_host(terminal_url);

\copy (SELECT DISTINCT warc_path FROM erase_capture WHERE warc_path IS NOT NULL ORDER BY 1) TO 'erase-warc.txt'
\copy (SELECT sha1hex FROM erase_document ORDER BY 1) TO 'erase-objects.txt'
-- The key is the SHA-1 of the identity, of which the tables keep the first 16 bytes: 32 digits.
\copy (SELECT DISTINCT replace(q.request_id::text, '-', '') FROM ingest_request q JOIN erase_result r USING (ingest_type, base_url) WHERE q.request_id IS NOT NULL ORDER BY 1) TO 'erase-results.txt'

WITH gone AS (DELETE FROM cdx USING erase_capture e WHERE (cdx.url, cdx.datetime) = (e.url, e.datetime) RETURNING 1)
	SELECT 'captures' AS deleted, count(*) FROM gone;
WITH gone AS (DELETE FROM ingest_file_result r USING erase_result e WHERE (r.ingest_type, r.base_url) = (e.ingest_type, e.base_url) RETURNING 1)
	SELECT 'results' AS deleted, count(*) FROM gone;
DELETE FROM request_list_member USING ingest_request q WHERE q.request_id = request_list_member.request_id AND pg_temp.at_host(q.base_url);
DELETE FROM document_queued USING ingest_request q WHERE q.document = document_queued.document AND pg_temp.at_host(q.base_url);
WITH gone AS (DELETE FROM ingest_request WHERE pg_temp.at_host(base_url) RETURNING 1)
	SELECT 'requests' AS deleted, count(*) FROM gone;
WITH gone AS (DELETE FROM file_meta USING erase_document e WHERE file_meta.sha1hex = e.sha1hex RETURNING 1)
	SELECT 'documents' AS deleted, count(*) FROM gone;
DELETE FROM pdf_meta USING erase_document e WHERE pdf_meta.sha1hex = e.sha1hex;
DELETE FROM html_meta USING erase_document e WHERE html_meta.sha1hex = e.sha1hex;
DELETE FROM grobid USING erase_document e WHERE grobid.sha1hex = e.sha1hex;
WITH gone AS (DELETE FROM publication WHERE EXISTS (
		SELECT FROM unnest(hosts) AS site, erase_host h WHERE site = h.host OR right(site, length(h.host) + 1) = '.' || h.host) RETURNING 1)
	SELECT 'publications' AS deleted, count(*) FROM gone;
WITH gone AS (DELETE FROM webpage WHERE pg_temp.at_host(start_url) OR pg_temp.at_host(final_url) RETURNING 1)
	SELECT 'web pages' AS deleted, count(*) FROM gone;
DELETE FROM host_state USING erase_host h WHERE host_state.host = h.host OR right(host_state.host, length(h.host) + 1) = '.' || h.host;
COMMIT;
