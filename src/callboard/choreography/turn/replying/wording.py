"""Wording: a reply in the mode's own manner where that is worth a call, a template everywhere else.

The only layer that speaks to the user. It knows no steps, only facts.
"""

import logging
from collections.abc import Callable
from typing import Final

from callboard.choreography.turn.prompting import REPLY, Section, entity_section
from callboard.choreography.turn.prompting.sections import FACTS, REFERENCED, STYLE
from callboard.choreography.turn.remembering import recent_section
from callboard.choreography.turn.replying.facts import Facts
from callboard.choreography.turn.replying.guarding import (
    clean,
    fits,
    is_truthful,
    with_draft_words,
    with_failures,
)
from callboard.choreography.turn.replying.templates import CHOOSE, KEEP_OR_DROP, reply_from_facts
from callboard.choreography.turn.shapes import StepType
from callboard.choreography.turn.work import Work
from callboard.core.errors import CallboardError

_log: Final = logging.getLogger(__name__)
_SHORT_ROWS: Final = 20


async def word_reply(work: Work, facts: Facts) -> str:
    """Return what the user is told of a turn that did something."""
    template = reply_from_facts(facts, work.mode)
    if not _is_worth_a_call(work, facts):
        return clean_reply(work, template)
    sections = await _sections(work, facts)
    try:
        said = await work.asker.ask("reply", REPLY, sections, work.message)
    except CallboardError as error:
        _log.warning("a reply was made by code: %s", error)
        work.warnings.append("The reply was made without a model.")
        return clean_reply(work, template)
    text = clean_reply(work, said.text, is_ours=False)
    is_terse = work.mode.think == "skip"
    if not text or not is_truthful(text, facts, work.message) or not fits(text, is_terse=is_terse):
        work.warnings.append("The model's reply did not keep to the facts and was not used.")
        return clean_reply(work, template)
    words = KEEP_OR_DROP if len(facts.drafts) == 1 else CHOOSE
    return with_draft_words(with_failures(text, facts), facts, words)


def _is_worth_a_call(work: Work, facts: Facts) -> bool:
    """Pure changes and short lists are said best by code; so is everything on a small model."""
    if work.asker.is_constrained(REPLY) or work.calls_left < 1:
        return False
    steps = [] if work.plan is None else work.plan.steps
    if not steps:
        return not (facts.done or facts.said)
    is_plain = all(step.step_type in (StepType.READ, StepType.WRITE) for step in steps)
    rows = sum(len(each.lines) for each in facts.listings)
    if is_plain and (work.mode.think == "skip" or len(steps) <= 2) and rows <= _SHORT_ROWS:
        return False
    return not (is_plain and work.mode.think == "skip")


async def _sections(work: Work, facts: Facts) -> list[Section]:
    mode, hidden = work.mode, work.hidden
    text = hidden.scrub(facts.text())
    return [
        Section(STYLE, f"{mode.title}: {mode.verbosity}", is_pinned=True, is_trusted=True),
        Section(FACTS, text, is_pinned=True, shorter=_shorter(text)),
        entity_section(work.shown_entities(), mode.entities_in_context, REFERENCED),
        (await work.preference_sections())[0],
        recent_section(work.state, hidden, mode.past_turns, warm=mode.past_turns > 0),
    ]


def clean_reply(work: Work, text: str, *, is_ours: bool = True) -> str:
    """Return a reply without anything internal."""
    labels = {e.id: e.label for e in work.registry.all() if len(e.id) > 3}
    labels |= {old: labels[new] for old, new in work.registry.aliases.items() if new in labels}
    tables = [table for each in work.domain.subdomains() for table in each.tables]
    return clean(text, labels, tables, is_ours=is_ours)


def _shorter(text: str) -> tuple[Callable[[], str], ...]:
    """Return shorter forms that say how much is left out."""

    def first(lines: int) -> str:
        whole = text.splitlines()
        rest = len(whole) - lines
        return "\n".join([*whole[:lines], f"({rest} lines left out)"]) if rest > 0 else text

    return tuple(lambda lines=lines: first(lines) for lines in (60, 25, 8))
