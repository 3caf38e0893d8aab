"""Checking: what a scene claims against what canon claims. Silence of the canon is a gap.

A change the text itself tells of is no conflict, here or in an earlier scene.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from callboard.core.canonical import Json
from callboard.library.story.facts.claims import SPOKEN_NAMES, Attribute, FactClaim
from callboard.library.story.facts.comparison import (
    FactClash,
    Gathering,
    Leeway,
    clash,
    do_agree,
    is_comparable,
    oriented,
)
from callboard.library.story.facts.prose import mentions_change
from callboard.library.story.index import StoryIndex
from callboard.library.story.index.metadata import number_in_filename
from callboard.library.story.model import Quote, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.tools.report import cite, make_finding
from callboard.tools import FileMissing

TOOL = "canon_checker"
_MISTYPED = 0.8
# What a card need not say: nobody writes cards to list it.
_NEVER_A_GAP = frozenset({Attribute.DEATH, Attribute.POSSESSION, Attribute.KIN})


@dataclass(frozen=True, slots=True)
class ToldChange:
    """A value the text itself tells to have changed."""

    canon: FactClaim
    scene: FactClaim
    told_by: FactClaim


@dataclass(slots=True)
class CanonComparison:
    """What the comparison of one scene with its cards says."""

    clashes: list[FactClash] = field(default_factory=list[FactClash])
    agreed: list[tuple[FactClaim, FactClaim]] = field(
        default_factory=list[tuple[FactClaim, FactClaim]]
    )
    changes: list[ToldChange] = field(default_factory=list[ToldChange])
    silent: list[FactClaim] = field(default_factory=list[FactClaim])


def compare(
    told: Iterable[FactClaim], canon: Sequence[FactClaim], *, carded: frozenset[str], leeway: Leeway
) -> CanonComparison:
    """Hold every claim of a scene against the canon; `carded` are the entities with a card."""
    verdict = CanonComparison()
    for claim in told:
        if not is_comparable(claim):
            continue
        seen = oriented(claim)
        known = [each for each in canon if oriented(each).subject == seen.subject]
        comparable = [each for each in known if is_comparable(each)]
        agreed = next((each for each in comparable if do_agree(oriented(each), seen, leeway)), None)
        if agreed is not None:
            verdict.agreed.append((agreed, claim))
        elif comparable:
            _take_clash(verdict, comparable[0], claim, leeway)
        elif not known and claim.entity in carded and claim.attribute not in _NEVER_A_GAP:
            verdict.silent.append(claim)
    return verdict


def without_told_changes(
    verdict: CanonComparison, gathering: Gathering, scene_path: str, leeway: Leeway
) -> list[str]:
    """Take out the conflicts an earlier scene explains; return the scenes that were read."""
    if not verdict.clashes:
        return []
    earlier = _scenes_before(gathering.index, scene_path)
    read: list[str] = []
    kept: list[FactClash] = []
    for each in verdict.clashes:
        told_by, paths = _told_before(gathering, earlier, each.second, leeway)
        read.extend(paths)
        if told_by is None:
            kept.append(each)
        else:
            verdict.changes.append(ToldChange(each.first, each.second, told_by))
    verdict.clashes = kept
    return read


def conflict_finding(each: FactClash) -> StoryFinding:
    """Return a conflict with both quotes and both ways out."""
    canon, scene = each.first, each.second
    what = describe(canon)
    return make_finding(
        TOOL,
        "canon_conflict",
        each.severity,
        f"{what}: canon says {canon.value.text}, the scene says {scene.value.text}"
        f"{' (in dialogue)' if scene.is_spoken else ''}.",
        (scene.quote, canon.quote),
        suggestion=f"Revise scene: {scene.value.text} → {canon.value.text} "
        f"({scene.quote.path} L{scene.quote.line_start}). "
        f"Or update canon: {canon.value.text} → {scene.value.text} "
        f"({canon.quote.path} L{canon.quote.line_start}).",
        confidence=each.confidence,
    )


def conflict_json(each: FactClash) -> dict[str, Json]:
    """Return a conflict as the payload holds it."""
    canon, scene = each.first, each.second
    return {
        **conflict_finding(each).to_json(),
        "entity": canon.entity,
        "attribute": canon.attribute.value,
        **({"other": canon.other} if canon.other else {}),
        "canon_value": canon.value.text,
        "scene_value": scene.value.text,
        "in_dialogue": scene.is_spoken,
        "proposals": [
            _proposal("revise_scene", scene.quote, scene.value.text, canon.value.text),
            _proposal("update_canon", canon.quote, canon.value.text, scene.value.text),
        ],
    }


def describe(claim: FactClaim) -> str:
    """Return what a claim is about, as people say it."""
    if claim.other is not None:
        return f"{claim.entity} to {claim.other}"
    return f"{claim.entity}'s {SPOKEN_NAMES[claim.attribute]}"


def change_json(change: ToldChange) -> dict[str, Json]:
    """Return a told change as the payload holds it."""
    return {
        "entity": change.canon.entity,
        "attribute": change.canon.attribute.value,
        "canon_value": change.canon.value.text,
        "scene_value": change.scene.value.text,
        "quotes": [change.told_by.quote.to_json(), change.canon.quote.to_json()],
    }


def gap_lines(gaps: Sequence[FactClaim]) -> list[str]:
    """Return details canon is silent about as summary lines."""
    return [
        f"- Gap: {describe(gap)}: {gap.value.text} here; canon does not say. {cite(gap.quote)}"
        for gap in gaps
    ]


def refuse_mistyped(index: StoryIndex, path: str) -> None:
    """Refuse a scene that is not there but for a slip; one still to be written may be."""
    wanted = PurePosixPath(path)
    number = number_in_filename(wanted.stem)
    near = [
        scene.path
        for scene in index.scenes
        if number_in_filename(PurePosixPath(scene.path).stem) == number
        and SequenceMatcher(None, PurePosixPath(scene.path).stem, wanted.stem).ratio() >= _MISTYPED
    ][:3]
    if near:
        raise FileMissing(
            f"There is no {path} in the project",
            fix=f"Did you mean {', '.join(near)}?",
            path=path,
            near=near,
        )


def _take_clash(
    verdict: CanonComparison, known: FactClaim, claim: FactClaim, leeway: Leeway
) -> None:
    found = clash(known, claim, leeway)
    if found is None:
        return
    if claim.tells_change:
        verdict.changes.append(ToldChange(found.first, found.second, claim))
    else:
        verdict.clashes.append(found)


def _proposal(action: str, quote: Quote, before: str, after: str) -> dict[str, Json]:
    return {
        "action": action,
        "path": quote.path,
        "line": quote.line_start,
        "from": before,
        "to": after,
    }


def _scenes_before(index: StoryIndex, path: str) -> list[Document]:
    paths = [scene.path for scene in index.scenes]
    before = paths[: paths.index(path)] if path in paths else paths
    return [index.document(each) for each in before]


def _told_before(
    gathering: Gathering, earlier: Sequence[Document], scene: FactClaim, leeway: Leeway
) -> tuple[FactClaim | None, list[str]]:
    read: list[str] = []
    names = gathering.cast.names.get(scene.entity, frozenset[str]()) | {scene.entity}
    for document in reversed(earlier):
        if not mentions_change(document, names, scene.attribute):
            continue
        read.append(document.path)
        for claim in gathering.prose_claims(document):
            seen = oriented(claim)
            if (
                claim.tells_change
                and seen.subject == scene.subject
                and do_agree(seen, scene, leeway)
            ):
                return claim, read
    return None, read
