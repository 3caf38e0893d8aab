"""Grounding on a stage: replies are checked against their sources, and every verdict is kept.

What a pack supplies is data (which role rests on what) and one function (what a file is to it).
Refusing a reply, asking again or going on is for the choreography to decide.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.citable import SlotText, StageSources
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json, digest
from callboard.core.events import EvidenceChecked
from callboard.core.vocabulary import Agent, Effect, Receipt, StepKind
from callboard.engine.scope import StepScope
from callboard.replies.evidence import (
    SLOT,
    EvidenceCandidate,
    EvidenceMaterial,
    EvidenceRules,
    EvidenceVerdict,
    SourcePassage,
    SourceReceipt,
    check_reply,
    checked_sources,
    find_candidates,
    render_evidence_line,
    verdict_from_json,
    verdict_to_json,
)
from callboard.store.connection import Connection
from callboard.store.journal.events import append_event
from callboard.store.journal.verdicts import VerdictRecord, insert_verdict
from callboard.studio.studio import Studio
from callboard.tools.files.project import TEXT_SUFFIXES

__all__ = [
    "EvidenceCandidate",
    "Grounding",
    "SlotText",
    "candidates",
    "ground",
    "judge",
    "render_evidence",
]

KindOf = Callable[[str], str]

# What the agent works on comes first, then what a tool pointed at, then the rest; a tool's own
# words last, because they are about the text and not of it.
_WORKED_ON, _POINTED_AT, _ABOUT_THE_TEXT = 4.0, 2.0, -2.0

# How many files nobody pointed at are looked through when nothing else can be quoted.
_MOST_FILES = 12


@dataclass(frozen=True, slots=True)
class Grounding:
    """What a pack supplies: what its roles rest on, and what a file of the project is to it.

    With `must_bear` a source counts only if it is about what is said.
    """

    rules: EvidenceRules
    kind_of: Callable[[Studio], KindOf]
    must_bear: bool = False


async def ground(
    stage: Stage,
    reply_text: str,
    *,
    agent: str,
    grounding: Grounding,
    slots: Mapping[str, SlotText],
    key: str,
) -> EvidenceVerdict:
    """Check a reply in a step of its own and record the verdict with it.

    `slots` are those the agent was shown; no others can be cited. After a restart the verdict is
    the one that was journaled, whatever has become of the files since.
    """
    speaker = _agent(stage, agent)

    async def act(scope: StepScope) -> Json:
        verdict = await judge(
            stage, scope, reply_text, agent=speaker, grounding=grounding, slots=slots
        )
        scope.preview = _preview(verdict)
        return verdict_to_json(verdict)

    said = await stage.run.step(
        key,
        act,
        inputs={
            "agent": speaker.id,
            "reply": digest(reply_text),
            "slots": {name: digest(shown.text) for name, shown in slots.items()},
        },
        kind=StepKind.CHECK,
        effect=Effect.PURE,
    )
    return verdict_from_json(cast("dict[str, Any]", said))


async def judge(
    stage: Stage,
    scope: StepScope,
    reply_text: str,
    *,
    agent: Agent,
    grounding: Grounding,
    slots: Mapping[str, SlotText],
) -> EvidenceVerdict:
    """Check a reply within a step of the caller, whose record the verdict is stored with."""
    role = agent.contract.archetype
    verdict = await asyncio.to_thread(_check, stage, reply_text, role, grounding, slots)
    scope.detail.update({"agent": agent.id, "role": role, "codes": list(verdict.codes)})
    scope.commit_with(_recording(stage, agent, verdict, scope.key))
    return verdict


async def candidates(
    stage: Stage,
    *,
    agent: str,
    grounding: Grounding,
    slots: Mapping[str, SlotText],
    about: str = "",
    most: int = 5,
) -> tuple[EvidenceCandidate, ...]:
    """Return ready-made evidence from what an agent was shown; each befits its role and holds."""
    role = _agent(stage, agent).contract.archetype

    def find() -> tuple[EvidenceCandidate, ...]:
        kind_of = grounding.kind_of(stage.studio)
        sources = StageSources(stage.studio, stage.run.session_id, slots, kind_of)
        shown = _material(sources, slots)

        def offer(material: EvidenceMaterial) -> tuple[EvidenceCandidate, ...]:
            return find_candidates(
                role,
                grounding.rules,
                material,
                sources,
                about=about,
                most=most,
                must_bear=grounding.must_bear and bool(about),
            )

        found = offer(shown)
        if found:
            return found
        more = EvidenceMaterial(
            (*shown.passages, *_project_passages(stage, sources)), shown.receipts
        )
        return offer(more)

    return await asyncio.to_thread(find)


def render_evidence(candidate: EvidenceCandidate) -> str:
    """Return the evidence line of a candidate."""
    return render_evidence_line(candidate.citations)


def _agent(stage: Stage, agent_id: str) -> Agent:
    return stage.studio.repertoire.agent(agent_id, pack_of(stage.run))


def _check(
    stage: Stage,
    reply_text: str,
    role: str,
    grounding: Grounding,
    slots: Mapping[str, SlotText],
) -> EvidenceVerdict:
    studio = stage.studio
    sources = StageSources(studio, stage.run.session_id, slots, grounding.kind_of(studio))
    return check_reply(
        reply_text,
        role=role,
        rules=grounding.rules,
        sources=sources,
        tool_ids=studio.tools.registry.ids,
        must_bear=grounding.must_bear,
    )


def _recording(
    stage: Stage, agent: Agent, verdict: EvidenceVerdict, step_key: str
) -> Callable[[Connection], None]:
    role = agent.contract.archetype
    session_id, run_id = stage.run.session_id, stage.run.id
    record = VerdictRecord(
        at=stage.studio.clock.now_ms(),
        agent_id=agent.id,
        role=role,
        accepted=verdict.accepted,
        abstained=verdict.abstained,
        codes=verdict.codes,
        detail=verdict.detail,
        sources=tuple(checked_sources(verdict)),
        session_id=session_id,
        run_id=run_id,
        step_key=step_key,
    )
    told = EvidenceChecked(
        agent.id,
        role,
        verdict.accepted,
        verdict.abstained,
        list(verdict.codes),
        verdict.detail,
    )

    def work(connection: Connection) -> None:
        insert_verdict(connection, record)
        append_event(
            connection,
            told,
            at=record.at,
            session_id=session_id,
            run_id=run_id,
            step_key=step_key,
        )

    return work


def _preview(verdict: EvidenceVerdict) -> str:
    if verdict.abstained:
        return "abstained"
    return "evidence holds" if verdict.accepted else f"{verdict.code}: {verdict.detail}"[:200]


def _material(sources: StageSources, slots: Mapping[str, SlotText]) -> EvidenceMaterial:
    """Gather what was shown: slots, what tools pointed at, and the files their receipts name."""
    passages = [
        SourcePassage(name, shown.text, SLOT, _ABOUT_THE_TEXT if shown.receipt_id else _WORKED_ON)
        for name, shown in slots.items()
        if shown.text
    ]
    receipts: list[tuple[SourceReceipt, str]] = []
    for receipt_id in dict.fromkeys(each.receipt_id for each in slots.values()):
        stored = sources.stored_receipt(receipt_id) if receipt_id else None
        cited = sources.receipt(receipt_id) if receipt_id else None
        if not isinstance(stored, Receipt) or cited is None:
            continue
        receipts.append((cited, stored.preview))
        passages.extend(_pointed_at(stored, sources))
        passages.extend(_files_of(stored, sources))
    return EvidenceMaterial(passages, receipts)


def _pointed_at(receipt: Receipt, sources: StageSources) -> Iterator[SourcePassage]:
    """Go through the quotes a tool's payload holds, whatever its shape."""
    waiting: list[Json] = [receipt.payload]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(cast("list[Json]", value))
        elif isinstance(value, dict):
            entry = cast("dict[str, Json]", value)
            waiting.extend(entry.values())
            path, text = entry.get("path"), entry.get("text")
            if isinstance(path, str) and isinstance(text, str):
                found = sources.file(path)
                if found is not None:
                    yield SourcePassage(found.path, text, found.kind, _POINTED_AT)


def _files_of(receipt: Receipt, sources: StageSources) -> Iterator[SourcePassage]:
    for ref in receipt.file_refs[:_MOST_FILES]:
        found = sources.file(str(ref.get("path", "")))
        if found is not None:
            yield SourcePassage(found.path, found.text, found.kind)


def _project_passages(stage: Stage, sources: StageSources) -> Iterator[SourcePassage]:
    per_kind: dict[str, int] = {}
    for listed in stage.studio.tools.files.list_files(suffixes=TEXT_SUFFIXES):
        found = sources.file(listed.path)
        if found is None or per_kind.get(found.kind, 0) >= _MOST_FILES:
            continue
        per_kind[found.kind] = per_kind.get(found.kind, 0) + 1
        yield SourcePassage(found.path, found.text, found.kind)
