"""`canon_checker`: whether a scene agrees with the cards, with both quotes where it does not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from callboard.core.canonical import Json
from callboard.library.story.facts.claims import FactClaim
from callboard.library.story.facts.comparison import Gathering, Leeway
from callboard.library.story.index import StoryIndex, story_index
from callboard.library.story.index.metadata import card_kind
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.thresholds import (
    Thresholds,
    thresholds,
)
from callboard.library.story.tools.canon.checking import (
    TOOL,
    CanonComparison,
    change_json,
    compare,
    conflict_finding,
    conflict_json,
    describe,
    gap_lines,
    refuse_mistyped,
    without_told_changes,
)
from callboard.library.story.tools.canon.names import (
    NameVariant,
    UnknownName,
    UnknownNames,
    small_words,
)
from callboard.library.story.tools.report import (
    PerDocument,
    ToolReport,
    counted,
    finish,
    make_finding,
    plan,
)
from callboard.tools import DryRun, ToolArgs, ToolContext, ToolResult, tool

_FACT_LINES: Final = 40


class CanonCheckerArgs(ToolArgs):
    """Which scene, against which cards."""

    scene_path: str = Field(min_length=1, description="A scene; it need not be written yet")
    canon_paths: list[str] | None = Field(
        None, description="The cards to hold it against; without them all that have a say"
    )
    mode: Literal["strict", "lenient"] = "lenient"


@dataclass(frozen=True)
class CanonCheck:
    """One scene held against its cards."""

    verdict: CanonComparison
    facts: Sequence[FactClaim]
    told: Sequence[FactClaim]
    variants: Sequence[NameVariant]
    unknown: Sequence[UnknownName]
    reads: Sequence[str]
    cut_short: Sequence[str] = ()
    # Why nothing was compared; empty otherwise.
    reason: str = ""

    @property
    def status(self) -> str:
        """The one word for it."""
        if self.reason:
            return "NOT_CHECKED"
        if self.verdict.clashes:
            return "CONFLICTS"
        return "CANON_GAP" if self.verdict.silent or self.unknown or self.variants else "CONSISTENT"

    @property
    def findings(self) -> tuple[StoryFinding, ...]:
        """Conflicts and misspelt names."""
        conflicts = (conflict_finding(each) for each in self.verdict.clashes)
        return (*conflicts, *(variant_finding(each) for each in self.variants))


def check_scene(
    index: StoryIndex,
    limits: Thresholds,
    document: Document,
    cards: Sequence[str],
    *,
    is_strict: bool = False,
    scene_path: str | None = None,
    small_words_of: Callable[[Document], frozenset[str]] = small_words,
) -> CanonCheck:
    """Hold one text against the given cards; `scene_path` is what a draft is to become."""
    facts = limits.facts
    leeway = Leeway(facts.age_leeway_years, facts.height_leeway_cm)
    gathering = Gathering(index, facts.max_checked_chars, [document])
    canon = gathering.canon_claims(cards)
    told = gathering.prose_claims(document)
    carded = frozenset(gathering.owner(path) for path in cards)
    verdict = compare(told, canon, carded=carded, leeway=leeway)
    read = without_told_changes(verdict, gathering, scene_path or document.path, leeway)
    names = UnknownNames(index, document, limits.canon, small_words_of)
    is_english = document.is_english
    variants = names.variants() if is_english else []
    misspelt = frozenset(each.surface for each in variants)
    unknown = names.unknown(is_strict=is_strict, without=misspelt) if is_english else []
    reads = [document.path, *cards, *read]
    found = bool(cards or unknown or variants)
    reason = "" if found else "no card is about anybody or anything this scene names"
    return CanonCheck(verdict, canon, told, variants, unknown, reads, gathering.cut_short, reason)


def cards_for(index: StoryIndex, document: Document) -> list[str]:
    """Return the cards of whoever and whatever a text names."""
    named = {
        hit.entity.card
        for sentence in document.sentences
        for hit in index.entities.find(sentence.text)
    }
    return [file.path for file in index.canon if file.path in named]


def variant_finding(each: NameVariant) -> StoryFinding:
    """Return a misspelt name as a finding."""
    return make_finding(
        TOOL,
        "name_variant",
        Severity.MINOR,
        f"“{each.surface}” looks like a misspelling of {each.canonical}.",
        (*each.quotes, each.card_quote),
        suggestion=f"Revise scene: {each.surface} → {each.canonical}. Or update canon: add "
        f"“{each.surface}” to the aliases in {each.card}, or a card of its own.",
        confidence=0.8 if each.distance == 1 else 0.6,
    )


def _plan(context: ToolContext, args: CanonCheckerArgs) -> DryRun:
    index = story_index(context)
    scene = [args.scene_path] if index.has(args.scene_path) else []
    return plan([*scene, *_cards(index, args)])


@tool(dry_run=_plan)
def canon_checker(context: ToolContext, args: CanonCheckerArgs) -> ToolResult:
    """Compare what a scene says of people and things with their canon cards."""
    index, limits = story_index(context), thresholds(context)
    cards = _cards(index, args)
    document = index.document(args.scene_path) if _exists(context, index, args.scene_path) else None
    if document is None:
        gathering = Gathering(index, limits.facts.max_checked_chars)
        canon = gathering.canon_claims(cards)
        refuse_mistyped(index, args.scene_path)
        missing, cut = f"there is no {args.scene_path} yet", gathering.cut_short
        check = CanonCheck(CanonComparison(), canon, (), (), (), cards, cut, missing)
    else:
        is_strict = args.mode == "strict"
        words_of = kept_small_words(context)
        check = check_scene(
            index, limits, document, cards, is_strict=is_strict, small_words_of=words_of
        )
    payload = _payload(index, args, check, cards, document)
    return finish(index, limits, _report(args, check, payload, cards, document))


def kept_small_words(context: ToolContext) -> Callable[[Document], frozenset[str]]:
    """Return `small_words`, computed once for each document of the process."""
    return context.kept.get("story small words", lambda: PerDocument(small_words)).of


def _exists(context: ToolContext, index: StoryIndex, path: str) -> bool:
    # What is there but cannot be read is told by the index, not passed over as unwritten.
    return index.has(path) or context.files.sha256(path) is not None


def _cards(index: StoryIndex, args: CanonCheckerArgs) -> list[str]:
    if args.canon_paths is not None:
        return [index.file(path).path for path in dict.fromkeys(args.canon_paths)]
    if index.has(args.scene_path):
        return cards_for(index, index.document(args.scene_path))
    return [file.path for file in index.canon]


def _payload(
    index: StoryIndex,
    args: CanonCheckerArgs,
    check: CanonCheck,
    cards: Sequence[str],
    document: Document | None,
) -> dict[str, Json]:
    payload: dict[str, Json] = {
        "scene_path": document.path if document else args.scene_path,
        "scene_exists": document is not None,
        "mode": args.mode,
        "status": check.status,
        "reason": check.reason,
        "canon_paths": list(cards),
        "conflicts": [conflict_json(each) for each in check.verdict.clashes],
        "facts": [{**claim.to_json(), "source": "canon"} for claim in check.facts]
        + [{**claim.to_json(), "source": "scene"} for claim in check.told],
        "consistent": [
            {**told.to_json(), "canon_quote": canon.quote.to_json()}
            for canon, told in check.verdict.agreed
        ],
        "changes": [change_json(each) for each in check.verdict.changes],
        "gaps": [
            *({**claim.to_json(), "kind": "detail"} for claim in check.verdict.silent),
            *(_unknown_json(each) for each in check.unknown),
        ],
        "name_variants": [_variant_json(each) for each in check.variants],
    }
    if document is not None:
        payload["language_supported"] = document.is_english
    if args.canon_paths is None:
        payload["manifest"] = _manifest(index, document)
    return payload


def _report(
    args: CanonCheckerArgs,
    check: CanonCheck,
    payload: dict[str, Json],
    cards: Sequence[str],
    document: Document | None,
) -> ToolReport:
    where = document.path if document else args.scene_path
    against = f"against {counted(len(cards), 'card')}"
    counts = (
        f"{check.status}: {counted(len(check.verdict.clashes), 'conflict')}, "
        f"{counted(len(check.variants), 'name variant')}, "
        f"{counted(len(payload['gaps']), 'gap')}"
    )
    not_checked = f"not checked {against}: {check.reason}"
    details = [*gap_lines(check.verdict.silent)]
    details += [f"- Gap: {each.name} has no card ({each.count} times)." for each in check.unknown]
    details += [
        f"- Canon: {describe(fact)}: {fact.value.text}." for fact in check.facts[:_FACT_LINES]
    ]
    return ToolReport(
        tool=TOOL,
        preview=not_checked if check.reason else f"{counts} in {where} {against}",
        payload=payload,
        reads=check.reads,
        findings=check.findings,
        has_findings=False,
        cut_short=check.cut_short,
        headline=f"{where} {not_checked}." if check.reason else f"{where} {against}: {counts}.",
        details=details,
    )


def _manifest(index: StoryIndex, document: Document | None) -> list[dict[str, Json]]:
    named = set(cards_for(index, document)) if document else set[str]()
    return [
        {
            "path": file.path,
            "name": file.title,
            "category": card_kind(index.document(file.path)),
            "words": file.word_count,
            "size_chars": len(index.document(file.path).text),
            "in_scene": file.path in named,
        }
        for file in index.canon
    ]


def _unknown_json(each: UnknownName) -> dict[str, Json]:
    return {
        "kind": "name",
        "entity": each.name,
        "entity_kind": each.kind,
        "count": each.count,
        "quote": each.quote.to_json(),
    }


def _variant_json(each: NameVariant) -> dict[str, Json]:
    return {
        **variant_finding(each).to_json(),
        "surface": each.surface,
        "canonical": each.canonical,
        "distance": each.distance,
        "count": each.count,
        "card": each.card,
    }
