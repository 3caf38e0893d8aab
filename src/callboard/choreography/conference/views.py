"""Phase 2: every attendee answers apart from the others, on the same evidence and without tools.

A prompt holds the role, the message and the evidence: nothing else, so the order of the roster
cannot be read off it. Whether a reply counts is decided by code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.agent_calls import word_for_word
from callboard.choreography.conference.shapes import ReplyStatus, RoundReply
from callboard.choreography.grounding import (
    Grounding,
    SlotText,
    candidates,
    ground,
    render_evidence,
)
from callboard.choreography.small_models import PartQuestion, TemplateParts, plain_findings
from callboard.choreography.staffing import is_constrained, tier_of
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import ErrorRecord
from callboard.core.vocabulary import Agent, Content, Effect, ModelTier, Trust
from callboard.engine.errors import StepFailed
from callboard.prompts import Template
from callboard.replies.evidence import (
    ABSTAIN,
    Citation,
    CitationKind,
    EvidenceVerdict,
    answers,
    cut_reply,
)
from callboard.store.connection import Connection
from callboard.store.journal.steps import load_journal

_VIEW: Final = "conference_view"
_CITE: Final = "conference_view_evidence"
_MINIMAL_TOKENS: Final = 120
"""A small model has said what it has to say by then, and repeats itself afterwards."""

_FINDING: Final = re.compile(r"\n\n(?=\[\d+\] )")
_FAULT: Final = re.compile(r"- \[\w+\] ")
_RECEIPT: Final = re.compile(r"receipt_id: (\S+)$", re.MULTILINE)
_PLACE: Final = re.compile(r"[ \t]+(\S.*?\.(?:md|markdown|txt)) L\d")
_LOOKED_INTO: Final = re.compile(r'"([^"]+\.(?:md|markdown|txt))"')
_OFFERED: Final = 3
_MOST_FOUND: Final = 40
_CODES: Final = {"provider_timeout": "agent_timeout"}


@dataclass(frozen=True, slots=True)
class _Speakable:
    """What a small model may speak to, and what it was found in; without sources, in anything."""

    text: str
    sources: frozenset[str] = frozenset()


class Table:
    """What lies before everybody in a round: the message, the evidence, the receipts behind it."""

    def __init__(
        self, message: str, evidence: str, receipt_ids: Sequence[str], grounding: Grounding
    ) -> None:
        """Take what is shown and what replies are held against."""
        self.message = Content(message, "user", Trust.TRUSTED)
        self.evidence = Content(evidence, "tools", Trust.UNTRUSTED)
        self.receipt_ids = tuple(receipt_ids)
        self.grounding = grounding

    async def hear(self, stage: Stage, attendees: Sequence[Agent]) -> tuple[RoundReply, ...]:
        """Ask everybody at once; one who fails does not disturb the others."""
        limit = stage.studio.settings.conference.max_parallel
        branches = {f"views/{agent.id}": partial(self.hear_one, agent) for agent in attendees}
        outcomes = await stage.collect(
            {name: lambda branch, hear=hear: hear(branch) for name, hear in branches.items()},
            limit=limit,
        )
        heard: list[RoundReply] = []
        for agent in attendees:
            outcome = outcomes[f"views/{agent.id}"]
            failed = outcome.failed
            heard.append(outcome.value or _error(agent, failed.error if failed else None))
        return tuple(heard)

    async def hear_one(self, agent: Agent, branch: Stage) -> RoundReply:
        """Ask one agent and judge its reply; what comes of it is journaled."""
        try:
            reply = await self._judge(agent, branch)
        except StepFailed as failed:
            reply = _error(agent, failed.error)

        async def settle() -> Json:
            return {**reply.to_json(), "duration_ms": _duration_ms(branch)}

        return RoundReply.from_json(await branch.step("reply", settle, effect=Effect.PURE))

    async def _judge(self, agent: Agent, branch: Stage) -> RoundReply:
        is_minimal = tier_of(branch.studio, agent) is ModelTier.MINIMAL
        limit = branch.studio.settings.pipeline.summary_chars.minimal
        about = self._speakable(limit)
        text = await self._say(agent, branch, about, is_minimal=is_minimal)
        if not text.strip():
            return RoundReply(
                agent.id,
                agent.contract.archetype,
                ReplyStatus.ERROR,
                code="empty_output",
                detail="the model said nothing",
            )
        if is_minimal and not cut_reply(text).is_abstention:
            text = await self._cited(agent, branch, text, about.sources)
        verdict = await ground(
            branch, text, agent=agent.id, grounding=self.grounding, slots={}, key="evidence"
        )
        return _reply(agent, verdict, text)

    async def _say(
        self, agent: Agent, branch: Stage, about: _Speakable, *, is_minimal: bool
    ) -> str:
        """Return what an agent says: in its own words, or part by part if it is too small."""
        prompts = branch.studio.prompts(pack_of(branch.run))
        template = prompts.get(_VIEW, tier_of(branch.studio, agent))
        if template.parts:
            return await self._in_parts(agent, branch, template, about.text)
        said = await branch.ask(
            "ask",
            agent.id,
            prompt=_VIEW,
            max_tokens=_MINIMAL_TOKENS if is_minimal else None,
            timeout_seconds=branch.studio.settings.conference.agent_timeout_seconds,
            message=self.message,
            evidence=self.evidence,
        )
        return word_for_word(branch.studio, said)

    async def _in_parts(self, agent: Agent, branch: Stage, template: Template, text: str) -> str:
        if not text and self.grounding.must_bear:
            # Nothing that was found is about the question, or nothing is wrong with it; and of its
            # own a small model knows nothing.
            return ABSTAIN
        plain = replace(self.evidence, text=text)
        shown = {"evidence": plain, "message": self.message}

        async def ask(question: PartQuestion) -> Json:
            call = AgentCall(
                key=f"ask/{question.name}",
                agent_id=agent.id,
                prompt=_VIEW,
                inputs=shown,
                schema=question.schema,
                slot=None,
                max_tokens=question.max_tokens or _MINIMAL_TOKENS,
                timeout_seconds=branch.studio.settings.conference.agent_timeout_seconds,
                framing=question.framing,
                part=question.part,
            )
            return await branch.ask_call(call)

        parts = TemplateParts(
            template,
            shown,
            self.message,
            is_constrained(branch.studio, agent),
            ask,
            branch.studio.counter.count,
            f"agent:{agent.id}",
            lambda: "",
            agent.contract.archetype,
        )
        return await parts.compose() or ABSTAIN

    def _speakable(self, limit_chars: int) -> _Speakable:
        """Return what can be spoken to of the first call that found something about the question.

        The first call was the one that fits the question best; more would only distract.
        """
        blocks = _FINDING.split(self.evidence.text)
        found = (self._fitting(each, limit_chars) for each in blocks)
        return next((each for each in found if each.text), _Speakable(""))

    def _fitting(self, found: str, limit_chars: int) -> _Speakable:
        """Return of what one tool found what an agent may speak to, in plain lines.

        Where claims must bear on the question, these are faults that are about it: a fact that is
        as it should be is nothing to have a view on. They are proven by their own places and by
        the receipt of the tool, and by nothing else.
        """
        if not self.grounding.must_bear:
            return _Speakable(plain_findings(found, limit_chars))
        receipt = _RECEIPT.search(found)
        if receipt is None:
            return _Speakable("")
        about: list[str] = []
        sources = {receipt[1]}
        is_wanted = False
        files = _LOOKED_INTO.findall(found.partition("\n")[0])
        looked_into = files[0] if len(files) == 1 else ""
        for line in found.splitlines():
            if _FAULT.match(line):
                is_wanted = answers(self.message.text, line, looked_into)
                about += [line] if is_wanted else []
            elif is_wanted and (place := _PLACE.match(line)) is not None:
                sources.add(place[1])
        return _Speakable(plain_findings("\n".join(about), limit_chars), frozenset(sources))

    async def _cited(self, agent: Agent, branch: Stage, text: str, allowed: frozenset[str]) -> str:
        """Return a small model's words with evidence that it picked and code wrote."""
        # Findings can be pointed at, not quoted: what a tool says is not what a file says.
        shown = {
            f"finding_{number}": SlotText("", receipt_id)
            for number, receipt_id in enumerate(self.receipt_ids, start=1)
        }
        body = cut_reply(text).body

        async def find() -> Json:
            found = await candidates(
                branch,
                agent=agent.id,
                grounding=self.grounding,
                slots=shown,
                # The question too: what a small model made of it may lead astray.
                about=body if self.grounding.must_bear else f"{self.message.text}\n{body}",
                most=_MOST_FOUND if allowed else _OFFERED,
            )
            fitting = [
                each
                for each in found
                if not allowed or all(_proves_fault(one, allowed) for one in each.citations)
            ]
            return {each.label: render_evidence(each) for each in fitting[:_OFFERED]}

        # Journaled: the files may be others when the run is resumed.
        lines = cast("dict[str, Any]", await branch.step("candidates", find, effect=Effect.PURE))
        if not lines:
            # Nothing bears on it: a view without ground is none.
            return ABSTAIN if self.grounding.must_bear else body
        labels = list(lines)
        picked = labels[0]
        if len(labels) > 1:
            picked = await branch.choose("cite", agent.id, labels, prompt=_CITE, finding=body)
        return f"{body}\n\n{lines[picked]}"


