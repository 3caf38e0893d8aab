"""A model's reply is looked over before it is sent: nothing internal, nothing made up."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from callboard.choreography.turn.replying.facts import Facts
from callboard.choreography.turn.replying.templates import NOT_DONE, not_done_line

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


def is_truthful(text: str, facts: Facts, message: str) -> bool:
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


def with_failures(text: str, facts: Facts) -> str:
    """Return a reply that tells what was not done, whatever the model left out."""
    said = text.casefold()
    is_told = NOT_DONE.casefold() in said and all(
        each.partition(" (")[0].casefold() in said for each in facts.not_done
    )
    if not facts.has_failed or is_told:
        return text
    return f"{text}\n{not_done_line(facts)}"


def with_draft_words(text: str, facts: Facts, words: str) -> str:
    """Return a reply that says of a draft that it is one, and how to keep or drop it."""
    if not facts.drafts or ("draft" in text.casefold() and "save that" in text.casefold()):
        return text
    return f"{text}\n{words}"
