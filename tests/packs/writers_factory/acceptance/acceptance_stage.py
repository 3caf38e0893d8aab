"""A book in a folder, the factory over it, and a scripted staff that answers by what it is asked.

The acceptance tests go through `Factory` and durable runs only; files and database are real.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from callboard.core.vocabulary import RunRecord, RunState
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.modes import ModeGated
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.voice import Pick
from callboard.prompts import PromptRecord, load_prompt
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED

Answer = Callable[[ModelRequest], "Line | str | None"]

MODES = ("ARCHITECT", "VOICE_CALIBRATION", "DIRECTOR", "EDITOR", "COMPLETE")
PROTAGONIST = {
    "name": "Ines Varga",
    "fatal_flaw": "She decides for others out of pride and calls it care",
    "the_lie": "Nobody stays unless they are needed",
    "arc_start": "Ines runs the tide office alone and lets nobody read the log",
    "arc_midpoint": "Ines wins the hearing by a forged entry and sees who pays for it",
    "arc_resolution": "Ines gives up her pride and lets Danny decide, and it costs her the post",
}
THEME = {
    "central_theme": "Care and control",
    "theme_statement": "Care that decides for others becomes the thing it wanted to prevent",
}
RULES = [
    "No boat can leave the harbour between two tides",
    "A signed log cannot be changed by anybody",
    "Every forged entry costs the office one keeper",
]
BEATS = {f"beat_{n}": f"At turn {n} of the tide Ines pays price number {n}" for n in range(1, 16)}
SHEET = {**BEATS, "midpoint_type": "false_victory"}


def message(text: str, *rest: str) -> str:
    """Return a reply with a message and whatever follows it."""
    return "\n".join((f"<message>{text}</message>", *rest))


def action(name: str, **values: Any) -> str:
    """Return an action as a model writes it."""
    inner = "".join(f"<{key}>{value}</{key}>" for key, value in values.items())
    return f'<action type="{name}">{inner}</action>'


def fields_of(values: Mapping[str, str]) -> str:
    """Return the fields of a template as a model writes them."""
    return "".join(f"<{key}>{value}</{key}>" for key, value in values.items())


def reply(text: str, *, times: int | None = 1, hold: str | None = None) -> Line:
    """Return a line only the Foreman says."""
    return Line(text, agent="foreman", times=times, hold=hold)


def staff(answers: Mapping[str, Any]) -> Answer:
    """Return a staff that answers by the name of the prompt: a text, JSON, or a function."""

    def answer(request: ModelRequest) -> Line | str | None:
        given = answers.get(str(request.prompt_type))
        said: Any = given(request) if callable(given) else given
        return Line(json=said) if isinstance(said, dict) else said

    return answer


@dataclass
class Novel:
    """An open book."""

    studio: Studio
    script: Script
    root: Path
    session_id: str = ""
    factory: Factory = field(init=False)

    def __post_init__(self) -> None:
        self.factory = Factory(self.studio)

    @cached_property
    def rooms(self) -> Rooms:
        return self.factory.rooms

    async def say(self, text: str, **args: Any) -> Any:
        """Say something to the Foreman and return the turn."""
        session = self.session_id or (await self.studio.sessions.current()).id
        started = await self.factory.start("chat", {"message": text, **args}, session_id=session)
        return self.result(await self.studio.engine.wait(started.id))

    async def hear(self, line: Line | str, text: str = "Go on.", **args: Any) -> Any:
        """Give the Foreman its next reply, say something, and return the turn."""
        self.script.add(reply(line) if isinstance(line, str) else line)
        return await self.say(text, **args)

    async def run(self, name: str, **args: Any) -> Any:
        """Perform a run and return what it says."""
        return self.result(await self.record(name, **args))

    async def record(self, name: str, **args: Any) -> RunRecord:
        started = await self.factory.start(name, args)
        return await self.studio.engine.wait(started.id)

    def result(self, run: RunRecord) -> Any:
        assert run.state is RunState.DONE, run.error
        return run.result

    async def job(self, turn: Any, action_type: str) -> Any:
        """Wait for the run an action of a turn has started, and return what it says."""
        (made,) = [each for each in turn["actions"] if each["type"] == action_type]
        assert made["status"] == "executed", made
        return self.result(await self.studio.engine.wait(made["data"]["run_id"]))

    def state(self) -> ElementTree.Element:
        """Return the session state, which must be well formed."""
        return ElementTree.fromstring(self.factory.foreman.state_xml())  # noqa: S314 - written by us

    def prompt(self, turn: Any, number: int = -1) -> PromptRecord:
        """Return a prompt of a turn as it is on record."""
        wanted = turn["prompt_ids"][number]
        return self.studio.database.read(lambda connection: load_prompt(connection, wanted))

    def asked(self, prompt_type: str) -> list[ModelRequest]:
        """Return what was asked with one prompt."""
        return [c.request for c in self.script.calls if c.request.prompt_type == prompt_type]

    async def found(self, *, rules: int = 3) -> None:
        """Lay the foundation: the four templates, with some of the rules."""
        bible = self.rooms.bible
        await bible.describe(title="The Tide Office", genre="drama")
        await bible.write("protagonist", PROTAGONIST, source="writer_stated")
        await bible.write("beat_sheet", SHEET, source="writer_stated")
        await bible.write("theme", THEME, source="writer_stated")
        await bible.write("world_rules", {"rules": RULES[:rules]}, source="writer_stated")

    async def insist(self, mode: str, risk: str = "") -> None:
        """Go to a mode as a writer does who was told what is missing and goes all the same."""
        modes = self.rooms.modes
        try:
            await modes.advance(mode, by="writer")
        except ModeGated:
            await modes.advance(mode, by="writer", override=True, risk_note=risk)

    async def calibrate(self, agents: tuple[str, ...] = ("script:one", "script:two")) -> None:
        """Find the voice of the book: tournament, winner, bundle, lock."""
        told = {"test_prompt": BRIEF, "agents": list(agents), "strategies": ["BALANCED"]}
        await self.run("tournament", **told)
        held = self.rooms.voice.tournaments()[-1]
        await self.rooms.voice.select_winner(held.id, Pick(agent=agents[0], strategy="BALANCED"))
        await self.run("bundle")
        await self.rooms.voice.lock(confirmed_by_writer=True)


BRIEF = "Ines winds the clock of the tide office while the council waits downstairs."


def passage(opening: str = "Rain fell on the office.", words: int = 480) -> str:
    """Return a passage in the voice of the book."""
    beats = [
        "Danny came late, as he always did, and did not look at the log.",
        "“You signed it,” he said.",
        "Ines thought of the keepers, of the salt on their hands, and said nothing.",
        "The bell of the harbour rang twice.",
        "He wanted her to say that it had been his idea, and she would have, a year ago.",
    ]
    text, number = [opening], 0
    while len(" ".join(text).split()) < words:
        number += 1
        text.append(f"{beats[number % len(beats)][:-1]}, tide {number}.")
        if number % 6 == 0:
            text.append("\n\n")
    return " ".join(text).replace(" \n\n ", "\n\n")


def settle(root: Path, **settings: Any) -> Path:
    """Make a folder a project, with settings of the factory if some are given."""
    root.mkdir(parents=True)
    Project.init(root)
    if settings:
        path = root / ".callboard" / "writers_factory.yaml"
        path.write_text(yaml.safe_dump(settings), "utf-8")
    return root


@asynccontextmanager
async def open_novel(root: Path, script: Script, **flags: Any) -> AsyncGenerator[Novel]:
    """Open a book whose models are a script, whatever they are called."""
    home = root.parent / "home"
    opening = Opening(
        providers=dict.fromkeys(("script", "openai", "ollama", "google"), script),
        flags={**SCRIPTED, **flags},
        environment={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
    )
    async with Studio.open(root, opening) as studio:
        yield Novel(studio, script, root)


DIMENSIONS = {
    "voice_authenticity": 25,
    "prose_quality": 20,
    "rhythm": 15,
    "interiority": 15,
    "dialogue": 10,
    "genre_and_world_fit": 15,
}


def judge_of_passages(_request: ModelRequest) -> dict[str, Any]:
    """Like every passage, and quote its first line."""
    return {
        name: {"score": most - 4, "quote": "Rain fell on the office", "reason": f"{name} holds."}
        for name, most in DIMENSIONS.items()
    }


def describe_voice(_request: ModelRequest) -> dict[str, Any]:
    """Say of the chosen voice what a bundle needs."""
    acts = {
        f"act_{act}": {
            "voice_state": state,
            "sentence_rhythm": f"Rhythm of {act}.",
            "metaphor_domains": ["salt", "rope"],
            "can_admit": f"Admits in {act}.",
        }
        for act, state in {"1": "guarded", "2a": "tense", "2b": "cracking", "3": "quiet"}.items()
    }
    do = [{"advice": "Open on weather", "quote": "Rain fell on the office"}]
    avoid = [{"pattern": "explaining jokes", "why": "flat", "instead": "move on"}]
    return {"metaphor_domains": ["salt", "rope"], "do": do, "avoid": avoid, **acts}


def write_passage(_request: ModelRequest) -> str:
    """Write the same good passage always."""
    return passage()


VOICES: dict[str, Any] = {
    "tournament_passage": write_passage,
    "tournament_passage_again": write_passage,
    "judge_passage": judge_of_passages,
    "voice_bundle": describe_voice,
}