def _proves_fault(cited: Citation, places: frozenset[str]) -> bool:
    # Where nothing was found, no fault is proven.
    return cited.source in places and cited.kind is not CitationKind.SCOPE


def _reply(agent: Agent, verdict: EvidenceVerdict, text: str) -> RoundReply:
    archetype = agent.contract.archetype
    if verdict.abstained:
        return RoundReply(agent.id, archetype, ReplyStatus.ABSTAINED)
    if verdict.accepted:
        return RoundReply(agent.id, archetype, ReplyStatus.ACCEPTED, verdict.body, verdict.evidence)
    return RoundReply(
        agent.id,
        archetype,
        ReplyStatus.REJECTED,
        verdict.body or text,
        verdict.evidence,
        verdict.code,
        verdict.detail,
    )


def _error(agent: Agent, error: ErrorRecord | None) -> RoundReply:
    code = "agent_error" if error is None else _CODES.get(error.code, error.code)
    detail = "" if error is None else error.message
    return RoundReply(
        agent.id, agent.contract.archetype, ReplyStatus.ERROR, code=code, detail=detail
    )


def _duration_ms(branch: Stage) -> int:
    """Return how long an agent's model calls took."""
    run = branch.studio.engine.load(branch.run.id)

    def work(connection: Connection) -> int:
        prefix = branch.run.key("")
        steps = load_journal(connection, run)
        calls = (each for key, each in steps.items() if key.startswith(prefix))
        return sum(each.ended_at - each.started_at for each in calls if each.kind == "agent")

    return branch.studio.database.read(work)
