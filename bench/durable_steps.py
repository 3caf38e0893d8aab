"""One run of steps, one after the other, until its end is on disk.

A pure step of ours does not wait for the disk, whatever leaves the process does. LangGraph calls
that `durability="async"`; both of its ways are shown. A step with an outside effect is on disk
before and after it acts: that one is held against two raw commits. Every step gives the same 200
characters. Everybody uses WAL and `synchronous=FULL` on the same
disk. The best of several rounds counts, contenders taking turns within a round; of a peer's ways
to do it, the fastest counts; DBOS's file is put into WAL mode first, since the rollback journal it
would use by itself is slower.
"""

from bench.ours import Callboard, CallboardOnce
from bench.peers.dbos import DbosAsync, DbosThreads
from bench.peers.langgraph import LangGraphAhead, LangGraphAsync, LangGraphThreads
from bench.peers.raw_sqlite import RawSqlite
from bench.race import described, race
from bench.report import Measured, costlier, faster

NAME = "durable step, sequential (ms)"
ONCE_NAME = "step with an outside effect (ms)"


def measure(*, quick: bool) -> Measured:
    """Race everybody."""
    contenders = (
        Callboard,
        CallboardOnce,
        RawSqlite,
        LangGraphAhead,
        LangGraphThreads,
        LangGraphAsync,
        DbosThreads,
        DbosAsync,
    )
    steps, rounds = (100, 2) if quick else (500, 7)
    laps = race(contenders, runs=1, steps=steps, rounds=rounds)
    ours, once = laps["Callboard"][0].step_ms, laps[CallboardOnce.system][0].step_ms
    ahead = laps[LangGraphAhead.system][0]
    graph, dbos, raw = (laps[name][0] for name in ("LangGraph", "DBOS", RawSqlite.system))
    return Measured(
        (
            faster(NAME, ours, graph.step_ms, graph.name, at_least=12),
            faster(NAME, ours, ahead.step_ms, ahead.name, at_least=8),
            faster(NAME, ours, dbos.step_ms, dbos.name, at_least=None),
            costlier(ONCE_NAME, once, 2 * raw.step_ms, f"two commits of {raw.name}", at_most=1.3),
        ),
        (f"best of {rounds} rounds of {steps} steps", *described(laps)),
    )
