-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- What the fleet agrees on about hosts: who may fetch from one now (a lease), when next, and how it has
-- behaved; and the hosts that an operator has blocked. All times are this server's own clock's.
--
-- host_state is written several times for each host that is visited, so it is made for updates in place
-- (heap-only tuples): room is left in its pages, and no index is on a column that a visit changes. The one
-- index beside the key is on wanted_of, which stays NULL, and thereby costs nothing, until two workers want
-- the same host at the same time. There is none on holder: who takes over from a dead process reads the
-- whole table, once.

CREATE TABLE host_state (
	host              text COLLATE "C" PRIMARY KEY CHECK (octet_length(host) BETWEEN 1 AND 253),
	holder            text COLLATE "C",
	session           bigint,
	expires_at        timestamptz,
	wanted_by         text COLLATE "C",
	wanted_session    bigint,
	wanted_at         timestamptz,
	wanted_of         bigint,
	next_fetch_at     timestamptz NOT NULL,
	rest              text COLLATE "C" NOT NULL DEFAULT 'none',
	breaker           text COLLATE "C" NOT NULL DEFAULT 'closed',
	failures          integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
	opens             integer NOT NULL DEFAULT 0 CHECK (opens >= 0),
	crawl_delay_ms    integer NOT NULL DEFAULT 0 CHECK (crawl_delay_ms >= 0),
	response_ms       integer NOT NULL DEFAULT 0 CHECK (response_ms >= 0),
	http_status       integer,
	outcome           text COLLATE "C",
	answered_at       timestamptz,
	updated           timestamptz NOT NULL,
	CHECK ((holder IS NULL) = (session IS NULL) AND (holder IS NULL) = (expires_at IS NULL)),
	CHECK ((wanted_by IS NULL) = (wanted_session IS NULL) AND (wanted_by IS NULL) = (wanted_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX host_state_wanted_of_idx ON host_state (wanted_of) WHERE wanted_of IS NOT NULL;
COMMENT ON TABLE host_state IS 'leases of hosts and what was learnt of them; one row per host key that a worker has met';
COMMENT ON COLUMN host_state.host IS 'key of the lock (gate.host_key): host name without www., registered domain or address';
COMMENT ON COLUMN host_state.holder IS 'instance that may fetch now, until expires_at; NULL: nobody';
COMMENT ON COLUMN host_state.session IS 'random number of the holder''s process';
COMMENT ON COLUMN host_state.wanted_by IS 'instance that is next in line, for a few seconds after it last asked or could have';
COMMENT ON COLUMN host_state.wanted_of IS 'session of the holder while another wants the host: what holders look for';
COMMENT ON COLUMN host_state.next_fetch_at IS 'nobody fetches before';
COMMENT ON COLUMN host_state.rest IS 'why it rests or rested: none, delay, crawl-delay, adaptive; or held: retry-after, backoff, breaker';
COMMENT ON COLUMN host_state.failures IS 'in a row';
COMMENT ON COLUMN host_state.opens IS 'of the breaker, in a row';
COMMENT ON COLUMN host_state.http_status IS 'of the last answer; NULL: none came';
COMMENT ON COLUMN host_state.outcome IS 'status slug of how the last transfer ended';

CREATE TABLE host_block (
	host        text COLLATE "C" PRIMARY KEY CHECK (octet_length(host) BETWEEN 1 AND 254),
	why         text NOT NULL CHECK (octet_length(why) BETWEEN 1 AND 1023),
	created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	created_by  text COLLATE "C"
);
COMMENT ON TABLE host_block IS 'hosts that no worker may fetch from, by an operator''s word (ingestctl hosts block)';
COMMENT ON COLUMN host_block.host IS '"example.org", or ".example.org" with all below it';
