"""The eight story tools on a novel of 200 scenes of 2,000 words, an outline and 30 canon cards.

Cold is a tool's first call in a new process that has read nothing yet, from its call to its
result; warm is its next calls in the same process. Every tool goes through as much of the novel as
it takes: all scenes, ten files or all cards; `consistency_checker` is measured with ten files and
with the whole book.
"""

import asyncio
import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.report import Measured, Result
from bench.story_project import Novel
from bench.workspace import fresh_folder
from callboard.core.canonical import Json, digest
from callboard.packs.control_room import tools
from callboard.tools import ProjectFiles, Tool, ToolContext

COLD_SECONDS = 5.0
WARM_SECONDS = 0.5


def measure(*, quick: bool) -> Measured:
    """Call every tool, each in a process of its own."""
    scenes = 20 if quick else 200
    times: dict[str, tuple[float, float]] = {}
    with fresh_folder() as folder:
        Novel(scenes, 2_000, 30).write(folder)
        for name, args in _calls(folder).items():
            times[name] = _apart(folder, name.partition(",")[0], args)
    cold = max(times, key=lambda name: times[name][0])
    warm = max(times, key=lambda name: times[name][1])
    return Measured(
        (
            _result(
                f"slowest story tool on {scenes} scenes, cold (s)", times[cold][0], COLD_SECONDS
            ),
            _result(
                f"slowest story tool on {scenes} scenes, warm (s)", times[warm][1], WARM_SECONDS
            ),
        ),
        tuple(
            f"{name}: {first:.2f} s cold, {again:.3f} s warm"
            for name, (first, again) in times.items()
        ),
    )


def _result(name: str, seconds: float, goal: float) -> Result:
    return Result(name, seconds, None, "", None, f"at most {goal:g} s", seconds <= goal)


def _calls(folder: Path) -> dict[str, dict[str, Json]]:
    scenes = sorted(str(path.relative_to(folder)) for path in folder.glob("Story/Scenes/*.md"))
    cards = sorted(str(path.relative_to(folder)) for path in folder.glob("Compendium/*/*.md"))
    middle = scenes[len(scenes) // 2]
    return {
        "file_locator": {
            "search_criteria": "Check the letter in scenes 3-9 with Kael at the Harbour",
            "scan_mode": "DEEP_SCAN",
            "max_results": 100,
        },
        "outline_analyzer": {"target": "Draft scene 7"},
        "canon_checker": {"scene_path": middle, "canon_paths": cards},
        "consistency_checker": {"file_paths": scenes[:10]},
        "consistency_checker, the whole book": {},
        "prose_analyzer": {"scene_path": middle},
        "stakes_mapper": {"themes": ["promise", "winter"]},
        "reader_experience_simulator": {},
        "scene_draft_validator": {"scene_path": middle},
    }


def _apart(folder: Path, name: str, args: dict[str, Json]) -> tuple[float, float]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_time, folder, name, args).result()


def _time(folder: Path, name: str, args: dict[str, Json]) -> tuple[float, float]:
    tool: Tool = getattr(tools, name)
    context = ToolContext(ProjectFiles(folder), "session")
    parsed = tool.parse(args)
    took: list[float] = []
    hashes: set[str] = set()
    for _ in range(6):
        started = time.perf_counter()
        result = asyncio.run(_call(tool.function(context, parsed)))
        took.append(time.perf_counter() - started)
        hashes.add(digest(result.payload))
    assert len(hashes) == 1, f"{name} does not say the same twice"
    return took[0], statistics.median(took[1:])


async def _call(work):
    return await work
