"""A small novel on its way: beats, people, a locked voice, an outline, and a scripted staff."""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import callboard.packs.writers_factory as factory
from callboard.core.vocabulary import RunRecord
from callboard.knowledge import Edge, Node
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.bible import Bible, beat_points
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.scenes import Scenes
from callboard.packs.writers_factory.voice.state import VoiceRecord
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from callboard.testing.opening import open_scripted

BUNDLE = "content/Voice Bundle"
GOLD = "Ines wound the clock. She counted the turns, and the turns did not come out right. "
BEATS = {
    number: f"Ines meets turn number {number} of the harbour and {verb} the council."
    for number, verb in zip(
        range(1, 16),
        [
            "sees",
            "hears",
            "fears",
            "loses",
            "doubts",
            "leaves",
            "loves",
            "mocks",
            "wins",
            "fails",
            "buries",
            "mourns",
            "faces",
            "beats",
            "forgives",
        ],
        strict=True,
    )
}
OUTLINE = tuple(
    PlannedScene(
        chapter, scene, f"Scene {chapter}-{scene}", beat, f"Ines and Danny {chapter}-{scene}.", 100
    )
    for (chapter, scene), beat in {
        (1, 1): 1,
        (1, 2): 3,
        (2, 1): 5,
        (3, 1): 7,
        (4, 1): 8,
        (4, 2): 9,
        (5, 1): 11,
        (6, 1): 15,
    }.items()
)


def words(count: int, start: int = 0, name: str = "Ines") -> str:
    """Return prose of about some words, no five of which stand in a row elsewhere."""
    sentences: list[str] = []
    made = 0
    while made < count:
        tail = " ".join(f"w{start + made + n}x" for n in range(6))
        sentences.append(f"{name} walked past {tail}.")
        made += 9
    return " ".join(sentences)


def update(text: str, target: str = "ch4-sc2") -> str:
    """Return a reply as the scene prompt asks for it."""
    return f'<content_update target="{target}">\n{text}\n</content_update>'


def strategy_in(request: ModelRequest) -> str:
    """Return which strategy a scene prompt asks for."""
    found = re.search(r"Approach: (\w+)", request.prompt_text)
    return found[1].upper() if found else ""


FILLED = {
    "characters_present": ["Ines", "Danny", "Background: dock workers"],
    "pov_character": "Ines",
    "location": "Harbour office",
    "time_of_day": "dusk",
    "weather": "rain",
    "protagonist_constraint": "She may not ask for help.",
    "scene_goal": "Ines wants the vote; Danny stands in the way; she wins it by a lie.",
    "conflict": "Danny knows the ledger.",
    "outcome": "She wins and is bound by it.",
    "emotional_note": "brittle triumph",
}


def callback_text(start: int) -> str:
    """Return a scene that pays the brass key and touches the flood to come."""
    return (
        "Ines put the brass key on the table. Danny looked at the flood marks on the wall.\n\n"
        + words(45, start)
        + "\n\n"
        + words(36, start + 500, "Danny")
    )


def usual(request: ModelRequest) -> Line | str:
    """Answer every prompt of the scenes the way a good model would."""
    prompt = str(request.prompt_type)
    if prompt == "scene_scaffold":
        return Line(json=FILLED, times=None)
    if prompt == "scene_variant":
        return update(callback_text(1000 * (1 + len(strategy_in(request)))))
    if prompt == "health/scene":
        asked = dict(request.json_schema or {}).get("properties", {})
        more = {name: [] for name in ("functions", "symbols") if name in asked}
        return Line(
            json={
                **more,
                "tension": 7,
                "challenge": {
                    "type": "test",
                    "intensity": 6,
                    "quote": "Ines put the brass key on the table.",
                },
            },
            times=None,
        )
    if prompt.startswith("memory/extract"):
        return '{"nodes": [], "edges": []}'
    raise AssertionError(f"nobody answers {prompt}")


Answer = Callable[[ModelRequest], Line | str]


def staff(**changes: Any) -> Answer:
    """Return the usual staff with other answers to some prompts (`__` stands for a slash)."""
    told = {name.replace("__", "/"): value for name, value in changes.items()}

    def answer(request: ModelRequest) -> Line | str:
        given = told.get(str(request.prompt_type))
        if given is None:
            return usual(request)
        return given(request) if callable(given) else given

    return answer


@dataclass
class SceneStage:
    """An open project with everything a test looks at."""

    studio: Studio
    script: Script
    workspace: Workspace = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = Workspace(self.studio)
        self.scenes = Scenes(self.workspace)
        self.book = Manuscript(self.workspace)
        self.memory = Memory(self.workspace)
        self.graph = self.memory.graph
        self.root = self.workspace.files.root

    async def run(self, name: str, **args: Any) -> RunRecord:
        started = await self.studio.start(f"writers_factory/{name}", args)
        return await self.studio.engine.wait(started.id)

    async def result(self, name: str, **args: Any) -> Any:
        record = await self.run(name, **args)
        assert record.error is None, record.error
        return record.result

    def asked(self, prompt: str) -> list[ModelRequest]:
        requests = (call.request for call in self.script.calls)
        return [each for each in requests if each.prompt_type == prompt]

    async def brief(self, **changes: Any) -> Any:
        """Make and approve the scaffold of the Midpoint."""
        await self.result("scaffold", chapter=4, scene=2, title="The Vote")
        return await self.scenes.approve_scaffold("ch4-sc2", changes or None)


