"""Wording: facts become a reply, by a template or a model, and are looked over before sending."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from callboard.choreography.turn.acting.steps import table_words
from callboard.choreography.turn.asker import REPLY
from callboard.choreography.turn.domain import Domain
from callboard.choreography.turn.domain_parts import TurnMode
from callboard.choreography.turn.memory import recent_section
from callboard.choreography.turn.replying.facts import ReplyFacts
from callboard.choreography.turn.sections import (
    FACTS,
    REFERENCED,
    STYLE,
    PromptSection,
    entity_section,
)
from callboard.choreography.turn.shapes import Affected, PendingProposal, StepType
from callboard.choreography.turn.work import TurnWork
from callboard.core.errors import CallboardError

NOT_DONE: Final = "Not done:"
KEEP_OR_DROP: Final = "It is only a draft: say “save that” to keep it, or “no” to drop it."
CHOOSE: Final = "These are only drafts: say which one to keep, or “no” to drop them."
ALSO_NOT_UNDERSTOOD: Final = (
    "I could not tell what to do with that. Say what to add, remove, show or change."
)
NOTHING_SAVED: Final = "All right, nothing was saved."
NOTHING_MORE_SAVED: Final = "All right, nothing more was saved."


def reply_from_facts(facts: ReplyFacts, mode: TurnMode) -> str:
    """Return a reply that says all there is to say."""
    done = f"{'. '.join(facts.done)}." if facts.done else ""
    assumed = " ".join(_sentence(each) for each in facts.assumptions)
    beside = [*facts.notes, assumed]
    if mode.verbosity == "terse":
        # One line for a quick change, with what is to be noted about it.
        told = [_sentence(each) for each in (done, *facts.notes, assumed) if each]
        done, beside = " ".join(told), []
    parts = [done, *facts.said]
    parts += [each.text() for each in facts.listings]
    parts += [f"Draft: {each.text}" for each in facts.drafts]
    parts = [each for each in (*parts, *beside) if each]
    if facts.not_done:
        parts.append(not_done_line(facts))
    if facts.drafts:
        parts.append(KEEP_OR_DROP if len(facts.drafts) == 1 else CHOOSE)
    if facts.done and mode.consent == "light":
        parts.append("Say “undo” to take it back.")
    return "\n".join(parts) or ALSO_NOT_UNDERSTOOD


def not_done_line(facts: ReplyFacts) -> str:
    """Return what was not done, plainly."""
    return f"{NOT_DONE} {'; '.join(facts.not_done)}."


def proposal_text(domain: Domain, proposal: PendingProposal, facts: ReplyFacts) -> str:
    """Return a plan as it is shown before anything of it is written."""
    lines = [*(f"Done already: {each}." for each in facts.done)]
    lines += [proposal.message or proposal.goal]
    lines += facts.said
    lines += [each.text for each in facts.drafts]
    lines += [each.text() for each in facts.listings]
    lines += [_affected_line(domain, each) for each in proposal.affected]
    # What cannot be counted before the rest is done is told by what it is for.
    told = proposal.previews.keys() | proposal.results.keys()
    uncounted = [step for step in proposal.steps if step.id not in told]
    writes = [step for step in uncounted if step.step_type is StepType.WRITE]
    lines += [f"- {step.description}" for step in (writes if proposal.affected else uncounted)]
    lines += [_sentence(each) for each in (*proposal.assumptions, *facts.assumptions)]
    lines += [not_done_line(facts)] if facts.not_done else []
    saved = "Nothing more is saved yet." if facts.done else "Nothing is saved yet."
    lines.append(f"{saved} Shall I do this? Say yes, no, or what to change.")
    return "\n".join(dict.fromkeys(each for each in lines if each))


def _affected_line(domain: Domain, affected: Affected) -> str:
    words = table_words(domain, affected.table)
    preposition = {"add": "to", "remove": "from"}.get(affected.op, words.within)
    rest = affected.count - len(affected.labels)
    way = f" and {rest} more (say no and ask for {words.place} to see all)"
    more = way if rest > 0 and affected.labels else ""
    names = ", ".join(affected.labels) + more
    said = f"- {affected.op} {affected.count} {preposition} {words.place}"
    return f"{said}: {names}" if names else said


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


QUICK_WORDS: Final = 60
_UUID: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_QUOTED: Final = re.compile(rf"(['\"]){_UUID.pattern}\1")
_STEP: Final = re.compile(r"\bg\d+\.s\d+(?:\.\w+)*\b")
_JSON: Final = re.compile(r"```.*?```|[{\[]\s*+\"[^\n}\]]{0,300}+[}\]]", re.DOTALL)
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)?")
_LIST_MARK: Final = re.compile(r"^[^\S\n]*+\d++[.)]\s", re.MULTILINE)


def clean(
    text: str, labels: Mapping[str, str], tables: Iterable[str], *, is_ours: bool = False
) -> str:
    """Return a text without ids, names of tables and data formats.

    In a text of our own what looks like data is a name the user gave.
    """
    # The longest first: an id may be the beginning of another.
    for entity_id in sorted(labels, key=len, reverse=True):
        text = text.replace(entity_id, labels[entity_id])
    for table in tables:
        if "_" in table:
            text = re.sub(rf"\b{re.escape(table)}\b", table.replace("_", " "), text)
    text = _STEP.sub("", _UUID.sub("", _QUOTED.sub("something", text)))
    text = text if is_ours else _JSON.sub("", text)
    text = re.sub(r"\btemp_\w+_\d+\b", "the draft", text)
    lines = [re.sub(r"[ \t]{2,}", " ", line).rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def is_truthful(text: str, facts: ReplyFacts, message: str) -> bool:
    """Say whether every number of a reply comes from the facts or from the user."""
    known = set(_NUMBER.findall(f"{facts.text()}\n{message}"))
    said = _NUMBER.findall(_LIST_MARK.sub("", text))
    return all(number in known for number in said)


def fits(text: str, *, is_terse: bool) -> bool:
    """Say whether a reply is short enough; lists do not count."""
    if not is_terse:
        return True
    prose = [line for line in text.splitlines() if not line.lstrip().startswith(("-", "*", "•"))]
    return len(" ".join(prose).split()) <= QUICK_WORDS


def with_failures(text: str, facts: ReplyFacts) -> str:
    """Return a reply that tells what was not done, whatever the model left out."""
    said = text.casefold()
    is_told = NOT_DONE.casefold() in said and all(
        each.partition(" (")[0].casefold() in said for each in facts.not_done
    )
    if not facts.has_failed or is_told:
        return text
    return f"{text}\n{not_done_line(facts)}"


def with_draft_words(text: str, facts: ReplyFacts, words: str) -> str:
    """Return a reply that says of a draft that it is one, and how to keep or drop it."""
    if not facts.drafts or ("draft" in text.casefold() and "save that" in text.casefold()):
        return text
    return f"{text}\n{words}"


_log: Final = logging.getLogger(__name__)
_SHORT_ROWS: Final = 20


async def word_reply(work: TurnWork, facts: ReplyFacts) -> str:
    """Return what the user is told of a turn that did something."""
    template = reply_from_facts(facts, work.mode)
    work.state.rest = facts.unshown()
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


def _is_worth_a_call(work: TurnWork, facts: ReplyFacts) -> bool:
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


async def _sections(work: TurnWork, facts: ReplyFacts) -> list[PromptSection]:
    mode, hidden = work.mode, work.hidden
    text = hidden.scrub(facts.text())
    return [
        PromptSection(STYLE, f"{mode.title}: {mode.verbosity}", is_pinned=True, is_trusted=True),
        PromptSection(FACTS, text, is_pinned=True, shorter=_shorter(text)),
        entity_section(work.shown_entities(), mode.entities_in_context, REFERENCED),
        (await work.preference_sections())[0],
        recent_section(work.state, hidden, mode.past_turns, warm=mode.past_turns > 0),
    ]


def clean_reply(work: TurnWork, text: str, *, is_ours: bool = True) -> str:
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
