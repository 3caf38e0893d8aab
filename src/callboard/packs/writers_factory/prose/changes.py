"""Tracked changes: what was changed, sentence by sentence, and a text with some of it taken back.

Whatever is accepted, everything else stays as it was, to the letter.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar, Final, Literal

from callboard.core.codec import Coded
from callboard.core.errors import Conflict
from callboard.library.story.text.sentences import split_sentences

Status = Literal["proposed", "accepted", "rejected"]

_BREAK: Final = re.compile(
    # Whitespace with a blank line in it; looked at once, from where it begins.
    r"(?<!\s)(?=(?:[^\S\r\n]|[\r\n](?![ \t]*+[\r\n]))*+[\r\n][ \t]*+[\r\n])(\s++)"
)


class ChangesStale(Conflict):
    """Changes were made to another text than the one they are applied to."""

    code = "changes_stale"


@dataclass(frozen=True, slots=True)
class TextChange(Coded):
    """One stretch of the old text and what stands there in the new one."""

    KEYS: ClassVar = {"revision_pass": "pass"}

    id: str
    start: int
    end: int
    old: str
    new: str
    revision_pass: str = ""
    reason: str = ""
    status: Status = "proposed"


def track_changes(
    old: str, new: str, *, revision_pass: str = "", reason: str = ""
) -> tuple[TextChange, ...]:
    """Return what turns one text into another, in the order of the text."""
    before, after = _units(old), _units(new)
    starts = [0]
    for unit in before:
        starts.append(starts[-1] + len(unit))
    found: list[TextChange] = []
    for first, last, other in _differences(before, after):
        found.append(
            TextChange(
                id=f"c{len(found) + 1}",
                start=starts[first],
                end=starts[last],
                old=old[starts[first] : starts[last]],
                new=other,
                revision_pass=revision_pass,
                reason=reason,
            )
        )
    return tuple(found)


def apply_changes(
    old: str, changes: Sequence[TextChange], accepted_ids: Collection[str] | None = None
) -> str:
    """Return the old text with the accepted changes; without a choice, with all of them."""
    parts: list[str] = []
    at = 0
    for change in sorted(changes, key=lambda each: (each.start, each.end)):
        if change.start < at or old[change.start : change.end] != change.old:
            raise ChangesStale(
                f"Change {change.id} does not fit: the text is not the one it was made for",
                fix="Make the changes again from the text as it is now.",
                change=change.id,
            )
        if accepted_ids is not None and change.id not in accepted_ids:
            continue
        parts += [old[at : change.start], change.new]
        at = change.end
    return "".join([*parts, old[at:]])


def _units(text: str) -> list[str]:
    """Cut a text into sentences and what stands between them; together they are the text."""
    units: list[str] = []
    for block in _BREAK.split(text):
        at = 0
        for start, end in split_sentences(block):
            units += [block[at:start], block[start:end]]
            at = end
        units.append(block[at:])
    return [unit for unit in units if unit]


def _differences(before: list[str], after: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield which units are replaced, and by what."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        if i_end - i != j_end - j:
            yield i, i_end, "".join(after[j:j_end])
            continue
        # As many units as before: each sentence can be judged for itself.
        for step in range(i_end - i):
            if before[i + step] != after[j + step]:
                yield i + step, i + step + 1, after[j + step]
