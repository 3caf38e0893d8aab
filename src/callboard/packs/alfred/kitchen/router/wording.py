"""Wording: a message without what is only polite, and up to the first remark on it."""

import re
from typing import Final

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
_LEAST_LEFT: Final = 2


def without_remarks(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text up to the first remark, and the remark."""
    for found in _REMARK.finditer(text):
        head = text[: found.start()].strip(" ,;.-")
        if len(head.split()) >= _LEAST_LEFT:
            return head, (text[found.end() :].strip(" ,;.()"),)
    return text, ()


_POLITE: Final = re.compile(
    r"^(?:(?:please|hey|hi|hello|ok|okay|alfred|can you|could you|would you|will you|i'd like to"
    r"|i want to|i would like to|let's|lets)[,:]?\s+)+",
    re.IGNORECASE,
)


_GAP: Final = re.compile(r"\s{3,}")


_THANKS: Final = re.compile(r"(?:[,\s]+(?:please|thanks|thank you|alfred))+$", re.IGNORECASE)


# What people call some foods for short.
_MEANT: Final = {
    "spuds": "potatoes", "tatties": "potatoes", "toms": "tomatoes", "avos": "avocados",
    "marge": "margarine", "cukes": "cucumbers",
}  # fmt: skip
_SHORT: Final = re.compile(rf"\b(?:{'|'.join(_MEANT)})\b", re.I)


def tidy(message: str) -> str:
    """Return a message without what is only polite; the rest stays as it was written."""
    text = message.replace("’", "'").replace("\x00", "").strip()
    # Nobody means anything by a gap; the forms of requests would try every way to share it out.
    text = _SHORT.sub(lambda found: _MEANT[found[0].casefold()], text)
    text = _GAP.sub(lambda gap: "\n" if "\n" in gap[0] else " ", text)
    for _ in range(2):
        text = _THANKS.sub("", text.strip(" \t\n.!?"))
    return _POLITE.sub("", text).strip()
