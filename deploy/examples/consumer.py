#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes results from the topic: usage: consumer.py BROKERS TOPIC GROUP. Needs confluent-kafka."""
import json
import sys

from confluent_kafka import Consumer

brokers, topic, group = sys.argv[1:]
consumer = Consumer({"bootstrap.servers": brokers, "group.id": group, "auto.offset.reset": "earliest",
                     "isolation.level": "read_committed",  # else results of aborted transactions are seen, too
                     "enable.auto.commit": False})         # a position is committed when its result is dealt with
consumer.subscribe([topic])
while True:
    message = consumer.poll(10)
    if message is None or message.error():  # nothing new; or the broker is away, which passes
        continue
    result = json.loads(message.value())
    if result["hit"]:
        print(message.key().decode(), result["file_meta"]["sha1hex"], result["terminal"]["terminal_url"], flush=True)
    consumer.commit(message, asynchronous=False)
