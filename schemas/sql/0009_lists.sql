-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Lists of requests: who brought a request, what of it was put onto a topic, when to ask again, and counts that
-- answer questions about sixty million rows without reading them.
--
-- Columns that are added are NULL in rows from before; `ingestctl db fill` computes them, in batches.
-- The indexes read ingest_request and ingest_file_result once, during which workers wait: about a
-- minute for a hundred million rows.

-- In the order in which a worker's batch writes to them, all before the first is changed: else the two may wait for one another, and
-- the server ends one of them.
LOCK TABLE ingest_file_result, ingest_request, file_meta IN ACCESS EXCLUSIVE MODE;

-- Of this migration, and so of its functions (SET search_path FROM CURRENT): a caller's temporary tables are not looked at first.
SELECT set_config('search_path', current_setting('search_path') || ', pg_temp', true);

CREATE TABLE request_list (
	list_id   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name      text COLLATE "C" NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 100),
	source    text COLLATE "C" CHECK (octet_length(source) >= 1),
	created   timestamptz NOT NULL DEFAULT now(),
	loaded    timestamptz,
	priority  integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE request_list IS 'lists of requests, by name';
COMMENT ON COLUMN request_list.source IS 'seed list, as ingestctl seedlist names it, or whatever was said when it was loaded';
COMMENT ON COLUMN request_list.loaded IS 'when a load of it last came to its end; NULL: not yet';
COMMENT ON COLUMN request_list.priority IS 'of several lists that are enqueued together, the higher goes first';

-- An absent link_source or link_source_id is the empty text.
ALTER TABLE ingest_request
	DROP CONSTRAINT ingest_request_link_source_check,
	DROP CONSTRAINT ingest_request_link_source_id_check,
	ADD COLUMN request_id uuid,
	ADD COLUMN document uuid,
	ADD COLUMN list_id integer,
	ADD COLUMN host text COLLATE "C",
	ADD COLUMN doi_prefix text COLLATE "C";
CREATE INDEX ingest_request_request_id_idx ON ingest_request (request_id);
CREATE INDEX ingest_request_host_idx ON ingest_request (host);
CREATE INDEX ingest_request_list_id_created_idx ON ingest_request USING brin (list_id, created);
COMMENT ON COLUMN ingest_request.request_id IS 'first 16 bytes of the SHA-1 of its identity, which is the Kafka key of its result';
COMMENT ON COLUMN ingest_request.document IS 'first 16 bytes of the SHA-1 of type, TAB and cleaned URL without scheme, user information and "www."';
COMMENT ON COLUMN ingest_request.request IS 'members that have no column of their own; base_url: null and an ingest_type belong to the identity, and go before the columns';
COMMENT ON COLUMN ingest_request.list_id IS 'list that brought it; NULL: a worker did';
COMMENT ON COLUMN ingest_request.host IS 'of base_url, lower case, without "www."; NULL: none';
COMMENT ON COLUMN ingest_request.doi_prefix IS 'of its DOI: "10.1234"; NULL: none';

-- Also for requests that a list has, but another list or a worker had brought before.
CREATE TABLE request_list_member (
	request_id  uuid NOT NULL,
	list_id     integer NOT NULL,
	PRIMARY KEY (request_id, list_id)
);
CREATE INDEX request_list_member_list_id_idx ON request_list_member (list_id);
COMMENT ON TABLE request_list_member IS 'requests of a list that were stored before it; those that it brought itself have list_id in ingest_request';

CREATE TABLE request_load (
	list_id    integer NOT NULL,
	stream     integer NOT NULL CHECK (stream >= 0),
	streams    integer NOT NULL CHECK (streams > stream),
	block      bigint NOT NULL CHECK (block >= 0),
	digest     bytea NOT NULL,
	added      bigint NOT NULL,
	known      bigint NOT NULL,
	elsewhere  bigint NOT NULL,
	bad        bigint NOT NULL,
	updated    timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (list_id, stream)
);
COMMENT ON TABLE request_load IS 'how far loads have come that were broken off; no row: none is';
COMMENT ON COLUMN request_load.block IS 'blocks of the input whose requests are stored, of this stream''s share';
COMMENT ON COLUMN request_load.digest IS 'SHA-1 of the input up to there, to recognise it by';

