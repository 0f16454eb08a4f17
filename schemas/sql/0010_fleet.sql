-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The workers of a fleet, as each describes itself every few seconds, and what an operator has told them to leave
-- undone. All times are this server's own clock's.
--
-- worker_state is written by each worker every few seconds, in place (heap-only tuples): no index is on a column that
-- changes.

CREATE TABLE worker_state (
	instance      text COLLATE "C" PRIMARY KEY CHECK (octet_length(instance) BETWEEN 1 AND 256),
	session       bigint NOT NULL,
	host          text COLLATE "C" NOT NULL,
	pid           integer NOT NULL,
	version       text COLLATE "C" NOT NULL,
	rules         text COLLATE "C",
	started       timestamptz NOT NULL,
	updated       timestamptz NOT NULL,
	orders_read   timestamptz,
	state         text COLLATE "C" NOT NULL,
	held_by       text,
	partitions    integer NOT NULL CHECK (partitions >= 0),
	lag           bigint CHECK (lag >= 0),
	jobs          bigint NOT NULL CHECK (jobs >= 0),
	waiting       bigint NOT NULL CHECK (waiting >= 0),
	transfers     integer NOT NULL CHECK (transfers >= 0),
	oldest_ms     bigint CHECK (oldest_ms >= 0),
	results       bigint NOT NULL CHECK (results >= 0),
	hits          bigint NOT NULL CHECK (hits >= 0),
	rate          real NOT NULL CHECK (rate >= 0),
	status        jsonb
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE worker_state IS 'workers of the fleet, a row each, written by itself at most every 10 s';
COMMENT ON COLUMN worker_state.session IS 'random number of the process';
COMMENT ON COLUMN worker_state.host IS 'machine that it runs on';
COMMENT ON COLUMN worker_state.rules IS 'digest of its rule files and filter lists: workers with equal ones work by the same rules';
COMMENT ON COLUMN worker_state.updated IS 'a worker whose row is older than 30 s is silent, unless its state is stopped';
COMMENT ON COLUMN worker_state.orders_read IS 'it obeys fleet_order as it was then; NULL: it has not read it yet';
COMMENT ON COLUMN worker_state.state IS 'starting, running, paused, draining, drained, stopping, stopped';
COMMENT ON COLUMN worker_state.held_by IS 'a sentence: what holds it; NULL: nothing';
COMMENT ON COLUMN worker_state.lag IS 'messages of its partitions beyond their positions; NULL: not known';
COMMENT ON COLUMN worker_state.jobs IS 'requests that it has taken and not answered';
COMMENT ON COLUMN worker_state.waiting IS 'of them, those that wait for their host';
COMMENT ON COLUMN worker_state.oldest_ms IS 'how long ago it took the oldest of them; NULL: there is none';
COMMENT ON COLUMN worker_state.results IS 'since it started; hits likewise';
COMMENT ON COLUMN worker_state.rate IS 'results per second of the last minute';
COMMENT ON COLUMN worker_state.status IS 'what ingestctl status shows of it';

CREATE TABLE fleet_order (
	kind        text COLLATE "C" NOT NULL CHECK (kind IN ('instance', 'host', 'lane')),
	target      text COLLATE "C" NOT NULL CHECK (octet_length(target) BETWEEN 1 AND 256),
	action      text COLLATE "C" NOT NULL CHECK (action IN ('pause', 'drain')),
	why         text CHECK (octet_length(why) BETWEEN 1 AND 1023),
	created_by  text COLLATE "C" CHECK (octet_length(created_by) BETWEEN 1 AND 256),
	created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (kind, target)
);
COMMENT ON TABLE fleet_order IS 'what workers are to leave undone until an operator deletes it (ingestctl pause, drain, resume)';
COMMENT ON COLUMN fleet_order.target IS 'instance; host name, ".example.org" with all below it; priority, requests, daily or bulk';
