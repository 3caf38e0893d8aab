"""A small book on disk, a judge and a writer who say what a test wants, and runs of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from callboard.core.vocabulary import RunState
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus
from callboard.packs.writers_factory.prose import base_sheet, write_table
from callboard.packs.writers_factory.revision import Category, Revision
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.faults import FaultPoints
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

GOLD = (
    "Mickey counted the bottles twice. The rain had come in under the door again, and the mat was "
    "dark with it. He thought of his brother, who had never counted anything in his life.\n\n"
    '"You open?" the woman asked.\n\n'
    '"For you," he said, and moved the mat with his foot. She sat down where the light was bad. '
    "Outside a truck went by and the glasses talked among themselves for a while. He poured what "
    "she pointed at. Nobody in the bar looked at anybody, which was how he liked it."
)
SCENE = (
    "Mickey came in by the kitchen. The floor was wet and somebody had left the tap running. He "
    "turned it off and listened.\n\n"
    '"You took your time," Danny said from the dark.\n\n'
    "Mickey put the brass lighter on the counter between them. Danny looked at it for a long time. "
    "He cut the tape with surgical precision. Then he opened the box.\n\n"
    "They ran. Mickey kicked the door. Danny swung the chair like a drunk carpenter. Glass broke. "
    "A man fell. They jumped the counter and ran on."
)
FINE = "Mickey came in by the kitchen. The floor was wet and somebody had left the tap running."


def verdict(score: float = 8, quote: str = "The floor was wet", **changes: Any) -> dict[str, Any]:
    """Return what a judge says: one score for all, or another by category."""
    grades: dict[str, Any] = {
        each.value: {
            "score": changes.get(each.value, score),
            "quote": quote,
            "reason": "because",
        }
        for each in Category
    }
    return {**grades, "issues": changes.get("issues", [])}


def judge_by(score: Callable[[str], dict[str, Any]]) -> Callable[[ModelRequest], Line | None]:
    """Return a judge whose verdict depends on the prompt it sees."""

    def answer(request: ModelRequest) -> Line | None:
        if request.prompt_type != "revision/judge_scene":
            return None
        return Line(json=score(request.prompt_text), times=None)

    return answer


@dataclass
class Book:
    """An open book."""

    studio: Studio
    revision: Revision
    root: Path

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.studio)

    async def plan(self, *scenes: PlannedScene) -> None:
        await self.revision.manuscript.set_outline(
            scenes or (PlannedScene(1, 1, "The box"), PlannedScene(1, 2, "The flight"))
        )

    async def write(self, scene_id: str, text: str, **facts: Any) -> None:
        meta = self.revision.manuscript.scene(scene_id)
        status = facts.pop("status", SceneStatus.DRAFTED)
        told = replace(meta, status=status, **facts)
        # Books of tests contradict themselves.
        await self.revision.manuscript.save(scene_id, text, told, reason="written", force=True)

    async def run(self, name: str, **args: Any) -> Any:
        """Perform a run and return its result; one that fails is an error."""
        run = await self.record(name, **args)
        assert run.state is RunState.DONE, run.error
        return run.result

    async def record(self, name: str, **args: Any) -> Any:
        run = await self.studio.start(f"writers_factory/{name}", args)
        return await self.studio.engine.wait(run.id)

    def text(self, scene_id: str = "ch1-sc1") -> str:
        return self.revision.manuscript.text(scene_id)

    def meta(self, scene_id: str = "ch1-sc1") -> SceneMeta:
        return self.revision.manuscript.scene(scene_id)


def lay_voice(root: Path, patterns: str = "") -> None:
    """Put a voice bundle where the book looks for one."""
    folder = root / "content/Voice Bundle"
    folder.mkdir(parents=True)
    (folder / "Voice-Gold-Standard.md").write_text(f"# Gold\n\n## Passage\n\n{GOLD}\n")
    (folder / "Voice-Anti-Pattern-Sheet.md").write_text(
        patterns or write_table(base_sheet().patterns)
    )
    (folder / "Phase-Evolution-Guide.md").write_text(
        "# Guide\n\n## Act 1\n\n- voice_state: guarded\n- sentence rhythm: short and dry\n"
    )
    (folder / "voice.json").write_text('{"pov": "third", "summary": "Dry, close, unsentimental."}')
    (root / ".callboard/writers_factory.yaml").write_text(
        "voice:\n  bundle_path: content/Voice Bundle\n"
    )


def lay_book(root: Path, *, has_voice: bool) -> None:
    """Make a folder a book, unless it is one."""
    if not root.exists():
        root.mkdir()
        Project.init(root)
        if has_voice:
            lay_voice(root)


@asynccontextmanager
async def open_book(
    root: Path,
    script: Script | None = None,
    *,
    has_voice: bool = True,
    faults: FaultPoints | None = None,
    **flags: Any,
) -> AsyncIterator[Book]:
    """Open a book in a folder; the first opening lays it out."""
    lay_book(root, has_voice=has_voice)
    async with open_scripted(root, script, flags=flags, faults=faults) as studio:
        yield Book(studio, Revision(Workspace(studio)), root)
