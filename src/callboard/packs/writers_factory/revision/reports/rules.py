"""World rules and scenes: asks the judge, chapter by chapter, where a rule is broken.

A breach needs a rule that exists and words that stand in a scene of that chapter. A chapter that
was judged before, under the same rules and by the same model, is not judged again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from callboard.choreography.answers import Answer, at_most, shortened
from callboard.choreography.questions import Question
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import Content, Trust
from callboard.packs.writers_factory.manuscript import BookScene
from callboard.packs.writers_factory.model import PACK, Severity
from callboard.packs.writers_factory.revision.analysis.quotes import locate
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind
from callboard.packs.writers_factory.workspace import judge_on
from callboard.prompts import render_template

_GUARDRAILS: Final = "guardrails/continuity_rules"
_MOST_BREACHES: Final = 20
_MOST_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Chapter:
    """The scenes of a chapter, by their ids."""

    number: int
    texts: dict[str, str]


class Breach(Answer):
    """A place where a scene breaks a rule, by the number of the rule."""

    rule: int
    quote: str
    problem: Annotated[str, shortened(_MOST_CHARS)]
    fix: Annotated[str, shortened(_MOST_CHARS)]


class Breaches(Answer):
    """What a judge finds in a chapter."""

    breaches: Annotated[tuple[Breach, ...], at_most(_MOST_BREACHES)]


_RULES: Final = Question("revision/judge_rules", Breaches, about=("scenes",))


async def judge_rules(
    stage: Stage, rules: list[str], chapters: Sequence[Chapter]
) -> tuple[tuple[AuditItem, ...], tuple[str, ...]]:
    """Return the breaches a judge can prove, and notes on what was not judged."""
    judge = judge_on(stage)
    if judge.is_small:
        return (), ("The judge is too small a model to judge rules; only code has looked.",)
    if not rules:
        return (), ("There are no world rules to judge by.",)
    items: list[AuditItem] = []
    notes: list[str] = []
    listed = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, start=1))
    for chapter in chapters:
        prose = "\n\n".join(f"[{scene_id}]\n{text}" for scene_id, text in chapter.texts.items())
        found = await judge.once(
            f"chapter/{chapter.number}",
            _RULES,
            guardrails=render_template(stage.studio.prompts(PACK).get(_GUARDRAILS), {}),
            rules=Content(listed, "story:rules", Trust.UNTRUSTED),
            scenes=Content(prose, f"chapter:{chapter.number}", Trust.UNTRUSTED),
        )
        if found is None:
            # What code has found is worth a report, with or without a judge.
            notes.append(f"Chapter {chapter.number} was not judged: {judge.why}")
        else:
            items += _items(chapter, rules, found)
    return tuple(items), tuple(notes)


def chapters_of(scenes: Sequence[BookScene]) -> tuple[Chapter, ...]:
    """Return the written scenes by chapter, in their order."""
    found: dict[int, dict[str, str]] = {}
    for scene in scenes:
        if scene.text.strip():
            found.setdefault(scene.meta.chapter, {})[scene.meta.scene_id] = scene.text
    return tuple(Chapter(number, texts) for number, texts in found.items())


def _items(chapter: Chapter, rules: list[str], found: Breaches) -> list[AuditItem]:
    items: list[AuditItem] = []
    for breach in found.breaches:
        if not 1 <= breach.rule <= len(rules):
            continue
        problem = breach.problem or "The rule is broken"
        for scene_id, text in chapter.texts.items():
            place = locate(text, breach.quote)
            if place is not None:
                items.append(
                    AuditItem(
                        AuditKind.WORLD_RULE,
                        Severity.WARNING,
                        chapter.number,
                        scene_id,
                        f"{problem} (rule: {rules[breach.rule - 1]})",
                        breach.fix or "Change the scene, or the rule.",
                        (place.quote,),
                    )
                )
                break
    return items