@asynccontextmanager
async def open_stage(
    root: Path, answer: Answer | None = None, flags: Mapping[str, Any] = SCRIPTED
) -> AsyncIterator[SceneStage]:
    """Open a project as it lies there."""
    script = Script(answer or staff())
    home = root.parent / "home"
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    pack = Path(factory.__file__).parent
    async with open_scripted(root, script, pack, flags=flags, environment=own) as studio:
        yield SceneStage(studio, script)


async def build(stage: SceneStage, *, locked: bool = True) -> None:
    """Fill a new project with a story that has come to its middle."""
    bible = Bible(stage.workspace)
    await bible.describe(title="Salt & <Iron>", protagonist_name="Ines", genre="drama")
    fields = {f"beat_{number}": text for number, text in BEATS.items()}
    await bible.write(
        "beat_sheet", {**fields, "midpoint_type": "false_victory"}, source="writer_stated"
    )
    await bible.write(
        "protagonist",
        {
            "fatal_flaw": "Ines decides for others out of pride",
            "the_lie": "Nobody can be trusted with the truth",
            "arc_start": "She rules alone",
            "arc_midpoint": "She wins alone",
            "arc_resolution": "She gives up her pride and lets others decide",
        },
        source="writer_stated",
    )
    rules = ["No ship may leave at night", "A debt must be paid in salt", "Only the council votes"]
    await bible.write("world_rules", {"fundamental_rules": rules}, source="writer_stated")
    await stage.book.set_outline(OUTLINE)
    await stage.graph.merge(_nodes(), _edges())
    if locked:
        await lock_voice(stage)


async def lock_voice(stage: SceneStage) -> None:
    """Put a bundle into the project and lock the voice."""
    files = stage.workspace.files
    files.write_text(f"{BUNDLE}/Voice-Gold-Standard.md", f"# Gold\n\n## Passage\n\n{GOLD * 40}\n")
    files.write_text(
        f"{BUNDLE}/Voice-Anti-Pattern-Sheet.md",
        "| pattern | regex or description | severity | why | instead |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| with … precision | `with \\w+ precision` | zero_tolerance | stock | the hand |\n",
    )
    files.write_text(f"{BUNDLE}/Phase-Evolution-Guide.md", "## Act 2A\n\n- voice_state: tight\n")
    voice = {
        "pov": "third",
        "tense": "past",
        "summary": "Close third, past tense, short sentences.",
        "winning_agent": "script",
        "winning_strategy": "BALANCED",
    }
    files.write_text(f"{BUNDLE}/voice.json", json.dumps(voice))
    await VoiceRecord(stage.workspace).change(
        winner="script:BALANCED:1", bundle_path=BUNDLE, locked=True, test_passage="The clock."
    )


def _nodes() -> list[Node]:
    dead = {"alive": "dead", "states": {"alive": [{"value": "dead", "since_scene": "ch3-sc1"}]}}
    return [
        Node("character:ines", "character", "Ines", ("Ines Vale",)),
        Node("character:danny", "character", "Danny"),
        Node("character:marek", "character", "Marek", attrs=dead),
        Node("character:olga", "character", "Olga"),
        Node("location:harbour-office", "location", "Harbour office"),
        Node("location:pier", "location", "Pier"),
        *(Node(f"scene:ch{c}-sc{s}", "scene", f"ch{c}-sc{s}") for c, s in [(1, 1), (1, 2), (5, 1)]),
        *(
            Node(f"beat:beat-{point.number}", "beat", point.name, attrs={"number": point.number})
            for point in beat_points()
        ),
        Node("object:brass-key", "object", "brass key"),
        Node("object:ledger-page", "object", "ledger page"),
        Node("object:olgas-ring", "object", "silver ring"),
        Node("object:late-letter", "object", "late letter"),
        Node("event:the-flood", "event", "The flood breaks the wall"),
        Node("event:the-storm", "event", "The first storm"),
    ]


def _edges() -> list[Edge]:
    return [
        Edge("scene:ch1-sc2", "object:brass-key", "plants"),
        Edge("scene:ch1-sc1", "object:ledger-page", "plants"),
        Edge("scene:ch1-sc2", "object:olgas-ring", "plants"),
        Edge("scene:ch5-sc1", "object:late-letter", "plants"),
        Edge("character:ines", "object:brass-key", "knows"),
        Edge("character:danny", "object:ledger-page", "knows"),
        Edge("character:olga", "object:olgas-ring", "knows"),
        Edge("character:ines", "object:late-letter", "knows"),
        Edge("event:the-flood", "beat:beat-11", "serves_beat"),
        Edge("event:the-flood", "character:danny", "involves"),
        Edge("event:the-storm", "beat:beat-4", "serves_beat"),
        Edge("event:the-storm", "character:ines", "involves"),
    ]
