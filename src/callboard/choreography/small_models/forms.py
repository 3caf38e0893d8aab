"""Forms: a small question whose answer can only come out well, and the tiniest of decisions.

A micro part that ends in a line like `> They can hear …` has a form. With a list above it the
model picks one of its items, without one it finishes the sentence word by word; either way the
answer is put where the dots stand. Nothing here asks a model.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from pydantic import WithJsonSchema

from callboard.choreography.answers import Answer, narrowed, one_of, schema_of
from callboard.core.canonical import Json

TRIAGE: Final = "triage"
VERDICT: Final = "verdict"
FAIL: Final = "FAIL"

_CHOICES: Final = {TRIAGE: ["yes", "no"], VERDICT: ["PASS", FAIL]}
_FIRST_WORD: Final = re.compile(r"[A-Za-z]+")
_PASS_OR_FAIL: Final = re.compile(r"\b(PASS|FAIL)\b", re.IGNORECASE)
_VERDICT_LINE: Final = re.compile(
    r"^[ \t>*_#-]*verdict[ \t*_]*:.*$\n?", re.IGNORECASE | re.MULTILINE
)


def choice_schema(part: str) -> dict[str, Json] | None:
    """Return what a model may answer to a part, or None if it may say anything."""
    options = _CHOICES.get(part)
    return None if options is None else schema_of(one_of(options))


def choice_of(output: Json) -> str:
    """Return what was chosen; a human may have put a bare word in its place."""
    data: Any = cast(Any, output).get("data") if isinstance(output, dict) else output
    return str(cast(Any, data)["choice"] if isinstance(data, dict) else data)


def declines(triage: str) -> bool:
    """Say whether an agent finds nothing to do."""
    first = _FIRST_WORD.search(triage)
    return first is not None and first[0].upper() in ("NO", "ABSTAIN")


def with_verdict(text: str, said: str) -> str:
    """Return a text that ends in the verdict that was given; what is not clear is left out."""
    found = {word.upper() for word in _PASS_OR_FAIL.findall(said)}
    if len(found) != 1:
        return text
    return f"{_VERDICT_LINE.sub('', text).rstrip()}\n\nVerdict: {found.pop()}"


GAP: Final = "…"

_FORM: Final = re.compile(r"^>[ \t]*+([^…\n]*+…[^\n]*+)\s*+\Z", re.MULTILINE)
_ITEM: Final = re.compile(
    r"^[ \t]*+(?:[-*+]|\d{1,2}[.)])[ \t]++(\S(?:.*[^ \t\n])?)[ \t]*$", re.MULTILINE
)
_LIST: Final = re.compile(rf"(?:{_ITEM.pattern}\n?)+", re.MULTILINE)
_SENTENCE: Final = re.compile(r"\S[^.!?…\n]*+(?:[.!?…]++(?:[\"”’')]++(?=\s|$))?+|$)", re.MULTILINE)
_NAME: Final = re.compile(r"\b[A-Z][a-z]{1,14}\b")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LONGEST_OPTION_CHARS: Final = 160
_MOST_OPTIONS: Final = 10
_MOST_AUTHORED: Final = 24
# Of many sentences a template offers, this many are put to a small model.
_OFFERED: Final = 4
_MOST_NAMES: Final = 12
_FEWEST_WORDS: Final = 2
_MOST_WORDS: Final = 14
# A sentence that runs on has lost its way.
_LONGEST_WORDS: Final = 10
# A word of more pieces than this that nobody wrote before is hardly a word.
_MOST_PIECES: Final = 3
# What a small model says when it talks about the task instead of doing it.
_ASIDE: Final = re.compile(
    r"answer|author|chapter|characters?|paragraph|question|readers?|sentences?|scene|story|text"
    r"|words?|writer"
)
# A sentence of these words alone says nothing.
_EMPTY: Final = re.compile(
    r"them|they|that|this|these|those|then|there|their|with|from|have|what|when|where|which|will"
    r"|would|could|been|were|only|just|hear|heard|sees?|thing|things|something|anything|nothing"
    r"|each|other|very|more|some|same|sound"
)
_SHORT_WORD_LETTERS: Final = 3
_LOOSE_END: Final = re.compile(
    r"(?:\s+(?:a|an|the|and|or|but|nor|of|to|in|on|at|by|for|from|with|as|that|which|who|than|into"
    r"|their|his|her|its|is|are|was|were|be|been|so|if|not|just))+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Form:
    """Where an answer goes, and what it may be."""

    before: str
    after: str
    options: tuple[str, ...] = ()

    def without(self, used: Collection[str]) -> "Form":
        """Return the form with options left out that were taken before, unless none is left."""
        left = tuple(option for option in self.options if option not in used)
        return Form(self.before, self.after, left or self.options)

    def turned(self, seed: str, is_told: Callable[[str], bool]) -> "Form":
        """Return the form with a few of many options: which, depends on a hash.

        What was told already is left out, unless nothing else is left.
        """
        if len(self.options) <= _OFFERED:
            return self
        at = int(seed[:8], 16) % len(self.options)
        turned = (*self.options[at:], *self.options[:at])
        fresh = [option for option in turned if not is_told(option)]
        return Form(self.before, self.after, tuple((fresh or turned)[:_OFFERED]))

    def schema(self, material: str) -> dict[str, Json]:
        """Return what may be answered: an option, or lower-case words and names of the material."""
        if self.options:
            return schema_of(one_of(self.options))
        names = dict.fromkeys(_NAME.findall(material))
        word = "|".join(["[a-z]+", *list(names)[:_MOST_NAMES]])
        rest = f"( ({word})){{{_FEWEST_WORDS},{_MOST_WORDS}}}"
        pattern = f"^{re.escape(self.before).replace(chr(92) + ' ', ' ')}({word}){rest}[.,]$"
        line = Annotated[str, WithJsonSchema({"type": "string", "pattern": pattern})]
        return schema_of(narrowed(Answer, line=line))

    def chosen(self, output: Json) -> str:
        """Return what was answered, before it is put into the form."""
        data: Any = cast(Any, output).get("data") if isinstance(output, dict) else output
        if not isinstance(data, dict):
            return str(data)
        said = cast(dict[str, Any], data)
        return str(said.get("choice") or said.get("line") or "")

    def filled(self, chosen: str, material: str, pieces: Callable[[str], int]) -> str:
        """Return the answer in its form; nothing if what was made up cannot stand.

        `pieces` says in how many tokens a word falls.
        """
        if self.options:
            return f"{self.before}{chosen}{self.after}"
        sentence = _LOOSE_END.sub("", chosen.strip().rstrip(".,"))
        rest = sentence.removeprefix(self.before.strip()).split()
        is_right_length = _FEWEST_WORDS <= len(rest) <= _LONGEST_WORDS
        if not is_right_length or not _is_sound(rest, material, pieces):
            return ""
        return f"{sentence}{self.after or '.'}"


def form_of(text: str) -> Form | None:
    """Return the form a part ends in; its options are the items of the last list above it."""
    found = _FORM.search(text)
    if found is None:
        return None
    before, _, after = found[1].rstrip().partition(GAP)
    lists = [match[0] for match in _LIST.finditer(text[: found.start()])]
    items = [_shortened(item) for item in _ITEM.findall(lists[-1])] if lists else []
    return Form(before, after, tuple(dict.fromkeys(items))[:_MOST_AUTHORED])


def items_of(text: str) -> tuple[str, ...]:
    """Return the items of the lists in a text; without any, its sentences."""
    found = _ITEM.findall(text) or [each.strip() for each in _SENTENCE.findall(text)]
    return tuple(dict.fromkeys(each for each in found if each))


def as_options(text: str) -> str:
    """Return a text as a short list of what it says, spread over its length."""
    items = [_shortened(item) for item in items_of(text)]
    if len(items) > _MOST_OPTIONS:
        items = [items[n * len(items) // _MOST_OPTIONS] for n in range(_MOST_OPTIONS)]
    return "\n".join(f"- {item}" for item in items)


def as_sentence(text: str) -> str:
    """Return a line as a sentence: it begins with a capital and ends with a mark."""
    line = text.strip().rstrip(",;:")
    if not line:
        return ""
    ended = line if line[-1] in '.!?…"”’' else f"{line}."
    return ended[0].upper() + ended[1:]


def _shortened(item: str) -> str:
    if len(item) <= _LONGEST_OPTION_CHARS:
        return item
    return item[:_LONGEST_OPTION_CHARS].rpartition(" ")[0]


def _is_sound(words: Iterable[str], material: str, pieces: Callable[[str], int]) -> bool:
    known = {word.lower() for word in _WORD.findall(material)}
    said = [word.lower() for word in words]
    if not any(len(word) > _SHORT_WORD_LETTERS and not _EMPTY.fullmatch(word) for word in said):
        return False
    return all(
        word in known or (not _ASIDE.fullmatch(word) and pieces(word) <= _MOST_PIECES)
        for word in said
    )
