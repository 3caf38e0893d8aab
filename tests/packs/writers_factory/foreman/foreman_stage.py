"""A factory project with a scripted Foreman, and short ways to talk with it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from callboard.core.vocabulary import ModelTier, RunRecord
from callboard.models import Script
from callboard.packs.writers_factory.foreman.actions import load_catalogue
from callboard.packs.writers_factory.foreman.foreman import BUNDLED, Foreman
from callboard.packs.writers_factory.foreman.survey import foreman_of
from callboard.packs.writers_factory.foreman.texts import PromptTexts
from callboard.packs.writers_factory.operations import declared
from callboard.prompts import TemplateLayer, TemplateRegistry, bundled_layer
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED

MODES = ("ARCHITECT", "VOICE_CALIBRATION", "DIRECTOR", "EDITOR")
FLAW = "She decides for others and calls it care"
LIE = "Nobody stays unless they are needed"
PROTAGONIST = {
    "name": "Ines Varga",
    "fatal_flaw": FLAW,
    "the_lie": LIE,
    "arc_start": "Ines runs the tide office alone and lets nobody read the log",
    "arc_midpoint": "Ines wins the hearing by a forged entry and sees who pays for it",
    "arc_resolution": "Ines stops deciding for others and lets Jun choose, and pays with the post",
}


def message(text: str, *rest: str) -> str:
    """Return a reply with a message and whatever follows it."""
    return "\n".join((f"<message>{text}</message>", *rest))


def action(name: str, **values: Any) -> str:
    """Return an action as a model writes it."""
    inner = "".join(f"<{key}>{value}</{key}>" for key, value in values.items())
    return f'<action type="{name}">{inner}</action>'


def make_project(root: Path, **settings: Any) -> Path:
    """Make a project, with settings of the factory if some are given."""
    root.mkdir(parents=True, exist_ok=True)
    Project.init(root)
    if settings:
        path = root / ".callboard" / "writers_factory.yaml"
        path.write_text(yaml.safe_dump(settings), "utf-8")
    return root


@asynccontextmanager
async def open_factory(root: Path, script: Script, **flags: Any) -> AsyncIterator[Studio]:
    """Open a project whose models are a script."""
    providers = dict.fromkeys(("script", "openai", "ollama", "anthropic"), script)
    opening = Opening(providers=providers, flags={**SCRIPTED, **flags})
    async with Studio.open(root, opening) as studio:
        yield studio


async def say(studio: Studio, text: str, session_id: str | None = None, **args: Any) -> Any:
    """Say something to the Foreman and return the turn."""
    run = await talk(studio, text, session_id, **args)
    assert run.error is None, run.error
    return run.result


async def talk(studio: Studio, text: str, session_id: str | None = None, **args: Any) -> RunRecord:
    """Say something to the Foreman and return the run when it is over."""
    started = await studio.start(
        "writers_factory/chat", {"message": text, **args}, session_id=session_id
    )
    return await studio.engine.wait(started.id)


def foreman(studio: Studio) -> Foreman:
    """Return the Foreman of an open project, wired to the real rooms."""
    return foreman_of(studio)


def bundled_texts() -> PromptTexts:
    """Return the authored texts as they come with the pack."""
    registry = TemplateRegistry((bundled_layer(), TemplateLayer("pack", BUNDLED)))
    return PromptTexts.open(registry, BUNDLED, load_catalogue(declared().values()))


def sections(mode: str) -> tuple[str, ...]:
    """Return what `modes.yaml` declares for a mode."""
    declared = yaml.safe_load((BUNDLED / "modes.yaml").read_text("utf-8"))["modes"][mode]
    return (*declared["sections"]["always"], *declared["sections"]["if_relevant"])


TIERS = {
    ModelTier.FULL: "openai:gpt-4o",
    ModelTier.MEDIUM: "openai:deepseek-chat",
    ModelTier.MINIMAL: "ollama:llama3.2:3b",
}
