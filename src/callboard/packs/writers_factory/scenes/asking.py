"""Asking in scenes: texts as they enter prompts, and answers that may not come."""

from collections.abc import Iterable
from typing import Final

from callboard.choreography.answers import A
from callboard.choreography.questions import Question, ask
from callboard.choreography.stage import Stage
from callboard.choreography.values import Input
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.engine.errors import StepFailed
from callboard.models.errors import InvalidReply
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.workspace import Workspace, route_of
from callboard.prompts import render_template

_NOTHING: Final = "(none)"


def shown(origin: str, text: str) -> Content:
    """Return a text of the project for a prompt: fenced, never an instruction."""
    return Content(text.strip() or _NOTHING, origin, Trust.UNTRUSTED)


def listed(origin: str, lines: Iterable[str]) -> Content:
    """Return lines of the project for a prompt."""
    return shown(origin, "\n".join(f"- {line}" for line in lines))


def said(text: str) -> Content:
    """Return something code itself says in a prompt: a number, a name, a fixed sentence."""
    return Content(text, "pack", Trust.TRUSTED)


def block(stage: Stage, name: str) -> Content:
    """Return a prompt file without placeholders, to be set into another."""
    template = stage.studio.prompts(PACK).get(name)
    filled = render_template(template, {})
    return Content(filled.text.strip(), filled.origin, Trust.TRUSTED)


def tier_on(stage: Stage, model: str) -> ModelTier:
    """Return how much a model can be given."""
    return stage.studio.catalog.facts(model).tier


async def ask_or_go_on(
    stage: Stage, key: str, agent: str, question: Question[A], /, **inputs: Input
) -> A | None:
    """Ask; None if a model cannot bring its answer into shape, so that code goes on alone.

    A model that cannot be reached fails the run: the writer waits for its words.
    """
    route = route_of(Workspace(stage.studio), agent)
    try:
        return await ask(stage, key, agent, question, model=route, **inputs)
    except StepFailed as failed:
        if failed.error.code != InvalidReply.code:
            raise
        return None
