-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Publications and web pages that were put together and read, as results have them. All columns but `record`, `url` and
-- the moments follow from the record, so that they cannot contradict it; conditions are asked of them, since a
-- record has the full text and is stored out of line.

-- A URL's host in lower case, without "www."; and those of a list of {"url"}, each once.
CREATE FUNCTION record_host(url text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT regexp_replace(lower(substring(url FROM '^[a-zA-Z]+://(?:[^/?#@]*@)?([^/?#:]+)') COLLATE "C"), '^www[.]', '')
$$;
CREATE FUNCTION record_hosts(sites jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	-- Not by record_host(): a restored dump finds no functions by their bare names.
	RETURN (SELECT array_agg(DISTINCT regexp_replace(lower(host COLLATE "C"), '^www[.]', ''))
		FROM (SELECT substring(site ->> 'url' FROM '^[a-zA-Z]+://(?:[^/?#@]*@)?([^/?#:]+)') AS host
			FROM jsonb_array_elements(CASE jsonb_typeof(sites) WHEN 'array' THEN sites ELSE '[]' END) AS site) AS found
		WHERE host IS NOT NULL);
END
$$;

-- Numbers and truths of a record, whatever stands there.
CREATE FUNCTION record_number(value jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE WHEN jsonb_typeof(value) = 'number' AND abs((value #>> '{}')::numeric) < 9e18
		THEN trunc((value #>> '{}')::numeric)::bigint END
$$;
CREATE FUNCTION record_truth(value jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT CASE jsonb_typeof(value) WHEN 'boolean' THEN (value #>> '{}')::boolean END
$$;

CREATE TABLE publication (
	id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	created          timestamptz NOT NULL DEFAULT now(),
	updated          timestamptz NOT NULL DEFAULT now(),
	url              text COLLATE "C" UNIQUE CHECK (octet_length(url) >= 1),
	record           jsonb NOT NULL CHECK (jsonb_typeof(record) = 'object'),
	pmid             text COLLATE "C" UNIQUE GENERATED ALWAYS AS (record #>> '{pmid,content}') STORED,
	pmcid            text COLLATE "C" UNIQUE GENERATED ALWAYS AS (record #>> '{pmcid,content}') STORED,
	doi              text COLLATE "C" UNIQUE GENERATED ALWAYS AS (record #>> '{doi,content}') STORED,
	registrant       text COLLATE "C" GENERATED ALWAYS AS (substring(record #>> '{doi,content}' FROM '^10\.([^/]+)')) STORED,
	pmid_type        text COLLATE "C" GENERATED ALWAYS AS (record #>> '{pmid,type}') STORED,
	pmcid_type       text COLLATE "C" GENERATED ALWAYS AS (record #>> '{pmcid,type}') STORED,
	doi_type         text COLLATE "C" GENERATED ALWAYS AS (record #>> '{doi,type}') STORED,
	title            text GENERATED ALWAYS AS (left(record #>> '{title,content}', 2000)) STORED,
	title_type       text COLLATE "C" GENERATED ALWAYS AS (record #>> '{title,type}') STORED,
	title_size       bigint GENERATED ALWAYS AS (record_number(record #> '{title,size}')) STORED,
	keywords_type    text COLLATE "C" GENERATED ALWAYS AS (record #>> '{keywords,type}') STORED,
	keywords_size    bigint GENERATED ALWAYS AS (record_number(record #> '{keywords,size}')) STORED,
	mesh_type        text COLLATE "C" GENERATED ALWAYS AS (record #>> '{mesh,type}') STORED,
	mesh_size        bigint GENERATED ALWAYS AS (record_number(record #> '{mesh,size}')) STORED,
	efo_type         text COLLATE "C" GENERATED ALWAYS AS (record #>> '{efo,type}') STORED,
	efo_size         bigint GENERATED ALWAYS AS (record_number(record #> '{efo,size}')) STORED,
	go_type          text COLLATE "C" GENERATED ALWAYS AS (record #>> '{go,type}') STORED,
	go_size          bigint GENERATED ALWAYS AS (record_number(record #> '{go,size}')) STORED,
	abstract_type    text COLLATE "C" GENERATED ALWAYS AS (record #>> '{abstract,type}') STORED,
	abstract_size    bigint GENERATED ALWAYS AS (record_number(record #> '{abstract,size}')) STORED,
	fulltext_type    text COLLATE "C" GENERATED ALWAYS AS (record #>> '{fulltext,type}') STORED,
	fulltext_size    bigint GENERATED ALWAYS AS (record_number(record #> '{fulltext,size}')) STORED,
	journal          text GENERATED ALWAYS AS (left(record ->> 'journal_title', 1000)) STORED,
	publisher        text GENERATED ALWAYS AS (left(record ->> 'publisher', 1000)) STORED,
	licence          text GENERATED ALWAYS AS (left(record ->> 'licence', 1000)) STORED,
	pub_date         text COLLATE "C" GENERATED ALWAYS AS (left(record ->> 'pub_date', 10)) STORED,
	oa               boolean GENERATED ALWAYS AS (record_truth(record -> 'oa')) STORED,
	preprint         boolean GENERATED ALWAYS AS (record_truth(record -> 'preprint')) STORED,
	citations        bigint GENERATED ALWAYS AS (record_number(record -> 'citationsCount')) STORED,
	visited_sites    jsonb GENERATED ALWAYS AS (record -> 'visitedSites') STORED,
	hosts            text[] COLLATE "C" GENERATED ALWAYS AS (record_hosts(record -> 'visitedSites')) STORED,
	fetch_time_ms    bigint GENERATED ALWAYS AS (record_number(record -> 'fetchTime')) STORED,
	retry_counter    bigint GENERATED ALWAYS AS (record_number(record -> 'retryCounter')) STORED,
	fetch_exception  boolean GENERATED ALWAYS AS (record_truth(record -> 'fetchException')) STORED,
	empty            boolean GENERATED ALWAYS AS (record_truth(record -> 'empty')) STORED,
	usable           boolean GENERATED ALWAYS AS (record_truth(record -> 'usable')) STORED,
	final            boolean GENERATED ALWAYS AS (record_truth(record -> 'final')) STORED,
	totally_final    boolean GENERATED ALWAYS AS (record_truth(record -> 'totallyFinal')) STORED,
	CHECK (pmid IS NOT NULL OR pmcid IS NOT NULL OR doi IS NOT NULL OR url IS NOT NULL)
);
CREATE INDEX publication_hosts ON publication USING gin (hosts);
COMMENT ON TABLE publication IS 'publications, one row each: rows that turn out to be of one are merged';
COMMENT ON COLUMN publication.url IS 'the page by which it was asked for, when that was all';
COMMENT ON COLUMN publication.record IS 'as `publication` of a result; only parts of it are replaced, by what is not worse';
COMMENT ON COLUMN publication.registrant IS 'of the DOI, without "10."';
COMMENT ON COLUMN publication.pub_date IS 'YYYY-MM-DD';
COMMENT ON COLUMN publication.hosts IS 'of the visited sites, without "www."';
COMMENT ON COLUMN publication.fetch_time_ms IS 'milliseconds since 1970; 0: never as a whole';
COMMENT ON COLUMN publication.retry_counter IS 'fetches since, that were made before it was due';

CREATE TABLE webpage (
	start_url        text COLLATE "C" PRIMARY KEY CHECK (octet_length(start_url) >= 1),
	created          timestamptz NOT NULL DEFAULT now(),
	updated          timestamptz NOT NULL DEFAULT now(),
	record           jsonb NOT NULL CHECK (jsonb_typeof(record) = 'object'),
	final_url        text COLLATE "C" GENERATED ALWAYS AS (record ->> 'finalUrl') STORED,
	host             text COLLATE "C" GENERATED ALWAYS AS (record_host(coalesce(record ->> 'finalUrl', record ->> 'startUrl'))) STORED,
	title            text GENERATED ALWAYS AS (left(record ->> 'title', 2000)) STORED,
	content_type     text COLLATE "C" GENERATED ALWAYS AS (record ->> 'contentType') STORED,
	status_code      bigint GENERATED ALWAYS AS (record_number(record -> 'statusCode')) STORED,
	license          text GENERATED ALWAYS AS (left(record ->> 'license', 1000)) STORED,
	language         text COLLATE "C" GENERATED ALWAYS AS (left(record ->> 'language', 200)) STORED,
	title_size       bigint GENERATED ALWAYS AS (record_number(record -> 'titleLength')) STORED,
	content_size     bigint GENERATED ALWAYS AS (record_number(record -> 'contentLength')) STORED,
	fetch_time_ms    bigint GENERATED ALWAYS AS (record_number(record -> 'fetchTime')) STORED,
	retry_counter    bigint GENERATED ALWAYS AS (record_number(record -> 'retryCounter')) STORED,
	fetch_exception  boolean GENERATED ALWAYS AS (record_truth(record -> 'fetchException')) STORED,
	empty            boolean GENERATED ALWAYS AS (record_truth(record -> 'empty')) STORED,
	usable           boolean GENERATED ALWAYS AS (record_truth(record -> 'usable')) STORED,
	final            boolean GENERATED ALWAYS AS (record_truth(record -> 'final')) STORED,
	broken           boolean GENERATED ALWAYS AS (record_truth(record -> 'broken')) STORED
);
COMMENT ON TABLE webpage IS 'web pages that are no articles; a better record stays until one that is as good';
COMMENT ON COLUMN webpage.record IS 'as `webpage` of a result';
COMMENT ON COLUMN webpage.host IS 'of its last URL, without "www."';
