"""Structured replies: JSON in a text checked by its schema, or the answer to a small question.

Forgiving about an answer's dress, strict about its meaning.

It judges finished text only. Enforcing a schema while decoding is a provider's business, asking
again is the ladder's.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.schemas import violations
from callboard.models.ladder.questions import QuestionKind, SmallQuestion, count_limits

_FENCE: Final = re.compile(r"```[\w-]*+[^\S\n]*+\n(.*?)```", re.DOTALL)
_OPENING: Final = re.compile(r"[\[{]")
_MAX_OPENINGS: Final = 64
_SHOWN_ERRORS: Final = 3
_SHOWN_CHARS: Final = 200


class BrokenStructure(ValueError):
    """The text holds no JSON, or JSON that breaks the schema."""


def parse_structured(text: str, schema: Mapping[str, Json]) -> Json:
    """Return the JSON value in a reply if it obeys the schema."""
    value = _find_json(text)
    check_value(value, schema)
    return value


def check_value(value: Json, schema: Mapping[str, Json]) -> None:
    """Refuse a value that breaks the schema, naming the first few places."""
    found = islice(violations(value, schema), _SHOWN_ERRORS)
    places = (("/".join(map(str, each.path)) or "the reply", each.message) for each in found)
    problems = [f"{place}: {message[:_SHOWN_CHARS]}" for place, message in places]
    if problems:
        raise BrokenStructure("; ".join(problems))


def _find_json(text: str) -> Any:
    """Accept the bare value, a fenced block, or the first object or array in prose."""
    for candidate in (text, *(found[1] for found in _FENCE.finditer(text))):
        try:
            return _load(candidate)
        except ValueError:
            continue
    return _first_in_prose(text)


def _first_in_prose(text: str) -> Any:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    opening, tries = _OPENING.search(text), 0
    while opening is not None and tries < _MAX_OPENINGS:
        tries += 1
        try:
            return decoder.raw_decode(text, opening.start())[0]
        except json.JSONDecodeError as error:
            # Go on behind what was read: a piece of broken JSON is not the answer.
            opening = _OPENING.search(text, max(error.pos, opening.end()))
        except (ValueError, RecursionError):
            break
    raise BrokenStructure("the reply holds no JSON")


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


ANSWER: Final = "answer"
"""The key of an answer that is asked for in JSON."""

_MAX_CHARS: Final = 2000
"""A longer text is a story and no choice; nobody reads numbers out of it."""

_NUMBER: Final = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?![\d])")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_FENCED: Final = re.compile(r"\A```[\w-]*\n(.*)\n```\Z", re.DOTALL)
_QUOTES: Final = ('""', "''", "``", "“”", "„“", "«»")
_NOTHING: Final = frozenset({"", "none", "null", "nothing", "n/a", "-"})


def read_answer(question: SmallQuestion, text: str) -> Json:
    """Return the value a text answers with, or raise what is wrong with it."""
    bare = _undressed(text)
    if question.is_nullable and bare.casefold().rstrip(".") in _NOTHING:
        return None
    return checked(question, _READERS[question.kind](question, bare))


def read_keyed(question: SmallQuestion, text: str) -> Json:
    """Return the value of an answer that was asked for in JSON."""
    value = parse_structured(text, answer_schema(question))[ANSWER]
    if question.kind is QuestionKind.CHOICE:
        value = question.choices[value - 1]
    elif question.kind is QuestionKind.PICKS:
        value = [question.choices[number - 1] for number in dict.fromkeys(value)]
    return checked(question, value)


def answer_schema(question: SmallQuestion) -> dict[str, Json]:
    """Return the schema of an object that holds the answer; choices are given by number."""
    # By hand: it goes around whatever field is asked about, which no type can name beforehand.
    return {
        "type": "object",
        "properties": {ANSWER: _value_schema(question)},
        "required": [ANSWER],
        "additionalProperties": False,
        **{key: question.schema[key] for key in ("$defs", "definitions") if key in question.schema},
    }


def checked(question: SmallQuestion, value: Json) -> Json:
    """Return the value if the field's own schema allows it."""
    check_value(
        value, _value_schema(question) if question.kind is QuestionKind.COUNT else question.schema
    )
    return value


