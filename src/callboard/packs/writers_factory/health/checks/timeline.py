"""A3, timeline consistency: what cannot have happened as two scenes tell it.

Rules find suspicions, a judge clears or confirms them and finds what rules cannot see; the story
tools read the whole book by themselves. Without quotations that stand in the text there is no
finding.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from callboard.packs.writers_factory.health.examination import Examination
from callboard.packs.writers_factory.health.quotes import (
    content_stems,
    evidence_of,
    sentences_near,
    share_of,
)
from callboard.packs.writers_factory.health.timeline.candidates import (
    TimelineCandidate,
    find_candidates,
)
from callboard.packs.writers_factory.health.timeline.continuity import Contradiction
from callboard.packs.writers_factory.health.timeline.facts import Pair, PairVerdict, SceneFacts
from callboard.packs.writers_factory.health.values import CheckId, HealthCheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView, Setup
from callboard.packs.writers_factory.model import Evidence, Finding, Severity

# So many of a setup's words must come back in a callback for it to be paid off.
_PAID_SHARE = 0.6
# Words by which the story tools tell what a rule of this check finds as well.
_TOLD_BY = {
    "dead_acting": ("dead", "died", "dies", "death", "buried"),
    "two_places": ("same time", "two places", "at once", ", both "),
    "lost_used": ("lost", "gone", "destroyed"),
}


@dataclass(frozen=True, slots=True)
class TimelineReading:
    """What is known of the scenes, and what a judge has said of pairs of them."""

    facts: Mapping[str, SceneFacts] = field(default_factory=dict[str, SceneFacts])
    # By rule and entities of the candidate.
    on_candidates: Mapping[str, PairVerdict] = field(default_factory=dict[str, PairVerdict])
    on_pairs: Mapping[Pair, PairVerdict] = field(default_factory=dict[Pair, PairVerdict])
    # What the story tools find, without any judge.
    contradictions: tuple[Contradiction, ...] = ()
    is_partial: bool = False


def check_timeline(exam: Examination, reading: TimelineReading) -> HealthCheckResult:
    """Look for contradictions between scenes, and for promises that nobody keeps."""
    view = exam.view
    if not exam.scenes:
        return exam.no_data(CheckId.TIMELINE, "no accepted scene", is_partial=reading.is_partial)
    candidates = find_candidates(view, reading.facts)
    findings = [
        *(f for each in candidates for f in _from_candidate(view, each, reading)),
        *_from_pairs(view, reading),
        *_from_tools(reading, candidates),
        *_unkept(view, exam.settings.setup_scenes),
    ]
    details = {
        "candidates": len(candidates),
        "judged_pairs": len(reading.on_pairs) + len(reading.on_candidates),
        "story_times": {scene.scene_id: scene.story_time for scene in exam.scenes},
    }
    return exam.result(CheckId.TIMELINE, findings, details, is_partial=reading.is_partial)


def candidate_key(candidate: TimelineCandidate) -> str:
    """Return what a suspicion is known by."""
    return "/".join((candidate.rule, *candidate.entities))


def open_setups(view: ManuscriptView) -> tuple[Setup, ...]:
    """Return what scenes plant and no later scene pays off."""
    planted = [
        *view.setups,
        *(Setup(hint, scene.scene_id) for scene in view.scenes for hint in scene.foreshadowing),
    ]
    unique = {(setup.name.casefold(), setup.scene_id): setup for setup in reversed(planted)}
    return tuple(
        setup
        for setup in reversed(unique.values())
        if setup.paid_in is None and setup.scene_id in view.by_id and not _is_paid(view, setup)
    )


def _from_candidate(
    view: ManuscriptView, candidate: TimelineCandidate, reading: TimelineReading
) -> Iterator[Finding]:
    verdict = reading.on_candidates.get(candidate_key(candidate))
    if verdict is None and not candidate.is_certain:
        return
    if verdict is not None and not verdict.is_contradiction:
        return
    evidence = _evidence(view, candidate, verdict)
    if evidence is None:
        return
    is_doubtful = verdict is not None and verdict.verdict == "doubtful"
    yield Finding(
        check_id=CheckId.TIMELINE.value,
        severity=Severity.WARNING if is_doubtful else Severity.ERROR,
        title=candidate.title,
        recommendation=candidate.fix,
        evidence=evidence,
        entities=candidate.entities,
        rule=candidate.rule,
        scene_ids=candidate.pair,
        is_judged=not candidate.is_certain,
    )


def _evidence(
    view: ManuscriptView, candidate: TimelineCandidate, verdict: PairVerdict | None
) -> tuple[Evidence, ...] | None:
    """Return the quotations of a suspicion; None if they do not stand in the text."""
    own = (candidate.first.quote, candidate.second.quote)
    judged = (verdict.first_quote, verdict.second_quote) if verdict is not None else ("", "")
    found: list[Evidence] = []
    for scene_id, *quotes in zip(candidate.pair, own, judged, strict=True):
        scene = view.by_id.get(scene_id)
        proven = [e for quote in quotes for e in evidence_of(scene, quote)]
        found += proven[:1]
    needed = 1 if candidate.authority and not candidate.first.quote else 2
    return tuple(found) if len(found) >= needed else None


def _from_pairs(view: ManuscriptView, reading: TimelineReading) -> Iterator[Finding]:
    for pair, verdict in reading.on_pairs.items():
        if not verdict.is_contradiction:
            continue
        first, second = (view.by_id.get(scene_id) for scene_id in pair)
        proof = evidence_of(first, verdict.first_quote)
        proof += evidence_of(second, verdict.second_quote)
        if len(proof) < 2:
            continue
        is_sure = verdict.verdict == "impossible"
        yield Finding(
            check_id=CheckId.TIMELINE.value,
            severity=Severity.ERROR if is_sure else Severity.WARNING,
            title=verdict.title or f"{pair[0]} and {pair[1]} contradict each other",
            recommendation=verdict.fix or "Decide which scene is right and change the other.",
            evidence=proof,
            entities=pair,
            rule="contradiction",
            scene_ids=pair,
            is_judged=True,
        )


def _from_tools(
    reading: TimelineReading, candidates: Sequence[TimelineCandidate]
) -> Iterator[Finding]:
    """Go through what the story tools find; what a rule of this check suspects is told once."""
    for each in reading.contradictions:
        if any(_is_same(each, known) for known in candidates):
            continue
        yield Finding(
            check_id=CheckId.TIMELINE.value,
            severity=each.severity,
            title=each.title,
            recommendation=each.fix,
            evidence=each.evidence,
            entities=(each.id,),
            rule=each.type.casefold().replace(" ", "_"),
            scene_ids=each.scene_ids,
        )


def _is_same(found: Contradiction, known: TimelineCandidate) -> bool:
    """Say whether a tool and a rule mean one thing: the same kind, of one person, in one place."""
    title = found.title.casefold()
    is_kind = any(word in title for word in _TOLD_BY.get(known.rule, ()))
    is_there = known.second.scene_id in found.scene_ids
    return is_kind and is_there and known.entities[0].casefold() in title


def _unkept(view: ManuscriptView, most_scenes: int) -> Iterator[Finding]:
    last = len(view.scenes) - 1
    for setup in open_setups(view):
        age = last - view.positions[setup.scene_id]
        if age <= most_scenes:
            continue
        scene = view.by_id[setup.scene_id]
        near = sentences_near(scene.text, setup.name, 1)
        yield Finding(
            check_id=CheckId.TIMELINE.value,
            severity=Severity.WARNING,
            title=f"{setup.name} is set up in {setup.scene_id} and still open {age} scenes later",
            recommendation="Pay it off, remind the reader of it, or take the setup out.",
            evidence=evidence_of(scene, near[0]) if near else (),
            entities=(setup.name, setup.scene_id),
            rule="open_setup",
            scene_ids=(setup.scene_id,),
        )


def _is_paid(view: ManuscriptView, setup: Setup) -> bool:
    wanted = content_stems(setup.name)
    later: tuple[SceneView, ...] = view.scenes[view.positions[setup.scene_id] + 1 :]
    return any(
        share_of(wanted, content_stems(callback)) >= _PAID_SHARE
        for scene in later
        for callback in scene.callbacks
    )
