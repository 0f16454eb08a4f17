# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults of a storm, in an order that follows from the seed.

plan() draws them; each is a function (storm, chance) in FAULTS that returns when the fault is under way or over.
"""

import contextlib
import dataclasses
import os
import random
import signal
import time

import psycopg

# At which call a worker dies: the durable steps of a request, before and after each. {warc} is its folder of WARC files.
BOUNDARIES = (
    "pwrite KILL path={warc}", "pwrite KILL_AFTER path={warc}",
    "fdatasync KILL path={warc}", "fdatasync KILL_AFTER path={warc}",
    "renameat2 KILL", "renameat2 KILL_AFTER",
    "PQsendQuery KILL path=BEGIN", "PQputCopyEnd KILL", "PQputCopyEnd KILL_AFTER",
    "PQsendQuery KILL path=COMMIT", "PQsendQuery KILL_AFTER path=COMMIT",
    "rd_kafka_produceva KILL", "rd_kafka_produceva KILL_AFTER",
    "rd_kafka_commit_queue KILL", "rd_kafka_commit_queue KILL_AFTER",
)
BOUNDARIES_OF_TRANSACTIONS = (
    "rd_kafka_begin_transaction KILL", "rd_kafka_begin_transaction KILL_AFTER",
    "rd_kafka_send_offsets_to_transaction KILL", "rd_kafka_send_offsets_to_transaction KILL_AFTER",
    "rd_kafka_commit_transaction KILL", "rd_kafka_commit_transaction KILL_AFTER",
)
# Where a worker freezes past its session, to wake up in the middle of it.
FREEZE_AT = ("PQsendQuery STOP path=COMMIT", "fdatasync STOP path={warc}", "rd_kafka_produceva STOP")
FREEZE_AT_OF_TRANSACTIONS = ("rd_kafka_commit_transaction STOP", "rd_kafka_send_offsets_to_transaction STOP")

BOUNDARY_PATIENCE_S = 6
SESSION_S = 6


@dataclasses.dataclass
class Event:
    kind: str
    seed: int

    def chance(self):
        return random.Random(self.seed)


# How many of each for 200 kills. Those of KILLS count as kills.
WEIGHTS = {"freeze": 10, "freeze-at-step": 8, "broker-restart": 6, "database-restart": 8, "cut": 16, "disk-full": 5,
           "disk-fails": 5, "slow-disk": 6, "slow-database": 4, "join-and-leave": 6, "restart": 8, "topic-anew": 2}


def plan(seed, kills, kinds=None):
    """The events. kinds: how many of each of WEIGHTS; None: in proportion to the kills, each at least once."""
    chance = random.Random(seed)
    events = []
    for number in range(kills):
        events.append("kill-at-step" if number % 2 else "kill")
    if kinds is None:
        kinds = {kind: max(1, round(weight * kills / 200)) for kind, weight in WEIGHTS.items()}
    for kind, weight in kinds.items():
        events += [kind] * weight
    chance.shuffle(events)
    return [Event(kind, chance.getrandbits(32)) for kind in events]


def one_of(storm, chance):
    """A worker that is up; waits for one."""
    deadline = time.monotonic() + 60
    while True:
        found = storm.fleet.healthy()
        if found:
            return chance.choice(found)
        assert time.monotonic() < deadline, "no worker comes up"
        storm.wait(0.1)


def stay_down(storm, chance, one):
    """Mostly it is started at once, at times only when its session is over."""
    one.restart_at = time.monotonic() + (SESSION_S + 4 if chance.random() < 0.1 else chance.uniform(0.1, 1.5))
    storm.killed += 1


def kill(storm, chance):
    storm.wait(chance.uniform(0, storm.interval))
    everybody = chance.random() < 0.04
    for one in storm.fleet.healthy() if everybody else [one_of(storm, chance)]:
        with storm.incident("kill -9", one):
            one.kill()
        stay_down(storm, chance, one)


def kill_at_step(storm, chance):
    """The worker dies at the n-th such call. Where it does not come by, it is killed as any."""
    one = one_of(storm, chance)
    rule = chance.choice(BOUNDARIES + (BOUNDARIES_OF_TRANSACTIONS if storm.transactions else ()))
    rule = f"{rule.format(warc=one.warc)} from={chance.choice((1, 1, 1, 2, 3, 5, 10))}"
    with storm.incident("kill -9", one, rule) as incident:
        one.ordered = True
        one.faults.set(rule)
        storm.wait_until(lambda: not one.up(), BOUNDARY_PATIENCE_S, tend=False)
        if one.up():
            incident.detail += " (did not come by)"
        else:
            storm.at_step += 1
        one.kill()
    stay_down(storm, chance, one)


def freeze(storm, chance):
    one = one_of(storm, chance)
    seconds = SESSION_S + chance.uniform(1, 8)
    storm.open_incident("frozen", one, seconds)
    one.freeze(seconds)


def freeze_at_step(storm, chance):
    one = one_of(storm, chance)
    rule = chance.choice(FREEZE_AT + (FREEZE_AT_OF_TRANSACTIONS if storm.transactions else ())).format(warc=one.warc)
    seconds = SESSION_S + chance.uniform(1, 8)
    storm.open_incident("frozen", one, seconds + BOUNDARY_PATIENCE_S, rule)
    one.faults.set(f"{rule} count=1 from={chance.choice((1, 2, 5))}")
    one.thaw_at = time.monotonic() + seconds + 2  # for the call to come


def broker_restart(storm, chance):
    with storm.incident("broker restart", None):
        storm.kafka.stop(hard=chance.random() < 0.5)
        storm.wait(chance.uniform(0, 3))
        storm.kafka.start()


def database_restart(storm, chance):
    with storm.incident("database restart", None):
        storm.postgres.stop(mode=chance.choice(("fast", "immediate")))
        storm.wait(chance.uniform(0, 3))
        storm.postgres.start()


def cut(storm, chance):
    """The connections of all workers are cut, a few times, wherever they are."""
    with storm.incident("database connections cut", None):
        for _ in range(chance.randint(1, 5)):
            with contextlib.suppress(psycopg.Error), psycopg.connect(storm.postgres.dsn(), autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                   "WHERE datname = %s AND pid <> pg_backend_pid()", (storm.database,))
            storm.wait(chance.uniform(0.05, 0.5))


def fill(path, left):
    """Leaves so many blocks, or more where a worker takes some meanwhile."""
    with open(path, "wb") as file:
        while True:
            state = os.statvfs(path)
            try:
                return os.posix_fallocate(file.fileno(), 0, max(1, state.f_bavail - left) * state.f_bsize)
            except OSError:
                left += 16


def disk_full(storm, chance):
    """The file system of a worker's WARC files has some kilobytes left, then again room."""
    found = [one for one in storm.fleet.healthy() if one.tmpfs]
    if not found:
        return disk_fails(storm, chance)
    one = chance.choice(found)
    filler = one.warc / "filler"
    with storm.incident("disk full", one):
        fill(filler, chance.choice((0, 4, 40)))
        storm.wait(chance.uniform(2, 6))
        filler.unlink()


