"""A hundred runs at once in one process, each with its own sequence of durable steps.

The same steps as in `durable_steps`, beginning with the creation of the runs and ending when all
of them are finished. Every way of a peer to do it is shown. The goal is measured against the way a
peer documents for many runs in one event loop, as ours is; its threads are shown beside it.
"""

from bench.ours import Callboard
from bench.peers.dbos import DbosAsync, DbosThreads
from bench.peers.langgraph import LangGraphAsync, LangGraphThreads
from bench.race import described, race
from bench.report import Measured, faster

RUNS = 100
NAME = f"durable step, {RUNS} runs at once (ms)"


def measure(*, quick: bool) -> Measured:
    """Race everybody."""
    contenders = (Callboard, LangGraphThreads, LangGraphAsync, DbosThreads, DbosAsync)
    steps, rounds = (10, 1) if quick else (25, 4)
    laps = race(contenders, runs=RUNS, steps=steps, rounds=rounds)
    ours = laps["Callboard"][0].step_ms
    goals = {LangGraphAsync.name: 40, DbosAsync.name: 40}
    return Measured(
        tuple(
            faster(NAME, ours, lap.step_ms, lap.name, at_least=goals.get(lap.name))
            for system in ("LangGraph", "DBOS")
            for lap in laps[system]
        ),
        (f"best of {rounds} rounds of {RUNS} runs with {steps} steps each", *described(laps)),
    )
