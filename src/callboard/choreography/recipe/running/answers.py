"""What becomes of a reply in phase B: stopped, abstained, refused, or an artifact."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from callboard.choreography.citable import SlotText
from callboard.choreography.grounding import judge
from callboard.choreography.recipe.errors import (
    AgentError,
    AgentTimeout,
    EmptyOutput,
    EvidenceInvalid,
    StopHook,
)
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import ArtifactSlot, parsed_data
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Agent
from callboard.engine.errors import NotNow
from callboard.engine.scope import StepScope
from callboard.models.errors import ProviderTimeout
from callboard.replies.evidence import Verdict, cut_reply

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
) -> Verdict:
    """Judge the evidence of a reply; without rules of a pack everything stands."""
    check_spoken(agent, text)
    if play.grounding is None:
        cut = cut_reply(text)
        return Verdict(
            accepted=True,
            body=cut.body,
            evidence="; ".join(cut.evidence),
            abstained=cut.is_abstention,
        )
    return await judge(play.stage, scope, text, agent=agent, grounding=play.grounding, slots=shown)


def artifact_of(play: Play, scope: StepScope, agent: Agent, verdict: Verdict) -> ArtifactSlot:
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


def _object(play: Play, scope: StepScope, agent: Agent, verdict: Verdict) -> None:
    if play.settings.evidence_enforcement == "warn":
        scope.detail["evidence_warning"] = verdict.detail
        return
    raise EvidenceInvalid(
        f"{agent.name}'s evidence does not hold ({', '.join(verdict.codes)}): {verdict.detail}",
        fix="Read the reply with `callboard prompts show`, then retry the run.",
        agent=agent.id,
        codes=list(verdict.codes),
    )
