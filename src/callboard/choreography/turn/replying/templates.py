"""Replies made by code: exact, short, and always there when no model is."""

from typing import Final

from callboard.choreography.turn.domain import Domain, ModeSpec
from callboard.choreography.turn.naming import table_words
from callboard.choreography.turn.replying.facts import Facts
from callboard.choreography.turn.shapes import Affected, PendingProposal, StepType

NOT_DONE: Final = "Not done:"
KEEP_OR_DROP: Final = "It is only a draft: say “save that” to keep it, or “no” to drop it."
CHOOSE: Final = "These are only drafts: say which one to keep, or “no” to drop them."
ALSO_NOT_UNDERSTOOD: Final = (
    "I could not tell what to do with that. Say what to add, remove, show or change."
)
NOTHING_SAVED: Final = "All right, nothing was saved."
NOTHING_MORE_SAVED: Final = "All right, nothing more was saved."


def reply_from_facts(facts: Facts, mode: ModeSpec) -> str:
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


def not_done_line(facts: Facts) -> str:
    """Return what was not done, plainly."""
    return f"{NOT_DONE} {'; '.join(facts.not_done)}."


def proposal_text(domain: Domain, proposal: PendingProposal, facts: Facts) -> str:
    """Return a plan as it is shown before anything of it is written."""
    lines = [*(f"Done already: {each}." for each in facts.done)]
    lines += [proposal.message or proposal.goal]
    lines += facts.said
    lines += [each.text for each in facts.drafts]
    lines += [each.text() for each in facts.listings]
    lines += [_affected_line(domain, each) for each in proposal.affected]
    # What cannot be counted before the rest is done is told by what it is for.
    uncounted = [step for step in proposal.steps if step.id not in proposal.previews]
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
    more = f" and {rest} more" if rest > 0 and affected.labels else ""
    names = ", ".join(affected.labels) + more
    said = f"- {affected.op} {affected.count} {preposition} {words.place}"
    return f"{said}: {names}" if names else said


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
