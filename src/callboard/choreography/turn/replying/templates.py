"""Replies made by code: exact, short, and always there when no model is."""

from typing import Final

from callboard.choreography.turn.domain import ModeSpec
from callboard.choreography.turn.replying.facts import Facts
from callboard.choreography.turn.shapes import PendingProposal

NOT_DONE: Final = "Not done:"
KEEP_OR_DROP: Final = "It is only a draft: say “save that” to keep it, or “no” to drop it."
CHOOSE: Final = "These are only drafts: say which one to keep, or “no” to drop them."
ALSO_NOT_UNDERSTOOD: Final = (
    "I could not tell what to do with that. Say what to add, remove, show or change."
)
NOTHING_SAVED: Final = "All right, nothing was saved."


def reply_from_facts(facts: Facts, mode: ModeSpec) -> str:
    """Return a reply that says all there is to say."""
    parts: list[str] = []
    if facts.done:
        parts.append(f"{'. '.join(facts.done)}.")
    parts += facts.said
    parts += [each.text() for each in facts.listings]
    parts += [f"Draft: {each.text}" for each in facts.drafts]
    parts += facts.notes
    if facts.assumptions:
        parts.append(" ".join(_sentence(each) for each in facts.assumptions))
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


def proposal_text(proposal: PendingProposal, facts: Facts) -> str:
    """Return a plan as it is shown before anything of it is written."""
    lines = [proposal.message or proposal.goal]
    lines += facts.said
    lines += [each.text() for each in facts.listings]
    lines += [each.text for each in facts.drafts]
    for each in proposal.affected:
        rest = each.count - len(each.labels)
        names = ", ".join(each.labels) + (f" and {rest} more" if rest > 0 and each.labels else "")
        words = each.table.replace("_", " ")
        lines.append(f"- {each.op} {each.count} in {words}" + (f": {names}" if names else ""))
    if not proposal.affected:
        lines += [f"- {step.description}" for step in proposal.steps]
    lines += [_sentence(each) for each in (*proposal.assumptions, *facts.assumptions)]
    lines.append("Nothing is saved yet. Shall I do this? Say yes, no, or what to change.")
    return "\n".join(dict.fromkeys(each for each in lines if each))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
