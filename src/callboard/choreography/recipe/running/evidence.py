"""Evidence for those who cannot be trusted with it: code finds what would hold, the model picks."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.answers import one_of, schema_of
from callboard.choreography.asking import Call
from callboard.choreography.citable import SlotText
from callboard.choreography.grounding import Grounding, candidates, render_evidence
from callboard.choreography.recipe.running.answers import heard
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.small import choice_of
from callboard.core.canonical import Json
from callboard.core.vocabulary import Agent, Content, StepKind, Trust
from callboard.engine.scope import StepScope
from callboard.replies.evidence import Candidate, cut_reply

PROMPT: Final = "pick_evidence"

_MOST: Final = 5
_TOKENS: Final = 60
_ANSWER_CHARS: Final = 1_500
_NUMBER: Final = re.compile(r"\b([1-9])\b")


@dataclass(frozen=True, slots=True)
class Pick:
    """Who picks evidence for which answer, and how they are asked.

    `is_free` lets the agent write an evidence line of its own instead of a number.
    """

    play: Play
    agent: Agent
    key: str
    answer: str
    shown: Mapping[str, SlotText]
    prompt: str = PROMPT
    part: str | None = None
    framing: Mapping[str, Content] | None = None
    is_free: bool = False
    # What else there is, for an agent whose role wants other sources than those it was shown.
    rest: Mapping[str, SlotText] | None = None


async def pick_evidence(pick: Pick) -> str:
    """Return an evidence line for an answer; nothing if there is nothing to pick from."""
    offered = await _offer(pick)
    if not pick.is_free and len(offered) < 2:
        return str(offered[0]["line"]) if offered else ""
    said = await _ask(pick, offered)
    if not pick.is_free:
        chosen = choice_of(said)
        return str(offered[int(chosen) - 1 if chosen.isdigit() else 0]["line"])
    return _read_line(str(cast(dict[str, Any], said).get("text", "")), offered)


def _read_line(said: str, offered: list[dict[str, str]]) -> str:
    """Return what an agent answered in its own words: a line of evidence, or a number."""
    own = cut_reply(said).evidence
    if own:
        return "\n".join(f"Evidence: {each}" for each in own)
    number = _NUMBER.search(said)
    if number is not None and int(number[1]) <= len(offered):
        return str(offered[int(number[1]) - 1]["line"])
    return f"Evidence: {' '.join(said.split())}"


async def _offer(pick: Pick) -> list[dict[str, str]]:
    """Find candidates once: what is offered must be the same after a restart."""
    play = pick.play

    async def act(_scope: StepScope) -> Json:
        if play.grounding is None:
            return []
        found = await _candidates(pick, play.grounding, pick.shown)
        if not found and pick.rest:
            found = await _candidates(pick, play.grounding, pick.rest)
        return [{"label": each.label, "line": render_evidence(each)} for each in found]

    output = await play.step(f"{pick.key}/candidates", act, kind=StepKind.WORK)
    return cast(list[dict[str, str]], output)


async def _candidates(
    pick: Pick, grounding: Grounding, slots: Mapping[str, SlotText]
) -> tuple[Candidate, ...]:
    return await candidates(
        pick.play.stage,
        agent=pick.agent.id,
        grounding=grounding,
        slots=slots,
        about=pick.answer,
        most=_MOST,
    )


async def _ask(pick: Pick, offered: list[dict[str, str]]) -> Json:
    play, key = pick.play, pick.key
    numbers = [str(number) for number in range(1, len(offered) + 1)]
    listed = "\n".join(f"{n}. {each['label']}" for n, each in zip(numbers, offered, strict=True))

    async def around(_scope: StepScope, ask: Callable[[], Awaitable[Json]]) -> Json:
        return await heard(play, pick.agent, ask)

    if play.run.holds(key):
        return play.run.recall(key)
    await play.turn.ready(key)
    answer = Content(pick.answer[:_ANSWER_CHARS], f"agent:{pick.agent.id}", Trust.UNTRUSTED)
    named = {name: Content(each.text, name, Trust.UNTRUSTED) for name, each in pick.shown.items()}
    call = Call(
        key=key,
        agent_id=pick.agent.id,
        prompt=pick.prompt,
        inputs={"answer": answer} if pick.part is None else named,
        schema=None if pick.is_free else schema_of(one_of(numbers)),
        slot=None,
        max_tokens=None if pick.is_free else _TOKENS,
        timeout_seconds=play.settings.agent_timeout_seconds,
        framing=pick.framing or {},
        part=pick.part,
        closing=Content(listed, "candidates", Trust.UNTRUSTED) if offered else None,
        around=around,
    )
    return await play.stage.ask_call(call)
