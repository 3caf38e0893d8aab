"""One run of steps, one after the other; each is on disk before the next begins.

Every step gives the same 200 characters. Everybody uses WAL and `synchronous=FULL` on the same
disk. The best of several rounds counts, contenders taking turns within a round; of a peer's ways
to do it, the fastest counts; DBOS's file is put into WAL mode first, since the rollback journal it
would use by itself is slower.
"""

from bench.ours import Callboard
from bench.peers.dbos import DbosAsync, DbosThreads
from bench.peers.langgraph import LangGraphAsync, LangGraphThreads
from bench.peers.raw_sqlite import RawSqlite
from bench.race import described, race
from bench.report import Measured, costlier, faster

NAME = "durable step, sequential (ms)"


def measure(*, quick: bool) -> Measured:
    """Race everybody."""
    contenders = (
        Callboard,
        RawSqlite,
        LangGraphThreads,
        LangGraphAsync,
        DbosThreads,
        DbosAsync,
    )
    steps, rounds = (100, 2) if quick else (500, 7)
    laps = race(contenders, runs=1, steps=steps, rounds=rounds)
    ours = laps["Callboard"][0].step_ms
    graph, dbos, raw = (laps[name][0] for name in ("LangGraph", "DBOS", RawSqlite.system))
    return Measured(
        (
            faster(NAME, ours, graph.step_ms, graph.name, at_least=5),
            faster(NAME, ours, dbos.step_ms, dbos.name, at_least=None),
            costlier(NAME, ours, raw.step_ms, raw.name, at_most=2),
        ),
        (f"best of {rounds} rounds of {steps} steps", *described(laps)),
    )
