"""Numbers: figures and English number words, as people write ages, heights and spans of days."""

import re
from typing import Final

_UNITS: Final = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
)
_TENS: Final = {
    word: 20 + 10 * place
    for place, word in enumerate(
        re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
    )
}
_ORDINALS: Final = re.findall(
    r"\w+",
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
)
_TENTHS: Final = {f"{word[:-1]}ieth": number for word, number in _TENS.items()}
_UNIT: Final = "|".join(sorted(_UNITS[1:], key=len, reverse=True))
_TEN: Final = "|".join(_TENS)
_HUNDREDS: Final = rf"(?:a|{'|'.join(_UNITS[1:10])})[ -]hundred(?:(?: and)?[ -](?:{_TEN}|{_UNIT}))?"
# Text of a regular expression that meets any number below a thousand; longest first.
NUMBER: Final = (
    rf"(?:\d{{1,4}}|{_HUNDREDS}|(?:{_TEN})(?:[ -](?:{'|'.join(_UNITS[1:10])}))?|{_UNIT})"
)
ORDINAL: Final = (
    rf"(?:\d{{1,3}}(?:st|nd|rd|th)|(?:{_TEN})[ -](?:{'|'.join(_ORDINALS[1:10])})"
    rf"|{'|'.join([*_TENTHS, *_ORDINALS[1:]])})"
)


def number_of(text: str) -> int | None:
    """Return the number a text says, in figures or words; None when it says no number."""
    told = text.strip().lower()
    if re.fullmatch(r"\d+", told):
        return int(told)
    match = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", told)
    if match:
        return int(match[1])
    return _words_to_number(re.split(r"[ -]+", told))


def _words_to_number(words: list[str]) -> int | None:
    total = 0
    for word in words:
        if word == "and":
            continue
        if word == "hundred":
            total = max(total, 1) * 100
            continue
        value = _value(word)
        if value is None:
            return None
        total += value
    return total if words else None


def _value(word: str) -> int | None:
    if word == "a":
        return 1
    for listed in (_UNITS, _ORDINALS):
        if word in listed:
            return listed.index(word)
    return _TENS.get(word, _TENTHS.get(word))
