"""The continuity audit: what code finds when it reads the whole manuscript. Asks no model.

Plants and payoffs come from the scenes' own front matter and from the graph; a mention alone is no
payoff, but it is told.
"""

from collections.abc import Iterator, Sequence

from callboard.packs.writers_factory.manuscript import BookScene
from callboard.packs.writers_factory.model import Finding, Severity
from callboard.packs.writers_factory.revision.analysis.brief import (
    Thread,
    find_thread,
    telling_stems,
)
from callboard.packs.writers_factory.revision.analysis.forbidden import (
    Breach,
    Correction,
    find_breaches,
    forbidden_facts,
)
from callboard.packs.writers_factory.revision.facts import StoryFacts
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind


def audit_manuscript(story: StoryFacts, scenes: Sequence[BookScene]) -> tuple[AuditItem, ...]:
    """Return everything code finds, by chapter; scenes come in story order."""
    written = [scene for scene in scenes if scene.text.strip()]
    found = [
        *_from_health(story, written),
        *_unpaid(story, written),
        *_unplanted(story, written),
        *_breaches(story.corrections, written, AuditKind.CORRECTION),
        *_breaches(story.rules, written, AuditKind.WORLD_RULE),
        *_conflicts(story),
    ]
    return in_order(found)


def in_order(items: Sequence[AuditItem]) -> tuple[AuditItem, ...]:
    """Return items by chapter, each once, the gravest first."""
    weight = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    unique = dict.fromkeys(items)
    return tuple(sorted(unique, key=lambda i: (i.chapter, weight[i.severity], i.kind, i.problem)))


def _from_health(story: StoryFacts, scenes: Sequence[BookScene]) -> Iterator[AuditItem]:
    chapters = {scene.meta.scene_id: scene.meta.chapter for scene in scenes}
    for finding in story.health:
        if not finding.check_id.startswith("A3"):
            continue
        first = finding.evidence[0].scene_id if finding.evidence else ""
        yield AuditItem(
            AuditKind.TIMELINE,
            finding.severity,
            chapters.get(first, 0),
            first,
            finding.title,
            finding.recommendation or "Change one of the two scenes.",
            _quotes(finding),
        )


def _quotes(finding: Finding) -> tuple[str, ...]:
    return tuple(f"{each.scene_id}: {each.quote}" for each in finding.evidence)


def _unpaid(story: StoryFacts, scenes: Sequence[BookScene]) -> Iterator[AuditItem]:
    for at, scene in enumerate(scenes):
        for name in _named(story, scene, is_payoff=False):
            later = scenes[at + 1 :]
            if any(_has(name, _named(story, each, is_payoff=True)) for each in later):
                continue
            thread = Thread(name, story.aliases_of(name))
            mention = next((s for s in later if find_thread(s.text, thread) is not None), None)
            place = find_thread(scene.text, thread)
            told = f"; {mention.meta.scene_id} mentions it" if mention else ""
            yield AuditItem(
                AuditKind.UNPAID,
                Severity.INFO if mention else Severity.WARNING,
                scene.meta.chapter,
                scene.meta.scene_id,
                f"{name!r} is planted and never paid off{told}",
                "Pay it off in a later scene and name it there as a callback, or take it out.",
                (place.quote,) if place else (),
            )


def _unplanted(story: StoryFacts, scenes: Sequence[BookScene]) -> Iterator[AuditItem]:
    for at, scene in enumerate(scenes):
        for name in _named(story, scene, is_payoff=True):
            thread = Thread(name, story.aliases_of(name))
            earlier = scenes[:at]
            planted = any(
                _has(name, _named(story, each, is_payoff=False))
                or find_thread(each.text, thread) is not None
                for each in earlier
            )
            if planted:
                continue
            place = find_thread(scene.text, thread)
            yield AuditItem(
                AuditKind.UNPLANTED,
                Severity.WARNING,
                scene.meta.chapter,
                scene.meta.scene_id,
                f"{name!r} pays off what no earlier scene plants",
                "Plant it in an earlier scene, or do without the payoff.",
                (place.quote,) if place else (),
            )


def _named(story: StoryFacts, scene: BookScene, *, is_payoff: bool) -> tuple[str, ...]:
    own = scene.meta.callbacks if is_payoff else scene.meta.foreshadowing
    graph = [
        each.name
        for each in story.plantings
        if each.scene_id == scene.meta.scene_id and each.is_payoff is is_payoff
    ]
    named: list[str] = []
    for name in (*own, *graph):
        if not _has(name, named):
            named.append(name)
    return tuple(named)


def _has(name: str, others: Sequence[str]) -> bool:
    """Say whether a thread is among others, in whatever order its telling words stand."""
    stems = telling_stems(name)
    for other in others:
        if name.casefold() == other.casefold():
            return True
        theirs = telling_stems(other)
        if stems and theirs and (stems <= theirs or theirs <= stems):
            return True
    return False


def _breaches(
    sources: Sequence[Correction], scenes: Sequence[BookScene], kind: AuditKind
) -> Iterator[AuditItem]:
    facts = forbidden_facts(sources)
    for scene in scenes:
        for breach in find_breaches(scene.text, facts, scene.meta.chapter):
            yield _breach_item(breach, scene, kind)


def _breach_item(breach: Breach, scene: BookScene, kind: AuditKind) -> AuditItem:
    what = "the correction" if kind is AuditKind.CORRECTION else "the rule"
    return AuditItem(
        kind,
        Severity.ERROR,
        scene.meta.chapter,
        scene.meta.scene_id,
        f"It goes against {what}: {breach.fact.correction.value}",
        f"Change line {breach.span.line}, or {what}.",
        (breach.span.quote,),
    )


def _conflicts(story: StoryFacts) -> Iterator[AuditItem]:
    for text in story.conflicts:
        yield AuditItem(
            AuditKind.CONFLICT,
            Severity.ERROR,
            0,
            "",
            f"An open conflict in what is known: {text}",
            "Decide which of the two holds.",
        )
