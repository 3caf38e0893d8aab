"""A recipe of eight steps with a model that answers at once: what the machinery itself costs.

One run after the other gives the overhead of a run: three tool executions with signed receipts,
five agent calls with evidence checked, the scene written, the definition of done, all durable.
Fifty at once must stay correct; meanwhile a page about one of the runs is read again and again.
"""

import asyncio
import statistics
import time
from pathlib import Path

from bench.report import Measured, Result
from bench.workspace import fresh_folder
from callboard.choreography.recipe import RunView
from callboard.core.vocabulary import RunState
from callboard.models import ModelRequest, Script
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio

HOUSE = Path(__file__).parents[1] / "tests" / "choreography" / "recipe" / "pack"
GOAL_RUN_MS = 50.0
GOAL_READ_MS = 10.0
RUNS_AT_ONCE = 50
PROSE = "Kael crossed the yard and the gate groaned behind him."
OUTLINE = "# Gate\n\n### Arrival\n\n- Kael reaches the gate.\n"


def _answer(request: ModelRequest) -> str:
    receipt = request.prompt_text.partition("receipt_id: ")[2].split("\n")[0]
    return {
        "brief": f"Kael reaches the gate.\n\nEvidence: receipt_id: {receipt}",
        "write": f'{PROSE}\n\nEvidence: slot:scene_brief "Kael reaches the gate"',
        "polish": f'{PROSE}\n\nEvidence: slot:draft "Kael crossed the yard"',
        "check": "All agrees.\n\nVerdict: PASS\n\nEvidence: scope: checked the scene",
        "react": 'It holds.\n\nEvidence: slot:edited_draft "the gate groaned"',
    }[str(request.prompt_type)]


def measure(*, quick: bool) -> Measured:
    """Play."""
    with fresh_folder() as folder:
        return asyncio.run(_measure(folder, 5 if quick else 30))


async def _measure(folder: Path, times: int) -> Measured:
    root = folder / "project"
    (root / "Story" / "Scenes").mkdir(parents=True)
    (root / "Story" / "SCN-outline.md").write_text(OUTLINE)
    Project.init(root)
    opening = Opening(
        packs=(load_pack(HOUSE),),
        providers={"script": Script(_answer)},
        flags={
            "models": {"default": "script"},
            "pipeline": {"single_flight": "off", "max_concurrent_runs": RUNS_AT_ONCE},
        },
        environment={"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")},
    )
    async with Studio.open(root, opening) as studio:
        await _play(studio, 0)
        alone = [await _play(studio, number) for number in range(1, times + 1)]
        started = time.perf_counter()
        reads: list[float] = []
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_play(studio, 1000 + n)) for n in range(RUNS_AT_ONCE)]
            watch = group.create_task(_watch(studio, reads))
            await asyncio.wait(tasks)
            watch.cancel()
        together = (time.perf_counter() - started) * 1000
    for number in range(1000, 1000 + RUNS_AT_ONCE):
        written = (root / f"Story/Scenes/SCN-{number}.md").read_text()
        assert written == f"{PROSE}\n", written
    run_ms, read_ms = statistics.median(alone), statistics.median(reads)
    return Measured(
        (
            Result(
                "a recipe of eight steps, instant model: one run (ms)",
                run_ms,
                GOAL_RUN_MS,
                "the goal",
                run_ms / GOAL_RUN_MS,
                "under 50 ms",
                run_ms < GOAL_RUN_MS,
            ),
            Result(
                f"{RUNS_AT_ONCE} such runs at once: each (ms)",
                together / RUNS_AT_ONCE,
                run_ms,
                "one alone",
                together / RUNS_AT_ONCE / run_ms,
                "all correct",
                True,
            ),
            Result(
                "reading a run while they execute (ms)",
                read_ms,
                GOAL_READ_MS,
                "the goal",
                read_ms / GOAL_READ_MS,
                "under 10 ms at the median",
                read_ms < GOAL_READ_MS,
            ),
        ),
        (f"runs alone: fastest {min(alone):.1f} ms, slowest {max(alone):.1f} ms",),
    )


async def _play(studio: Studio, number: int) -> float:
    started = time.perf_counter()
    run = await studio.start("little/draft", {"description": f"Draft scene {number}"})
    ended = await studio.engine.wait(run.id)
    assert ended.state is RunState.DONE, ended.error
    return (time.perf_counter() - started) * 1000


async def _watch(studio: Studio, took: list[float]) -> None:
    run_id = studio.database.read(lambda c: c.execute("SELECT id FROM runs").fetchone()["id"])
    while True:
        started = time.perf_counter()
        run = studio.engine.load(run_id)
        studio.database.read(lambda c, run=run: RunView(c, run).detail())
        took.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(0.005)
