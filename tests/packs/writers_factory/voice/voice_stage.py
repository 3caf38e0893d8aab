"""A project with a scripted staff for tournaments: writers who can write, judges who can quote."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.core.vocabulary import RunRecord, RunState
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.voice import DIMENSIONS, Voice, tournament_id_of
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

BRIEF = "Mickey waits for his brother Danny behind the boxing hall, with the fixed fight ahead."
AGENTS = ["script:one", "script:two", "script:three"]
STRATEGIES = ["ACTION", "CHARACTER", "DIALOGUE", "BALANCED"]

Answer = Callable[[ModelRequest], Line | str | None]


def passage(words: int = 480, opening: str = "Rain fell on the hall.") -> str:
    """Return prose of about a number of words."""
    beats = [
        "Danny came late, as he always did, and would not meet my eyes.",
        "“You owe me one,” he said.",
        "I thought of our mother, of the salt on her hands, and said nothing.",
        "The bell rang twice inside.",
        "He wanted me to fall in the third, and he wanted me to say that it was my own idea.",
    ]
    text, number = [opening], 0
    while len(" ".join(text).split()) < words:
        number += 1
        text.append(f"{beats[number % len(beats)][:-1]}, number {number}.")
        if number % 6 == 0:
            text.append("\n\n")
    return " ".join(text).replace(" \n\n ", "\n\n")


def verdict(quote: str = "Rain fell on the hall", share: float = 0.8) -> dict[str, Any]:
    """Return what a judge says who likes everything and quotes one line."""
    return {
        name: {"score": int(most * share), "quote": quote, "reason": f"{name} holds."}
        for name, most in DIMENSIONS.items()
    }


def description() -> dict[str, Any]:
    """Return what a judge says about the chosen voice."""
    acts = {
        f"act_{act}": {
            "voice_state": state,
            "sentence_rhythm": f"Rhythm of {act}.",
            "metaphor_domains": ["salt", "rope"],
            "can_admit": f"Admits in {act}.",
        }
        for act, state in {
            "1": "guarded",
            "2a": "tense determined",
            "2b": "cracking",
            "3": "quiet",
        }.items()
    }
    return {
        "metaphor_domains": ["salt", "rope"],
        "do": [
            {"advice": "Open on weather", "quote": "Rain fell on the hall"},
            {"advice": "Invented", "quote": "words that are nowhere in it"},
        ],
        "avoid": [{"pattern": "explaining jokes", "why": "flat", "instead": "move on"}],
        **acts,
    }


def staff(*answers: Answer) -> Answer:
    """Return a staff; the given answers come first."""

    def answer(request: ModelRequest) -> Line | str | None:
        for each in answers:
            said = each(request)
            if said is not None:
                return said
        match str(request.prompt_type):
            case "tournament_passage" | "tournament_passage_again":
                return passage()
            case "judge_passage":
                return Line(json=verdict())
            case "voice_bundle":
                return Line(json=description())
            case _:
                return None

    return answer


def fails_for(model: str) -> Answer:
    """Return an answer that is an error for everything a model is to write."""
    from callboard.models import Failure

    def answer(request: ModelRequest) -> Line | None:
        is_meant = request.model == model and request.agent_id == "writer"
        return Line(fail=Failure(status=400, message="no such model")) if is_meant else None

    return answer


def new_project(root: Path) -> Path:
    """Make a folder a project."""
    root.mkdir()
    Project.init(root)
    return root


@asynccontextmanager
async def opened(root: Path, script: Script, **flags: Any) -> AsyncGenerator[Studio]:
    """Open the project with a script."""
    home = root.parent / "home"
    async with open_scripted(
        root,
        script,
        flags=flags,
        environment={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
    ) as studio:
        yield studio


async def hold(studio: Studio, **args: Any) -> tuple[RunRecord, str]:
    """Hold a tournament to its end and return its run and its id."""
    given = {"test_prompt": BRIEF, "agents": AGENTS, "strategies": STRATEGIES, **args}
    run = await studio.start("writers_factory/tournament", given)
    return await studio.engine.wait(run.id), tournament_id_of(run.id)


async def make_bundle(studio: Studio, **args: Any) -> Any:
    """Make the bundle and return what the run says."""
    run = await studio.start("writers_factory/bundle", args)
    ended = await studio.engine.wait(run.id)
    assert ended.state is RunState.DONE, ended.error
    return ended.result


def voice_of(studio: Studio) -> Voice:
    """Return the voice of an open project."""
    return Voice(Workspace(studio))