-- What the fleet has been told to fetch.
CREATE TABLE document_queued (
	document  uuid PRIMARY KEY,
	queued    timestamptz NOT NULL,
	plan_id   integer NOT NULL
);
COMMENT ON TABLE document_queued IS 'documents that were planned to be put onto a topic, with the last time';

CREATE TABLE enqueue_plan (
	plan_id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name        text COLLATE "C" NOT NULL UNIQUE CHECK (octet_length(name) BETWEEN 1 AND 200),
	lineage     uuid NOT NULL DEFAULT gen_random_uuid(),
	topic       text COLLATE "C" NOT NULL,
	planned     bigint NOT NULL DEFAULT 0 CHECK (planned >= 0),
	begun       bigint NOT NULL DEFAULT 0 CHECK (begun BETWEEN 0 AND planned),
	sent        bigint NOT NULL DEFAULT 0 CHECK (sent BETWEEN 0 AND begun),
	requests    bigint NOT NULL DEFAULT 0,
	requests_sent bigint NOT NULL DEFAULT 0,
	asked       text,
	created     timestamptz NOT NULL DEFAULT now(),
	updated     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE enqueue_plan IS 'what is put onto a topic in batches, each in a Kafka transaction that commits the batch''s number';
COMMENT ON COLUMN enqueue_plan.name IS 'of a list, or a re-ingest job: the Kafka group is "ingestctl-enqueue-" and this';
COMMENT ON COLUMN enqueue_plan.lineage IS 'stands in the metadata of the committed number: a database that was made anew has another';
COMMENT ON COLUMN enqueue_plan.planned IS 'batches planned so far: their numbers are 0 to this - 1';
COMMENT ON COLUMN enqueue_plan.begun IS 'batches that a sender may have given to Kafka: whether those from sent on are committed, the group''s position says';
COMMENT ON COLUMN enqueue_plan.sent IS 'batches known to be committed, or abandoned';
COMMENT ON COLUMN enqueue_plan.asked IS 'selection of the last planning, to know a command by that is repeated after a break; NULL: a load';

CREATE TABLE enqueue_batch (
	plan_id   integer NOT NULL,
	batch     bigint NOT NULL,
	requests  integer NOT NULL CHECK (requests > 0),
	lines     text COLLATE "C" NOT NULL,
	documents uuid[] NOT NULL,
	PRIMARY KEY (plan_id, batch)
);
ALTER TABLE enqueue_batch ALTER COLUMN documents SET STORAGE EXTERNAL;
COMMENT ON TABLE enqueue_batch IS 'planned batches that are not known to be committed';
COMMENT ON COLUMN enqueue_batch.batch IS 'its number; negative inside the transaction that plans it';
COMMENT ON COLUMN enqueue_batch.lines IS 'messages as they will be sent, one per line';
COMMENT ON COLUMN enqueue_batch.documents IS 'of the lines, in their order';

-- The time before which whatever was marked as queued is visible from now on. Transactions that are marking hold an
-- advisory lock that says since when (classid "enqu", objid seconds since 2020), until they have ended.
CREATE FUNCTION documents_queued_since() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
	SELECT least(statement_timestamp(), min(to_timestamp(1577836800 + objid::bigint))) FROM pg_locks
	WHERE locktype = 'advisory' AND classid = 1701736821 AND objsubid = 2
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;

-- The last statement of a transaction that has planned batches: marks their documents as queued, takes out again what another
-- has queued since, and what is in them twice, and gives them their numbers. Returns the requests that are left.
CREATE FUNCTION number_planned_batches(the_plan integer, since timestamptz, what text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	marked bigint;
	added bigint;
	moment timestamptz;
	of_plan RECORD;
BEGIN
	PERFORM pg_advisory_xact_lock_shared(1701736821, floor(extract(epoch FROM clock_timestamp()) - 1577836800)::integer);
	moment := clock_timestamp();
	SELECT coalesce(sum(requests), 0) INTO added FROM enqueue_batch WHERE plan_id = the_plan AND batch < 0;
	-- In the order of the key: planners that have documents in common wait for one another, but not in a circle.
	INSERT INTO document_queued AS q (document, queued, plan_id)
	SELECT DISTINCT document, moment, the_plan FROM enqueue_batch, unnest(documents) AS document
	WHERE plan_id = the_plan AND batch < 0 ORDER BY document
	ON CONFLICT (document) DO UPDATE SET queued = excluded.queued, plan_id = excluded.plan_id WHERE q.queued < since;
	GET DIAGNOSTICS marked = ROW_COUNT;
	IF marked < added THEN
		WITH mine AS (
			SELECT batch, requests, document, nth, row_number() OVER (PARTITION BY document ORDER BY batch DESC, nth) AS time
			FROM enqueue_batch, unnest(documents) WITH ORDINALITY AS d (document, nth)
			WHERE plan_id = the_plan AND batch < 0),
		surplus AS MATERIALIZED (
			SELECT m.batch, m.requests, m.nth FROM mine m JOIN document_queued q ON q.document = m.document
			WHERE m.time > 1 OR q.xmin <> pg_current_xact_id()::xid),
		emptied AS (
			DELETE FROM enqueue_batch b WHERE b.plan_id = the_plan
				AND b.batch IN (SELECT batch FROM surplus GROUP BY batch HAVING count(*) = max(requests)))
		UPDATE enqueue_batch b SET requests = kept.n, lines = kept.lines, documents = kept.documents
		FROM (
			SELECT k.batch, count(*) AS n, string_agg(line, E'\n' ORDER BY nth) AS lines, array_agg(document ORDER BY nth) AS documents
			FROM enqueue_batch k, unnest(k.documents, string_to_array(k.lines, E'\n')) WITH ORDINALITY AS l (document, line, nth)
			WHERE k.plan_id = the_plan AND k.batch IN (SELECT batch FROM surplus)
				AND NOT EXISTS (SELECT FROM surplus s WHERE s.batch = k.batch AND s.nth = l.nth)
			GROUP BY k.batch) AS kept
		WHERE b.plan_id = the_plan AND b.batch = kept.batch;
	END IF;
	SELECT count(*) AS batches, coalesce(sum(requests), 0) AS requests, 0::bigint AS first INTO of_plan
	FROM enqueue_batch WHERE plan_id = the_plan AND batch < 0;
	-- From here to the end of the transaction other planners of this plan wait.
	UPDATE enqueue_plan SET planned = planned + of_plan.batches, requests = requests + of_plan.requests,
		asked = what, updated = now()
	WHERE plan_id = the_plan RETURNING planned - of_plan.batches INTO of_plan.first;
	UPDATE enqueue_batch b SET batch = of_plan.first + o.nth - 1
	FROM (SELECT batch, row_number() OVER (ORDER BY batch DESC) AS nth FROM enqueue_batch WHERE plan_id = the_plan AND batch < 0) AS o
	WHERE b.plan_id = the_plan AND b.batch = o.batch;
	RETURN of_plan.requests;
END
$$;

ALTER TABLE ingest_file_result
	ADD COLUMN error_message text,
	ADD COLUMN attempts integer CHECK (attempts >= 1),
	ADD COLUMN first_seen timestamptz,
	ADD COLUMN next_try timestamptz,
	ADD COLUMN retry_after integer CHECK (retry_after >= 0),
	ADD COLUMN host text COLLATE "C",
	ADD COLUMN document uuid;
CREATE INDEX ingest_file_result_document_idx ON ingest_file_result (document);
CREATE INDEX ingest_file_result_next_try_idx ON ingest_file_result (next_try) WHERE next_try IS NOT NULL;
CREATE INDEX ingest_file_result_updated_idx ON ingest_file_result USING brin (updated);
COMMENT ON COLUMN ingest_file_result.attempts IS 'results that were stored for it, this one included';
COMMENT ON COLUMN ingest_file_result.first_seen IS 'when the first of them was';
COMMENT ON COLUMN ingest_file_result.next_try IS 'worth asking again from then on; NULL: not';
COMMENT ON COLUMN ingest_file_result.retry_after IS 'seconds from updated to next_try; NULL: not worth asking again';
COMMENT ON COLUMN ingest_file_result.host IS 'of terminal_url, else of base_url, lower case, without "www."';
COMMENT ON COLUMN ingest_file_result.document IS 'as in ingest_request';

-- Counts. Statement triggers append differences (_delta: no key, so nobody waits for anybody); fold_counts() adds
-- them up. What holds now is both together, in one snapshot. Counted are requests that have a request_id: those from
-- before are as soon as they get one.
CREATE TABLE request_count (
	list_id                integer NOT NULL,
	first                  boolean NOT NULL,
	ingest_request_source  text COLLATE "C" NOT NULL,
	link_source            text COLLATE "C" NOT NULL,
	ingest_type            text COLLATE "C" NOT NULL,
	host                   text COLLATE "C" NOT NULL,
	doi_prefix             text COLLATE "C" NOT NULL,
	status                 text COLLATE "C" NOT NULL,
	hit                    boolean NOT NULL,
	n                      bigint NOT NULL,
	PRIMARY KEY (list_id, status, host, doi_prefix, ingest_type, ingest_request_source, link_source, first, hit)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE TABLE request_count_delta (LIKE request_count) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);
COMMENT ON TABLE request_count IS 'requests by what came of them; empty text: none';
COMMENT ON COLUMN request_count.list_id IS '0: no list';
COMMENT ON COLUMN request_count.first IS 'this list, or none, brought them; false: they are counted elsewhere, too. Sums over lists take true only';
COMMENT ON COLUMN request_count.host IS 'of base_url';
COMMENT ON COLUMN request_count.status IS 'of ingest_file_result; empty: there is no result';

CREATE TABLE result_count (
	bucket                 timestamptz NOT NULL,
	list_id                integer NOT NULL,
	first                  boolean NOT NULL,
	ingest_request_source  text COLLATE "C" NOT NULL,
	ingest_type            text COLLATE "C" NOT NULL,
	status                 text COLLATE "C" NOT NULL,
	hit                    boolean NOT NULL,
	n                      bigint NOT NULL,
	PRIMARY KEY (bucket, list_id, status, ingest_type, ingest_request_source, first, hit)
) WITH (fillfactor = 80);
CREATE TABLE result_count_delta (LIKE result_count) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);
COMMENT ON TABLE result_count IS 'results that were stored, by the ten minutes in which they were; one that answers several requests counts for each, of several for one start in a batch the one that stays';

CREATE TABLE file_count (
	day       date NOT NULL,
	mimetype  text COLLATE "C" NOT NULL,
	n         bigint NOT NULL,
	bytes     numeric NOT NULL,
	PRIMARY KEY (day, mimetype)
);
CREATE TABLE file_count_delta (LIKE file_count) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000);
COMMENT ON TABLE file_count IS 'documents that were first stored on a day (UTC), and their bytes';

