-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Requests as messages of Kafka topics: who may answer those of a partition now (partition_owner), and what
-- answers them from the commit of their rows to the commit of their position (result_outbox).
--
-- Both are written all the time and stay small. partition_owner is made for updates in place (room in its
-- pages, no index beside the key). result_outbox is made for insert and delete: vacuumed after so many dead
-- rows rather than after a share of the table, its values never compressed, and within the row up to
-- 8,000 bytes.

CREATE TABLE partition_owner (
	kafka_group        text COLLATE "C" NOT NULL,
	topic              text COLLATE "C" NOT NULL,
	partition          integer NOT NULL CHECK (partition >= 0),
	fence              bigint NOT NULL CHECK (fence >= 1),
	instance           text COLLATE "C" NOT NULL,
	claimed            timestamptz NOT NULL DEFAULT now(),
	low_water          bigint NOT NULL DEFAULT -1,
	mark_offset        bigint NOT NULL DEFAULT -1,
	mark_timestamp_ms  bigint NOT NULL DEFAULT -1,
	updated            timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (kafka_group, topic, partition)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE partition_owner IS 'one row per partition that a consumer group has read';
COMMENT ON COLUMN partition_owner.fence IS 'raised at every assignment: who has an older one writes nothing more';
COMMENT ON COLUMN partition_owner.instance IS 'instance that raised it last';
COMMENT ON COLUMN partition_owner.low_water IS 'committed offset, as last seen; -1: none. Kept for when the brokers have expired theirs';
COMMENT ON COLUMN partition_owner.mark_offset IS 'a message below low_water, to recognise the log by';
COMMENT ON COLUMN partition_owner.mark_timestamp_ms IS 'its timestamp';

CREATE TABLE result_outbox (
	kafka_group           text COLLATE "C" NOT NULL,
	topic                 text COLLATE "C" NOT NULL,
	partition             integer NOT NULL CHECK (partition >= 0),
	"offset"              bigint NOT NULL CHECK ("offset" >= 0),
	message_timestamp_ms  bigint NOT NULL,
	message_digest        bigint NOT NULL,
	created               timestamptz NOT NULL DEFAULT now(),
	output                text COLLATE "C" NOT NULL,
	key                   bytea,
	headers               bytea,
	value                 bytea,
	PRIMARY KEY (kafka_group, topic, partition, "offset")
) WITH (
	toast_tuple_target = 8160,
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
	autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000,
	toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000
);
ALTER TABLE result_outbox ALTER COLUMN key SET STORAGE EXTERNAL;
ALTER TABLE result_outbox ALTER COLUMN headers SET STORAGE EXTERNAL;
ALTER TABLE result_outbox ALTER COLUMN value SET STORAGE EXTERNAL;
COMMENT ON TABLE result_outbox IS 'messages that answer requests, until position and message are committed in Kafka';
COMMENT ON COLUMN result_outbox."offset" IS 'of the message that it answers';
COMMENT ON COLUMN result_outbox.message_timestamp_ms IS 'Kafka''s, of the message that it answers; -1: none';
COMMENT ON COLUMN result_outbox.message_digest IS 'first 8 bytes, big endian, of the SHA-1 of the value that it answers';
COMMENT ON COLUMN result_outbox.output IS 'what it is: results, or a topic of parked requests (kafka.topics.NAME)';
COMMENT ON COLUMN result_outbox.headers IS 'name and value in turn, each ended by a zero byte';
