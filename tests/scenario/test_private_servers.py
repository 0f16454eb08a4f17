# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers that tests and the quickstart start for themselves."""

import uuid

import private_servers


def test_kafka_starts_under_a_cluster_id_that_begins_with_a_dash(tmp_path, monkeypatch):
    """One random id in 64 does; it must not be taken for an option."""
    monkeypatch.setattr(private_servers.uuid, "uuid4", lambda: uuid.UUID(bytes=b"\xfb" * 16))
    kafka = private_servers.Kafka(tmp_path / "kafka")
    try:
        assert kafka.start()["brokers"].startswith("127.0.0.1:")
    finally:
        kafka.stop()
    properties = (tmp_path / "kafka" / "data" / "meta.properties").read_text()
    assert "cluster.id=-" in properties
