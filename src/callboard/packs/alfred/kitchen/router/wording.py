"""Wording: other words for a request become the ones its form has; remarks are set apart.

A remark is never a thing: what somebody says about the shop, the weather or the cat is told back as
left aside. What changes the meaning of a list ("except", "instead of") is asked about.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.packs.alfred.kitchen.router.words import expression

_SPELLED: Final = (
    (re.compile(r"\b(what|that|it|there|who|how)s\b(?=\s)", re.I), r"\1's"),
    (re.compile(r"\b(don|didn|isn|aren|wasn|haven|hasn|won|can|couldn|doesn)t\b", re.I), r"\1't"),
    (re.compile(r"\b(i|we|they|you)(ve|ll)\b(?<!\bwell)(?<!\bill)", re.I), r"\1'\2"),
    (re.compile(r"\bim\b", re.I), "i'm"),
    # Whoever corrects a number while speaking means the second one.
    (re.compile(r"\b\w+,? no,? (?:wait,? )?(?:make (?:it|that) )?(?=(?:\d+|two|three|four|five|six|"
                r"seven|eight|nine|ten|a|an)\b)(\w+),?", re.I), r"\1"),
    (re.compile(r"[.!]\s+and\s+(?:for some reason\s+)?", re.I), " and "),
    (re.compile(r",?\s+(?:for some reason|i think|i guess|i mean|tbh|lol)\b,?", re.I), ""),
    (re.compile(r"\b(?:like|about|around|roughly|maybe|probably) (?=\d)", re.I), ""),
    (re.compile(r"\s+(?:too|as well|again)(?=$|\s+(?:please|thanks))", re.I), ""),
    (re.compile(r"\s+und\s+(?=[A-ZÄÖÜ])"), " and "),
)  # fmt: skip
_OPENERS: Final = re.compile(
    r"^(?:(?:thanks?(?: you)?|cheers|great|ok(?:ay)?|right|hi|hello|hey|oh|ah|so|and|also|well|btw|"
    r"by the way|hm+|um+|yes|yeah|yep|please|alfred|good news|guess what)\b[\s!,.:;-]+)+",
    re.I,
)
_WHY: Final = r"but|though|although|because|cause|since|in case"
_WHO: Final = r"they|it|he|she|i|we|you|this|that|those|there|which|who|nobody|someone"
_SAYS: Final = r"is|are|was|were|has|had|will|came|comes|likes?|wants?|needs?"
_REMARK: Final = re.compile(
    rf"(?:\s*[,;.!(]\s*|\s+[-–]\s+|\s+(?=(?:{_WHY})\b))"
    rf"(?=(?:and\s+|but\s+|so\s+)*(?:{_WHY}|{_WHO}|if|when|as|was|were|had|not the|"
    r"the \w+ ones?\b|too \w+|so|on offer|half price|reduced|cheap|finally|yay|phew|ugh|oh|"
    rf"\w+'s (?:ill|away)|(?:\w+ ){{1,3}}(?:{_SAYS})\b)\b)",
    re.I,
)
_CHANGES: Final = re.compile(
    r"\b(?:except|apart from|other than|all but|everything but|but not|instead of|rather than|"
    r"minus)\b",
    re.I,
)
_LISTS: Final = re.compile(
    r"^(?:(?:i|we)(?:'ve| have)? )?(?:got|bought|picked up|add|put|buy|get|used|ate|drank|finished|"
    r"remove|delete|take|need|delivery)\b",
    re.I,
)
_LEAST_LEFT: Final = 2
# Who writes more than this at once says more than one thing.
_LONGEST: Final = 400


@dataclass(frozen=True, slots=True)
class Reworded:
    """A request in the words of its form; or what is said to it at once."""

    text: str
    remarks: tuple[str, ...] = ()
    reply: str = ""


@dataclass(frozen=True, slots=True)
class _Saying:
    when: re.Pattern[str]
    say: str
    reply: str

    def put(self, text: str) -> Reworded | None:
        found = self.when.match(text)
        if found is None:
            return None
        # The same part may stand in two places of an expression.
        parts = {name.rstrip("2"): value for name, value in found.groupdict().items() if value}
        return Reworded(self.say.format(**parts) if self.say else text, reply=self.reply)


def reword(text: str) -> Reworded | None:
    """Return a request in other words, or None if there are none for it."""
    if len(text) > _LONGEST:
        return None
    plain = _OPENERS.sub("", spelled(text)).strip()
    if _CHANGES.search(plain) and _LISTS.match(plain):
        return Reworded(plain, reply=_unclear(plain))
    said = _said(plain)
    if said is not None:
        return said
    short, remarks = without_remarks(plain)
    if remarks:
        said = _said(short)
        return Reworded(short if said is None else said.text, remarks, said.reply if said else "")
    return Reworded(plain) if plain and plain != text else None


def spelled(text: str) -> str:
    """Return a text as it is usually spelled, without what only fills it."""
    for pattern, instead in _SPELLED:
        text = pattern.sub(instead, text)
    return text


def without_remarks(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text up to the first remark, and the remark."""
    for found in _REMARK.finditer(text):
        head = text[: found.start()].strip(" ,;.-")
        if len(head.split()) >= _LEAST_LEFT:
            return head, (text[found.end() :].strip(" ,;.()"),)
    return text, ()


def _said(text: str) -> Reworded | None:
    return next((put for each in _sayings() if (put := each.put(text)) is not None), None)


def _unclear(text: str) -> str:
    word = _CHANGES.search(text)
    return (
        f"I cannot tell what “{word[0] if word else text}” leaves of that, so nothing was changed. "
        "Say it one by one: “bought feta”, “used 2 peppers”, “set butter to 400 g”."
    )


@cache
def _sayings() -> Sequence[_Saying]:
    from callboard.core.bundled import bundled_yaml

    book: dict[str, Any] = bundled_yaml(__package__ or "", "sayings.yaml")
    return [
        _Saying(
            re.compile(expression(each["when"], book["parts"]), re.IGNORECASE | re.DOTALL),
            str(each.get("say", "")),
            str(each.get("reply", "")),
        )
        for each in book["sayings"]
    ]


_POLITE: Final = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|alfred|can you|could you|would you|will you|i'd like to"
    r"|i want to|i would like to|let's|lets)[,:]?\s+)+",
    re.IGNORECASE,
)


_GAP: Final = re.compile(r"\s{3,}")


_THANKS: Final = re.compile(r"(?:[,\s]+(?:please|thanks|thank you|alfred))+$", re.IGNORECASE)


def tidy(message: str) -> str:
    """Return a message without what is only polite; the rest stays as it was written."""
    text = message.replace("’", "'").replace("\x00", "").strip()
    # Nobody means anything by a gap; the forms of requests would try every way to share it out.
    text = _GAP.sub(lambda gap: "\n" if "\n" in gap[0] else " ", text)
    for _ in range(2):
        text = _THANKS.sub("", text.strip(" \t\n.!?"))
    return _POLITE.sub("", text).strip()
