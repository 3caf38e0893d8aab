"""Fixes: small replacements for single issues. One is made only where its words stand once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from callboard.choreography.answers import Answer, at_most
from callboard.core.canonical import Json
from callboard.packs.writers_factory.prose import TextChange
from callboard.packs.writers_factory.revision.analysis.findings import Category, Issue
from callboard.packs.writers_factory.revision.analysis.quotes import occurrences

ACTION_PROMPT: Final = "action_prompt"
MOST_FIXES: Final = 20
_MOST_CHARS: Final = 4_000
_MOST_REASON_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Fix:
    """One proposed replacement; `unapplied` says why it cannot be made, and is empty if it can."""

    n: int
    category: Category
    line: int
    old_text: str
    new_text: str
    reason: str = ""
    unapplied: str = ""

    @property
    def change_id(self) -> str:
        """The name of the tracked change it becomes."""
        return f"fix{self.n}"

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Fix":
        """Read the stored shape."""
        shape: dict[str, Any] = {**data, "category": Category(data["category"])}
        return cls(**shape)


class Replacement(Answer):
    """What is to be put in place of what, for which issue (counted from 1)."""

    issue: int
    old_text: Annotated[str, at_most(_MOST_CHARS)]
    new_text: Annotated[str, at_most(_MOST_CHARS)]
    reason: Annotated[str, at_most(_MOST_REASON_CHARS)]


class Replacements(Answer):
    """What a writer proposes for the issues of a scene."""

    fixes: Annotated[tuple[Replacement, ...], at_most(MOST_FIXES)]


def check_fixes(
    text: str, replacements: Sequence[Replacement], issues: Sequence[Issue]
) -> tuple[Fix, ...]:
    """Return the fixes in order, each with the reason why it cannot be made, if it cannot."""
    taken: list[tuple[int, int]] = []
    fixes: list[Fix] = []
    found = [each for each in replacements if each.old_text]
    for number, each in enumerate(found, start=1):
        at = text.find(each.old_text)
        why = _objection(text, each, taken)
        issue = issues[each.issue - 1] if 1 <= each.issue <= len(issues) else None
        if not why:
            taken.append((at, at + len(each.old_text)))
        fixes.append(
            Fix(
                n=number,
                category=issue.category if issue else Category.PROSE,
                line=text.count("\n", 0, at) + 1 if at >= 0 else (issue.line if issue else 0),
                old_text=each.old_text,
                new_text=each.new_text,
                reason=each.reason or (issue.problem if issue else ""),
                unapplied=why,
            )
        )
    return tuple(fixes)


def changes_of(text: str, fixes: Sequence[Fix]) -> tuple[TextChange, ...]:
    """Return the fixes that can be made as tracked changes."""
    return tuple(
        TextChange(
            fix.change_id,
            (at := text.find(fix.old_text)),
            at + len(fix.old_text),
            fix.old_text,
            fix.new_text,
            ACTION_PROMPT,
            fix.reason,
        )
        for fix in fixes
        if not fix.unapplied
    )


def _objection(text: str, fix: Replacement, taken: Sequence[tuple[int, int]]) -> str:
    count = occurrences(text, fix.old_text)
    if count != 1:
        return f"the old text occurs {count} times"
    if fix.old_text == fix.new_text:
        return "it changes nothing"
    start = text.find(fix.old_text)
    end = start + len(fix.old_text)
    if any(start < other_end and other_start < end for other_start, other_end in taken):
        return "another fix changes the same words"
    return ""