-- While requests are added by others than workers (count_adding()), a result and a request with its URL may be stored at the same
-- moment, so that neither sees the other and nobody counts them together. Results are noted then with what their transaction saw, and
-- statements that add with what they saw; fold_counts() makes up for what was missed, when all that were under way have ended.
CREATE TABLE count_adder (
	xid        xid8 NOT NULL,
	members    boolean NOT NULL,
	snapshot   pg_snapshot NOT NULL,
	PRIMARY KEY (xid, members)
);
COMMENT ON TABLE count_adder IS 'transactions that added requests, or members of lists, and what they saw when they counted them';
CREATE TABLE count_late (
	xid          xid8 NOT NULL,
	snapshot     pg_snapshot NOT NULL,
	ingest_type  text COLLATE "C" NOT NULL,
	base_url     text COLLATE "C" NOT NULL,
	old_status   text COLLATE "C" NOT NULL,
	old_hit      boolean NOT NULL,
	status       text COLLATE "C" NOT NULL,
	hit          boolean NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
COMMENT ON TABLE count_late IS 'results that were stored while requests were being added, and what was seen when they were counted';
CREATE TABLE count_horizon (
	one        boolean PRIMARY KEY DEFAULT true CHECK (one),
	seen       pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
	before     pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
	recounted  pg_snapshot NOT NULL DEFAULT pg_current_snapshot()
);
COMMENT ON TABLE count_horizon IS 'what fold_counts() saw when it last looked for what was missed, and the time before; what recount() saw';
INSERT INTO count_horizon DEFAULT VALUES;

-- What holds now: for reading only.
CREATE VIEW request_counts AS
	SELECT list_id, first, ingest_request_source, link_source, ingest_type, host, doi_prefix, status, hit, sum(n)::bigint AS n
	FROM (SELECT * FROM request_count UNION ALL SELECT * FROM request_count_delta) AS c
	GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(n) <> 0;
CREATE VIEW result_counts AS
	SELECT * FROM result_count UNION ALL SELECT * FROM result_count_delta;
CREATE VIEW file_counts AS
	SELECT * FROM file_count UNION ALL SELECT * FROM file_count_delta;
COMMENT ON VIEW result_counts IS 'rows of one key are to be summed';
COMMENT ON VIEW file_counts IS 'rows of one day and type are to be summed';

-- The functions run as the owner of the tables, so that who may write requests and results need not be allowed to write
-- counts, and find tables as this migration does, whatever the search path of who fires them. They join by one look-up by
-- index for each row of a statement: the tables that are joined are large, what a statement adds is not.
--
-- A worker writes results before requests: so of two workers with the same URL one has waited for the other, and
-- its triggers see what that has written.

-- For the rest of the session it adds requests or members of lists, in one statement each of a transaction. Waits for the
-- results that are being stored; later ones are noted. The locks' names are "ing" and "add", "ing" and "res".
CREATE FUNCTION count_adding() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM pg_advisory_lock_shared(x'696e67'::integer, x'616464'::integer);
	PERFORM pg_advisory_lock(x'696e67'::integer, x'726573'::integer);
	PERFORM pg_advisory_unlock(x'696e67'::integer, x'726573'::integer);
	PERFORM set_config('ingest.adding', 'on', false);
END
$$;

-- Whether anybody does. Who begins to after this waits for the end of this transaction.
CREATE FUNCTION count_beside_adders() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(x'696e67'::integer, x'726573'::integer);
	RETURN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = x'696e67'::bigint
		AND objid::bigint = x'616464'::bigint AND objsubid = 2 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
END
$$;

-- Results that the same transaction has written before were not counted for the requests that are added now; for nobody, if there was no
-- other.
CREATE FUNCTION count_requests_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	WITH a AS MATERIALIZED (
		SELECT coalesce(q.list_id, 0) AS list_id, coalesce(q.ingest_request_source, '') AS source, q.link_source, q.ingest_type,
			q.base_url, coalesce(q.host, '') AS host, coalesce(q.doi_prefix, '') AS doi_prefix,
			coalesce(r.status, '') AS status, coalesce(r.hit, false) AS hit, r.xmin = pg_current_xact_id()::xid AS own
		FROM added q LEFT JOIN ingest_file_result r ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url
		WHERE q.request_id IS NOT NULL),
	requests AS (
		INSERT INTO request_count_delta
		SELECT list_id, true, source, link_source, ingest_type, host, doi_prefix, status, hit, count(*)
		FROM a GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9),
	noted AS (
		INSERT INTO count_adder SELECT pg_current_xact_id(), false, pg_current_snapshot()
		WHERE current_setting('ingest.adding', true) = 'on' ON CONFLICT DO NOTHING),
	results AS (
		SELECT list_id, source, ingest_type, status, hit, 1 AS d FROM a WHERE own
		UNION ALL
		SELECT 0, '', ingest_type, status, hit, -1
		FROM (SELECT DISTINCT ingest_type, base_url, status, hit FROM a WHERE own) AS o
		WHERE NOT EXISTS (SELECT FROM ingest_request q WHERE q.base_url = o.base_url AND q.ingest_type = o.ingest_type
			AND q.request_id IS NOT NULL AND q.xmin <> pg_current_xact_id()::xid))
	INSERT INTO result_count_delta
	SELECT date_bin('10 minutes', now(), 'epoch'), list_id, true, source, ingest_type, status, hit, sum(d)
	FROM results GROUP BY 1, 2, 4, 5, 6, 7 HAVING sum(d) <> 0;
	RETURN NULL;
END
$$;
CREATE TRIGGER count_added AFTER INSERT ON ingest_request
	REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_requests_added();

CREATE FUNCTION count_requests_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	WITH noted AS (
		INSERT INTO count_adder SELECT pg_current_xact_id(), false, pg_current_snapshot()
		WHERE current_setting('ingest.adding', true) = 'on' ON CONFLICT DO NOTHING)
	INSERT INTO request_count_delta
	SELECT coalesce(c.list_id, 0), true, coalesce(c.ingest_request_source, ''), c.link_source, c.ingest_type,
		coalesce(c.host, ''), coalesce(c.doi_prefix, ''), coalesce(r.status, ''), coalesce(r.hit, false), sum(c.d)
	FROM (SELECT a.*, 1 AS d FROM added a UNION ALL SELECT w.*, -1 FROM was w) AS c
		LEFT JOIN ingest_file_result r ON r.ingest_type = c.ingest_type AND r.base_url = c.base_url
	WHERE c.request_id IS NOT NULL
	GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(c.d) <> 0;
	RETURN NULL;
END
$$;
CREATE TRIGGER count_updated AFTER UPDATE ON ingest_request
	REFERENCING OLD TABLE AS was NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_requests_changed();

CREATE FUNCTION count_members_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
	WITH noted AS (
		INSERT INTO count_adder SELECT pg_current_xact_id(), true, pg_current_snapshot()
		WHERE current_setting('ingest.adding', true) = 'on' ON CONFLICT DO NOTHING)
	INSERT INTO request_count_delta
	SELECT m.list_id, false, coalesce(a.ingest_request_source, ''), a.link_source, a.ingest_type,
		coalesce(a.host, ''), coalesce(a.doi_prefix, ''), coalesce(r.status, ''), coalesce(r.hit, false), count(*)
	FROM added m JOIN ingest_request a ON a.request_id = m.request_id
		LEFT JOIN ingest_file_result r ON r.ingest_type = a.ingest_type AND r.base_url = a.base_url
	GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
	RETURN NULL;
END
$$;
CREATE TRIGGER count_added AFTER INSERT ON request_list_member
	REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_members_added();

-- `changed` gives ingest_type, base_url, status, hit and, as old_status and old_hit, what stood there before. A row of which
-- only other columns change is no result.
CREATE FUNCTION pg_temp.make_result_counter(name text, changed text) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format($function$
		CREATE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
		SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
		DECLARE
			noting boolean := count_beside_adders();
		BEGIN
			WITH asked AS MATERIALIZED (
				SELECT c.*, q.request_id, coalesce(q.list_id, 0) AS list_id, true AS first,
					coalesce(q.ingest_request_source, '') AS source, q.link_source,
					coalesce(q.host, '') AS host, coalesce(q.doi_prefix, '') AS doi_prefix
				FROM (%2$s) AS c LEFT JOIN ingest_request q
					ON q.base_url = c.base_url AND q.ingest_type = c.ingest_type AND q.request_id IS NOT NULL),
			listed AS MATERIALIZED (
				SELECT * FROM asked
				UNION ALL
				SELECT a.ingest_type, a.base_url, a.status, a.hit, a.old_status, a.old_hit, a.request_id, m.list_id, false,
					a.source, a.link_source, a.host, a.doi_prefix
				FROM asked a JOIN request_list_member m ON m.request_id = a.request_id),
			counted AS (
				INSERT INTO request_count_delta
				SELECT list_id, first, source, link_source, ingest_type, host, doi_prefix, d.status, d.hit, sum(d.n)
				FROM listed, LATERAL (VALUES (old_status, old_hit, -1), (listed.status, listed.hit, 1)) AS d (status, hit, n)
				WHERE request_id IS NOT NULL
				GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(d.n) <> 0),
			noted AS (
				INSERT INTO count_late
				SELECT pg_current_xact_id(), pg_current_snapshot(), c.*
				FROM (SELECT DISTINCT ingest_type, base_url, old_status, old_hit, status, hit FROM asked WHERE noting) AS c)
			INSERT INTO result_count_delta
			SELECT date_bin('10 minutes', now(), 'epoch'), list_id, first, source, ingest_type, status, hit, count(*)
			FROM listed GROUP BY 1, 2, 3, 4, 5, 6, 7;
			RETURN NULL;
		END
		$$ $function$, name, changed);
END
$make$;
SELECT pg_temp.make_result_counter('count_results_added',
	'SELECT ingest_type, base_url, status, hit, ''''::text AS old_status, false AS old_hit FROM added');
SELECT pg_temp.make_result_counter('count_results_changed',
	'SELECT a.ingest_type, a.base_url, a.status, a.hit, w.status AS old_status, w.hit AS old_hit'
	' FROM added a JOIN was w ON w.ingest_type = a.ingest_type AND w.base_url = a.base_url WHERE a.updated <> w.updated');
CREATE TRIGGER count_added AFTER INSERT ON ingest_file_result
	REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_results_added();
CREATE TRIGGER count_updated AFTER UPDATE ON ingest_file_result
	REFERENCING OLD TABLE AS was NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_results_changed();

CREATE FUNCTION count_files_added() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
	INSERT INTO file_count_delta
	SELECT (now() AT TIME ZONE 'UTC')::date, coalesce(mimetype, ''), count(*), coalesce(sum(size_bytes), 0)
	FROM added GROUP BY 2;
	RETURN NULL;
END
$$;
CREATE TRIGGER count_added AFTER INSERT ON file_meta
	REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_files_added();

-- Makes up for at most so many results that had ended when the horizon was last moved, once all that was under way then has
-- ended; then moves it on.
CREATE FUNCTION count_missed(most bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
	h count_horizon;
BEGIN
	SELECT * INTO h FROM count_horizon;
	-- After a dump of a server that had had more transactions was restored here: what is noted of those is none of ours.
	IF greatest(pg_snapshot_xmax(h.seen), pg_snapshot_xmax(h.before), pg_snapshot_xmax(h.recounted))
		> pg_snapshot_xmax(pg_current_snapshot()) THEN
		DELETE FROM count_late WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
		DELETE FROM count_adder WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
		UPDATE count_horizon SET seen = pg_current_snapshot(), before = '3:3:', recounted = '3:3:';
		RETURN;
	END IF;
	IF NOT EXISTS (SELECT FROM count_late) AND NOT EXISTS (SELECT FROM count_adder)
		OR pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmax(h.seen) THEN
		RETURN;
	END IF;
	WITH late AS (DELETE FROM count_late WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM count_late WHERE pg_visible_in_snapshot(xid, h.seen) LIMIT most)) RETURNING *),
	asked AS (
		SELECT q, q.xmin AS added_by, l.xid, l.snapshot, old_status, old_hit, status, hit
		FROM late l JOIN ingest_request q ON q.base_url = l.base_url AND q.ingest_type = l.ingest_type AND q.request_id IS NOT NULL),
	listed AS (
		SELECT coalesce((q).list_id, 0) AS list_id, true AS first, false AS members, asked.* FROM asked
		UNION ALL
		SELECT m.list_id, false, true, q, m.xmin, xid, snapshot, old_status, old_hit, status, hit
		FROM asked JOIN request_list_member m ON m.request_id = (q).request_id),
	missed AS (
		SELECT l.* FROM listed l JOIN count_adder a ON a.members = l.members AND a.xid::xid = l.added_by
		WHERE a.xid <> l.xid AND NOT pg_visible_in_snapshot(a.xid, l.snapshot) AND NOT pg_visible_in_snapshot(l.xid, a.snapshot)
			AND NOT (pg_visible_in_snapshot(a.xid, h.recounted) AND pg_visible_in_snapshot(l.xid, h.recounted)))
	INSERT INTO request_count_delta
	SELECT list_id, first, coalesce((q).ingest_request_source, ''), (q).link_source, (q).ingest_type,
		coalesce((q).host, ''), coalesce((q).doi_prefix, ''), d.status, d.hit, sum(d.n)
	FROM missed, LATERAL (VALUES (old_status, old_hit, -1), (missed.status, missed.hit, 1)) AS d (status, hit, n)
	GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(d.n) <> 0;
	IF NOT EXISTS (SELECT FROM count_late WHERE pg_visible_in_snapshot(xid, h.seen)) THEN
		DELETE FROM count_adder WHERE pg_visible_in_snapshot(xid, h.before);
		UPDATE count_horizon SET before = seen, seen = pg_current_snapshot();
	END IF;
END
$$;

-- Adds up differences, of each kind at most so many (NULL: all), and returns how many; 0 also when somebody else is at it.
-- Nobody else deletes differences or writes counts.
CREATE FUNCTION fold_counts(most bigint DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT AS $$
DECLARE
	step bigint := least(most, 100000);
	folded bigint := 0;
	rounds bigint := 0;
	requests bigint;
	results bigint;
	files bigint;
BEGIN
	IF NOT pg_try_advisory_xact_lock(x'696e67'::integer, x'666c64'::integer) THEN
		RETURN 0;
	END IF;
	PERFORM count_missed(most);
	LOOP
		WITH d AS (DELETE FROM request_count_delta
			WHERE ctid = ANY (ARRAY(SELECT ctid FROM request_count_delta LIMIT step)) RETURNING *),
		s AS (
			INSERT INTO request_count AS t
			SELECT list_id, first, ingest_request_source, link_source, ingest_type, host, doi_prefix, status, hit, sum(n)
			FROM d GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(n) <> 0
			ON CONFLICT (list_id, status, host, doi_prefix, ingest_type, ingest_request_source, link_source, first, hit)
				DO UPDATE SET n = t.n + excluded.n)
		SELECT count(*) INTO requests FROM d;
		WITH d AS (DELETE FROM result_count_delta
			WHERE ctid = ANY (ARRAY(SELECT ctid FROM result_count_delta LIMIT step)) RETURNING *),
		s AS (
			INSERT INTO result_count AS t
			SELECT bucket, list_id, first, ingest_request_source, ingest_type, status, hit, sum(n)
			FROM d GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
			ON CONFLICT (bucket, list_id, status, ingest_type, ingest_request_source, first, hit)
				DO UPDATE SET n = t.n + excluded.n)
		SELECT count(*) INTO results FROM d;
		WITH d AS (DELETE FROM file_count_delta
			WHERE ctid = ANY (ARRAY(SELECT ctid FROM file_count_delta LIMIT step)) RETURNING *),
		s AS (
			INSERT INTO file_count AS t
			SELECT day, mimetype, sum(n), sum(bytes) FROM d GROUP BY 1, 2
			ON CONFLICT (day, mimetype) DO UPDATE SET n = t.n + excluded.n, bytes = t.bytes + excluded.bytes)
		SELECT count(*) INTO files FROM d;
		folded := folded + requests + results + files;
		rounds := rounds + 1;
		EXIT WHEN greatest(requests, results, files) < step OR rounds * step >= most;
	END LOOP;
	RETURN folded;
END
$$;

-- Compares request_counts with the tables, and the totals of file_counts with file_meta, appends what is missing, and returns
-- how many differences there were. It reads one snapshot (REPEATABLE READ), taken while fold_counts() is kept out by its lock ("ing" and
-- "fld"), and nobody waits for it. Files that were not counted
-- when they were stored have the day '-infinity'.
CREATE FUNCTION recount() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
	requests bigint;
	files bigint;
BEGIN
	IF current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable') THEN
		RAISE 'recount() needs a transaction of isolation level repeatable read';
	END IF;
	IF NOT pg_try_advisory_xact_lock(x'696e67'::integer, x'666c64'::integer) THEN
		RAISE 'recount() needs the lock of fold_counts()';
	END IF;
	UPDATE count_horizon SET recounted = pg_current_snapshot();
	DELETE FROM request_count WHERE n = 0;
	WITH asked AS (
		SELECT q.request_id, coalesce(q.list_id, 0) AS list_id, coalesce(q.ingest_request_source, '') AS source, q.link_source,
			q.ingest_type, coalesce(q.host, '') AS host, coalesce(q.doi_prefix, '') AS doi_prefix,
			coalesce(r.status, '') AS status, coalesce(r.hit, false) AS hit
		FROM ingest_request q LEFT JOIN ingest_file_result r ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url
		WHERE q.request_id IS NOT NULL),
	counted AS (
		SELECT list_id, true AS first, source, link_source, ingest_type, host, doi_prefix, status, hit, count(*) AS n
		FROM asked GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
		UNION ALL
		SELECT m.list_id, false, source, link_source, ingest_type, host, doi_prefix, status, hit, count(*)
		FROM asked a JOIN request_list_member m ON m.request_id = a.request_id GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
		UNION ALL
		SELECT list_id, first, ingest_request_source, link_source, ingest_type, host, doi_prefix, status, hit, -n
		FROM request_counts)
	INSERT INTO request_count_delta
	SELECT list_id, first, source, link_source, ingest_type, host, doi_prefix, status, hit, sum(n)
	FROM counted GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(n) <> 0;
	GET DIAGNOSTICS requests = ROW_COUNT;
	WITH counted AS (
		SELECT coalesce(mimetype, '') AS mimetype, count(*) AS n, coalesce(sum(size_bytes), 0) AS bytes FROM file_meta GROUP BY 1
		UNION ALL
		SELECT mimetype, -n, -bytes FROM file_counts)
	INSERT INTO file_count_delta
	SELECT '-infinity', mimetype, sum(n), sum(bytes)
	FROM counted GROUP BY 2 HAVING sum(n) <> 0 OR sum(bytes) <> 0;
	GET DIAGNOSTICS files = ROW_COUNT;
	RETURN requests + files;
END
$$;