def with_rule(storm, chance, kind, rules):
    one = one_of(storm, chance)
    with storm.incident(kind, one, "; ".join(rules)):
        one.faults.set(*(rule.format(warc=one.warc) for rule in rules))
        storm.wait(chance.uniform(3, 6))
        one.faults.clear()


def disk_fails(storm, chance):
    call = chance.choice(("pwrite", "fdatasync"))
    error = chance.choice(("EIO", "ENOSPC"))
    with_rule(storm, chance, "disk fails", [f"{call} {error} path={{warc}} every={chance.choice((1, 2, 7))}"])


def slow_disk(storm, chance):
    with_rule(storm, chance, "slow disk", [f"fdatasync DELAY delay={chance.choice((100, 400, 1500))} path={{warc}}"])


def slow_database(storm, chance):
    with_rule(storm, chance, "slow database", [f"PQsendQuery DELAY delay={chance.choice((100, 700, 2500))} path=COMMIT"])


def join_and_leave(storm, chance):
    """A worker more, if there are not too many yet; else one leaves for good."""
    spare = [one for one in storm.fleet.healthy()[1:] if one.name not in storm.first]
    if spare and chance.random() < 0.5 or len(spare) >= 2:
        one = chance.choice(spare)
        with storm.incident("leaves", None, one.name):
            one.leave()
            storm.wait_until(lambda: not one.up(), 90)
    else:
        with storm.incident("joins", None):
            one = storm.fleet.add()
            storm.wait(1)


def restart(storm, chance):
    """As an operator would, for another configuration."""
    one = one_of(storm, chance)
    with storm.incident("SIGTERM", one):
        one.ordered = True
        one.worker.process.send_signal(signal.SIGTERM)
        if not storm.wait_until(lambda: not one.up(), 90):
            storm.facts.crashes.append(f"{one.name} does not end after SIGTERM:\n{one.worker.tail(30)}")
            one.kill()


def topic_anew(storm, _):
    with storm.incident("topic made anew", None):
        storm.make_anew()


FAULTS = {"kill": kill, "kill-at-step": kill_at_step, "freeze": freeze, "freeze-at-step": freeze_at_step,
          "broker-restart": broker_restart, "database-restart": database_restart, "cut": cut, "disk-full": disk_full,
          "disk-fails": disk_fails, "slow-disk": slow_disk, "slow-database": slow_database,
          "join-and-leave": join_and_leave, "restart": restart, "topic-anew": topic_anew}
