"""Count the modules of ours that three requests pass, from the call of the door to its end.

The project is open already, a scripted model answers. A module counts if a function of it is
entered, in any thread; what only runs because a module or class is being made does not.
`--list` names the modules.
"""

import argparse
import asyncio
import inspect
import shutil
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import callboard.packs.control_room as control_room
from callboard.models import Line, ModelRequest, Script
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

GOALS = {"draft scene": 150, "add 2 eggs": 100, "Foreman message": 140}
# Where the sample says, or what was made says, what the staff repeats.
SOURCES = {
    "refine_brief": "Story/SCN-outline.md",
    "draft_scene": "slot:scene_brief",
    "polish_draft": "slot:draft",
    "evaluate_reader_experience": "slot:edited_draft",
}
# The three beats of the scene, so that the draft passes its proof and is written.
BELL = (
    "Ines and Jun carried the mended wheel up the tower in the dark. The clock would not start, so"
    " Jun swung the pendulum by hand. Ines rings the long bell and the first boat answers from the"
    " fog."
)


def answer(request: ModelRequest) -> Line | str:
    """Answer whatever is asked, as plainly as its form allows."""
    if request.json_schema is not None:
        return Line(json=_plainest(request.json_schema))
    if str(request.prompt_type).startswith("modes/"):
        return "<message>What does Ines believe?</message>"
    known = SOURCES.get(str(request.prompt_type))
    if known is None:
        return "Compared with canon.\n\nVerdict: PASS\n\nEvidence: scope: checked scenes 1-5"
    return f'{BELL}\n\nEvidence: {known} "Ines rings the long bell"'


def _plainest(schema: Any) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    match schema.get("type"):
        case "object":
            return {name: _plainest(each) for name, each in schema.get("properties", {}).items()}
        case "array":
            return []
        case "integer" | "number":
            return max(1, schema.get("minimum", 0))
        case "boolean":
            return False
        case _:
            return "the tide"


async def draft_scene(studio: Studio) -> str:
    """Have a scene of the sample novel drafted."""
    told = {"description": "Draft scene 5"}
    run = await studio.start("control_room/creative_draft_scene", told)
    return (await studio.engine.wait(run.id, settled=True)).state.value


async def add_eggs(studio: Studio) -> str:
    """Say to Alfred that eggs are to be bought."""
    from callboard.packs.alfred.project import project_of

    alfred = project_of(studio)
    session = await alfred.session_of()
    return (await alfred.send("add 2 eggs to the shopping list", session_id=session)).action


async def tell_foreman(studio: Studio) -> str:
    """Say something to the Foreman."""
    from callboard.packs.writers_factory.factory import factory_of

    factory = factory_of(studio)
    run = await factory.start("chat", {"message": "Her flaw is pride."})
    return (await studio.engine.wait(run.id, settled=True)).state.value


REQUESTS: dict[str, tuple[str, Callable[[Studio], Awaitable[str]]]] = {
    "draft scene": ("control_room", draft_scene),
    "add 2 eggs": ("alfred", add_eggs),
    "Foreman message": ("writers_factory", tell_foreman),
}


async def passed(pack: str, request: Callable[[Studio], Awaitable[str]]) -> tuple[list[str], str]:
    """Return the modules that a request passes, and how it ended.

    It is made twice and followed the second time: what a pack opens at first is no part of it.
    """
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        name = frame.f_globals.get("__name__", "")
        is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and is_function and name.startswith("callboard."):
            entered.add(name.removeprefix("callboard."))

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        sample = Path(str(control_room.__file__)).parent / "sample"
        shutil.copytree(sample, root)
        Project.init(root)
        flags = {"models": {"default": "script"}, "pack": pack}
        opening = Opening(providers={"script": Script(answer)}, flags=flags)
        async with Studio.open(root, opening) as studio:
            await request(studio)
            threading.setprofile(note)
            sys.setprofile(note)
            try:
                ended = await request(studio)
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
    return sorted(entered), ended


def main() -> int:
    """Print how many modules each request passes, beside the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules")
    asked = parser.parse_args()
    for name, (pack, request) in REQUESTS.items():
        found, ended = asyncio.run(passed(pack, request))
        print(f"{name:20} {len(found):>4}  goal {GOALS[name]}  ({ended})")
        if asked.list:
            print("\n".join(f"  {each}" for each in found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