def _value_schema(question: SmallQuestion) -> Mapping[str, Json]:
    numbers = {"enum": list(range(1, len(question.choices) + 1))}
    match question.kind:
        case QuestionKind.CHOICE:
            return numbers
        case QuestionKind.PICKS:
            least, most = count_limits(question)
            most = min(most, max(least, len(question.choices)))
            return {"type": "array", "items": numbers, "minItems": least, "maxItems": most}
        case QuestionKind.COUNT:
            least, most = count_limits(question)
            return {"type": "integer", "minimum": least, "maximum": most}
        case _:
            return {k: v for k, v in question.schema.items() if k not in ("$defs", "definitions")}


def _choice(question: SmallQuestion, text: str) -> Json:
    named = _named(question.choices, text)
    if named is not None:
        return question.choices[named]
    numbers = _in_range(question.choices, text)
    if len(numbers) != 1:
        raise BrokenStructure(f"name one number from 1 to {len(question.choices)}")
    return question.choices[numbers[0] - 1]


def _picks(question: SmallQuestion, text: str) -> Json:
    named = _named(question.choices, text)
    if named is not None:
        return [question.choices[named]]
    if text.casefold().rstrip(".") in _NOTHING:
        return []
    numbers = _in_range(question.choices, text)
    if not numbers:
        raise BrokenStructure(f"name numbers from 1 to {len(question.choices)}")
    return [question.choices[number - 1] for number in numbers]


def _number(question: SmallQuestion, text: str) -> Json:
    return _one_number(text)


def _text(question: SmallQuestion, text: str) -> Json:
    if not text:
        raise BrokenStructure("it is empty")
    return text


def _lines(question: SmallQuestion, text: str) -> Json:
    kind = (question.items or {}).get("type")
    entries = [_undressed(_BULLET.sub("", line)) for line in text.splitlines()]
    kept = [entry for entry in entries if entry]
    if len(kept) == 1 and kept[0].casefold().rstrip(".") in _NOTHING:
        return []
    if kind == "boolean":
        return [_yes_or_no(entry) for entry in kept]
    return kept if kind == "string" else [_one_number(entry) for entry in kept]


def _json(question: SmallQuestion, text: str) -> Json:
    return parse_structured(text, question.schema)


_READERS: Final = {
    QuestionKind.CHOICE: _choice,
    QuestionKind.PICKS: _picks,
    QuestionKind.NUMBER: _number,
    QuestionKind.COUNT: _number,
    QuestionKind.TEXT: _text,
    QuestionKind.LINES: _lines,
    QuestionKind.JSON: _json,
}


def _undressed(text: str) -> str:
    """Take off a code fence and quotation marks that go around everything."""
    bare = text.strip()
    if fenced := _FENCED.match(bare):
        bare = fenced[1].strip()
    for opening, closing in _QUOTES:
        if len(bare) > 1 and bare[0] == opening and bare[-1] == closing:
            return bare[1:-1].strip()
    return bare


def _named(choices: Sequence[Json], text: str) -> int | None:
    """Return which choice a text spells out."""
    wanted = text.rstrip(".").casefold()
    shown = [shown_choice(choice).casefold() for choice in choices]
    # A number could be meant as the position: then it is no name.
    return shown.index(wanted) if wanted in shown and not wanted.isdigit() else None


def shown_choice(choice: Json) -> str:
    """Return a choice as a person reads it."""
    if choice is None or isinstance(choice, bool):
        return {None: "nothing", True: "yes", False: "no"}[choice]
    return choice if isinstance(choice, str) else json.dumps(choice, ensure_ascii=False)


def _in_range(choices: Sequence[Json], text: str) -> list[int]:
    written = re.findall(r"\d+", text) if len(text) <= _MAX_CHARS else []
    numbers = [int(number) for number in written]
    return list(dict.fromkeys(number for number in numbers if 1 <= number <= len(choices)))


def _one_number(text: str) -> int | float:
    found = {match.replace(",", "") for match in _NUMBER.findall(text)}
    if len(found) != 1 or len(text) > _MAX_CHARS:
        raise BrokenStructure("write one number and nothing else")
    (number,) = found
    value = float(number) if "." in number else int(number)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _yes_or_no(text: str) -> bool:
    word = text.casefold().rstrip(".")
    if word not in ("yes", "no", "true", "false"):
        raise BrokenStructure("write yes or no on each line")
    return word in ("yes", "true")
