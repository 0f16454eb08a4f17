# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that put publications together: services that want rest, workers that stop, join and leave, full texts of megabytes."""

import collections

import pytest
from servers.apis import xml
from servers.papers import check, make_paper, population
from servers.polite import Answer
from test_publication import apis, ask, config, publications, request_for, served  # noqa: F401 (fixtures)

REST = Answer(429, b"slow down", {"Retry-After": "3600"})


def statuses(publication, resource):
    """Of each time that it was to be asked; all are of the kind that may pass."""
    asks = [one for one in publication["resources"] if one["resource"] == resource]
    assert all(one["transient"] for one in asks)
    return [one["status"] for one in asks]


@pytest.mark.parametrize("service, resource", [("europepmc", "europepmc"), ("crossref", "crossref"), ("openalex", "openalex")])
def test_a_service_that_wants_rest_for_an_hour_is_left_alone_and_delays_nobody(apis, publications, service, resource):  # noqa: F811
    listed = [apis.add(make_paper(number, "meta")) for number in range(1, 25)]
    apis.fault(service, REST, times=1000)
    found = publications(*[paper.doi for paper in listed])
    assert apis.asked()[service] == 1
    for paper, publication in zip(listed, found, strict=True):
        assert publication["title"] and publication["fetchException"] is True
        assert set(statuses(publication, resource)) == {"host-backoff"}  # by each identifier
    apis.check_manners()


def exactly_one_each(results, listed):  # noqa: F811
    found = results(len(listed), timeout=180, settle=2)
    counts = collections.Counter(result["request"]["link_source_id"] for result in found)
    assert counts == {str(paper.number): 1 for paper in listed}
    by_number = {str(paper.number): paper for paper in listed}
    for result in found:
        check(by_number[result["request"]["link_source_id"]], result["publication"])


def test_a_worker_that_is_stopped_finishes_what_is_begun_and_leaves_the_rest(served, worker, submit, results, wait_until):  # noqa: F811
    listed = [served.add(paper) for paper in population(80, seed=7)]
    submit([request_for(paper) for paper in listed])
    with worker() as first:
        wait_until(lambda: served.asked()["openalex"] >= 5, timeout=60)
        first.stop()
    begun = served.asked()["europepmc"]
    assert begun < len(listed)
    with worker():
        exactly_one_each(results, listed)
    assert served.asked()["europepmc"] <= len(listed) + 1  # nothing is done twice, but what was being asked at that moment


def test_publications_move_to_a_worker_that_joins(served, worker, submit, results, wait_until):  # noqa: F811
    """What is begun of revoked partitions is dropped wherever its asks are."""
    listed = [served.add(paper) for paper in population(80, seed=8)]
    submit([request_for(paper) for paper in listed])
    with worker():
        wait_until(lambda: served.asked()["openalex"] >= 5, timeout=60)
        with worker(name="second"):
            exactly_one_each(results, listed)
    served.check_manners()


def test_a_full_text_of_megabytes_does_not_stop_the_loop(served, worker, submit, results, sql):  # noqa: F811
    """Nor does one that does not fit into a message: it is left out there, and kept."""
    fits, large = served.add(make_paper(5, "open")), served.add(make_paper(6, "open"))
    for paper, paragraphs in ((fits, 20_000), (large, 40_000)):
        body = "".join(f"<p>{number} {'words of a long text ' * 4}</p>" for number in range(paragraphs))
        served.say("europepmc-xml", paper, xml(f"<article><front><article-meta><article-id pub-id-type='pmid'>{paper.pmid}</article-id>"
                                               f"</article-meta></front><body>{body}</body></article>"))
    submit([request_for(paper) for paper in (fits, large)])
    with worker({"kafka.max_message_bytes": 3 << 20}):
        found = {result["request"]["link_source_id"]: result["publication"] for result in results(2, timeout=60)}
    assert found["5"]["fulltext"]["size"] > 1_000_000 and len(found["5"]["fulltext"]["content"]) == found["5"]["fulltext"]["size"]
    assert found["6"]["fulltext"] is None and found["6"]["fulltext_dropped"] is True
    assert found["6"]["abstract"]["content"]
    kept = {row["pmid"]: row["record"] for row in sql("SELECT pmid, record FROM publication")}
    assert kept[large.pmid]["fulltext"]["size"] > 3_000_000
