"""Tracked changes of an enhancement: each is taken or refused by itself, any time.

Texts are only ever made from the original, so what is refused stands as it was, byte for byte.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.prose import Change, apply_changes

ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"


class ChangeUnknown(InvalidInput):
    """A change was named that this enhancement does not hold."""

    code = "change_unknown"


def accepted_text(original: str, changes: Sequence[Change]) -> str:
    """Return the original with the accepted changes made."""
    return apply_changes(original, changes, [c.id for c in changes if c.status == ACCEPTED])


def preview_text(original: str, changes: Sequence[Change]) -> str:
    """Return the original with every change made that was not refused."""
    return apply_changes(original, changes, [c.id for c in changes if c.status != REJECTED])


def decide(
    changes: Sequence[Change], accepted: Collection[str], rejected: Collection[str]
) -> tuple[Change, ...]:
    """Return the changes after the writer's word; a later word replaces an earlier one."""
    known = {each.id for each in changes}
    unknown = sorted({*accepted, *rejected} - known)
    both = sorted(set(accepted) & set(rejected))
    if unknown or both:
        told = (
            f"there is no {', '.join(unknown)}"
            if unknown
            else f"{', '.join(both)} cannot be both accepted and rejected"
        )
        raise ChangeUnknown(
            f"The changes cannot be decided: {told}",
            fix=f"The changes here: {', '.join(sorted(known)) or 'none'}.",
            unknown=unknown,
        )

    def after(change: Change) -> Change:
        if change.id in accepted:
            return replace(change, status=ACCEPTED)
        return replace(change, status=REJECTED) if change.id in rejected else change

    return tuple(after(each) for each in changes)


def credit(changes: Sequence[Change], earlier: Sequence[Change]) -> tuple[Change, ...]:
    """Return changes, each with the pass that made it first; `earlier` are those of before."""
    known = {(each.start, each.end, each.new): each for each in earlier}

    def credited(change: Change) -> Change:
        first = known.get((change.start, change.end, change.new))
        if first is None:
            return change
        return replace(change, revision_pass=first.revision_pass, reason=first.reason)

    return tuple(credited(each) for each in changes)
