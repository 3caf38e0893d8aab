"""What becomes of a reply in phase B: stopped, abstained, refused, or an artifact with evidence."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.answers import one_of, schema_of
from callboard.choreography.citable import SlotText
from callboard.choreography.grounding import Grounding, candidates, judge, render_evidence
from callboard.choreography.recipe.errors import (
    AgentError,
    AgentTimeout,
    EmptyOutput,
    EvidenceInvalid,
    StopHook,
)
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import ArtifactSlot, parsed_data
from callboard.choreography.small_models import choice_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Agent, Content, StepKind, Trust
from callboard.engine.errors import NotNow
from callboard.engine.scope import StepScope
from callboard.models.errors import ProviderTimeout
from callboard.replies.evidence import EvidenceCandidate, EvidenceVerdict, cut_reply

ABSTAIN: Final = "abstain"
_STOP: Final = "STOP_HOOK:"


async def heard(play: Play, agent: Agent, ask: Callable[[], Awaitable[Json]]) -> dict[str, Any]:
    """Ask, and return what was said; what keeps an agent from answering has one of two codes."""
    try:
        return cast(dict[str, Any], await ask())
    except NotNow:
        raise
    except ProviderTimeout as error:
        limit = play.settings.agent_timeout_seconds
        raise AgentTimeout(
            f"{agent.name} did not answer within {limit:g} seconds",
            fix="Retry the run, or raise pipeline.agent_timeout_seconds.",
            agent=agent.id,
            partial=error.partial,
        ) from error
    except CallboardError as error:
        record = play.studio.backstage.classifier.record(error)
        raise AgentError(
            f"{agent.name} could not answer: {record.message}",
            fix=record.fix or "Retry the run when the cause is mended.",
            tier=record.tier,
            agent=agent.id,
            cause=record.code,
        ) from error


def check_spoken(agent: Agent, text: str) -> None:
    """Refuse a reply that is empty, or that asks to stop."""
    if not text.strip():
        raise EmptyOutput(
            f"{agent.name} answered without a word",
            fix="Retry the run, or give the agent another model.",
            agent=agent.id,
        )
    if text.lstrip().startswith(_STOP):
        reason = text.lstrip().removeprefix(_STOP).strip()
        raise StopHook(
            f"{agent.name} stopped the work: {reason or 'no reason given'}",
            fix="Settle what the agent objects to, then retry the run.",
            agent=agent.id,
            reason=reason,
        )


async def weigh(
    play: Play, scope: StepScope, agent: Agent, text: str, shown: Mapping[str, SlotText]
) -> EvidenceVerdict:
    """Judge the evidence of a reply; without rules of a pack everything stands."""
    check_spoken(agent, text)
    if play.grounding is None:
        cut = cut_reply(text)
        return EvidenceVerdict(
            accepted=True,
            body=cut.body,
            evidence="; ".join(cut.evidence),
            abstained=cut.is_abstention,
        )
    return await judge(play.stage, scope, text, agent=agent, grounding=play.grounding, slots=shown)


def artifact_of(
    play: Play, scope: StepScope, agent: Agent, verdict: EvidenceVerdict
) -> ArtifactSlot:
    """Return what an agent made, or say why it cannot be used."""
    if verdict.abstained:
        scope.preview = "abstained"
        return ArtifactSlot(agent.id, None, abstained=True)
    if not verdict.accepted:
        _object(play, scope, agent, verdict)
    if not verdict.body.strip():
        raise EmptyOutput(
            f"{agent.name} gave evidence and nothing else",
            fix="Retry the run, or give the agent another model.",
            agent=agent.id,
        )
    artifact = ArtifactSlot(agent.id, verdict.body, parsed_data(verdict.body), verdict.evidence)
    scope.preview = artifact.summary
    return artifact


def _object(play: Play, scope: StepScope, agent: Agent, verdict: EvidenceVerdict) -> None:
    if play.settings.evidence_enforcement == "warn":
        scope.detail["evidence_warning"] = verdict.detail
        return
    raise EvidenceInvalid(
        f"{agent.name}'s evidence does not hold ({', '.join(verdict.codes)}): {verdict.detail}",
        fix="Read the reply with `callboard prompts show`, then retry the run.",
        agent=agent.id,
        codes=list(verdict.codes),
    )


PROMPT: Final = "pick_evidence"

_MOST: Final = 5
_TOKENS: Final = 60
_ANSWER_CHARS: Final = 1_500
_NUMBER: Final = re.compile(r"\b([1-9])\b")


@dataclass(frozen=True, slots=True)
class EvidencePick:
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


async def pick_evidence(pick: EvidencePick) -> str:
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


async def _offer(pick: EvidencePick) -> list[dict[str, str]]:
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
    pick: EvidencePick, grounding: Grounding, slots: Mapping[str, SlotText]
) -> tuple[EvidenceCandidate, ...]:
    return await candidates(
        pick.play.stage,
        agent=pick.agent.id,
        grounding=grounding,
        slots=slots,
        about=pick.answer,
        most=_MOST,
    )


async def _ask(pick: EvidencePick, offered: list[dict[str, str]]) -> Json:
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
    call = AgentCall(
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
