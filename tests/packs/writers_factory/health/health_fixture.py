"""A small book for health checks: as plain values, and as a real project with a scripted judge."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.core.vocabulary import RunRecord
from callboard.knowledge import Edge, Node
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.bible import Bible, beat_points
from callboard.packs.writers_factory.health.examination import Examination, parse_scope
from callboard.packs.writers_factory.health.values import ChallengeType, FlawChallenge
from callboard.packs.writers_factory.health.view import (
    CharacterView,
    ManuscriptView,
    SceneView,
)
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse, scene_id
from callboard.packs.writers_factory.settings import bundled_settings
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

HEALTH = bundled_settings().health
FLAW = "She trusts nobody and does everything alone"
LIE = "Whoever leans on others falls with them"
THEME = "Trust given before it is earned is what makes it earned"
BEATS = beat_points()
FILLER = "The road went on and the rain went with it. "


def examine(view: ManuscriptView, scope: str = "", **changes: Any) -> Examination:
    """Return an examination with the bundled thresholds, or some changed."""
    return Examination(view, HEALTH.model_copy(update=changes), parse_scope(scope))


def a_scene(chapter: int, scene: int = 1, text: str = "", **facts: Any) -> SceneView:
    """Return an accepted scene of a thousand words."""
    told = text or f"Scene {scene} of chapter {chapter} happens. {FILLER}"
    usual: dict[str, Any] = {"word_count": 1000, "text": told}
    return SceneView(scene_id(chapter, scene), chapter, scene, **usual | facts)


def a_view(*scenes: SceneView, **facts: Any) -> ManuscriptView:
    """Return a book of these scenes with everything else in order."""
    usual: dict[str, Any] = {
        "beats": BEATS,
        "planned_words": 100_000,
        "protagonist": "Mara",
        "flaw": FLAW,
        "lie": LIE,
        "theme_statement": THEME,
        "characters": (
            CharacterView("Mara", rank=0.5),
            CharacterView("Corvin", function="antagonist", rank=0.3),
        ),
    }
    return ManuscriptView(scenes=tuple(scenes), **{**usual, **facts})


def a_challenge(scene: str, kind: str = "test", quote: str = "") -> FlawChallenge:
    """Return a challenge to the flaw."""
    return FlawChallenge(scene, FLAW, ChallengeType(kind), 5, quote, "llm")


@dataclass
class Planned:
    """One scene of the book on disk."""

    text: str
    meta: SceneMeta


@dataclass
class Book:
    """The scenes of a book; `write` makes a project of them."""

    scenes: list[Planned] = field(default_factory=list[Planned])
    planned_words: int | None = None

    def add(self, chapter: int, scene: int, text: str, **facts: Any) -> None:
        """Add a scene."""
        meta = SceneMeta(
            scene_id(chapter, scene), chapter, scene, status=SceneStatus.DRAFTED, **facts
        )
        self.scenes.append(Planned(text, meta))

    @property
    def words(self) -> int:
        """How many words all scenes have."""
        return sum(len(each.text.split()) for each in self.scenes)


def troubled_book() -> Book:
    """Return a book that has one of every trouble: 14 scenes in 7 chapters, at 45 percent."""
    book = Book()
    tensions = {1: 2.0, 2: 6.0, 3: 3.0, 4: 8.0, 5: 5.0, 6: 5.4, 7: 5.2}
    beats = iter([1, 2, 3, 4, 5, 5, 6, 7, 8, 8, 8, 8, 8, 8])
    special = {
        (1, 2): 'Mara pushed the rope away. "I climb alone," she said, and the knot slipped. ',
        (2, 1): "A lantern burned in the window, and Mara looked at it for a long time. ",
        (3, 1): "Mara walked through Harrow until the bells rang. ",
        (3, 2): "In Aldgate Mara knocked at the third door and waited. ",
    }
    for chapter, tension in tensions.items():
        for scene in (1, 2):
            own = special.get((chapter, scene), f"Mara counted to {chapter * 2 + scene}. ")
            facts: dict[str, Any] = {"characters": ("Mara",), "tension": tension}
            if (chapter, scene) == (2, 1):
                facts["symbols"] = (SymbolUse("lantern", "introduction"),)
            if chapter == 3:
                facts["location"] = "Harrow" if scene == 1 else "Aldgate"
                facts["story_time"] = "Day 3, night"
            book.add(chapter, scene, own + FILLER * 9, beat_number=next(beats), **facts)
    book.planned_words = round(book.words / 0.45)
    return book


@asynccontextmanager
async def open_book(
    root: Path, book: Book, script: Script, packs: tuple[Any, ...] = (), **flags: Any
) -> AsyncGenerator[Workspace]:
    """Open a project that holds a book; what is there already is not written again."""
    is_new = not (root / ".callboard").exists()
    if is_new:
        _found(root, book.planned_words or 80_000)
    async with open_scripted(root, script, *packs, flags=flags) as studio:
        workspace = Workspace(studio)
        if is_new:
            await write_book(workspace, book)
        yield workspace


def _found(root: Path, planned_words: int) -> None:
    root.mkdir(parents=True, exist_ok=True)
    Project.init(root)
    (root / ".callboard" / "writers_factory.yaml").write_text(
        f"project:\n  planned_total_words: {planned_words}\n", encoding="utf-8"
    )


async def write_book(workspace: Workspace, book: Book) -> None:
    """Write the Story Bible, the scenes and the cast of a book."""
    bible = Bible(workspace)
    await bible.describe(title="The Rope", protagonist_name="Mara")
    await bible.write("protagonist", {"fatal_flaw": FLAW, "the_lie": LIE}, source="writer")
    await bible.write(
        "theme", {"central_theme": "trust", "theme_statement": THEME}, source="writer"
    )
    manuscript = Manuscript(workspace)
    for each in book.scenes:
        await manuscript.save(each.meta.scene_id, each.text, each.meta, reason="test", force=True)
    graph = workspace.studio.knowledge.graph("story")
    await graph.merge(
        [
            Node("character:mara", "character", "Mara"),
            Node("character:corvin", "character", "Corvin", attrs={"function": "antagonist"}),
            Node("symbol:lantern", "symbol", "lantern"),
        ],
        [Edge("character:corvin", "character:mara", "opposes")],
    )


Answer = Callable[[ModelRequest], Any]


def a_judge(**changes: Any) -> Script:
    """Return a judge that finds the flaw tested where a rope slips, and little else.

    A change replaces the answer to one prompt: JSON, a line, or a function of the request.
    """
    usual: dict[str, Any] = {
        "scene": judge_of_scenes,
        "facts": {"story_time": "", "places": [], "states": [], "things": [], "acts": []},
        "pair": judge_of_pairs,
        "theme": {"score": 8, "quote": ""},
    }
    answers: Mapping[str, Any] = {**usual, **changes}

    def answer(request: ModelRequest) -> Line | None:
        said = answers.get(str(request.prompt_type).removeprefix("health/"))
        if callable(said):
            said = said(request)
        if said is None or isinstance(said, Line):
            return said
        return Line(json.dumps(said))

    return Script(answer)


def judge_of_scenes(request: ModelRequest) -> Any:
    """Judge a scene by the words in it."""
    quote = "the knot slipped"
    found = quote in request.prompt_text
    answer: dict[str, Any] = {
        "tension": 5,
        "challenge": {
            "type": "failure" if found else "none",
            "intensity": 6,
            "quote": quote if found else "",
        },
    }
    properties = (request.json_schema or {}).get("properties", {})
    if "symbols" in properties:
        answer["symbols"] = [{"name": "lantern", "stage": "introduction"}]
    if "functions" in properties:
        answer["functions"] = []
    return answer


def judge_of_pairs(request: ModelRequest) -> Any:
    """Confirm what is suspected of a place, and find nothing else."""
    is_suspected = re.search(r"at the same time", request.prompt_text) is not None
    return {
        "verdict": "impossible" if is_suspected else "none",
        "title": "",
        "fix": "",
        "first_quote": "",
        "second_quote": "",
    }


async def check_health(workspace: Workspace, **args: Any) -> RunRecord:
    """Run a health check to its end."""
    run = await workspace.studio.start("writers_factory/health", args)
    return await workspace.studio.engine.wait(run.id)
